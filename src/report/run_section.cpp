#include "goblin/report/html.hpp"
#include "report/page_parts.hpp"
#include "report/page_sections.hpp"

namespace goblin::report {

std::string run_section(const Report& report) {
  std::string text;
  append(text, "<h2 id=\"how\">How it was run</h2>\n<ul>\n<li>goblin {}, <code>{}</code></li>\n",
         html_escaped(report.version), html_escaped(report.command));
  const auto study_line = [&](std::string_view what, const experiment::Study& study) {
    const experiment::Contender& first = study.contenders.front();
    append(text, "<li>{}: {} rounds; evaluation seeds {}", what, grouped(study.rounds),
           list_of(study.evaluation_seeds));
    if (first.settings().size() > 1) {
      append(text, "; tuned over {} rounds on seeds {}{}, alpha from {{{}}}", grouped(study.tuning_rounds),
             list_of(study.tuning_seeds),
             study.in_heats ? " (all settings on the first, the best quarter of them on the others)" : "",
             fmt::format("{}", fmt::join(first.alphas, ", ")));
      if (first.scales.size() > 1)
        append(text, ", scale from {{{}}}", fmt::format("{}", fmt::join(first.scales, ", ")));
    }
    for (const experiment::Contender& contender : study.contenders) {
      if (contender.groupings.size() < 2) continue;
      std::string list;
      for (const auto& grouping : contender.groupings) {
        list += fmt::format("{}{}", list.empty() ? "" : ", ", experiment::name_of(grouping));
      }
      append(text, "; {}: {}", html_escaped(contender.name), list);
    }
    append(text, "</li>\n");
  };
  if (!report.results.grid.empty()) study_line("4Cliques grid", report.results.grid.front().result.study);
  if (!report.results.curve.empty()) study_line("Graph noise curve", report.results.curve.front().result.study);
  for (const auto& study : report.results.theorem) {
    study_line("Theorem 1, " + study.study.title, study.study);
  }
  for (const experiment::paper::DatasetResult& dataset : report.results.datasets) {
    study_line(dataset.result.study.title, dataset.result.study);
    if (!dataset.trade_off.study.contenders.empty()) {
      study_line("Numbers of clusters, " + dataset.result.study.title, dataset.trade_off.study);
    }
  }
  for (const auto& other : report.results.others) {
    for (const auto& dataset : other.datasets) {
      study_line(fmt::format("{}, reading {}", dataset.result.study.title, html_escaped(other.name)),
                 dataset.result.study);
    }
  }
  append(text,
         R"(<li>The scale multiplies all contexts, whose mean length is 1. Where every context has
length 1, on 4Cliques and in readings that say so, no scale is tuned.</li>
<li>“In hindsight” is the best setting of the whole grid on the evaluation seeds themselves. All settings play the first three of these;
the third of them that did best there plays the others, and so does the tuned one.</li>
<li>Every policy meets the same users, contexts and noise; results do not depend on the number of threads. <a
href="csv/results.csv">csv/results.csv</a> has every seed, <a href="csv/verdicts.csv">csv/verdicts.csv</a> every
difference, <code>cells/</code> every simulation.</li>
</ul>
)");
  return text;
}

}  // namespace goblin::report
