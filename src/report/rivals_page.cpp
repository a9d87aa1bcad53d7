#include "goblin/report/html.hpp"
#include "report/page_parts.hpp"
#include "report/rivals_parts.hpp"

#include <algorithm>

namespace goblin::report {
namespace {

using experiment::StudyResult;
using experiment::paper::clique_edges;
using experiment::paper::GridResult;
using experiment::rivals::Question;

/// "ahead 138", "behind -641": a cell that says how a contender stands, and by how much.
std::string standing_cell(const Difference& difference) {
  return verdict_cell(difference.verdict,
                      fmt::format("{} {}", standing_of(difference.verdict), number(difference.estimate.mean)));
}

std::string contender_cell(const RivalsReport& report, std::string_view contender) {
  return text_cell(colour_swatch(colour_in(report.results, contender)) + html_escaped(contender));
}

/// How everybody stands in some of the worlds: contenders below each other, a column for each world.
std::string standings(const RivalsReport& report, const std::vector<std::string>& titles, std::size_t first) {
  std::vector<std::string> head = {"contender"};
  head.insert(head.end(), titles.begin(), titles.end());
  std::vector<std::vector<std::string>> rows;
  for (const Question& question : report.results.plan.questions) {
    for (const std::string& contender : question.contenders) {
      rows.push_back({contender_cell(report, contender)});
      for (std::size_t k = 0; k < titles.size(); ++k) {
        rows.back().push_back(standing_cell(*difference_of(report.comparisons[first + k], contender)));
      }
    }
  }
  return table(head, rows);
}

std::string head_of(const RivalsReport& report) {
  std::string text = page_head("Gangs of bandits, compared");
  append(text,
         R"(<p class="soft">All policies and all ways to choose in the same worlds, with goblin {}: <code>{}</code></p>
)",
         html_escaped(report.version), html_escaped(report.command));
  if (report.results.plan.options.quick) {
    append(text,
           R"(<p><strong>This is the quick run</strong>: fewer worlds, rounds, seeds and settings than the full one, to
see what there is. Its verdicts are those of little data; the same command without <code>--quick</code> has the real ones.</p>
)");
  }
  append(text, "<nav><a href=\"#4cliques\">4Cliques</a>");
  for (const StudyResult& world : report.results.others) {
    append(text, "<a href=\"#{}\">{}</a>", world.study.name, html_escaped(world.study.title));
  }
  append(text, "<a href=\"#how\">How it was run</a></nav>\n");
  return text;
}

std::string summary_of(const RivalsReport& report) {
  std::string text;
  append(text, R"(<h2>What came out</h2>
<p>Every contender is compared with gob.lin, seed by seed: both met the same users, contexts and noise. A contender is
<em>ahead</em> or <em>behind</em> if the interval of the difference leaves out 0. All intervals of a world hold together with
95&nbsp;%. The sentences below are made from these intervals.</p>
)");
  for (const Answer& answer : answers_of(report.results, report.comparisons)) {
    append(text, "<h3>{}</h3>\n<p>{}</p>\n", html_escaped(answer.question), html_escaped(answer.together));
    if (answer.each.size() < 2) continue;
    append(text, "<ul>\n");
    for (const std::string& each : answer.each) append(text, "<li>{}</li>\n", html_escaped(each));
    append(text, "</ul>\n");
  }
  std::vector<std::string> titles;
  for (const StudyResult& world : report.results.others) titles.push_back(html_escaped(world.study.title));
  append(
      text,
      "<h3>Minus gob.lin, at a glance</h3>\n<p>4Cliques without a change is <a href=\"#4cliques\">below</a>.</p>\n{}",
      standings(report, titles, report.results.grid.size()));
  return text;
}

std::string world_table(const RivalsReport& report, std::size_t place) {
  std::vector<std::vector<std::string>> rows;
  for (const RivalRow& row : rows_of(*report.results.all()[place], report.comparisons[place])) {
    rows.push_back({contender_cell(report, row.contender), text_cell(html_escaped(row.setting)),
                    number_cell(row.reward, row.is_best), number_cell(row.difference),
                    row.is_reference ? text_cell("") : verdict_cell(row.verdict, standing_of(row.verdict)),
                    number_cell(row.milliseconds), number_cell(row.megabytes)});
  }
  return table({"contender", "chosen", "reward", "minus gob.lin", "standing", "ms a round", "MB"}, rows);
}

std::string cliques_section(const RivalsReport& report) {
  std::string text;
  append(text, R"(<h2 id="4cliques">4Cliques</h2>
<p>Four cliques of 25 users. Everybody in a clique has the same hidden vector; the bandits see the graph after noise has
flipped pairs of users, and payoffs with noise.</p>
)");
  text += figure_of(report.figures, "rivals-4cliques");
  std::vector<std::string> titles;
  for (const GridResult& at : report.results.grid) {
    titles.push_back(
        fmt::format("graph {:.1f}&nbsp;%, payoff {}", 100.0 * at.graph_noise / clique_edges, at.payoff_noise));
  }
  append(text, "<h3>Minus gob.lin</h3>\n{}", standings(report, titles, 0));
  for (std::size_t k = 0; k < report.results.grid.size(); ++k) {
    append(text, "<details><summary>{}</summary>{}</details>\n",
           html_escaped(report.results.grid[k].result.study.title), world_table(report, k));
  }
  return text;
}

std::string world_section(const RivalsReport& report, std::size_t place) {
  const StudyResult& world = *report.results.all()[place];
  std::string text;
  append(text, "<h2 id=\"{}\">{}</h2>\n", world.study.name, html_escaped(world.study.title));
  if (world.study.name == "drift") {
    append(text, "<p>{}</p>\n", html_escaped(about_drift()));
  }
  text += figure_of(report.figures, "rivals-" + world.study.name);
  text += world_table(report, place);
  return text;
}

std::string run_section(const RivalsReport& report) {
  std::string text;
  append(text,
         "<h2 id=\"how\">How it was run</h2>\n<ul>\n<li>goblin {}, <code>{}</code>, {} simulations</li>\n<li>{}</li>\n",
         html_escaped(report.version), html_escaped(report.command), grouped(report.results.plan.cell_count()),
         html_escaped(how_it_was_tuned(report.results)));
  append(
      text,
      R"(<li>The reward is the normalized one (minus what choosing at random gets on average), ± half the width of its
95&nbsp;% interval. The time is that of select and update, with one simulation on each core; the memory is that of the
bandit at the end, with the graph and the evidence.</li>
<li>The scale multiplies all contexts. Options that are not named have their defaults.</li>
<li><a href="csv/rivals.csv">csv/rivals.csv</a> has the tables, <a href="csv/rivals-results.csv">csv/rivals-results.csv</a>
every seed, <code>cells/</code> every simulation.</li>
</ul>
)");
  for (const StudyResult* world : {&report.results.grid.front().result, &report.results.others.back()}) {
    std::vector<std::vector<std::string>> rows;
    for (const auto& contender : world->study.contenders) {
      std::string list;
      for (const auto& setting : contender.settings())
        append(list, "{}{}", list.empty() ? "" : "<br>", html_escaped(words_of(setting)));
      rows.push_back({contender_cell(report, contender.name), text_cell(list)});
    }
    append(text, "<details><summary>Settings that were tried, in their order: {}</summary>{}</details>\n",
           html_escaped(world->study.title), table({"contender", "settings"}, rows));
  }
  return text;
}

}  // namespace

std::string rivals_page(const RivalsReport& report) {
  std::string text = head_of(report) + summary_of(report) + cliques_section(report);
  for (std::size_t k = 0; k < report.results.others.size(); ++k) {
    text += world_section(report, report.results.grid.size() + k);
  }
  return text + run_section(report) + "</body></html>\n";
}

}  // namespace goblin::report
