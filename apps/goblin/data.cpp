#include "commands.hpp"
#include "data_options.hpp"
#include "fetch.hpp"
#include "gnuplot.hpp"
#include "goblin/data/hetrec.hpp"
#include "goblin/error.hpp"
#include "goblin/report/figure.hpp"
#include "json.hpp"
#include "release.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace goblin::app {
namespace {

constexpr const char* data_examples =
    "Examples:\n"
    "  goblin data fetch lastfm --data datasets\n"
    "  goblin data fetch lastfm --data datasets --from hetrec2011-lastfm-2k.zip\n"
    "  goblin data stats --data datasets --plot preferences.svg\n"
    "  goblin data stats --data datasets --reading unit-contexts\n";

/// The paper's Table 2, and the number of words it has after splitting tags.
struct Published {
  const char* nodes;
  const char* edges;
  const char* average_degree;
  const char* items;
  const char* payoffs;
  const char* tags;
  const char* words;
};
constexpr Published lastfm_published = {"1892", "12717", "13.443", "17632", "92834", "11946", "6036"};
constexpr Published delicious_published = {"1867", "7668", "8.21", "69226", "104799", "53388", "9949"};

struct Described {
  data::Dataset data;
  FileCheck files;
  Published published;
  std::map<std::size_t, std::size_t> items_by_preferences;  // how many items have so many
};

double average_degree(const data::Summary& summary) {
  return 2.0 * static_cast<double>(summary.edges) / static_cast<double>(summary.users);
}

struct Line {
  std::string name;
  std::string value;
  std::string published;
};

std::vector<Line> table_of(const Described& set) {
  const data::Summary& summary = set.data.summary;
  const Published& paper = set.published;
  const auto number = [](std::size_t value) { return std::to_string(value); };
  return {{"nodes", number(summary.users), paper.nodes},
          {"edges", number(summary.edges), paper.edges},
          {"average degree", fmt::format("{:.3f}", average_degree(summary)), paper.average_degree},
          {"items", number(summary.items), paper.items},
          {"nonzero payoffs", number(summary.payoffs), paper.payoffs},
          {"tags", number(summary.tags), paper.tags},
          {"words, rare ones left out", number(summary.words), paper.words},
          {"words in all", number(summary.words_in_all), ""},
          {"tag assignments", number(summary.assignments), ""},
          {"  skipped: item not listed", number(summary.skipped_assignments), ""},
          {"items not listed", number(summary.skipped_items), ""},
          {"items without tags", number(summary.items_without_tags), ""},
          {"  nonzero payoffs on them", number(summary.payoffs_without_tags), ""},
          {"items left out", number(summary.left_out_items), ""},
          {"  nonzero payoffs on them", number(summary.left_out_payoffs), ""},
          {"tags never used", number(summary.unused_tags), ""},
          {"tags listed twice", number(summary.repeated_tags), ""},
          {"users without friends", number(summary.users_without_friends), ""},
          {"users without payoffs", number(summary.users_without_payoffs), ""},
          {"components", number(summary.components), ""},
          {"  users in the largest", number(summary.largest_component), ""},
          {"known files unchanged",
           fmt::format("{} of {}", set.files.known - set.files.changed.size(), set.files.known), ""}};
}

void print_table(const std::vector<Described>& sets) {
  std::vector<std::vector<Line>> columns;
  std::string header = fmt::format("{:<28}", "");
  for (const Described& set : sets) {
    columns.push_back(table_of(set));
    header += fmt::format("  {:>25}  {:>9}", set.data.name, "paper");
  }
  fmt::print("{}\n", header);
  for (std::size_t row = 0; row < columns.front().size(); ++row) {
    std::string line = fmt::format("{:<28}", columns.front()[row].name);
    for (const auto& column : columns) line += fmt::format("  {:>25}  {:>9}", column[row].value, column[row].published);
    fmt::print("{}\n", line.substr(0, line.find_last_not_of(' ') + 1));
  }
}

void print_json(const std::vector<Described>& sets) {
  Json list = Json::array();
  for (const Described& set : sets) {
    const data::Summary& s = set.data.summary;
    const Published& paper = set.published;
    const auto number = [](const char* text) { return Json::parse(text); };
    list.push_back({{"name", set.data.name},
                    {"nodes", s.users},
                    {"edges", s.edges},
                    {"average_degree", average_degree(s)},
                    {"items", s.items},
                    {"nonzero_payoffs", s.payoffs},
                    {"tags", s.tags},
                    {"words", s.words},
                    {"words_in_all", s.words_in_all},
                    {"assignments", s.assignments},
                    {"skipped_assignments", s.skipped_assignments},
                    {"skipped_items", s.skipped_items},
                    {"items_without_tags", s.items_without_tags},
                    {"payoffs_without_tags", s.payoffs_without_tags},
                    {"left_out_items", s.left_out_items},
                    {"left_out_payoffs", s.left_out_payoffs},
                    {"unused_tags", s.unused_tags},
                    {"repeated_tags", s.repeated_tags},
                    {"users_without_friends", s.users_without_friends},
                    {"users_without_payoffs", s.users_without_payoffs},
                    {"components", s.components},
                    {"largest_component", s.largest_component},
                    {"known_files", set.files.known},
                    {"changed_files", set.files.changed.size()},
                    {"paper",
                     {{"nodes", number(paper.nodes)},
                      {"edges", number(paper.edges)},
                      {"average_degree", number(paper.average_degree)},
                      {"items", number(paper.items)},
                      {"nonzero_payoffs", number(paper.payoffs)},
                      {"tags", number(paper.tags)},
                      {"words", number(paper.words)}}}});
    // A list of pairs: [preferences, items].
    Json& distribution = list.back()["items_by_preferences"] = Json::array();
    for (const auto& [preferences, items] : set.items_by_preferences) {
      distribution.push_back(Json::array({preferences, items}));
    }
  }
  fmt::print("{}\n", json_text({{"datasets", std::move(list)}}));
}

/// The terminal of gnuplot that writes a file of this name; for no name, text.
std::string terminal_for(const std::string& file) {
  const std::string extension = std::filesystem::path(file).extension().string();
  if (file.empty()) return "dumb size 100, 30";
  if (extension == ".svg") return "svg size 800, 500 enhanced font 'sans,14' background 'white'";
  if (extension == ".png") return "pngcairo size 800, 500 font 'sans,12'";
  if (extension == ".pdf") return "pdfcairo size 8in, 5in";
  throw CLI::ValidationError("--plot", "the file's name must end in .svg, .png or .pdf");
}

/// The paper's figure of preferences per item: for how many items so many users have a nonzero payoff, both axes
/// logarithmic.
std::string plot(const std::vector<Described>& sets, const std::string& file) {
  std::string script = fmt::format("set terminal {}\n", terminal_for(file));
  if (!file.empty()) script += fmt::format("set output {}\n", report::gnuplot_quoted(file));
  script +=
      "set logscale xy\nset xlabel 'preferences'\nset ylabel 'items'\nset key top right\n"
      "set title 'Items by their number of preferences'\n";
  std::string curves;
  for (std::size_t k = 0; k < sets.size(); ++k) {
    script += fmt::format("$set{} << EOD\n", k);
    for (const auto& [preferences, items] : sets[k].items_by_preferences) {
      if (preferences > 0) script += fmt::format("{} {}\n", preferences, items);
    }
    script += "EOD\n";
    curves += fmt::format("{}$set{} using 1:2 with points pointtype {} title {}", k == 0 ? "" : ", ", k,
                          file.empty() ? (k == 0 ? "'o'" : "'*'") : (k == 0 ? "7" : "6"),
                          report::gnuplot_quoted(sets[k].data.name));
  }
  return run_gnuplot(script + "plot " + curves + "\n");
}

struct StatsRequest {
  DataRequest data;
  std::string plot_file;
  bool json = false;
};

Described describe(data::Dataset data, const std::filesystem::path& folder, const char* name,
                   const Published& published) {
  Described set{.data = std::move(data),
                .files = check_files(folder, release_named(name)),
                .published = published,
                .items_by_preferences = {}};
  for (const std::size_t count : set.data.payoffs.column_sizes()) ++set.items_by_preferences[count];
  return set;
}

void show_stats(const StatsRequest& request) {
  const std::string folder = request.data.required_folder();
  const auto options = request.data.read_options();
  std::vector<Described> sets;
  if (const auto found = data::find_lastfm(folder); !found.empty()) {
    sets.push_back(describe(data::read_lastfm(folder, options), found, "lastfm", lastfm_published));
  }
  if (const auto found = data::find_delicious(folder); !found.empty()) {
    sets.push_back(describe(data::read_delicious(folder, options), found, "delicious", delicious_published));
  }
  if (sets.empty()) {
    throw DataError(folder, 0, "no dataset is there: goblin data fetch lastfm, goblin data fetch delicious");
  }
  if (!request.plot_file.empty()) plot(sets, request.plot_file);
  if (request.json) {
    print_json(sets);
    return;
  }
  print_table(sets);
  if (!request.plot_file.empty()) {
    fmt::print("\n{}: items by their number of preferences\n", request.plot_file);
  } else if (has_gnuplot()) {
    fmt::print("\n{}", plot(sets, ""));
  } else {
    fmt::print("\nno plot: it needs the program gnuplot (Debian and Ubuntu: gnuplot-nox)\n");
  }
}

void add_stats(CLI::App& data) {
  auto request = std::make_shared<StatsRequest>();
  CLI::App* command = data.add_subcommand("stats", "The paper's table of the datasets beside the paper's own figures");
  command->footer(data_examples);
  add_data_folder(*command, request->data);
  add_cache_options(*command, request->data);
  add_reading(*command, request->data);
  add_context_options(*command, request->data);
  command->add_option("--plot", request->plot_file, "Plot preferences per item into this .svg, .png or .pdf file")
      ->type_name("FILE");
  command->add_flag("--json", request->json, "Print JSON");
  command->callback([request] { show_stats(*request); });
}

void add_fetch(CLI::App& data) {
  struct Asked {
    DataRequest data;
    FetchRequest fetch;
    bool json = false;
  };
  auto asked = std::make_shared<Asked>();
  CLI::App* command = data.add_subcommand("fetch", "Download a dataset, check its files and unpack them");
  command->footer(data_examples);
  command->add_option("dataset", asked->fetch.dataset, "lastfm or delicious")
      ->required()
      ->check(CLI::IsMember({"lastfm", "delicious"}));
  add_data_folder(*command, asked->data);
  command->add_option("--from", asked->fetch.from, "A mirror's URL, or an archive that is here already")
      ->type_name("FILE-or-URL");
  command->add_flag("--unchecked", asked->fetch.unchecked, "Take files that differ from those that were published");
  command->add_flag("--json", asked->json, "Print JSON");
  command->callback([asked] {
    const std::filesystem::path folder = asked->data.required_folder();
    const std::string done = fetch(asked->fetch, folder);
    if (asked->json) {
      const auto place = folder / release_named(asked->fetch.dataset).folder;
      fmt::print("{}\n", json_text({{"dataset", asked->fetch.dataset}, {"folder", place.string()}}));
    } else {
      fmt::print("{}\n", done);
    }
  });
}

}  // namespace

void add_data(CLI::App& app) {
  CLI::App* command = app.add_subcommand("data", "Download, check and describe the datasets");
  command->footer(data_examples);
  command->require_subcommand(1);
  add_stats(*command);
  add_fetch(*command);
}

}  // namespace goblin::app
