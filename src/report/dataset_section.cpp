#include "goblin/report/html.hpp"
#include "report/page_parts.hpp"
#include "report/page_sections.hpp"

#include <algorithm>

namespace goblin::report {
namespace {

using experiment::Entry;
using experiment::Estimate;
using experiment::Finalist;

/// A mean hides runs that went wrong early: every seed by itself.
std::string rewards_by_seed(const experiment::paper::DatasetResult& dataset) {
  std::vector<std::string> head = {"contender"};
  for (const std::uint64_t seed : dataset.result.study.evaluation_seeds) head.push_back(fmt::format("seed {}", seed));
  std::vector<std::vector<std::string>> rows;
  for (const Entry& entry : dataset.result.entries) {
    std::vector<std::string> row = {text_cell(swatch(entry.name) + html_escaped(entry.name))};
    for (const auto& outcome : entry.tuned().outcomes) row.push_back(number_cell(number(outcome.normalized_reward())));
    rows.push_back(std::move(row));
  }
  return fmt::format(
      "<h3>Seed by seed</h3>\n<p>The same rewards for each evaluation seed. All contenders met the same "
      "rounds.</p>\n{}",
      table(head, rows));
}

}  // namespace

std::string dataset_section(const Report& report, const experiment::paper::DatasetResult& dataset) {
  std::string text;
  const auto& data = dataset.result.study.name == "lastfm" ? *report.results.plan.options.lastfm
                                                           : *report.results.plan.options.delicious;
  append(
      text, R"(<h2 id="{}">{}</h2>
<p>{} users, {} edges, {} items, 25 candidates in a round, one of which pays for the user at least. Contexts are
{} principal components of the items' tags.{}{}</p>
)",
      dataset.result.study.name, dataset.result.study.title, grouped(data.summary.users), grouped(data.summary.edges),
      grouped(data.summary.items), data.contexts.dimension,
      data.contexts.unit_length ? " Each has length 1, so that no scale was tuned." : "",
      data.name.find("reconstructed") == std::string::npos
          ? ""
          : R"( <strong>The files are a reconstruction</strong> of the published set: the same users, contacts, pages and tags
by number, but not bit for bit the paper's.)");
  text += claims_of(report, dataset.result.study.name);
  text += figure_of(report.figures, dataset.result.study.name);
  append(text, R"(<h3>At the end</h3>
<p>Normalized cumulative reward after {} rounds, mean ± standard error over the evaluation seeds. “Cluster
sizes” of the paper are read both ways, with our own clusters and with balanced ones, as the paper's Graclus makes
them; what did best on the tuning seeds stands for the policy in the figure and in the claims (marked ●). The time is that of select and update, with one simulation on each
core.</p>
)",
         grouped(dataset.result.study.rounds));
  std::vector<std::vector<std::string>> rows;
  double best = -1e300;
  for (const Entry& entry : dataset.result.entries) best = std::max(best, entry.tuned().estimate().mean);
  for (const Entry& entry : dataset.result.entries) {
    const Finalist& tuned = entry.tuned();
    const Policy policy = tuned.setting.policy;
    const bool headline = &dataset.entry(goblin::name_of(policy)) == &entry;
    const Estimate estimate = tuned.estimate();
    rows.push_back({fmt::format("<td class=\"text\">{}{}{}</td>", swatch(entry.name), html_escaped(entry.name),
                                uses_clusters(policy) && headline ? " ●" : ""),
                    text_cell(words_of(tuned.setting)), number_cell(number(tuned.tuning.value_or(0.0))),
                    number_cell(with_error(estimate), estimate.mean == best),
                    number_cell(policy == Policy::gob_lin
                                    ? "–"
                                    : with_error(difference(tuned, dataset.entry(name_of(Policy::gob_lin)).tuned()))),
                    number_cell(milliseconds(tuned)), text_cell(words_of(entry.hindsight().setting)),
                    number_cell(with_error(entry.hindsight().estimate()))});
  }
  text += table({"contender", "chosen", "tuning seeds", "evaluation seeds", "minus gob.lin", "ms a round",
                 "in hindsight", "evaluation seeds"},
                rows);
  return text + rewards_by_seed(dataset);
}

}  // namespace goblin::report
