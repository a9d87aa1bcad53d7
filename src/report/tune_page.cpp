#include "goblin/report/html.hpp"
#include "goblin/report/table.hpp"
#include "goblin/report/tune.hpp"
#include "report/page_parts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace goblin::report {
namespace {

using offline::Comparison;
using offline::Gain;
using offline::GraphHelps;
using offline::GroupGain;
using offline::LikelihoodPoint;
using offline::ReplayAnswer;
using offline::TriedAlpha;
using offline::TunedPolicy;
using offline::TuneResult;

constexpr std::size_t most_groups = 20;

Verdict verdict_of(GraphHelps answer) {
  switch (answer) {
    case GraphHelps::yes:
      return Verdict::holds;
    case GraphHelps::no:
      return Verdict::does_not_hold;
    case GraphHelps::not_decided:
      break;
  }
  return Verdict::not_decided;
}

/// Of a gain: above 0, below 0, or neither for certain.
Verdict verdict_of(const Gain& gain) {
  if (gain.low > 0.0) return Verdict::holds;
  return gain.high < 0.0 ? Verdict::does_not_hold : Verdict::not_decided;
}

std::string words_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::holds:
      return "gain";
    case Verdict::does_not_hold:
      return "loss";
    case Verdict::not_decided:
      break;
  }
  return "not decided";
}

std::string setting(double value) { return fmt::format("{:.4g}", value); }
std::string setting(const std::optional<double>& value) { return value ? setting(*value) : std::string("-"); }

std::string words_of(const Gain& interval) {
  if (std::isnan(interval.low)) return fmt::format("{:.3g}", interval.mean);  // of one user
  return fmt::format("{:.3g} ({:.3g} to {:.3g})", interval.mean, interval.low, interval.high);
}

/// The columns of the policies, in the table for a terminal and on the page.
std::vector<TableRow> policy_rows(const TuneResult& result) {
  std::vector<TableRow> rows = {
      {"policy", "ridge", "coupling", "hub weight", "noise", "alpha", "log likelihood", "squared error", "log loss"}};
  for (const TunedPolicy& tuned : result.policies) {
    rows.push_back({std::string(name_of(tuned.policy)), setting(tuned.ridge), setting(tuned.coupling),
                    setting(tuned.hub_weight), setting(tuned.noise), setting(tuned.alpha),
                    tuned.standard_error > 0.0
                        ? fmt::format("{:.1f} ± {:.1f}", tuned.log_likelihood, tuned.standard_error)
                        : fmt::format("{:.1f}", tuned.log_likelihood),
                    setting(tuned.squared_error), setting(tuned.log_loss)});
  }
  rows.push_back({"a constant", "-", "-", "-", "-", "-", "-", setting(result.constant_error), "-"});
  return rows;
}

/// Whether the log allowed a replay for some policy.
bool has_replay(const TuneResult& result) {
  return std::any_of(result.policies.begin(), result.policies.end(),
                     [](const TunedPolicy& tuned) { return tuned.replay && !tuned.replay->tried.empty(); });
}

/// What was asked for, and could be done for no policy: why.
std::string no_replay(const TuneResult& result) {
  const auto& first = result.policies.front().replay;
  return !first || has_replay(result) ? std::string() : first->reason;
}

/// The columns of the alphas that were tried by replay, in the table for a terminal and on the page.
std::vector<TableRow> alpha_rows(const TuneResult& result) {
  std::vector<TableRow> rows = {{"policy", "of the noise", "alpha", "coupling", "earns", "95 % interval",
                                 "minus the noise", "interval", "decisions", ""}};
  const auto interval = [](const Gain& gain) {
    return std::isnan(gain.low) ? std::string("-") : fmt::format("{:.4g} to {:.4g}", gain.low, gain.high);
  };
  for (const TunedPolicy& tuned : result.policies) {
    if (!tuned.replay) continue;
    for (std::size_t k = 0; k < tuned.replay->tried.size(); ++k) {
      const TriedAlpha& tried = tuned.replay->tried[k];
      const bool is_noise = tried.of_noise == 1.0 && tried.of_coupling == 1.0;
      rows.push_back({std::string(name_of(tuned.policy)), fmt::format("{:g}", tried.of_noise), setting(tried.alpha),
                      tried.coupling ? setting(*tried.coupling) : std::string("-"), setting(tried.value.mean),
                      interval(tried.value), is_noise ? std::string("-") : fmt::format("{:+.4g}", tried.gain.mean),
                      is_noise ? std::string("-") : interval(tried.gain), grouped(tried.matched),
                      tuned.replay->chosen == k ? std::string("taken") : std::string()});
    }
  }
  return rows;
}

/// The groups with the most rewards, in their order.
std::vector<GroupGain> shown(const std::vector<GroupGain>& groups) {
  if (groups.size() <= most_groups) return groups;
  std::vector<std::size_t> counts;
  for (const GroupGain& group : groups) counts.push_back(group.rewards);
  std::nth_element(counts.begin(), counts.begin() + most_groups - 1, counts.end(), std::greater<>());
  std::vector<GroupGain> most;
  for (const GroupGain& group : groups) {
    if (most.size() < most_groups && group.rewards >= counts[most_groups - 1]) most.push_back(group);
  }
  return most;
}

/// How far below the best each setting is. The darker, the nearer.
std::string likelihood_table(const TunedPolicy& tuned) {
  std::set<double> ridges;
  std::set<double> couplings;
  std::map<std::pair<double, double>, double> below;
  double best = -std::numeric_limits<double>::infinity();
  for (const LikelihoodPoint& point : tuned.tried) best = std::max(best, point.log_likelihood);
  for (const LikelihoodPoint& point : tuned.tried) {
    ridges.insert(point.ridge);
    couplings.insert(point.coupling);
    below[{point.ridge, point.coupling}] = best - point.log_likelihood;
  }
  std::vector<std::string> head = {tuned.hub_weight ? "hub weight \\ coupling" : "ridge \\ coupling"};
  for (const double coupling : couplings) head.push_back(setting(coupling));
  std::vector<std::vector<std::string>> rows;
  for (const double ridge : ridges) {
    rows.push_back({text_cell(setting(ridge))});
    for (const double coupling : couplings) {
      const auto found = below.find({ridge, coupling});
      if (found == below.end()) {
        rows.back().emplace_back("<td></td>");
        continue;
      }
      const double shade = 0.75 / (1.0 + std::max(0.0, found->second) / 20.0);
      rows.back().push_back(fmt::format("<td style=\"background: rgba(43, 131, 224, {:.3f})\">{}</td>", shade,
                                        found->second == 0.0 ? "best" : fmt::format("-{:.3g}", found->second)));
    }
  }
  return table(head, rows);
}

/// A single row of ridges where there is no coupling.
std::string likelihood_section(const TuneResult& result) {
  std::string text;
  append(text, R"(<h2 id="likelihood">How probable the log is with which settings</h2>
<p>The logarithm of the marginal likelihood, below the best. A difference of 3 is a factor of 20. Settings that were not
tried are blank.</p>
)");
  for (const TunedPolicy& tuned : result.policies) {
    const bool open = tuned.policy == Policy::gob_lin;
    append(text, "<details{}><summary>{}{}</summary>{}</details>\n", open ? " open" : "", swatch(name_of(tuned.policy)),
           html_escaped(name_of(tuned.policy)), likelihood_table(tuned));
  }
  return text;
}

std::string groups_table(const std::vector<GroupGain>& groups) {
  std::vector<std::vector<std::string>> rows;
  for (const GroupGain& group : shown(groups)) {
    const Verdict verdict = verdict_of(group.gain);
    rows.push_back({text_cell(html_escaped(group.group)), number_cell(grouped(group.users)),
                    number_cell(grouped(group.rewards)), number_cell(words_of(group.gain)),
                    verdict_cell(verdict, words_of(verdict))});
  }
  std::string text = table({"users", "how many", "rewards", "gain a reward", ""}, rows);
  if (groups.size() > most_groups) {
    append(text, "<p class=\"soft\">The {} of {} groups with the most rewards.</p>\n", most_groups, groups.size());
  }
  return text;
}

std::string head_of(const TuneReport& report) {
  const TuneResult& result = report.result;
  std::string text = page_head("Does the graph help?");
  append(
      text,
      R"(<p class="soft">{} rewards of {} users ({} in the graph, {} edges), contexts of {} numbers; goblin {}: <code>{}</code></p>
)",
      grouped(result.rewards), grouped(result.users_with_rewards), grouped(result.users), grouped(result.edges),
      result.dimension, html_escaped(report.version), html_escaped(report.command));
  append(text, "<div class=\"claim {0}\"><p class=\"verdict {0}\">Does the graph help: {1}</p>\n",
         class_of(verdict_of(result.graph_helps)), name_of(result.graph_helps));
  for (const std::string& reason : result.reasons) append(text, "<p>{}</p>\n", html_escaped(reason));
  append(text, "</div>\n");
  for (const std::string& warning : result.warnings) {
    append(text, "<p><strong>Note.</strong> {}</p>\n", html_escaped(warning));
  }
  return text;
}

std::string settings_section(const TuneReport& report) {
  const TuneResult& result = report.result;
  std::string text = "<h2 id=\"settings\">Policies and their settings</h2>\n";
  const std::vector<TableRow> all = policy_rows(result);
  std::vector<std::vector<std::string>> rows;
  for (std::size_t k = 1; k < all.size(); ++k) {
    const bool is_policy = k <= result.policies.size();
    rows.push_back({text_cell((is_policy ? swatch(all[k][0]) : std::string()) + html_escaped(all[k][0]))});
    for (std::size_t column = 1; column < all[k].size(); ++column) {
      rows.back().push_back(number_cell(all[k][column], is_policy && k - 1 == result.best && column == 7));
    }
  }
  text += table(all[0], rows);
  append(text, R"(<p>The policy with the smallest squared error is {}. With its settings:</p>
)",
         name_of(result.policies[result.best].policy));
  for (const std::string& line : report.ready) append(text, "<p><code>{}</code></p>\n", html_escaped(line));
  text += figure_of(report.figures, "tune-error");
  return text;
}

Verdict verdict_of(ReplayAnswer answer) {
  return answer == ReplayAnswer::another || answer == ReplayAnswer::noise ? Verdict::holds : Verdict::not_decided;
}

/// Nothing where nobody asked for a replay.
std::string alpha_section(const TuneResult& result) {
  if (!result.policies.front().replay) return {};
  std::string text = "<h2 id=\"alpha\">Alpha and coupling by replay</h2>\n";
  if (const std::string reason = no_replay(result); !reason.empty()) {
    append(text, "<p>Not done, so that alpha is the noise. {}</p>\n", html_escaped(reason));
    return text;
  }
  append(
      text,
      R"(<p>What a decision earns with each alpha where the policy would have shown what the log did, and how much more that is
than with the noise as alpha and the coupling that predicts best. The intervals of all differences of a policy hold together with
95&nbsp;%. Another alpha or less coupling is taken if its interval lies above 0.</p>
)");
  std::vector<std::vector<std::string>> answers;
  for (const TunedPolicy& tuned : result.policies) {
    answers.push_back({text_cell(swatch(name_of(tuned.policy)) + html_escaped(name_of(tuned.policy))),
                       number_cell(setting(tuned.alpha)),
                       number_cell(tuned.coupling ? setting(*tuned.coupling) : std::string("-")),
                       verdict_cell(verdict_of(tuned.replay->answer), name_of(tuned.replay->answer)),
                       text_cell(html_escaped(tuned.replay->reason))});
  }
  text += table({"policy", "alpha", "coupling", "better", "why"}, answers);
  const std::vector<TableRow> all = alpha_rows(result);
  std::vector<std::vector<std::string>> rows;
  for (std::size_t k = 1; k < all.size(); ++k) {
    const bool taken = !all[k].back().empty();
    rows.push_back({text_cell(swatch(all[k][0]) + html_escaped(all[k][0]))});
    for (std::size_t column = 1; column < all[k].size(); ++column) {
      rows.back().push_back(number_cell(all[k][column], taken && column == 2));
    }
  }
  append(text, "<details><summary>All that were tried</summary>{}</details>\n", table(all[0], rows));
  return text;
}

std::string graph_section(const TuneReport& report) {
  const TuneResult& result = report.result;
  if (result.comparisons.empty()) return {};
  std::string text = R"(<h2 id="graph">Where the graph helps</h2>
<p>A gain is how much smaller the squared error of gob.lin is, a reward; in brackets the 95&nbsp;% interval of a bootstrap that
draws users, because rewards of one user are not independent. Friends are not quite independent either, so that intervals
are somewhat too narrow.</p>
)";
  std::vector<std::vector<std::string>> rows;
  for (const Comparison& comparison : result.comparisons) {
    const Verdict verdict = verdict_of(comparison.gain);
    rows.push_back(
        {text_cell(html_escaped(comparison.rival == "rewired" ? "gob.lin, edges rewired" : comparison.rival)),
         number_cell(setting(comparison.squared_error)), number_cell(words_of(comparison.gain)),
         verdict_cell(verdict, words_of(verdict))});
  }
  text += table({"gob.lin against", "squared error", "gain a reward", ""}, rows);
  text += "<h3>Users by their gain over linucb-ind</h3>\n" + figure_of(report.figures, "tune-gain");
  text += "<h3>By cluster</h3>\n" + groups_table(result.by_cluster);
  text += "<h3>By the number of friends</h3>\n" + groups_table(result.by_degree);
  text += "<h3>By the number of rewards</h3>\n" + groups_table(result.by_rewards);
  return text;
}

/// The same for a terminal.
std::string alpha_text(const TuneResult& result) {
  if (!result.policies.front().replay) return {};
  if (const std::string reason = no_replay(result); !reason.empty()) {
    return fmt::format("\nAlpha by replay: not done, so that it is the noise.\n  {}\n", reason);
  }
  std::string text = "\nAlpha and coupling by replay, and what a decision earns:\n" + aligned(alpha_rows(result));
  for (const TunedPolicy& tuned : result.policies) {
    append(text, "{}: {}. {}\n", name_of(tuned.policy), name_of(tuned.replay->answer), tuned.replay->reason);
  }
  return text;
}

}  // namespace

std::string tune_table(const TuneResult& result) {
  std::string text = fmt::format("Does the graph help: {}\n", name_of(result.graph_helps));
  for (const std::string& reason : result.reasons) append(text, "  {}\n", reason);
  text += '\n' + aligned(policy_rows(result));
  text += alpha_text(result);
  for (const std::string& warning : result.warnings) append(text, "note: {}\n", warning);
  return text;
}

std::string tune_page(const TuneReport& report) {
  return head_of(report) + settings_section(report) + alpha_section(report.result) + graph_section(report) +
         likelihood_section(report.result) + "</body></html>\n";
}

}  // namespace goblin::report
