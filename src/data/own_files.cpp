#include "goblin/data/own_files.hpp"

#include "data/prepare.hpp"
#include "goblin/data/reading.hpp"
#include "goblin/error.hpp"
#include "goblin/graph/edge_file.hpp"
#include "goblin/graph/tab_file.hpp"

#include <charconv>
#include <cmath>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace goblin::data {
namespace {

bool is_number(std::string_view text) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

bool has_numbers(const std::vector<std::string_view>& fields) {
  for (std::size_t k = 1; k < fields.size(); ++k) {
    if (!is_number(fields[k])) return false;
  }
  return fields.size() > 1;
}

/// Items with their contexts or their tags, whichever the file has.
struct ItemsFile {
  ItemFields fields = ItemFields::automatic;
  Items items;
  Names tags;
  std::vector<Entry> assignments;
};

void add_numbers(const TabReader& row, bool is_new, Items& items) {
  if (!is_new) row.fail(fmt::format("item '{}' stands twice", row.fields()[0]));
  const std::size_t count = row.fields().size() - 1;
  if (items.dimension == 0 && count == 0) row.fail("no numbers after the item's name (must be at least 1)");
  if (items.dimension == 0) items.dimension = count;
  if (count != items.dimension) {
    row.fail(
        fmt::format("{} number{} (expected: {}, as in the first line)", count, count == 1 ? "" : "s", items.dimension));
  }
  for (std::size_t k = 1; k <= count; ++k) {
    const double number = row.number(k);
    if (!std::isfinite(number)) row.fail(fmt::format("number {} (must be finite)", number));
    items.numbers.push_back(number);
  }
}

void add_tags(const TabReader& row, NodeId item, ItemsFile& file) {
  for (std::size_t k = 1; k < row.fields().size(); ++k) {
    if (row.fields()[k].empty()) row.fail("an empty tag");
    file.assignments.push_back({item, file.tags.insert(row.fields()[k])});
  }
}

ItemsFile read_items_file(const std::filesystem::path& path, ItemFields wanted) {
  ItemsFile file;
  file.fields = wanted;
  file.items.file = path.string();
  auto in = open_file(path);
  TabReader reader(in, path.string());
  while (reader.next()) {
    const auto& fields = reader.fields();
    if (fields[0].empty()) reader.fail("an empty item name");
    if (file.fields == ItemFields::automatic) {
      file.fields = has_numbers(fields) ? ItemFields::numbers : ItemFields::tags;
    }
    const std::size_t before = file.items.names.size();
    const NodeId item = file.items.names.insert(fields[0]);
    if (file.fields == ItemFields::numbers) {
      add_numbers(reader, item == before, file.items);
    } else {
      add_tags(reader, item, file);
    }
  }
  if (file.items.names.empty()) throw DataError(path.string(), 0, "no items");
  return file;
}

/// Users whom the graph does not have are added to it.
SparseRows read_payoffs(const std::filesystem::path& path, const Names& items, RepeatedPayoffs repeated, Graph& graph) {
  struct Seen {
    std::size_t entry = 0;
    std::size_t line = 0;
  };
  Names users = graph.names();
  std::vector<Entry> entries;
  std::unordered_map<std::uint64_t, Seen> seen;
  auto in = open_file(path);
  TabReader reader(in, path.string());
  while (reader.next()) {
    const auto& fields = reader.fields();
    if (fields.size() != 3 || fields[0].empty()) {
      reader.fail("a line of another form (expected: user <tab> item <tab> payoff)");
    }
    const auto item = items.find(fields[1]);
    if (!item) reader.fail(fmt::format("item '{}' is not in items.tsv", fields[1]));
    const double payoff = reader.number(2);
    if (!std::isfinite(payoff)) reader.fail(fmt::format("payoff {} (must be finite)", payoff));
    const NodeId user = users.insert(fields[0]);
    const auto [place, is_new] = seen.try_emplace(static_cast<std::uint64_t>(user) << 32U | *item,
                                                  Seen{.entry = entries.size(), .line = reader.line()});
    if (is_new) {
      entries.push_back({user, *item, payoff});
      continue;
    }
    double& value = entries[place->second.entry].value;
    if (repeated == RepeatedPayoffs::refuse) {
      reader.fail(
          fmt::format("user '{}' and item '{}' stand in line {} already (repeated-payoffs says what counts: "
                      "first, last or sum)",
                      fields[0], fields[1], place->second.line));
    }
    if (repeated == RepeatedPayoffs::last) value = payoff;
    if (repeated == RepeatedPayoffs::sum) value += payoff;
    if (!std::isfinite(value)) reader.fail(fmt::format("the sum of the payoffs is {} (must be finite)", value));
  }
  std::erase_if(entries, [](const Entry& entry) { return entry.value == 0.0; });
  if (entries.empty()) throw DataError(path.string(), 0, "no payoff other than 0");
  if (users.size() > graph.node_count()) graph = Graph(std::move(users), graph.edges());
  return {graph.node_count(), items.size(), entries};
}

}  // namespace

RepeatedPayoffs repeated_payoffs_named(std::string_view name) {
  if (name == "refuse") return RepeatedPayoffs::refuse;
  if (name == "first") return RepeatedPayoffs::first;
  if (name == "last") return RepeatedPayoffs::last;
  if (name == "sum") return RepeatedPayoffs::sum;
  throw std::invalid_argument(fmt::format("repeated_payoffs: '{}' (must be refuse, first, last or sum)", name));
}

Items read_items(const std::filesystem::path& path) {
  return std::move(read_items_file(path, ItemFields::numbers).items);
}

void write_items(std::ostream& out, const Names& names, const ItemContexts& contexts) {
  for (std::size_t item = 0; item < names.size(); ++item) {
    const auto context = std::span(contexts.numbers).subspan(item * contexts.dimension, contexts.dimension);
    out << fmt::format("{}\t{}\n", tab_line_start(names[item]), fmt::join(context, "\t"));
  }
}

Dataset read_own_files(const std::filesystem::path& folder, const OwnFilesOptions& options) {
  Dataset dataset;
  dataset.name = "files";
  dataset.graph = read_edge_file(folder / "edges.tsv", options.edges);
  ItemsFile file = read_items_file(folder / "items.tsv", options.items);
  dataset.items = std::move(file.items.names);
  dataset.payoffs = read_payoffs(folder / "payoffs.tsv", dataset.items, options.repeated_payoffs, dataset.graph);
  if (file.fields == ItemFields::numbers) {
    const auto changed = changed_by_readings(options.contexts);
    if (!changed.empty()) {
      throw std::invalid_argument(fmt::format(
          "{} (items.tsv has numbers, which stay as they are: only contexts that are made of tags can be read "
          "in other ways)",
          changed.front()));
    }
    dataset.contexts.dimension = file.items.dimension;
    dataset.contexts.numbers = std::move(file.items.numbers);
  } else {
    std::vector<std::string> tags;
    for (std::size_t tag = 0; tag < file.tags.size(); ++tag) tags.emplace_back(file.tags[tag]);
    dataset.summary.tags = tags.size();
    dataset.summary.assignments = file.assignments.size();
    set_contexts_from_tags(dataset, tags, file.assignments, options.contexts.minimum_count.value_or(1),
                           options.contexts);
  }
  summarize_graph_and_payoffs(dataset);
  return dataset;
}

}  // namespace goblin::data
