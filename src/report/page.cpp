#include "goblin/report/page.hpp"

#include "goblin/report/html.hpp"
#include "report/page_parts.hpp"
#include "report/page_sections.hpp"

namespace goblin::report {
namespace {

using experiment::paper::DatasetResult;

/// Title, what was run, and links to the sections.
std::string head_of(const Report& report) {
  std::string text;
  const auto& options = report.results.plan.options;
  text += page_head("A Gang of Bandits, reproduced");
  append(text, R"(<p class="soft">Every experiment of the paper, run again with goblin {}: <code>{}</code></p>
)",
         html_escaped(report.version), html_escaped(report.command));
  if (options.quick) {
    append(
        text,
        R"(<p><strong>This is the quick run</strong>: fewer rounds, fewer seeds and fewer settings to choose from than the
full one, to see what there is. Its verdicts are those of little data; <code>goblin reproduce</code> without
<code>--quick</code> has the real ones.</p>
)");
  }
  append(text, "<nav>");
  if (!report.results.grid.empty()) append(text, "<a href=\"#4cliques\">4Cliques</a>");
  for (const DatasetResult& dataset : report.results.datasets) {
    append(text, "<a href=\"#{}\">{}</a>", dataset.result.study.name, dataset.result.study.title);
  }
  if (!report.results.theorem.empty()) append(text, "<a href=\"#theorem\">Theorem 1</a>");
  append(text, "<a href=\"#beyond\">Beyond</a><a href=\"#how\">How it was run</a></nav>\n");
  return text;
}

/// Every claim with its verdict.
std::string summary_of(const Report& report) {
  std::string text;
  const auto& options = report.results.plan.options;
  append(text, R"(<h2>What the paper says, and what the data say</h2>
<p>Each claim comes down to differences that are above 0 if it is right, taken seed by seed between policies
that met the same rounds. The one shown is the weakest; its interval is set so that all intervals of a claim
hold together with 95&nbsp;%. <em>Tuned</em> means that alpha, the clusters and, where their length is not fixed, the scale of the
contexts were chosen on other seeds than those reported; <em>in hindsight</em>, that they were chosen on the reported seeds,
as the paper does: the best of all settings that were tried.{}</p>
)",
         options.reading.empty() || report.results.datasets.empty()
             ? ""
             : fmt::format(" The data sets are in the reading <em>{}</em>.", html_escaped(options.reading)));
  std::vector<std::vector<std::string>> rows;
  for (std::size_t k = 0; k < report.tuned.size(); ++k) {
    const Claim& claim = report.tuned[k];
    const Difference& weakest = claim.weakest();
    const auto words = [](std::string_view plain) { return text_cell(html_escaped(plain)); };
    rows.push_back({words(claim.text), verdict_cell(claim.verdict, verdict_of(claim)),
                    verdict_cell(report.hindsight[k].verdict, verdict_of(report.hindsight[k])), words(weakest.label),
                    number_cell(with_error(weakest.estimate)),
                    number_cell(fmt::format("{} to {}", number(weakest.low), number(weakest.high))), words(claim.unit),
                    std::to_string(weakest.by_seed.size())});
  }
  text +=
      table({"claim", "tuned", "in hindsight", "weakest difference", "mean ± s.e.", "interval", "unit", "seeds"}, rows);
  return text;
}

/// What goes beyond the paper.
std::string beyond_section(const Report& report) {
  std::string text;
  if (report.results.curve.empty() && report.results.datasets.empty()) return text;
  append(text, "<h2 id=\"beyond\">Beyond the paper</h2>\n");
  if (!report.results.curve.empty()) {
    append(text, "<h3>What graph noise costs</h3>\n");
    text += figure_of(report.figures, "graph-noise");
  }
  for (const DatasetResult& dataset : report.results.datasets) {
    append(text, "<h3>How many clusters: {}</h3>\n", dataset.result.study.title);
    text += figure_of(report.figures, "clusters-" + dataset.result.study.name);
  }
  return text;
}

}  // namespace

std::string page(const Report& report) {
  std::string text = head_of(report) + readings_section(report) + summary_of(report);
  if (!report.results.grid.empty()) text += cliques_section(report);
  for (const DatasetResult& dataset : report.results.datasets) text += dataset_section(report, dataset);
  if (!report.results.theorem.empty()) text += theorem_section(report);
  text += beyond_section(report);
  text += run_section(report);
  return text + "</body></html>\n";
}

}  // namespace goblin::report
