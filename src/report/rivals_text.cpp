#include "report/page_parts.hpp"
#include "report/rivals_parts.hpp"
#include "report/study_csv.hpp"

namespace goblin::report {
namespace {

using experiment::StudyResult;
using experiment::paper::clique_edges;
using experiment::paper::GridResult;
using experiment::rivals::Question;
using experiment::rivals::Results;

std::vector<NamedStudy> named(const Results& results) {
  std::vector<NamedStudy> studies;
  for (const StudyResult* each : results.all()) studies.push_back({each->study.name, each});
  return studies;
}

/// Contenders below each other, a column for each cell of the grid; bold where it is decided.
std::string grid_table(const RivalsReport& report) {
  std::string text = "| minus gob.lin |";
  std::string line = "\n|---|";
  for (const GridResult& at : report.results.grid) {
    append(text, " {:.1f} %, {} |", 100.0 * at.graph_noise / clique_edges, at.payoff_noise);
    line += "---|";
  }
  text += line + '\n';
  for (const Question& question : report.results.plan.questions) {
    for (const std::string& contender : question.contenders) {
      append(text, "| {} |", contender);
      for (std::size_t k = 0; k < report.results.grid.size(); ++k) {
        const Difference& each = *difference_of(report.comparisons[k], contender);
        const char* mark = each.verdict == Verdict::not_decided ? "" : "**";
        append(text, " {0}{1}{0} |", mark, number(each.estimate.mean));
      }
      text += '\n';
    }
  }
  return text;
}

std::string world_table(const StudyResult& result, const Claim& comparison) {
  std::string text =
      "| contender | chosen | reward | minus gob.lin | standing | ms a round | MB |\n|---|---|---|---|---|---|---|\n";
  for (const RivalRow& row : rows_of(result, comparison)) {
    const char* mark = row.is_best ? "**" : "";
    append(text, "| {} | {} | {}{}{} | {} | {} | {} | {} |\n", row.contender, row.setting, mark, row.reward, mark,
           row.difference, row.is_reference ? "" : standing_of(row.verdict), row.milliseconds, row.megabytes);
  }
  return text;
}

}  // namespace

std::string rivals_markdown(const RivalsReport& report) {
  std::string text;
  append(text, "goblin {}, `{}`: {} simulations. {}\n", report.version, report.command,
         grouped(report.results.plan.cell_count()), how_it_was_tuned(report.results));
  for (const Answer& answer : answers_of(report.results, report.comparisons)) {
    append(text, "\n**{}** {}\n", answer.question, answer.together);
    if (answer.each.size() < 2) continue;
    text += '\n';
    for (const std::string& each : answer.each) append(text, "- {}\n", each);
  }
  append(text,
         "\n### 4Cliques\n\n![Normalized reward at the end against graph noise, question after question, payoff noise "
         "to the right](images/rivals/rivals-4cliques.svg)\n\nThe mean difference to gob.lin at each graph noise and "
         "payoff noise, in bold where it is "
         "decided.\n\n{}",
         grid_table(report));
  for (std::size_t k = 0; k < report.results.others.size(); ++k) {
    const StudyResult& world = report.results.others[k];
    append(text,
           "\n### {}\n\n{}![Normalized reward over time, a panel for each question](images/rivals/rivals-{}.svg)\n\n{}",
           world.study.title, world.study.name == "drift" ? about_drift() + "\n\n" : "", world.study.name,
           world_table(world, report.comparisons[report.results.grid.size() + k]));
  }
  return text;
}

void write_rivals_csv(std::ostream& out, const RivalsReport& report) {
  out << fmt::format(
      "study,title,world,contender,{},tuning,seeds,rounds,reward,standard_error,difference,difference_low,"
      "difference_high,standing,milliseconds,megabytes\n",
      setting_columns);
  const auto all = report.results.all();
  for (std::size_t k = 0; k < all.size(); ++k) {
    const auto rows = rows_of(*all[k], report.comparisons[k]);
    for (std::size_t at = 0; at < rows.size(); ++at) {
      const auto& tuned = all[k]->entries[at].tuned();
      const auto estimate = tuned.estimate();
      const Difference* difference = difference_of(report.comparisons[k], rows[at].contender);
      const auto of = [difference](auto value) {
        return difference != nullptr ? fmt::format("{}", value(*difference)) : "";
      };
      const auto known = [](const std::string& text) { return text == "–" ? "" : text; };
      out << fmt::format(
          "{},\"{}\",{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", all[k]->study.name, all[k]->study.title,
          all[k]->study.condition.key, rows[at].contender, setting_fields(tuned.setting), or_empty(tuned.tuning),
          tuned.outcomes.size(), all[k]->study.rounds, estimate.mean, or_empty(estimate.standard_error),
          of([](const Difference& each) { return each.estimate.mean; }),
          of([](const Difference& each) { return each.low; }), of([](const Difference& each) { return each.high; }),
          of([](const Difference& each) { return standing_of(each.verdict); }), known(rows[at].milliseconds),
          known(rows[at].megabytes));
    }
  }
}

void write_rivals_results_csv(std::ostream& out, const Results& results) { write_study_results(out, named(results)); }

void write_rivals_times_csv(std::ostream& out, const Results& results) { write_study_costs(out, named(results)); }

}  // namespace goblin::report
