#include "data/cache.hpp"

#include "checked_file.hpp"
#include "goblin/data/reading.hpp"
#include "graph/graph_binary.hpp"

#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>

#include <fmt/format.h>

namespace goblin::data {
namespace {

constexpr FileKind cache_file = {
    .name = "cache file", .magic = {'\x89', 'G', 'O', 'D', '\r', '\n', '\x1a', '\n'}, .version = 1};

/// Goes up with every change of what the same options make of the same files.
constexpr int preparation = 3;

std::string key_of(const ContextOptions& options, std::string_view name, std::span<const std::filesystem::path> files) {
  std::string key = fmt::format("{} {}", preparation, name);
  for (const auto& [option, value] : words_of(options)) key += fmt::format(" {}={}", option, value);
  for (const auto& file : files) {
    const MappedFile mapped(file);
    key += fmt::format(" {}:{}:{:08x}", file.filename().string(), mapped.bytes().size(), crc32_of(0, mapped.bytes()));
  }
  return key;
}

/// FNV-1a: a short name for a key. The key itself stands in the file, so two of the same name do no harm.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char character : text) hash = (hash ^ static_cast<unsigned char>(character)) * 0x100000001b3U;
  return hash;
}

/// The numbers of a summary in the order of the file.
template <typename Visit>
void visit(Summary& summary, Visit visit_number) {
  for (std::size_t* number : {&summary.users,
                              &summary.edges,
                              &summary.items,
                              &summary.payoffs,
                              &summary.tags,
                              &summary.components,
                              &summary.largest_component,
                              &summary.users_without_friends,
                              &summary.users_without_payoffs,
                              &summary.assignments,
                              &summary.skipped_assignments,
                              &summary.skipped_items,
                              &summary.items_without_tags,
                              &summary.payoffs_without_tags,
                              &summary.left_out_items,
                              &summary.left_out_payoffs,
                              &summary.unused_tags,
                              &summary.repeated_tags,
                              &summary.words_in_all,
                              &summary.words}) {
    visit_number(*number);
  }
}

void write(BinaryWriter& out, const Dataset& dataset) {
  save_graph(out, dataset.graph);
  out.size(dataset.items.size());
  for (std::size_t item = 0; item < dataset.items.size(); ++item) out.text(dataset.items[item]);
  out.size(dataset.contexts.dimension);
  out.array(dataset.contexts.numbers);
  out.number(dataset.contexts.scale);
  out.number(dataset.contexts.explained);
  out.size(dataset.contexts.unit_length ? 1 : 0);
  out.size(dataset.payoffs.size());
  for (const Entry& entry : dataset.payoffs.entries()) {
    out.number(entry.row);
    out.number(entry.column);
    out.number(entry.value);
  }
  Summary summary = dataset.summary;
  visit(summary, [&out](std::size_t number) { out.size(number); });
}

Dataset read(BinaryReader& in) {
  Dataset dataset;
  dataset.graph = load_graph(in);
  const std::size_t items = in.size();
  for (std::size_t item = 0; item < items; ++item) {
    in.expect(dataset.items.insert(in.text()) == item, "an item that stands twice");
  }
  dataset.contexts.dimension = in.size();
  dataset.contexts.numbers = in.array<double>(items * dataset.contexts.dimension, "the number of contexts");
  dataset.contexts.scale = in.number<double>();
  dataset.contexts.explained = in.number<double>();
  dataset.contexts.unit_length = in.size() == 1;
  const std::size_t count = in.size();
  std::vector<Entry> entries;
  for (std::size_t k = 0; k < count; ++k) {
    const auto row = in.number<std::uint32_t>();
    const auto column = in.number<std::uint32_t>();
    entries.push_back({row, column, in.number<double>()});
  }
  dataset.payoffs = SparseRows(dataset.graph.node_count(), items, entries);
  visit(dataset.summary, [&in](std::size_t& number) { number = in.size(); });
  in.expect(in.left() == 0, "bytes after its end");
  return dataset;
}

std::optional<Dataset> load(const std::filesystem::path& path, const std::string& key) {
  std::error_code none;
  if (!std::filesystem::exists(path, none)) return std::nullopt;
  try {
    const MappedFile file(path);
    BinaryReader in(checked_content(file.bytes(), path.string(), cache_file).bytes, path.string());
    if (in.text() != key) return std::nullopt;
    Dataset dataset = read(in);
    dataset.from_cache = true;
    return dataset;
  } catch (const DataError&) {  // damaged: it is written again
    return std::nullopt;
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

}  // namespace

Dataset cached(const ReadOptions& options, std::string_view name, std::span<const std::filesystem::path> files,
               const std::function<Dataset()>& prepare) {
  if (options.cache.empty()) return prepare();
  const std::string key = key_of(options.contexts, name, files);
  const auto path = options.cache / fmt::format("{}-{:016x}.goblin", name, hash_of(key));
  if (auto dataset = load(path, key)) return *std::move(dataset);
  Dataset dataset = prepare();
  try {
    std::filesystem::create_directories(options.cache);
    write_checked_file(path, cache_file, [&](BinaryWriter& out) {
      out.text(key);
      write(out, dataset);
    });
  } catch (const std::system_error&) {  // no cache then
    return dataset;
  }
  return dataset;
}

std::filesystem::path default_cache_folder() {
  const auto variable = [](const char* name) -> std::filesystem::path {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
  };
  if (const auto base = variable("XDG_CACHE_HOME"); base.is_absolute()) return base / "goblin";
  if (const auto home = variable("HOME"); !home.empty()) return home / ".cache" / "goblin";
  return {};
}

}  // namespace goblin::data
