#include "goblin/report/page.hpp"

#include "goblin/report/html.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace goblin::report {
namespace {

using experiment::Entry;
using experiment::Estimate;
using experiment::Finalist;
using experiment::Setting;
using experiment::StudyResult;
using experiment::paper::DatasetResult;
using experiment::paper::GridResult;

std::string escaped(std::string_view text) { return html_escaped(text); }

/// A number with as many decimals as it takes to see three digits; thousands apart from 10,000 on.
std::string number(double value) {
  const double size = std::abs(value);
  const int decimals = size >= 100.0 ? 0 : size >= 10.0 ? 1 : size >= 1.0 ? 2 : 3;
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (size < 9999.5) return text;
  for (std::size_t at = text.size(); at > (value < 0.0 ? 4U : 3U);) text.insert(at -= 3, ",");
  return text;
}

std::string with_error(const Estimate& estimate) {
  if (!estimate.standard_error) return number(estimate.mean);
  return fmt::format("{} ± {}", number(estimate.mean), number(*estimate.standard_error));
}

std::string class_of(Verdict verdict) {
  std::string name(name_of(verdict));
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string swatch(std::string_view policy) {
  return fmt::format("<span class=\"swatch\" style=\"background:{}\"></span>", colour_of(policy));
}

std::string list_of(std::span<const std::uint64_t> seeds) {
  if (seeds.size() > 3) return fmt::format("{} to {}", seeds.front(), seeds.back());
  std::string text;
  for (const std::uint64_t seed : seeds) text += fmt::format("{}{}", text.empty() ? "" : ", ", seed);
  return text;
}

std::string words_of(const Setting& setting) {
  std::string text = fmt::format("alpha {}, scale {}", setting.alpha, setting.scale);
  if (const auto grouping = experiment::name_of(setting.grouping); !grouping.empty()) text += ", " + grouping;
  return text;
}

/// With thousands apart: 10,000.
std::string grouped(std::uint64_t value) {
  std::string text = std::to_string(value);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

Estimate difference(const Finalist& a, const Finalist& b) {
  std::vector<double> values;
  for (std::size_t k = 0; k < a.outcomes.size(); ++k) {
    values.push_back(a.outcomes[k].normalized_reward() - b.outcomes[k].normalized_reward());
  }
  return experiment::estimate(values);
}

std::string table(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows) {
  std::string text = "<div class=\"scroll\"><table><thead><tr>";
  for (std::size_t k = 0; k < head.size(); ++k) {
    const bool words = !rows.empty() && (rows.front()[k].find("class=\"text") != std::string::npos ||
                                         rows.front()[k].find("class=\"verdict") != std::string::npos);
    text += fmt::format("<th{}>{}</th>", words ? " class=\"text\"" : "", head[k]);
  }
  text += "</tr></thead><tbody>\n";
  for (const auto& row : rows) {
    text += "<tr>";
    for (const std::string& cell : row) text += cell.starts_with("<td") ? cell : fmt::format("<td>{}</td>", cell);
    text += "</tr>\n";
  }
  return text + "</tbody></table></div>\n";
}

std::string number_cell(const std::string& text, bool best = false) {
  return fmt::format("<td class=\"number{}\">{}</td>", best ? " best" : "", text);
}

class Page {
 public:
  explicit Page(const Report& report) : report_(report), results_(report.results) {}

  std::string write() {
    head();
    summary();
    if (!results_.grid.empty()) cliques();
    for (const DatasetResult& dataset : results_.datasets) dataset_section(dataset);
    if (!results_.theorem.empty()) theorem();
    beyond();
    how();
    text_ += "</body></html>\n";
    return std::move(text_);
  }

 private:
  template <typename... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
  }

  void head() {
    const auto& options = results_.plan.options;
    add(R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>A Gang of Bandits, reproduced</title>
<style>{}</style></head><body>
)",
        html_style());
    add(R"(<h1>A Gang of Bandits, reproduced</h1>
<p class="soft">Every experiment of the paper, run again with goblin {}: <code>{}</code></p>
)",
        escaped(report_.version), escaped(report_.command));
    if (options.quick) {
      add(R"(<p><strong>This is the quick run</strong>: fewer rounds, fewer seeds and fewer settings to choose from than the
full one, to see what there is. Its verdicts are those of little data; <code>goblin reproduce</code> without
<code>--quick</code> has the real ones.</p>
)");
    }
    add("<nav>");
    if (!results_.grid.empty()) add("<a href=\"#4cliques\">4Cliques</a>");
    for (const DatasetResult& dataset : results_.datasets) {
      add("<a href=\"#{}\">{}</a>", dataset.result.study.name, dataset.result.study.title);
    }
    if (!results_.theorem.empty()) add("<a href=\"#theorem\">Theorem 1</a>");
    add("<a href=\"#beyond\">Beyond</a><a href=\"#how\">How it was run</a></nav>\n");
  }

  void summary() {
    add(R"(<h2>What the paper says, and what the data say</h2>
<p>Each claim comes down to differences that are above 0 if it is right, taken seed by seed between policies
that met the same rounds. The one shown is the weakest; its interval is set so that all intervals of a claim
hold together with 95&nbsp;%. <em>Tuned</em> means that alpha, the scale of the contexts and the clusters were
chosen on other seeds than those reported; <em>in hindsight</em>, that they were chosen on the reported seeds,
as the paper does.</p>
)");
    std::vector<std::vector<std::string>> rows;
    for (std::size_t k = 0; k < report_.tuned.size(); ++k) {
      const Claim& claim = report_.tuned[k];
      const Difference& weakest = claim.weakest();
      const auto words = [](std::string_view text) { return fmt::format("<td class=\"text\">{}</td>", escaped(text)); };
      rows.push_back({words(claim.text), verdict_cell(claim.verdict), verdict_cell(report_.hindsight[k].verdict),
                      words(weakest.label), number_cell(with_error(weakest.estimate)),
                      number_cell(fmt::format("{} to {}", number(weakest.low), number(weakest.high))),
                      words(claim.unit), std::to_string(weakest.by_seed.size())});
    }
    text_ += table({"claim", "tuned", "in hindsight", "weakest difference", "mean ± s.e.", "interval", "unit", "seeds"},
                   rows);
  }

  static std::string verdict_cell(Verdict verdict) {
    return fmt::format("<td class=\"verdict {}\">{}</td>", class_of(verdict), name_of(verdict));
  }

  /// The claims of a part with all their differences.
  void claims(std::string_view part) {
    for (const Claim& claim : report_.tuned) {
      if (claim.part != part) continue;
      add("<div class=\"claim {0}\"><p>{1}</p><p class=\"verdict {0}\">{2}</p>\n", class_of(claim.verdict),
          escaped(claim.text), name_of(claim.verdict));
      std::vector<std::vector<std::string>> rows;
      for (const Difference& each : claim.differences) {
        rows.push_back({escaped(each.label), number_cell(with_error(each.estimate)),
                        number_cell(fmt::format("{} to {}", number(each.low), number(each.high))),
                        verdict_cell(each.verdict)});
      }
      add("<details><summary>{} difference{}, {}</summary>{}</details></div>\n", claim.differences.size(),
          claim.differences.size() == 1 ? "" : "s", escaped(claim.unit),
          table({"difference", "mean ± s.e.", "interval", "by itself"}, rows));
    }
  }

  void figure(std::string_view name) {
    for (const DrawnFigure& drawn : report_.figures) {
      if (drawn.figure.name != name) continue;
      add("<figure><div class=\"panels columns-{}\">\n", drawn.figure.columns);
      for (const std::string& panel : drawn.panels) add("<div>{}</div>\n", panel);
      add("</div><figcaption>{} <a href=\"figures/{}.pdf\">PDF</a> <a href=\"figures/{}.svg\">SVG</a> "
          "<a href=\"csv/{}.csv\">CSV</a></figcaption></figure>\n",
          escaped(drawn.figure.caption), name, name, name);
    }
  }

  void cliques() {
    add(R"(<h2 id="4cliques">4Cliques</h2>
<p>Four cliques of 25 users. Everybody in a clique has the same hidden vector; the bandits see the graph after
noise has flipped pairs of users, and payoffs with noise. gob.lin.macro and gob.lin.block are our addition: the
paper has the other three here.</p>
)");
    claims("4cliques");
    figure("4cliques");
    add(R"(<h3>At the end</h3>
<p>Normalized cumulative reward, mean ± standard error over the evaluation seeds; the best in bold. Differences
are paired: same users, contexts and noise.</p>
)");
    std::vector<std::string> head = {"graph noise", "payoff noise"};
    for (const Entry& entry : results_.grid.front().result.entries) head.push_back(swatch(entry.name) + entry.name);
    for (const Entry& entry : results_.grid.front().result.entries) {
      if (entry.name != "gob.lin") head.push_back("gob.lin − " + entry.name);
    }
    std::vector<std::vector<std::string>> rows;
    for (const GridResult& at : results_.grid) {
      std::vector<std::string> row = {
          number_cell(fmt::format("{:.1f} %", 100.0 * at.graph_noise / experiment::paper::clique_edges)),
          fmt::format("{}", at.payoff_noise)};
      add_means(row, at.result.entries);
      for (const Entry& entry : at.result.entries) {
        if (entry.name == "gob.lin") continue;
        row.push_back(number_cell(with_error(difference(at.result.entry("gob.lin").tuned(), entry.tuned()))));
      }
      rows.push_back(std::move(row));
    }
    text_ += table(head, rows);
    std::vector<std::vector<std::string>> settings;
    for (const GridResult& at : results_.grid) {
      for (const Entry& entry : at.result.entries) {
        settings.push_back(setting_row(
            fmt::format("{:.1f} %, {}", 100.0 * at.graph_noise / experiment::paper::clique_edges, at.payoff_noise),
            entry));
      }
    }
    add("<details><summary>Chosen settings, and the best in hindsight</summary>{}</details>\n",
        table({"graph, payoff noise", "contender", "chosen", "tuning seeds", "evaluation seeds", "in hindsight",
               "evaluation seeds"},
              settings));
  }

  static void add_means(std::vector<std::string>& row, std::span<const Entry> entries) {
    double best = -1e300;
    for (const Entry& entry : entries) best = std::max(best, entry.tuned().estimate().mean);
    for (const Entry& entry : entries) {
      const Estimate estimate = entry.tuned().estimate();
      row.push_back(number_cell(with_error(estimate), estimate.mean == best));
    }
  }

  static std::vector<std::string> setting_row(std::string first, const Entry& entry) {
    const Finalist& tuned = entry.tuned();
    const Finalist& hindsight = entry.hindsight();
    return {std::move(first),
            fmt::format("<td class=\"text\">{}{}</td>", swatch(entry.name), escaped(entry.name)),
            fmt::format("<td class=\"text\">{}</td>", words_of(tuned.setting)),
            number_cell(tuned.tuning ? number(*tuned.tuning) : "–"),
            number_cell(with_error(tuned.estimate())),
            fmt::format("<td class=\"text\">{}</td>", words_of(hindsight.setting)),
            number_cell(with_error(hindsight.estimate()))};
  }

  void dataset_section(const DatasetResult& dataset) {
    const auto& data =
        dataset.result.study.name == "lastfm" ? *results_.plan.options.lastfm : *results_.plan.options.delicious;
    add(R"(<h2 id="{}">{}</h2>
<p>{} users, {} edges, {} items, 25 candidates in a round, one of which pays for the user at least. Contexts are
25 principal components of the items' tags.{}</p>
)",
        dataset.result.study.name, dataset.result.study.title, grouped(data.summary.users), grouped(data.summary.edges),
        grouped(data.summary.items),
        data.name.find("reconstructed") == std::string::npos
            ? ""
            : R"(<strong>The files are a reconstruction</strong> of the published set: the same users, contacts, pages and tags
by number, but not bit for bit the paper's.)");
    claims(dataset.result.study.name);
    figure(dataset.result.study.name);
    add(R"(<h3>At the end</h3>
<p>Normalized cumulative reward after {} rounds, mean ± standard error over the evaluation seeds. “Cluster
sizes” of the paper are read both ways; the reading that did better on the tuning seeds stands for the policy in
the figure and in the claims (marked ●). The time is that of select and update, with one simulation on each
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
      rows.push_back(
          {fmt::format("<td class=\"text\">{}{}{}</td>", swatch(entry.name), escaped(entry.name),
                       uses_clusters(policy) && headline ? " ●" : ""),
           fmt::format("<td class=\"text\">{}</td>", words_of(tuned.setting)),
           number_cell(number(tuned.tuning.value_or(0.0))), number_cell(with_error(estimate), estimate.mean == best),
           number_cell(policy == Policy::gob_lin ? "–"
                                                 : with_error(difference(tuned, dataset.entry("gob.lin").tuned()))),
           number_cell(milliseconds(tuned)),
           fmt::format("<td class=\"text\">{}</td>", words_of(entry.hindsight().setting)),
           number_cell(with_error(entry.hindsight().estimate()))});
    }
    text_ += table({"contender", "chosen", "tuning seeds", "evaluation seeds", "minus gob.lin", "ms a round",
                    "in hindsight", "evaluation seeds"},
                   rows);
  }

  static std::string milliseconds(const Finalist& finalist) {
    double sum = 0.0;
    for (const auto& outcome : finalist.outcomes) {
      if (!outcome.seconds) return "–";
      sum += 1e3 * *outcome.seconds / static_cast<double>(outcome.last().round);
    }
    return number(sum / static_cast<double>(finalist.outcomes.size()));
  }

  void theorem() {
    add(R"(<h2 id="theorem">Theorem 1</h2>
<p>The theorem bounds the regret by a multiple of √T times a quantity that grows with ln|M<sub>T</sub>| and with
L(u), how much friends differ. The paper's point is that on a graph whose friends are alike, ln|M<sub>T</sub>|
of gob.lin is far below that of independent bandits. Here both run with the confidence bound that the paper
prints, true norm and noise known (delta = 0.1).</p>
)");
    claims("theorem");
    std::vector<std::vector<std::string>> rows;
    for (const StudyResult& study : results_.theorem) {
      figure("theorem-" + study.study.name);
      for (const Entry& entry : study.entries) {
        std::vector<double> regrets;
        std::vector<double> bounds;
        std::vector<double> volumes;
        for (const auto& outcome : entry.tuned().outcomes) {
          regrets.push_back(outcome.last().regret.value());
          bounds.push_back(outcome.last().regret_bound.value());
          volumes.push_back(outcome.last().log_determinant);
        }
        rows.push_back({study.study.title, fmt::format("<td class=\"text\">{}{}</td>", swatch(entry.name), entry.name),
                        number_cell(with_error(experiment::estimate(regrets))),
                        number_cell(with_error(experiment::estimate(bounds))),
                        number_cell(with_error(experiment::estimate(volumes)))});
      }
    }
    text_ += table({"world", "policy", "regret", "bound of Theorem 1", "ln|M<sub>T</sub>|"}, rows);
  }

  void beyond() {
    if (results_.curve.empty() && results_.datasets.empty()) return;
    add("<h2 id=\"beyond\">Beyond the paper</h2>\n");
    if (!results_.curve.empty()) {
      add("<h3>What graph noise costs</h3>\n");
      figure("graph-noise");
    }
    for (const DatasetResult& dataset : results_.datasets) {
      add("<h3>How many clusters: {}</h3>\n", dataset.result.study.title);
      figure("clusters-" + dataset.result.study.name);
    }
  }

  void how() {
    add("<h2 id=\"how\">How it was run</h2>\n<ul>\n<li>goblin {}, <code>{}</code></li>\n", escaped(report_.version),
        escaped(report_.command));
    const auto study_line = [&](std::string_view what, const experiment::Study& study) {
      const experiment::Contender& first = study.contenders.front();
      add("<li>{}: {} rounds; evaluation seeds {}", what, grouped(study.rounds), list_of(study.evaluation_seeds));
      if (first.settings().size() > 1) {
        add(R"(; tuned over {} rounds on seeds {}, alpha from {{{}}}, scale from {{{}}}; the {} best settings went on to the
evaluation seeds)",
            grouped(study.tuning_rounds), list_of(study.tuning_seeds), fmt::format("{}", fmt::join(first.alphas, ", ")),
            fmt::format("{}", fmt::join(first.scales, ", ")), study.finalists);
      }
      for (const experiment::Contender& contender : study.contenders) {
        if (contender.groupings.size() < 2) continue;
        std::string list;
        for (const auto& grouping : contender.groupings) {
          list += fmt::format("{}{}", list.empty() ? "" : ", ", experiment::name_of(grouping));
        }
        add("; {}: {}", escaped(contender.name), list);
      }
      add("</li>\n");
    };
    if (!results_.grid.empty()) study_line("4Cliques grid", results_.grid.front().result.study);
    if (!results_.curve.empty()) study_line("Graph noise curve", results_.curve.front().result.study);
    for (const auto& study : results_.theorem) {
      study_line("Theorem 1, " + study.study.title, study.study);
    }
    for (const DatasetResult& dataset : results_.datasets) {
      study_line(dataset.result.study.title, dataset.result.study);
      if (!dataset.trade_off.study.contenders.empty()) {
        study_line("Numbers of clusters, " + dataset.result.study.title, dataset.trade_off.study);
      }
    }
    add(R"(<li>The scale multiplies all contexts, whose mean length is 1 (on 4Cliques all have length 1).</li>
<li>“In hindsight” is the best, on the evaluation seeds, of the settings that went on to them.</li>
<li>Every policy meets the same users, contexts and noise; results do not depend on the number of threads. <a
href="csv/results.csv">csv/results.csv</a> has every seed, <a href="csv/verdicts.csv">csv/verdicts.csv</a> every
difference, <code>cells/</code> every simulation.</li>
</ul>
)");
  }

  const Report& report_;
  const experiment::paper::Results& results_;
  std::string text_;
};

}  // namespace

std::string page(const Report& report) { return Page(report).write(); }

std::string verdict_table(std::span<const Claim> claims) {
  std::string text;
  for (const Claim& claim : claims) {
    const Difference& weakest = claim.weakest();
    text += fmt::format("{:<14} {}\n{:<14} {}: {} ({} seeds, {})\n", name_of(claim.verdict), claim.text, "",
                        weakest.label, with_error(weakest.estimate), weakest.by_seed.size(), claim.unit);
  }
  return text;
}

}  // namespace goblin::report
