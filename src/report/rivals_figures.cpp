#include "goblin/report/rivals.hpp"
#include "report/figure_parts.hpp"
#include "report/rivals_parts.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace goblin::report {
namespace {

using experiment::StudyResult;
using experiment::paper::clique_edges;
using experiment::paper::GridResult;
using experiment::rivals::Question;
using experiment::rivals::reference;
using experiment::rivals::Results;

/// Beside a line there is little room: "thompson" says enough of "gob.lin thompson".
std::string short_name(const std::string& contender) {
  const std::string begin = fmt::format("{} ", reference);
  return contender.starts_with(begin) ? contender.substr(begin.size()) : contender;
}

/// gob.lin and those who answer the question.
std::vector<std::string> lines_of(const Question& question) {
  std::vector<std::string> names = {std::string(reference)};
  names.insert(names.end(), question.contenders.begin(), question.contenders.end());
  return names;
}

Figure curves_in(const Results& results, const StudyResult& world) {
  Figure figure{.name = "rivals-" + world.study.name,
                .caption = fmt::format("{}: normalized cumulative reward, mean over the evaluation seeds and its 95 % "
                                       "confidence band. Every panel has gob.lin and those who answer its question.",
                                       world.study.title),
                .panels = {},
                .columns = 2};
  for (const Question& question : results.plan.questions) {
    Panel panel{.title = question.text, .x_label = rounds_axis, .y_label = reward_axis, .series = {}};
    for (const std::string& name : lines_of(question)) {
      panel.series.push_back(curve(short_name(name), world.entry(name).tuned(), normalized));
      panel.series.back().colour = colour_in(results, name);
    }
    figure.panels.push_back(std::move(panel));
  }
  return figure;
}

/// Reward at the end against graph noise, question after question, payoff noise to the right.
Figure grid_figure(const Results& results) {
  std::vector<double> payoff_noises;
  for (const GridResult& at : results.grid) {
    if (at.graph_noise == results.grid.front().graph_noise) payoff_noises.push_back(at.payoff_noise);
  }
  Figure figure{
      .name = "rivals-4cliques",
      .caption =
          "4Cliques: normalized reward at the end against the share of flipped edges, mean over the evaluation "
          "seeds and its 95 % confidence band. Payoff noise grows to the right.",
      .panels = {},
      .columns = payoff_noises.size()};
  for (const Question& question : results.plan.questions) {
    for (const double payoff_noise : payoff_noises) {
      Panel panel{.title = fmt::format("{}: payoff noise {}", question.name, payoff_noise),
                  .x_label = "expected share of flipped edges (%)",
                  .y_label = reward_axis,
                  .series = {}};
      for (const std::string& name : lines_of(question)) {
        Series series = series_named(short_name(name));
        series.colour = colour_in(results, name);
        series.marks = true;
        for (const GridResult& at : results.grid) {
          if (at.payoff_noise != payoff_noise) continue;
          const auto rewards = final_rewards(at.result.entry(name).tuned());
          add_mean(series, 100.0 * at.graph_noise / clique_edges, rewards, margin_of(rewards.size()));
        }
        panel.series.push_back(std::move(series));
      }
      figure.panels.push_back(std::move(panel));
    }
  }
  return figure;
}

}  // namespace

std::vector<Figure> rivals_figures(const Results& results) {
  std::vector<Figure> figures = {grid_figure(results)};
  for (const StudyResult& world : results.others) figures.push_back(curves_in(results, world));
  return figures;
}

}  // namespace goblin::report
