#include "page.hpp"

#include "gnuplot.hpp"
#include "goblin/report/html.hpp"
#include "json.hpp"
#include "tables.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace goblin::bench {
namespace {

using app::Json;
using Value = std::optional<double> (*)(const Measurement&);

std::optional<double> computed_seconds(const Measurement& each) { return each.counter("cpu_s"); }
std::optional<double> milliseconds(const Measurement& each) { return 1e3 * each.seconds; }
std::optional<double> microseconds(const Measurement& each) { return 1e6 * each.seconds; }
std::optional<double> megabytes(const Measurement& each) { return each.counter("MB"); }
std::optional<double> per_second(const Measurement& each) { return each.counter("per_second"); }

/// One panel: of the benchmarks of a family a line for each variant, at the values of an argument.
struct PanelPlan {
  const char* family;
  const char* argument;
  Value value;
  const char* title;
  const char* x_label;
  const char* y_label;
  std::string_view symbol;  ///< exponents are fitted to powers of it; none where it is empty
  bool logarithmic = true;  ///< both axes; if not, values are relative to the first of their line
};

struct FigurePlan {
  const char* name;
  const char* heading;
  const char* caption;
  std::vector<PanelPlan> panels;
};

const std::vector<FigurePlan>& plans() {
  static const std::vector<FigurePlan> all = {
      {"round-time",
       "A round against the number of users",
       "gob.lin with each engine on graphs with communities (average degree 14), d = 25, 25 candidates: select and "
       "update, and the memory of the bandit after the rounds. Labels carry the exponents fitted over all points.",
       {{"round_time", "users", milliseconds, "one round", "users n", "milliseconds", "n"},
        {"round_time", "users", megabytes, "memory", "users n", "megabytes", "n"}}},
      {"select-latency",
       "Selecting",
       "One decision for a user of 100, after 500 rewards: against the candidates at d = 25, and against d for 25 "
       "candidates. local keeps no variances, it computes them in every decision; it is made for graphs too large for "
       "the others.",
       {{"select_candidates", "candidates", microseconds, "d = 25", "candidates", "microseconds", "k"},
        {"select_dimension", "dimension", microseconds, "25 candidates", "dimension d", "microseconds", "d"}}},
      {"clusters",
       "Clusters",
       "A round of the policies with clusters on a graph of 2,000 users (d = 25, 25 candidates, clusters by METIS), "
       "and their memory. One cluster: block is gob.lin, macro is linucb-sin.",
       {{"cluster_round", "clusters", milliseconds, "one round", "clusters", "milliseconds", ""},
        {"cluster_round", "clusters", megabytes, "memory", "clusters", "megabytes", ""}}},
      {"threads",
       "Threads",
       "Decisions of one bandit by several threads at once, and simulations of a sweep (4Cliques, 2,000 rounds each) "
       "over threads: how many times as many a second as one thread does. Time on the wall.",
       {{"select_threads", "threads", per_second, "concurrent selects", "threads", "times one thread", "", false},
        {"sweep_threads", "threads", per_second, "simulations of a sweep", "threads", "times one thread", "", false}}},
      {"bulk",
       "Many rewards at once",
       "Rewards that one thread learns in a second of processor time, against the number of rewards in a batch: graph "
       "of 100 users with communities, d = 25, after 500 rewards. All engines learn the same batches.",
       {{"bulk", "batch", per_second, "100 users", "rewards in a batch", "rewards a second", ""}}},
      {"warm-start",
       "A warm start",
       "Learning a whole log at once, by a bandit that knew nothing: processor time of all threads together, against "
       "the "
       "rewards in the log. For comparison, the same log learned one reward after the other, by sparse.",
       {{"warm_start", "rewards", computed_seconds, "100 users, d = 25", "rewards in the log", "seconds", ""},
        {"lastfm_warm_start", "rewards", computed_seconds, "Last.fm, d = 25", "rewards in the log", "seconds", ""}}}};
  return all;
}

std::string colour_of_line(const std::string& variant) {
  static const std::map<std::string, std::string> engines = {
      {"dense", "#e0662a"}, {"sparse", "#2b83e0"}, {"local", "#1f9e6e"}};
  const auto found = engines.find(variant);
  return found != engines.end() ? found->second : std::string(report::colour_of(variant));
}

report::Panel panel_of(const PanelPlan& plan, std::span<const Measurement> measurements) {
  report::Panel panel{.title = plan.title,
                      .x_label = plan.x_label,
                      .y_label = plan.y_label,
                      .series = {},
                      .log_x = plan.logarithmic,
                      .log_y = plan.logarithmic};
  for (const Measurement& each : measurements) {
    const auto x = each.argument(plan.argument);
    const auto y = plan.value(each);
    if (each.family != plan.family || !x || !y) continue;
    const auto same = [&](const report::Series& series) { return series.label == each.variant; };
    auto line = std::find_if(panel.series.begin(), panel.series.end(), same);
    if (line == panel.series.end()) {
      panel.series.push_back({.label = each.variant,
                              .colour = colour_of_line(each.variant),
                              .x = {},
                              .y = {},
                              .low = {},
                              .high = {},
                              .dashed = false,
                              .marks = true,
                              .label_at_end = true});
      line = panel.series.end() - 1;
    }
    line->x.push_back(*x);
    line->y.push_back(*y);
  }
  if (plan.logarithmic) return panel;
  for (report::Series& series : panel.series) {
    const double first = series.y.front();
    for (double& value : series.y) value /= first;
  }
  return panel;
}

Json row_of(const Measurement& each) {
  return {{"name", each.name()},           {"family", each.family},
          {"variant", each.variant},       {"arguments", Json(each.arguments)},
          {"seconds", each.seconds},       {"wall_seconds", each.wall_seconds},
          {"iterations", each.iterations}, {"repetitions", each.repetitions},
          {"label", each.label},           {"counters", Json(each.counters)}};
}

constexpr const char* method =
    "Times are processor time of the measuring thread, the mean over the iterations of one run; of rounds, after 64 "
    "more that warm up. Time on the wall is said to be so; what threads get done in a second is that. Memory is what "
    "the bandit holds, by its own count.";

void write_file(const std::filesystem::path& path, std::string_view text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) throw std::runtime_error(fmt::format("{}: the file cannot be written", path.string()));
}

/// Empty if there is none.
std::string text_of_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace

std::vector<report::Figure> figures_of(std::span<const Measurement> measurements, std::vector<Fit>* fits) {
  std::vector<report::Figure> figures;
  for (const FigurePlan& plan : plans()) {
    report::Figure figure{.name = plan.name, .caption = plan.caption, .panels = {}};
    for (const PanelPlan& panel_plan : plan.panels) {
      report::Panel panel = panel_of(panel_plan, measurements);
      std::erase_if(panel.series, [](const report::Series& series) { return series.x.size() < 2; });
      if (panel.series.empty()) continue;
      for (report::Series& series : panel.series) {
        const auto exponent = !panel_plan.symbol.empty() ? fitted_exponent(series.x, series.y) : std::nullopt;
        if (!exponent) continue;
        if (fits != nullptr) {
          fits->push_back(
              {.figure = plan.name, .panel = panel_plan.title, .line = series.label, .exponent = *exponent});
        }
        series.label += fmt::format(" {}^{{{:.2f}}}", panel_plan.symbol, *exponent);
      }
      figure.panels.push_back(std::move(panel));
    }
    figure.columns = std::min<std::size_t>(2, figure.panels.size());
    if (!figure.panels.empty()) figures.push_back(std::move(figure));
  }
  return figures;
}

std::string json_of(const Setup& setup, std::span<const Measurement> measurements) {
  Json rows = Json::array();
  for (const Measurement& each : measurements) rows.push_back(row_of(each));
  std::vector<Fit> fits;
  static_cast<void>(figures_of(measurements, &fits));
  Json fitted = Json::array();
  for (const Fit& fit : fits) {
    fitted.push_back({{"figure", fit.figure}, {"panel", fit.panel}, {"line", fit.line}, {"exponent", fit.exponent}});
  }
  const auto ratio = lastfm_ratio(measurements);
  return app::json_text(
             {{"commit", setup.commit},
              {"time", setup.time},
              {"machine",
               {{"processor", setup.processor},
                {"cores", setup.cores},
                {"memory_GB", std::round(10.0 * setup.memory_gigabytes) / 10.0},
                {"load_before", setup.load}}},
              {"compiler", setup.compiler},
              {"method", method},
              {"lastfm_dense_over_round", app::json_number(ratio ? std::optional(ratio->ratio()) : std::nullopt)},
              {"fits", std::move(fitted)},
              {"rows", std::move(rows)}}) +
         '\n';
}

std::string page_of(const Setup& setup, std::span<const Measurement> measurements,
                    std::span<const report::DrawnFigure> figures, std::string_view served) {
  using report::html_escaped;
  std::string text = fmt::format(
      R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>goblin: what a round costs</title>
<style>{}</style></head><body>
<h1>goblin: what a round costs</h1>
<p class="soft">{}</p>
<p>{}</p>
)",
      report::html_style(), html_escaped(setup.words()), method);
  if (const auto ratio = lastfm_ratio(measurements)) text += fmt::format("<p>{}.</p>\n", html_escaped(ratio->words()));
  for (const report::DrawnFigure& drawn : figures) {
    const auto plan = std::find_if(plans().begin(), plans().end(),
                                   [&](const FigurePlan& each) { return each.name == drawn.figure.name; });
    text +=
        fmt::format("<h2>{}</h2>\n<figure><div class=\"panels columns-{}\">\n", plan->heading, drawn.figure.columns);
    for (const std::string& panel : drawn.panels) text += panel + '\n';
    text += fmt::format("</div><figcaption>{}</figcaption></figure>\n", html_escaped(drawn.figure.caption));
  }
  text += tables_of(measurements);
  text += fmt::format("<!-- served: begin -->\n{}<!-- served: end -->\n", served);
  text += R"(<h2>All measurements</h2>
<div class="scroll"><table><thead><tr><th>benchmark</th><th>processor time</th><th>wall time</th><th>iterations</th>
<th>memory</th><th class="text">remarks</th></tr></thead><tbody>
)";
  for (const Measurement& each : measurements) {
    const auto memory = each.counter("MB");
    std::string remarks = each.label;
    for (const auto& [name, value] : each.counters) {
      if (name != "MB") remarks += fmt::format("{}{} {:.4g}", remarks.empty() ? "" : ", ", name, value);
    }
    text += fmt::format(
        "<tr><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td><td>{}</td><td class=\"number\">{}</td>"
        "<td class=\"text\">{}</td></tr>\n",
        html_escaped(each.name()), time_words(each.seconds), time_words(each.wall_seconds), each.iterations,
        memory ? fmt::format("{:.3g} MB", *memory) : "", html_escaped(remarks));
  }
  return text + "</tbody></table></div>\n</body></html>\n";
}

void write_results(const Setup& setup, std::span<const Measurement> measurements, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  std::vector<report::DrawnFigure> drawn;
  const auto figures = figures_of(measurements);
  if (!figures.empty() && app::has_gnuplot()) drawn = app::draw(figures, folder);
  for (const report::DrawnFigure& each : drawn) std::filesystem::remove(folder / (each.figure.name + ".pdf"));
  write_file(folder / "results.json", json_of(setup, measurements));
  write_file(folder / "index.html", page_of(setup, measurements, drawn, text_of_file(folder / "served.html")));
}

}  // namespace goblin::bench
