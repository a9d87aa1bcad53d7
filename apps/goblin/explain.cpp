#include "commands.hpp"
#include "data_options.hpp"
#include "goblin/bandit/bandit.hpp"
#include "goblin/error.hpp"
#include "goblin/report/explanation.hpp"
#include "json.hpp"
#include "saving.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace goblin::app {
namespace {

struct ExplainRequest {
  std::string load;
  std::string user;
  std::string context;
  std::size_t top = 10;
  std::string svg;
  bool json = false;
};

/// The numbers of "0.1,0.2,...".
std::vector<double> numbers_of(std::string_view text) {
  std::vector<double> numbers;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    std::string_view one = text.substr(begin, end - begin);
    while (one.starts_with(' ')) one.remove_prefix(1);
    while (one.ends_with(' ')) one.remove_suffix(1);
    double value = 0.0;
    const auto [stop, error] = std::from_chars(one.data(), one.data() + one.size(), value);
    if (error != std::errc() || stop != one.data() + one.size()) {
      throw std::invalid_argument(
          fmt::format("context[{}]: '{}' (must be a number; write the context as 0.1,0.2,...)", numbers.size(), one));
    }
    numbers.push_back(value);
    begin = end + 1;
  }
  return numbers;
}

Json json_of(const Explanation& explanation, const report::NameOf& name_of) {
  Json contributions = Json::array();
  for (const Contribution& one : explanation.contributions) {
    contributions.push_back({{"user", name_of(one.user)}, {"value", one.value}});
  }
  Json json = {{"mean", explanation.mean},
               {"width", explanation.width},
               {"contributions", std::move(contributions)},
               {"rest", explanation.rest}};
  if (explanation.engine == EngineKind::local) json["unexplained"] = explanation.unexplained;
  return json;
}

void run(const ExplainRequest& request) {
  const std::vector<double> context = numbers_of(request.context);
  if (!std::filesystem::exists(request.load)) {
    throw DataError(request.load, 0, "there is no such file (must be a saved bandit: goblin fit --save writes one)");
  }
  const Bandit bandit = Bandit::load(request.load);
  const Explanation explanation = bandit.explain(request.user, context, request.top);
  const report::NameOf name_of = report::names_in(bandit, explanation);
  if (!request.svg.empty()) {
    write_file(request.svg, [&](std::ostream& out) { out << report::svg(explanation, name_of); });
  }
  if (request.json) {
    fmt::print("{}\n", json_line(json_of(explanation, name_of)));
  } else {
    fmt::print("{}", report::table(explanation, name_of));
  }
}

}  // namespace

void add_explain(CLI::App& app) {
  auto options = std::make_shared<ExplainRequest>();
  auto* command = app.add_subcommand("explain", "Say whose rewards an estimate came from");
  command->footer(
      "Example:\n"
      "  goblin explain --load model.goblin --user ann --context 0.1,0.2,0.7 --svg ann.svg");
  command->add_option("--load", options->load, "A saved bandit")->required();
  command->add_option("--user", options->user, "Whose estimate")->required();
  command->add_option("--context", options->context, "Of which item: its numbers, with commas between them")
      ->required();
  command->add_option("--top", options->top, "How many contributions to list, the largest")
      ->capture_default_str()
      ->check(positive_whole_number());
  command->add_option("--svg", options->svg, "Draw the users who contributed, and how they are joined, into this file");
  command->add_flag("--json", options->json, "Print one JSON object instead of a table");
  command->callback([options] { run(*options); });
}

}  // namespace goblin::app
