#include "gnuplot.hpp"
#include "goblin/report/rivals.hpp"
#include "json.hpp"
#include "progress.hpp"
#include "reproduce.hpp"
#include "saving.hpp"
#include "signals.hpp"

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace goblin::app {
namespace {

experiment::rivals::Options rivals_options(const ReproduceRequest& request) {
  experiment::rivals::Options options{.quick = request.quick, .rounds = request.rounds, .seeds = request.seeds};
  const auto readings = readings_of(request);
  if (request.data.folder.empty()) return options;
  if (readings.size() > 1) {
    throw std::invalid_argument(fmt::format("reading: {} of them (rivals are compared in 1)", readings.size()));
  }
  const std::string reading = readings.empty() ? std::string() : readings.front();
  if (request.data.chosen_contexts(reading).unit_contexts) {
    throw std::invalid_argument(
        fmt::format("{} (contradicts rivals, which tune the length of contexts)",
                    reading.empty() ? std::string("unit_contexts: true") : fmt::format("reading: '{}'", reading)));
  }
  const auto read = [&](auto reader) {
    return std::make_shared<const data::Dataset>(reader(request.data.folder, request.data.read_options(reading)));
  };
  options.lastfm = read(data::read_lastfm);
  options.delicious = read(data::read_delicious);
  return options;
}

void print_plan(const experiment::rivals::Plan& plan, const ReproduceRequest& request) {
  const experiment::Study& study = plan.grid.front().study;
  fmt::print("{}: {} simulations on {} threads, roughly {:.0f} minutes of one core\n", command_of(request),
             plan.cell_count(), request.threads, plan.rough_seconds() / 60.0);
  fmt::print("  {} contenders, {} settings each, in {} worlds: 4Cliques ({})", study.contenders.size(), plan.budget,
             plan.grid.size() + plan.others.size(), plan.grid.size());
  for (const experiment::Study& other : plan.others) fmt::print(", {}", other.title);
  fmt::print("\n  {} rounds, evaluation seeds {}; tuned over {} rounds ({} where vectors change) on seeds {}\n",
             study.rounds, list_of(study.evaluation_seeds), study.tuning_rounds, plan.others.front().tuning_rounds,
             list_of(study.tuning_seeds));
  if (!plan.options.lastfm) fmt::print("  without --data, Last.fm and Delicious are left out\n");
}

void write_report(const report::RivalsReport& report, const std::filesystem::path& out) {
  const auto csv = out / "csv";
  write_file(csv / "rivals.csv", [&](std::ostream& file) { report::write_rivals_csv(file, report); });
  write_file(csv / "rivals-results.csv",
             [&](std::ostream& file) { report::write_rivals_results_csv(file, report.results); });
  write_file(csv / "rivals-times.csv",
             [&](std::ostream& file) { report::write_rivals_times_csv(file, report.results); });
  for (const report::DrawnFigure& drawn : report.figures) {
    write_file(csv / (drawn.figure.name + ".csv"), [&](std::ostream& file) { report::write_csv(file, drawn.figure); });
  }
  write_file(out / "rivals.md", [&](std::ostream& file) { file << report::rivals_markdown(report); });
  write_file(out / "rivals.html", [&](std::ostream& file) { file << report::rivals_page(report); });
}

Json json_of(const report::RivalsReport& report, const ReproduceRequest& request, double seconds) {
  Json answers = Json::array();
  for (const report::Answer& answer : report::answers_of(report.results, report.comparisons)) {
    answers.push_back({{"question", answer.question}, {"answer", answer.together}, {"contenders", answer.each}});
  }
  Json differences = Json::array();
  for (const report::Claim& world : report.comparisons) {
    for (const report::Difference& each : world.differences) {
      differences.push_back({{"world", world.id},
                             {"contender", each.label},
                             {"mean", each.estimate.mean},
                             {"low", each.low},
                             {"high", each.high},
                             {"seeds", each.by_seed.size()},
                             {"standing", report::standing_of(each.verdict)}});
    }
  }
  return {{"command", report.command},
          {"version", report.version},
          {"report", (std::filesystem::path(request.out) / "rivals.html").string()},
          {"simulations", report.results.plan.cell_count()},
          {"seconds", seconds},
          {"answers", std::move(answers)},
          {"minus_gob_lin", std::move(differences)}};
}

}  // namespace

std::vector<experiment::Condition> rivals_conditions(const ReproduceRequest& request) {
  return experiment::rivals::plan(rivals_options(request)).conditions();
}

void reproduce_rivals(const ReproduceRequest& request) {
  if (request.shard.count == 1) check_gnuplot();  // a shard may never come to the page
  const auto plan = experiment::rivals::plan(rivals_options(request));
  const std::filesystem::path out = request.out;
  if (!request.json) print_plan(plan, request);
  std::fflush(stdout);
  const double begin = seconds_now();
  std::optional<experiment::rivals::Results> results;
  const Played played = play_cells(request, plan.cell_count(),
                                   [&](const experiment::CellStore& store, const experiment::RunOptions& options) {
                                     results = experiment::rivals::run(plan, store, options);
                                     return results.has_value();
                                   });
  const auto figures = report::rivals_figures(*results);
  write_file(out / "figures" / "rivals.gp", [&](std::ostream& file) { file << report::gnuplot_script(figures); });
  const report::RivalsReport report{.results = *results,
                                    .comparisons = report::compare_rivals(*results),
                                    .figures = draw(figures, out / "figures"),
                                    .command = command_of(request),
                                    .version = GOBLIN_VERSION};
  write_report(report, out);
  const double seconds = seconds_now() - begin;
  if (request.json) {
    print_json(request, json_of(report, request, seconds));
    return;
  }
  fmt::print("\n{}\n{} simulations, {} of them found in {}, in {:.0f} s; the report is {}\n",
             report::rivals_answers(report), played.done, played.found, (out / "cells").string(), seconds,
             (out / "rivals.html").string());
}

}  // namespace goblin::app
