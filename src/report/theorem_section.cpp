#include "goblin/report/html.hpp"
#include "report/page_parts.hpp"
#include "report/page_sections.hpp"

namespace goblin::report {

std::string theorem_section(const Report& report) {
  std::string text;
  append(text, R"(<h2 id="theorem">Theorem 1</h2>
<p>The theorem bounds the regret by a multiple of √T times a quantity that grows with ln|M<sub>T</sub>| and with
L(u), how much friends differ. The paper's point is that on a graph whose friends are alike, ln|M<sub>T</sub>|
of gob.lin is far below that of independent bandits. Here both run with the confidence bound that the paper
prints, true norm and noise known (delta = 0.1); beside them gob.lin with the simplified width of the paper's
experiments, alpha tuned.</p>
)");
  text += claims_of(report, "theorem");
  std::vector<std::vector<std::string>> rows;
  for (const experiment::StudyResult& study : report.results.theorem) {
    text += figure_of(report.figures, "theorem-" + study.study.name);
    for (const experiment::Entry& entry : study.entries) {
      std::vector<double> regrets;
      std::vector<double> bounds;
      std::vector<double> volumes;
      for (const auto& outcome : entry.tuned().outcomes) {
        regrets.push_back(outcome.last().regret.value());
        bounds.push_back(outcome.last().regret_bound.value());  // of the printed width only
        volumes.push_back(outcome.last().log_determinant);
      }
      rows.push_back({study.study.title, fmt::format("<td class=\"text\">{}{}</td>", swatch(entry.name), entry.name),
                      number_cell(with_error(experiment::estimate(regrets))),
                      number_cell(entry.tuned().setting.printed_bound ? with_error(experiment::estimate(bounds)) : "–"),
                      number_cell(with_error(experiment::estimate(volumes)))});
    }
  }
  text += table({"world", "policy", "regret", "bound of Theorem 1", "ln|M<sub>T</sub>|"}, rows);
  return text;
}

}  // namespace goblin::report
