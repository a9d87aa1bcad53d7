#include "goblin/report/paper_figures.hpp"

#include "report/figure_parts.hpp"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

namespace goblin::report {
namespace {

using experiment::Finalist;
using experiment::Outcome;
using experiment::Point;
using experiment::paper::DatasetResult;
using experiment::paper::GridResult;
using experiment::paper::Results;

std::string_view name(Policy policy) { return goblin::name_of(policy); }

Figure grid_figure(const Results& results) {
  Figure figure{.name = "4cliques",
                .caption =
                    "Normalized cumulative reward on 4Cliques: mean over the evaluation seeds and its 95 % "
                    "confidence band. Graph noise grows downwards, payoff noise to the right.",
                .panels = {},
                .columns = 3};
  for (const GridResult& at : results.grid) {
    Panel panel{.title = fmt::format("graph noise {:.1f} %, payoff noise {}",
                                     100.0 * at.graph_noise / experiment::paper::clique_edges, at.payoff_noise),
                .x_label = rounds_axis,
                .y_label = reward_axis,
                .series = {}};
    for (const auto& entry : at.result.entries) panel.series.push_back(curve(entry.name, entry.tuned(), normalized));
    figure.panels.push_back(std::move(panel));
  }
  return figure;
}

Figure dataset_figure(const DatasetResult& dataset) {
  Panel panel{.title = dataset.result.study.title, .x_label = rounds_axis, .y_label = reward_axis, .series = {}};
  for (const Policy policy : paper_policies) {
    panel.series.push_back(curve(name(policy), dataset.entry(name(policy)).tuned(), normalized));
  }
  return {.name = dataset.result.study.name,
          .caption = fmt::format("Normalized cumulative reward on {}: mean over the evaluation seeds and its 95 % "
                                 "confidence band.",
                                 dataset.result.study.title),
          .panels = {std::move(panel)},
          .columns = 1};
}

Figure theorem_figure(const experiment::StudyResult& result) {
  Panel regret{.title = "regret and the bound of Theorem 1",
               .x_label = rounds_axis,
               .y_label = "cumulative regret",
               .series = {},
               .log_y = true};
  Panel volume{.title = "ln|M_t|", .x_label = rounds_axis, .y_label = "ln|M_t|", .series = {}};
  for (const auto& entry : result.entries) {
    const Finalist& finalist = entry.tuned();
    if (!finalist.setting.printed_bound) continue;
    regret.series.push_back(curve(entry.name, finalist, [](const Point& point) { return point.regret.value(); }));
    Series bound = curve(entry.name, finalist, [](const Point& point) { return point.regret_bound.value(); });
    bound.label = "bound, " + entry.name;
    bound.dashed = true;
    bound.low.clear();
    bound.high.clear();
    regret.series.push_back(std::move(bound));
    volume.series.push_back(curve(entry.name, finalist, [](const Point& point) { return point.log_determinant; }));
  }
  return {.name = "theorem-" + result.study.name,
          .caption = fmt::format("Theorem 1 on {}: measured regret beside the bound, and ln|M_t|, both with the "
                                 "confidence bound that the paper prints.",
                                 result.study.title),
          .panels = {std::move(regret), std::move(volume)},
          .columns = 2};
}

Figure noise_figure(const Results& results) {
  Panel panel{.title = fmt::format("payoff noise {}", results.curve.front().payoff_noise),
              .x_label = "expected share of flipped edges (%)",
              .y_label = "normalized reward at the end",
              .series = {}};
  for (const auto& entry : results.curve.front().result.entries) {
    Series series = series_named(entry.name);
    series.marks = true;
    for (const GridResult& at : results.curve) {
      add_mean(series, 100.0 * at.graph_noise / experiment::paper::clique_edges,
               final_rewards(at.result.entry(entry.name).tuned()), margin_of(at.result.study.evaluation_seeds.size()));
    }
    panel.series.push_back(std::move(series));
  }
  return {.name = "graph-noise",
          .caption =
              "What graph noise costs on 4Cliques: reward at the end against the share of flipped edges, each "
              "point tuned by itself.",
          .panels = {std::move(panel)},
          .columns = 1};
}

Figure cluster_figure(const DatasetResult& dataset) {
  Panel reward{.title = dataset.result.study.title + ": reward",
               .x_label = "number of clusters",
               .y_label = "normalized reward at the end",
               .series = {},
               .log_x = true};
  Panel time{.title = dataset.result.study.title + ": time",
             .x_label = "number of clusters",
             .y_label = "milliseconds a round",
             .series = {},
             .log_x = true,
             .log_y = true};
  for (const Policy policy : paper_policies) {
    if (!uses_clusters(policy)) continue;
    Series rewards = series_named(name(policy));
    Series times = series_named(name(policy));
    rewards.marks = times.marks = true;
    for (const auto& entry : dataset.trade_off.entries) {
      const Finalist& finalist = entry.tuned();
      if (finalist.setting.policy != policy) continue;
      const auto clusters = static_cast<double>(finalist.setting.grouping.clusters);
      add_mean(rewards, clusters, final_rewards(finalist), margin_of(finalist.outcomes.size()));
      std::vector<double> milliseconds;
      for (const Outcome& outcome : finalist.outcomes) {
        if (outcome.seconds) milliseconds.push_back(1e3 * *outcome.seconds / static_cast<double>(outcome.last().round));
      }
      if (milliseconds.empty()) continue;
      times.x.push_back(clusters);
      times.y.push_back(experiment::estimate(milliseconds).mean);
    }
    reward.series.push_back(std::move(rewards));
    if (!times.x.empty()) time.series.push_back(std::move(times));
  }
  Figure figure{.name = "clusters-" + dataset.result.study.name,
                .caption = fmt::format("How reward and time depend on the number of clusters on {}, at the alpha and "
                                       "the scale that were tuned for each policy.",
                                       dataset.result.study.title),
                .panels = {std::move(reward)},
                .columns = 2};
  if (!time.series.empty()) figure.panels.push_back(std::move(time));
  return figure;
}

}  // namespace

std::vector<Figure> paper_figures(const Results& results) {
  std::vector<Figure> figures;
  if (!results.grid.empty()) figures.push_back(grid_figure(results));
  for (const DatasetResult& dataset : results.datasets) figures.push_back(dataset_figure(dataset));
  for (const auto& theorem : results.theorem) figures.push_back(theorem_figure(theorem));
  if (!results.curve.empty()) figures.push_back(noise_figure(results));
  for (const DatasetResult& dataset : results.datasets) figures.push_back(cluster_figure(dataset));
  return figures;
}

}  // namespace goblin::report
