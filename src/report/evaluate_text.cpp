#include "goblin/report/evaluate.hpp"
#include "goblin/report/table.hpp"
#include "report/page_parts.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

namespace goblin::report {
namespace {

using offline::Evaluated;
using offline::Interval;

const offline::Estimate& of(const Evaluated& result, offline::Estimator estimator) {
  return result.summary.estimates[static_cast<std::size_t>(estimator)];
}

std::string signed_number(double value) { return std::isfinite(value) ? fmt::format("{:+.4g}", value) : "-"; }

std::string interval_text(const Interval& interval) {
  return std::isfinite(interval.low) ? fmt::format("{:.4g} to {:.4g}", interval.low, interval.high) : "-";
}

std::string csv_number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

std::string csv_interval(const std::optional<Interval>& interval) {
  return interval ? fmt::format("{},{}", csv_number(interval->low), csv_number(interval->high)) : ",";
}

std::string csv_value(const offline::Value& value) {
  return fmt::format("{},{}", csv_number(value.value), csv_interval(value.interval));
}

}  // namespace

std::string label_of(const EvaluationReport& report, const Evaluated& result) {
  const bool same = std::all_of(report.results.begin(), report.results.end(),
                                [&](const Evaluated& other) { return other.exploration == result.exploration; });
  return same ? result.policy : fmt::format("{} {}", result.policy, result.exploration);
}

std::string words_of(const offline::Value& value) {
  if (!std::isfinite(value.value)) return "-";
  if (!std::isfinite(value.interval.low)) return fmt::format("{:.4g}", value.value);
  return fmt::format("{:.4g} ({})", value.value, interval_text(value.interval));
}

std::string_view verdict_of(const Evaluated& result) {
  if (result.summary.estimates.empty() || !result.decidable) return "not decided";
  const Interval gain = of(result, offline::Estimator::dr).gain.interval;
  if (gain.low > 0.0) return "more";
  return gain.high < 0.0 ? "less" : "not decided";
}

std::string answer_of(const EvaluationReport& report, const Evaluated& result) {
  const std::string label = label_of(report, result);
  const offline::Summary& summary = result.summary;
  if (summary.estimates.empty()) {
    const offline::Value& skill = summary.prediction.skill;
    const bool better = skill.interval.low > 0.0;
    const bool worse = skill.interval.high < 0.0;
    return fmt::format(
        "{} foretells rewards {} the mean of those before them: its squared error is {:.4g}, theirs {:.4g}.", label,
        better  ? "better than"
        : worse ? "worse than"
                : "not surely better or worse than",
        summary.prediction.squared_error, summary.prediction.mean_error);
  }
  const offline::Estimate& dr = of(result, offline::Estimator::dr);
  const std::string_view verdict = verdict_of(result);
  const std::string_view begin = verdict == "more"   ? "would earn more than the log"
                                 : verdict == "less" ? "would earn less than the log"
                                                     : "may earn more or less than the log (not decided)";
  return fmt::format("{} {}: {} a decision against {:.4g} (dr; difference {}).{}", label, begin, words_of(dr.value),
                     summary.log.value, words_of(dr.gain), result.warnings.empty() ? "" : " See the warnings.");
}

std::string evaluation_table(const EvaluationReport& report) {
  const offline::Summary& log = report.log();
  std::string text;
  if (!report.unfinished.empty()) append(text, "{}\n", report.unfinished);
  if (!report.has_decisions()) {
    append(text, "{} rewards of {} users, {} on average; no decisions\n\n", grouped(log.prediction.rewards),
           grouped(log.diagnostics.users), words_of(log.log));
    std::vector<TableRow> rows = {{"policy", "exploration", "squared error", "of the mean so far", "skill"}};
    for (const Evaluated& result : report.results) {
      const offline::Prediction& found = result.summary.prediction;
      rows.push_back({result.policy, result.exploration, fmt::format("{:.4g}", found.squared_error),
                      fmt::format("{:.4g}", found.mean_error), words_of(found.skill)});
    }
    text += aligned(rows);
  } else {
    append(text, "{} decisions of {} users; the log earned {} a decision\n\n", grouped(log.diagnostics.decisions),
           grouped(log.diagnostics.users), words_of(log.log));
    std::vector<TableRow> rows = {
        {"policy", "exploration", "estimator", "value", "95 % interval", "minus the log", "interval"}};
    for (const Evaluated& result : report.results) {
      for (const offline::Estimate& each : result.summary.estimates) {
        rows.push_back({result.policy, result.exploration, std::string(name_of(each.estimator)),
                        std::isfinite(each.value.value) ? fmt::format("{:.4g}", each.value.value) : "-",
                        interval_text(each.value.interval), signed_number(each.gain.value),
                        interval_text(each.gain.interval)});
      }
    }
    text += aligned(rows);
  }
  for (const Evaluated& result : report.results) {
    const offline::Diagnostics& found = result.summary.diagnostics;
    append(text, "\n{}\n", answer_of(report, result));
    if (report.has_decisions()) {
      append(text,
             "  {} of {} decisions match, effective sample size {:.1f}, largest weight {:.4g}, mean weight {:.4g}{}\n",
             grouped(found.matched), grouped(found.decisions), found.effective_sample_size, found.largest_weight,
             found.mean_weight,
             found.mean_weight_error ? fmt::format(" +- {:.2g}", *found.mean_weight_error) : std::string());
    }
    for (const std::string& warning : result.warnings) append(text, "  warning: {}\n", warning);
  }
  if (report.new_users > 0) {
    append(text, "\n{} user{} of the log {} not in the graph, and joined without friends\n", grouped(report.new_users),
           report.new_users == 1 ? "" : "s", report.new_users == 1 ? "is" : "are");
  }
  if (report.passed_over > 0) {
    append(text, "{} line{} without a reward passed over\n", grouped(report.passed_over),
           report.passed_over == 1 ? "" : "s");
  }
  return text;
}

void write_evaluation_csv(std::ostream& out, const EvaluationReport& report) {
  const offline::Summary& log = report.log();
  out << "policy,exploration,estimator,value,low,high,gain,gain_low,gain_high,bernstein_low,bernstein_high,"
         "clopper_pearson_low,clopper_pearson_high\n";
  out << fmt::format("log,,log,{},,,,{},{}\n", csv_value(log.log), csv_interval(log.log_bernstein),
                     csv_interval(log.log_clopper_pearson));
  for (const Evaluated& result : report.results) {
    for (const offline::Estimate& each : result.summary.estimates) {
      out << fmt::format("{},{},{},{},{},{},{}\n", result.policy, result.exploration, name_of(each.estimator),
                         csv_value(each.value), csv_value(each.gain), csv_interval(each.bernstein),
                         csv_interval(each.clopper_pearson));
    }
  }
}

}  // namespace goblin::report
