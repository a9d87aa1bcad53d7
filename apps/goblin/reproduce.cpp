#include "reproduce.hpp"

#include "commands.hpp"
#include "gnuplot.hpp"
#include "goblin/data/reading.hpp"
#include "goblin/experiment/paper.hpp"
#include "goblin/report/claims.hpp"
#include "goblin/report/page.hpp"
#include "goblin/report/paper_figures.hpp"
#include "json.hpp"
#include "progress.hpp"
#include "saving.hpp"
#include "shard.hpp"
#include "signals.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace goblin::app {
namespace {

constexpr const char* reproduce_examples =
    "A run that was stopped goes on where it was: finished simulations are kept under OUT/cells.\n\n"
    "Examples:\n"
    "  goblin reproduce cliques --quick\n"
    "  goblin reproduce all --data DIR --out report\n"
    "  goblin reproduce rivals --data DIR                # all policies and ways to choose; without --data on cliques\n"
    "  goblin reproduce lastfm --data DIR --seeds 20     # ten more seeds cost ten more seeds\n"
    "  goblin reproduce all --data DIR --shard 1/2       # half of the simulations; --shard 2/2 on another machine\n";

/// What sysexits.h calls a temporary failure: try again later.
constexpr int not_yet = 75;

experiment::paper::Options paper_options(const ReproduceRequest& request) {
  experiment::paper::Options options{.quick = request.quick, .rounds = request.rounds, .seeds = request.seeds};
  const auto wanted = [&](const char* part) { return request.part == part || request.part == "all"; };
  options.cliques = wanted("cliques");
  const auto read = [&](auto reader, const std::string& reading) {
    return std::make_shared<const data::Dataset>(
        reader(request.data.required_folder(), request.data.read_options(reading)));
  };
  const auto readings = readings_of(request);
  options.reading = readings.empty() ? std::string() : readings.front();
  if (wanted("lastfm")) options.lastfm = read(data::read_lastfm, options.reading);
  if (wanted("delicious")) options.delicious = read(data::read_delicious, options.reading);
  for (std::size_t k = 1; k < readings.size() && (options.lastfm || options.delicious); ++k) {
    experiment::paper::OtherReading other{.name = readings[k]};
    if (options.lastfm) other.lastfm = read(data::read_lastfm, other.name);
    if (options.delicious) other.delicious = read(data::read_delicious, other.name);
    options.others.push_back(std::move(other));
  }
  return options;
}

void write_report(const report::Report& report, const std::filesystem::path& out) {
  const auto csv = out / "csv";
  write_file(csv / "verdicts.csv", [&](std::ostream& file) { report::write_verdicts_csv(file, report); });
  if (report.readings.size() > 1) {
    write_file(csv / "readings.csv", [&](std::ostream& file) { report::write_readings_csv(file, report); });
  }
  write_file(csv / "results.csv", [&](std::ostream& file) { report::write_results_csv(file, report.results); });
  write_file(csv / "times.csv", [&](std::ostream& file) { report::write_times_csv(file, report.results); });
  for (const report::DrawnFigure& drawn : report.figures) {
    write_file(csv / (drawn.figure.name + ".csv"), [&](std::ostream& file) { report::write_csv(file, drawn.figure); });
  }
  write_file(out / "index.html", [&](std::ostream& file) { file << report::page(report); });
}

void print_plan(const experiment::paper::Plan& plan, const ReproduceRequest& request) {
  fmt::print("{}: {} simulations on {} threads\n", command_of(request), plan.cell_count(), request.threads);
  const auto print = [](std::string_view what, const experiment::Study& study) {
    fmt::print("  {}: {} rounds, evaluation seeds {}\n  {:{}}  tuned over {} rounds on seeds {}\n", what, study.rounds,
               list_of(study.evaluation_seeds), "", what.size(), study.tuning_rounds, list_of(study.tuning_seeds));
  };
  if (!plan.grid.empty()) print(plan.grid.front().study.title, plan.grid.front().study);
  for (const auto& study : plan.datasets) {
    print(study.title, study);
  }
  if (!plan.datasets.empty() && plan.options.reading.empty()) {
    fmt::print("  the data is read by the options given, and as in the reading literal beside them\n");
  } else if (!plan.datasets.empty()) {
    fmt::print("  the data is read as {}", plan.options.reading);
    for (const auto& other : plan.others)
      fmt::print("{}{}", &other == &plan.others.front() ? "; beside it as " : ", ", other.name);
    fmt::print("\n");
  }
}

Json json_of(const report::Report& report, const ReproduceRequest& request, double seconds) {
  Json claims = Json::array();
  for (std::size_t k = 0; k < report.tuned.size(); ++k) {
    const report::Claim& claim = report.tuned[k];
    const report::Difference& weakest = claim.weakest();
    claims.push_back({{"claim", claim.id},
                      {"text", claim.text},
                      {"verdict", verdict_of(claim)},
                      {"in_hindsight", verdict_of(report.hindsight[k])},
                      {"weakest",
                       {{"difference", weakest.label},
                        {"mean", weakest.estimate.mean},
                        {"standard_error", json_number(weakest.estimate.standard_error)},
                        {"low", weakest.low},
                        {"high", weakest.high},
                        {"seeds", weakest.by_seed.size()},
                        {"unit", claim.unit}}}});
  }
  Json readings = Json::array();
  for (const report::ReadingClaims& reading : report.readings) {
    Json verdicts = Json::array();
    for (const report::Claim& claim : reading.claims) {
      const report::Difference& weakest = claim.weakest();
      verdicts.push_back({{"claim", claim.id},
                          {"verdict", verdict_of(claim)},
                          {"difference", weakest.label},
                          {"low", weakest.low},
                          {"high", weakest.high}});
    }
    if (!verdicts.empty()) readings.push_back({{"reading", reading.name}, {"claims", std::move(verdicts)}});
  }
  return {{"command", report.command},
          {"version", report.version},
          {"report", (std::filesystem::path(request.out) / "index.html").string()},
          {"simulations", report.results.plan.cell_count()},
          {"seconds", seconds},
          {"reading", report.results.plan.options.reading},
          {"claims", std::move(claims)},
          {"readings", std::move(readings)}};
}

/// What somebody may want to do after the experiment that needs no data.
void print_next(const ReproduceRequest& request) {
  fmt::print(
      "What next:\n"
      "  look at the figures and at each claim:  open {} in a browser\n"
      "  the paper's data sets:                  goblin data fetch lastfm --data datasets && goblin reproduce lastfm "
      "--quick --data datasets\n"
      "  a bandit for your own users:            docs/your-data.md, or goblin serve --demo\n",
      (std::filesystem::path(request.out) / "index.html").string());
}

void reproduce_paper(const ReproduceRequest& request) {
  if (request.shard.count == 1) check_gnuplot();  // a shard may never come to the page
  const auto plan = experiment::paper::plan(paper_options(request));
  const std::filesystem::path out = request.out;
  if (!request.json) print_plan(plan, request);
  std::fflush(stdout);
  const double begin = seconds_now();
  std::optional<experiment::paper::Results> results;
  const Played played = play_cells(request, plan.cell_count(),
                                   [&](const experiment::CellStore& store, const experiment::RunOptions& options) {
                                     results = experiment::paper::run(plan, store, options);
                                     return results.has_value();
                                   });
  const auto figures = report::paper_figures(*results);
  write_file(out / "figures" / "figures.gp", [&](std::ostream& file) { file << report::gnuplot_script(figures); });
  const report::Report report{.results = *results,
                              .tuned = judge_claims(*results, report::Choice::tuned),
                              .hindsight = judge_claims(*results, report::Choice::hindsight),
                              .readings = report::judge_readings(*results),
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
             report::readings_table(report.readings) + report::verdict_table(report.tuned), played.done, played.found,
             (out / "cells").string(), seconds, (out / "index.html").string());
  if (request.part == "cliques") print_next(request);
}

}  // namespace

std::string command_of(const ReproduceRequest& request) {
  std::string command = "goblin reproduce " + request.part;
  if (request.quick) command += " --quick";
  if (request.rounds) command += fmt::format(" --rounds {}", *request.rounds);
  if (request.seeds) command += fmt::format(" --seeds {}", *request.seeds);
  for (const std::string& reading : request.readings) command += fmt::format(" --reading {}", reading);
  command += request.data.context_words();
  if (request.part == "rivals" && !request.data.folder.empty()) command += " --data DIR";
  return command;
}

std::vector<std::string> readings_of(const ReproduceRequest& request) {
  std::vector<std::string> names = request.readings;
  for (std::size_t k = 0; k < names.size(); ++k) {
    (void)data::reading_named(names[k]);
    if (std::count(names.begin(), names.end(), names[k]) > 1) {
      throw std::invalid_argument(fmt::format("reading: '{}' stands twice (each must be another)", names[k]));
    }
  }
  const bool asked = !names.empty() || !request.data.context_words().empty();
  if (asked && (request.part == "cliques" || (request.part == "rivals" && request.data.folder.empty()))) {
    throw std::invalid_argument(fmt::format(
        "{} (contradicts {}, whose contexts are not made of tags)",
        names.empty() ? request.data.context_words().substr(1) : fmt::format("reading: '{}'", names.front()),
        request.part == "cliques" ? "cliques" : "rivals without --data"));
  }
  if (!names.empty() || request.data.is_read_by_options() || request.part == "rivals" || request.part == "cliques") {
    return names;
  }
  for (const data::Reading& each : data::readings()) {
    if (names.empty() || request.part == "all") names.emplace_back(each.name);
  }
  return names;
}

std::string list_of(const std::vector<std::uint64_t>& seeds) { return fmt::format("{}", fmt::join(seeds, ", ")); }

void print_json(const ReproduceRequest& request, const Json& json) {
  if (request.take_json) {
    request.take_json(json_text(json));
  } else {
    fmt::print("{}\n", json_text(json));
  }
}

void check_gnuplot() {
  if (has_gnuplot()) return;
  throw std::runtime_error(
      "the figures need the program gnuplot, which is not there (Debian and Ubuntu: apt install gnuplot-nox)");
}

namespace {

void say_what_is_missing(const ReproduceRequest& request, const Played& played, std::size_t missing,
                         std::size_t cell_count) {
  const std::size_t ran = played.done - played.found;
  const std::string shard = text_of(request.shard);
  if (request.json) {
    print_json(request, {{"command", command_of(request)},
                         {"shard", shard},
                         {"simulations", cell_count},
                         {"done", played.done},
                         {"ran", ran},
                         {"missing", missing}});
  }
  fmt::print(stderr,
             "goblin: shard {}: {} simulations run, {} found; {} of {} are in {}\n"
             "goblin: {} simulations of other shards are missing, and what comes next depends on them: run the other "
             "shards, then this command again (exit code {})\n",
             shard, ran, played.found, played.done, cell_count, (std::filesystem::path(request.out) / "cells").string(),
             missing, not_yet);
}

}  // namespace

Played play_cells(const ReproduceRequest& request, std::size_t cell_count,
                  const std::function<bool(const experiment::CellStore&, const experiment::RunOptions&)>& run) {
  const std::filesystem::path out = request.out;
  const experiment::CellStore store(out / "cells");
  std::filesystem::create_directories(out / "figures");
  std::filesystem::create_directories(out / "csv");
  std::atomic<std::size_t> done = 0;
  std::atomic<std::size_t> found = 0;
  std::size_t missing = 0;
  bool whole = false;
  {
    std::optional<StopOnSignal> stop;
    if (!request.elsewhere) stop.emplace();  // else whoever runs the simulations hears of signals
    Progress progress("simulations", cell_count);
    whole = run(store, {.threads = request.threads,
                        .shard = request.shard,
                        .clock = processor_seconds,
                        .keep_going = [&stop] { return !stop || !interrupted(); },
                        .on_cell =
                            [&](bool was_there) {
                              ++done;
                              if (was_there) ++found;
                              was_there ? progress.skip() : progress.advance();
                            },
                        .elsewhere = request.elsewhere,
                        .on_missing = [&](std::span<const experiment::Cell> cells) { missing = cells.size(); }});
  }
  if (missing > 0) {
    say_what_is_missing(request, {.done = done, .found = found}, missing, cell_count);
    throw CLI::RuntimeError(not_yet);
  }
  if (!whole) {
    fmt::print(stderr,
               "goblin: interrupted: {} of {} simulations are kept in {}; the same command goes on from there\n",
               done.load(), cell_count, (out / "cells").string());
    throw CLI::RuntimeError(exit_code_of(noted_signal()));
  }
  return {.done = done, .found = found};
}

std::shared_ptr<ReproduceRequest> add_reproduce_options(CLI::App& command) {
  auto request = std::make_shared<ReproduceRequest>();
  command.add_option("part", request->part, "Of the paper: cliques, lastfm, delicious or all; or rivals")
      ->capture_default_str()
      ->check(CLI::IsMember({"cliques", "lastfm", "delicious", "all", "rivals"}));
  command.add_flag("--quick", request->quick, "Fewer rounds, seeds and settings: every figure in a minute or two");
  command.add_option("--out", request->out, "Folder of the report and of finished simulations")
      ->capture_default_str()
      ->type_name("DIR");
  command.add_option("--seeds", request->seeds, "Evaluation seeds (default: 10)")->check(whole_number());
  command
      .add_option("--rounds", request->rounds, "Rounds (default: 10,000, for rivals 3,000); tuning takes half as many")
      ->check(whole_number());
  command.add_option("--threads", request->threads, "Simulations at the same time")
      ->capture_default_str()
      ->check(positive_whole_number());
  add_shard_option(command, request->shard,
                   "Run part I of N of the simulations; N runs that share OUT do them all, and any of them writes the "
                   "report once all are there");
  command.add_flag("--json", request->json, "Print the verdicts as JSON");
  command
      .add_option("--reading", request->readings,
                  fmt::format("How the paper's preprocessing is read: one or more of {}; the first is reported in "
                              "full (default: all for all, unit-contexts for one data set)",
                              data::reading_names()))
      ->type_name("NAME")
      ->allow_extra_args(false)
      ->delimiter(',');
  add_context_options(command, request->data);
  add_data_folder(command, request->data);
  add_cache_options(command, request->data);
  return request;
}

void reproduce(const ReproduceRequest& request) {
  request.part == "rivals" ? reproduce_rivals(request) : reproduce_paper(request);
}

std::vector<experiment::Condition> conditions_of(const ReproduceRequest& request) {
  if (request.part == "rivals") return rivals_conditions(request);
  return experiment::paper::plan(paper_options(request)).conditions();
}

void add_reproduce(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("reproduce", "Run the paper's experiments, or compare its rivals, and write a report");
  command->footer(reproduce_examples);
  command->callback([request = add_reproduce_options(*command)] { reproduce(*request); });
}

}  // namespace goblin::app
