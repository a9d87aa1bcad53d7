#include "goblin/report/evaluate.hpp"
#include "goblin/report/html.hpp"
#include "report/page_parts.hpp"

#include <cmath>
#include <optional>

namespace goblin::report {
namespace {

using offline::Evaluated;
using offline::Interval;

std::string interval_cell(const std::optional<Interval>& interval) {
  if (!interval || !std::isfinite(interval->low)) return number_cell("–");
  return number_cell(fmt::format("{:.4g} to {:.4g}", interval->low, interval->high));
}

Verdict verdict_in(std::string_view verdict) {
  if (verdict == "more") return Verdict::holds;
  return verdict == "less" ? Verdict::does_not_hold : Verdict::not_decided;
}

std::string name_cell(const EvaluationReport& report, const Evaluated& result) {
  return text_cell(swatch(result.policy) + html_escaped(label_of(report, result)));
}

std::string head_of(const EvaluationReport& report) {
  std::string text = page_head("What it would have earned");
  append(text, "<p class=\"soft\">goblin {}: <code>{}</code></p>\n", html_escaped(report.version),
         html_escaped(report.command));
  if (!report.unfinished.empty()) append(text, "<p><strong>{}</strong></p>\n", html_escaped(report.unfinished));
  const offline::Summary& log = report.log();
  if (report.has_decisions()) {
    append(text,
           "<p>The log, <code>{}</code>, has {} decisions of {} users. It earned <strong>{}</strong> a decision.</p>\n",
           html_escaped(report.events), grouped(log.diagnostics.decisions), grouped(log.diagnostics.users),
           words_of(log.log));
  } else {
    append(
        text,
        "<p>The log, <code>{}</code>, has {} rewards of {} users, <strong>{}</strong> on average. It does not say what "
        "else could have been shown, so it cannot be said what another choice would have earned: only how well "
        "rewards are foretold, each before it is learned.</p>\n",
        html_escaped(report.events), grouped(log.prediction.rewards), grouped(log.diagnostics.users),
        words_of(log.log));
  }
  if (report.new_users > 0) {
    append(text, "<p>{} users of the log are not in the graph, and joined without friends.</p>\n",
           grouped(report.new_users));
  }
  if (report.passed_over > 0) {
    append(text, "<p>{} lines without a reward were passed over.</p>\n", grouped(report.passed_over));
  }
  return text;
}

std::string answers_of(const EvaluationReport& report) {
  std::string text = "<h2>What came out</h2>\n<ul>\n";
  for (const Evaluated& result : report.results) {
    append(text, "<li>{}</li>\n", html_escaped(answer_of(report, result)));
  }
  text += "</ul>\n";
  for (const Evaluated& result : report.results) {
    if (result.warnings.empty()) continue;
    append(text, "<div class=\"claim not-decided\"><p><strong>{}: how far to trust it</strong></p>\n<ul>\n",
           html_escaped(label_of(report, result)));
    for (const std::string& warning : result.warnings) append(text, "<li>{}</li>\n", html_escaped(warning));
    text += "</ul></div>\n";
  }
  return text;
}

std::string estimates_of(const EvaluationReport& report) {
  std::string text = "<h2>Estimates</h2>\n";
  append(
      text,
      "<figure><div class=\"panels columns-1\">{}</div><figcaption>Every estimate with its 95 % interval, by bootstrap "
      "over users. dm is what the bandit expects of itself, which is no evidence: its dot is hollow. "
      "<a href=\"evaluation.svg\">SVG</a> <a href=\"evaluation.csv\">CSV</a></figcaption></figure>\n",
      evaluation_svg(report));
  std::vector<std::vector<std::string>> rows;
  for (const Evaluated& result : report.results) {
    for (const offline::Estimate& each : result.summary.estimates) {
      const bool by_this = each.estimator == offline::Estimator::dr;
      rows.push_back(
          {name_cell(report, result), text_cell(name_of(each.estimator)),
           number_cell(std::isfinite(each.value.value) ? fmt::format("{:.4g}", each.value.value) : "–", by_this),
           interval_cell(each.value.interval), number_cell(words_of(each.gain)),
           by_this ? verdict_cell(verdict_in(verdict_of(result)), verdict_of(result)) : text_cell(""),
           interval_cell(each.bernstein), interval_cell(each.clopper_pearson)});
    }
  }
  text +=
      table({"policy", "estimator", "value", "95 % interval", "minus the log", "earns", "Bernstein", "Clopper-Pearson"},
            rows);
  text += "<ul>\n";
  for (const offline::EstimatorInfo& info : offline::estimator_table) {
    append(text, "<li><strong>{}</strong>: {} ({}).</li>\n", info.name, html_escaped(info.means),
           html_escaped(info.formula));
  }
  append(text, R"(</ul>
<p>r is the reward of what was shown, w how probable the policy would have shown the same, divided by how probable it was in
the log, q what the bandit expected of what was shown, and v what it expected of its own choice. The interval draws users
anew, with all that is theirs; Bernstein's and Clopper and Pearson's take rounds for independent.</p>
)");
  return text;
}

std::string diagnostics_of(const EvaluationReport& report) {
  std::string text = "<h2>How far to trust it</h2>\n";
  std::vector<std::vector<std::string>> rows;
  for (const Evaluated& result : report.results) {
    const offline::Diagnostics& found = result.summary.diagnostics;
    rows.push_back({name_cell(report, result),
                    fmt::format("{} ({:.1f} %)", grouped(found.matched),
                                100.0 * static_cast<double>(found.matched) / static_cast<double>(found.decisions)),
                    fmt::format("{:.1f}", found.effective_sample_size), fmt::format("{:.4g}", found.largest_weight),
                    found.mean_weight_error
                        ? fmt::format("{:.4g} ± {:.2g}", found.mean_weight, *found.mean_weight_error)
                        : fmt::format("{:.4g}", found.mean_weight),
                    fmt::format("{:.1f} %", 100.0 * found.clipped_share)});
  }
  text += table({"policy", "decisions that match", "effective sample size", "largest weight", "mean weight", "clipped"},
                rows);
  append(text,
         R"(<p>The effective sample size says how many rounds of equal weight would say as much. The mean weight is 1
on average if the log's probabilities are right and it could have shown whatever the policy chooses: below 1 it could
not, above 1 the probabilities are too low.</p>
)");
  return text;
}

std::string predictions_of(const EvaluationReport& report) {
  std::string text = "<h2>Rewards foretold</h2>\n";
  std::vector<std::vector<std::string>> rows;
  for (const Evaluated& result : report.results) {
    const offline::Prediction& found = result.summary.prediction;
    rows.push_back({name_cell(report, result), fmt::format("{:.4g}", found.squared_error),
                    fmt::format("{:.4g}", found.mean_error), words_of(found.skill)});
  }
  text += table({"policy", "squared error", "of the mean so far", "skill"}, rows);
  append(text,
         R"(<p>Each reward is foretold before it is learned. The skill is the share of the squared error that is gone
against somebody who always says the mean of the rewards so far: 0 is no better, 1 is perfect.</p>
)");
  return text;
}

std::string run_section(const EvaluationReport& report) {
  const Evaluated& first = report.results.front();
  std::string_view learned =
      "It learned the rewards of the decisions that it would have taken itself, as it would live.";
  if (first.learning == offline::Learning::all)
    learned = "It learned every reward of the log, after it was judged by it.";
  if (first.learning == offline::Learning::none)
    learned = "It learned nothing on the way: it is the bandit as it was saved.";
  return fmt::format(
      "<h2>How it was run</h2>\n<ul>\n<li>goblin {}, <code>{}</code>, {} lines</li>\n<li>{}</li>\n<li>clip "
      "{:g}</li>\n</ul>\n",
      html_escaped(report.version), html_escaped(report.command), grouped(report.lines), learned, first.clip);
}

}  // namespace

std::string evaluation_page(const EvaluationReport& report) {
  std::string text = head_of(report) + answers_of(report);
  if (report.has_decisions()) text += estimates_of(report) + diagnostics_of(report);
  return text + predictions_of(report) + run_section(report) + "</body></html>\n";
}

}  // namespace goblin::report
