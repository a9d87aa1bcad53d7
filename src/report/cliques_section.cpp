#include "goblin/report/html.hpp"
#include "report/page_parts.hpp"
#include "report/page_sections.hpp"

#include <algorithm>

namespace goblin::report {
namespace {

using experiment::Entry;
using experiment::Estimate;
using experiment::Finalist;
using experiment::paper::GridResult;

void add_means(std::vector<std::string>& row, std::span<const Entry> entries) {
  double best = -1e300;
  for (const Entry& entry : entries) best = std::max(best, entry.tuned().estimate().mean);
  for (const Entry& entry : entries) {
    const Estimate estimate = entry.tuned().estimate();
    row.push_back(number_cell(with_error(estimate), estimate.mean == best));
  }
}

std::vector<std::string> setting_row(std::string first, const Entry& entry) {
  const Finalist& tuned = entry.tuned();
  const Finalist& hindsight = entry.hindsight();
  return {std::move(first),
          text_cell(swatch(entry.name) + html_escaped(entry.name)),
          text_cell(words_of(tuned.setting)),
          number_cell(tuned.tuning ? number(*tuned.tuning) : "–"),
          number_cell(with_error(tuned.estimate())),
          text_cell(words_of(hindsight.setting)),
          number_cell(with_error(hindsight.estimate()))};
}

}  // namespace

std::string cliques_section(const Report& report) {
  std::string text;
  append(text, R"(<h2 id="4cliques">4Cliques</h2>
<p>Four cliques of 25 users. Everybody in a clique has the same hidden vector; the bandits see the graph after
noise has flipped pairs of users, and payoffs with noise. gob.lin.macro and gob.lin.block are our addition: the
paper has the other three here.</p>
)");
  text += claims_of(report, "4cliques");
  text += figure_of(report.figures, "4cliques");
  append(text, R"(<h3>At the end</h3>
<p>Normalized cumulative reward, mean ± standard error over the evaluation seeds; the best in bold. Differences
are paired: same users, contexts and noise.</p>
)");
  std::vector<std::string> head = {"graph noise", "payoff noise"};
  for (const Entry& entry : report.results.grid.front().result.entries) head.push_back(swatch(entry.name) + entry.name);
  for (const Entry& entry : report.results.grid.front().result.entries) {
    if (entry.name != name_of(Policy::gob_lin)) head.push_back("gob.lin − " + entry.name);
  }
  std::vector<std::vector<std::string>> rows;
  for (const GridResult& at : report.results.grid) {
    std::vector<std::string> row = {
        number_cell(fmt::format("{:.1f} %", 100.0 * at.graph_noise / experiment::paper::clique_edges)),
        fmt::format("{}", at.payoff_noise)};
    add_means(row, at.result.entries);
    for (const Entry& entry : at.result.entries) {
      if (entry.name == name_of(Policy::gob_lin)) continue;
      row.push_back(
          number_cell(with_error(difference(at.result.entry(name_of(Policy::gob_lin)).tuned(), entry.tuned()))));
    }
    rows.push_back(std::move(row));
  }
  text += table(head, rows);
  std::vector<std::vector<std::string>> settings;
  for (const GridResult& at : report.results.grid) {
    for (const Entry& entry : at.result.entries) {
      settings.push_back(setting_row(
          fmt::format("{:.1f} %, {}", 100.0 * at.graph_noise / experiment::paper::clique_edges, at.payoff_noise),
          entry));
    }
  }
  append(text, "<details><summary>Chosen settings, and the best in hindsight</summary>{}</details>\n",
         table({"graph, payoff noise", "contender", "chosen", "tuning seeds", "evaluation seeds", "in hindsight",
                "evaluation seeds"},
               settings));
  return text;
}

}  // namespace goblin::report
