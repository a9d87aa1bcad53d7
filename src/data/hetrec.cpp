#include "goblin/data/hetrec.hpp"

#include "data/cache.hpp"
#include "data/prepare.hpp"
#include "goblin/error.hpp"
#include "goblin/graph/tab_file.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <fmt/format.h>

namespace goblin::data {
namespace {

struct Table {
  std::string_view file;
  std::string_view header;  // its fields with a space between
};

/// What differs between the two releases.
struct Release {
  std::string_view name;
  std::string_view folder;  // how its name starts
  std::size_t minimum_count;
  Table friends;                            // user, friend, ...
  Table items;                              // item, ...
  Table tags;                               // tag, text
  Table payoffs;                            // user, item, ...
  std::optional<std::size_t> payoff_count;  // how often: 0 is no payoff
  Table assignments;                        // see the columns below
  std::size_t assigned_item;
  std::size_t assigned_tag;
  std::optional<std::size_t> assigned_weight;
};

constexpr Release lastfm = {
    .name = "Last.fm",
    .folder = "hetrec2011-lastfm-2k",
    .minimum_count = 1,
    .friends = {"user_friends.dat", "userID friendID"},
    .items = {"artists.dat", "id name url pictureURL"},
    .tags = {"tags.dat", "tagID tagValue"},
    .payoffs = {"user_artists.dat", "userID artistID weight"},
    .payoff_count = 2,
    .assignments = {"user_taggedartists.dat", "userID artistID tagID day month year"},
    .assigned_item = 1,
    .assigned_tag = 2,
    .assigned_weight = {},
};

constexpr Release delicious = {
    .name = "Delicious",
    .folder = "hetrec2011-delicious-2k",
    .minimum_count = 10,
    .friends = {"user_contacts.dat",
                "userID contactID date_day date_month date_year date_hour date_minute date_second"},
    .items = {"bookmarks.dat", "id md5 title url md5Principal urlPrincipal"},
    .tags = {"tags.dat", "id value"},
    .payoffs = {"user_taggedbookmarks.dat", "userID bookmarkID tagID day month year hour minute second"},
    .payoff_count = {},
    .assignments = {"bookmark_tags.dat", "bookmarkID tagID tagWeight"},
    .assigned_item = 0,
    .assigned_tag = 1,
    .assigned_weight = 2,
};

/// Calls on_row(reader) for every row below the header.
template <typename OnRow>
void read_table(const std::filesystem::path& folder, const Table& table, OnRow on_row) {
  const auto path = folder / table.file;
  auto in = open_file(path);
  TabReader reader(in, path.string());
  if (!reader.next()) throw DataError(path.string(), 0, "the file is empty");
  const auto& fields = reader.fields();
  const std::string header = fmt::format("{}", fmt::join(fields, " "));
  if (header != table.header) {
    reader.fail(fmt::format("another header: '{}' (expected, with tabs between: '{}')", header, table.header));
  }
  const std::size_t width = fields.size();
  while (reader.next()) {
    if (fields.size() < width) {
      reader.fail(
          fmt::format("a short row: {} field{} (expected: {})", fields.size(), fields.size() == 1 ? "" : "s", width));
    }
    on_row(reader);
  }
}

/// Ids with gaps, numbered 0, 1, ... in ascending order.
class Index {
 public:
  void add(std::uint64_t id) { ids_.push_back(id); }
  void finish() {
    std::sort(ids_.begin(), ids_.end());
    ids_.erase(std::unique(ids_.begin(), ids_.end()), ids_.end());
    for (std::size_t k = 0; k < ids_.size(); ++k) position_.emplace(ids_[k], static_cast<NodeId>(k));
  }
  [[nodiscard]] std::optional<NodeId> find(std::uint64_t id) const {
    const auto found = position_.find(id);
    if (found == position_.end()) return std::nullopt;
    return found->second;
  }
  [[nodiscard]] NodeId at(std::uint64_t id) const { return position_.at(id); }
  [[nodiscard]] std::size_t size() const { return ids_.size(); }
  [[nodiscard]] Names names() const {
    Names names;
    for (const std::uint64_t id : ids_) names.insert(std::to_string(id));
    return names;
  }

 private:
  std::vector<std::uint64_t> ids_;
  std::unordered_map<std::uint64_t, NodeId> position_;
};

struct Pair {
  std::uint64_t first;
  std::uint64_t second;
};

std::vector<Pair> read_friends(const std::filesystem::path& folder, const Table& table, Index& users) {
  std::vector<Pair> friends;
  read_table(folder, table, [&](const TabReader& row) {
    const Pair pair{row.whole(0), row.whole(1)};
    if (pair.first == pair.second) row.fail(fmt::format("user {} is their own friend", pair.first));
    users.add(pair.first);
    users.add(pair.second);
    friends.push_back(pair);
  });
  return friends;
}

/// Both directions of a friendship are one edge of weight 1, however often they are listed.
Graph graph_of(const std::vector<Pair>& friends, const Index& users) {
  std::vector<std::pair<NodeId, NodeId>> ends;
  ends.reserve(friends.size());
  for (const Pair& pair : friends) ends.emplace_back(std::minmax(users.at(pair.first), users.at(pair.second)));
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  std::vector<Edge> edges;
  edges.reserve(ends.size());
  for (const auto& pair : ends) edges.push_back({pair.first, pair.second});
  return {users.names(), edges};
}

Index read_items(const std::filesystem::path& folder, const Table& table) {
  Index items;
  std::unordered_set<std::uint64_t> seen;
  read_table(folder, table, [&](const TabReader& row) {
    const std::uint64_t id = row.whole(0);
    if (!seen.insert(id).second) row.fail(fmt::format("item {} stands twice", id));
    items.add(id);
  });
  items.finish();
  return items;
}

struct Tags {
  std::unordered_map<std::uint64_t, NodeId> position;
  std::vector<std::string> texts;
  std::size_t repeated = 0;
};

Tags read_tags(const std::filesystem::path& folder, const Table& table) {
  Tags tags;
  Names distinct;
  read_table(folder, table, [&](const TabReader& row) {
    const std::uint64_t id = row.whole(0);
    if (!tags.position.emplace(id, static_cast<NodeId>(tags.texts.size())).second) {
      row.fail(fmt::format("tag {} stands twice", id));
    }
    tags.texts.push_back(utf8_of_latin1(row.fields()[1]));
    distinct.insert(tags.texts.back());
  });
  tags.repeated = tags.texts.size() - distinct.size();
  return tags;
}

std::vector<Pair> read_payoffs(const std::filesystem::path& folder, const Release& release, const Index& items,
                               Index& users) {
  std::vector<Pair> payoffs;
  read_table(folder, release.payoffs, [&](const TabReader& row) {
    const Pair pair{row.whole(0), row.whole(1)};
    if (!items.find(pair.second)) row.fail(fmt::format("item {} is not listed", pair.second));
    users.add(pair.first);
    if (release.payoff_count && row.whole(*release.payoff_count) == 0) return;
    payoffs.push_back(pair);
  });
  return payoffs;
}

SparseRows payoffs_of(const std::vector<Pair>& pairs, const Index& users, const Index& items) {
  std::vector<Entry> entries;
  entries.reserve(pairs.size());
  for (const Pair& pair : pairs) entries.push_back({users.at(pair.first), items.at(pair.second)});
  auto distinct = SparseRows(users.size(), items.size(), entries).entries();
  for (Entry& entry : distinct) entry.value = 1.0;  // a page with several tags stands several times
  return {users.size(), items.size(), distinct};
}

std::vector<Entry> read_assignments(const std::filesystem::path& folder, const Release& release, const Index& items,
                                    const Tags& tags, Summary& summary) {
  std::vector<Entry> assignments;
  std::vector<bool> used(tags.texts.size(), false);
  std::unordered_set<std::uint64_t> skipped_items;
  read_table(folder, release.assignments, [&](const TabReader& row) {
    const std::uint64_t item = row.whole(release.assigned_item);
    const std::uint64_t tag = row.whole(release.assigned_tag);
    const auto tag_at = tags.position.find(tag);
    if (tag_at == tags.position.end()) row.fail(fmt::format("tag {} is not listed", tag));
    used[tag_at->second] = true;
    const auto item_at = items.find(item);
    if (!item_at) {
      ++summary.skipped_assignments;
      skipped_items.insert(item);
      return;
    }
    const double weight = release.assigned_weight ? row.number(*release.assigned_weight) : 1.0;
    if (!(weight > 0.0 && weight < std::numeric_limits<double>::infinity())) {
      row.fail(fmt::format("tag weight {} (must be finite and positive)", weight));
    }
    assignments.push_back({*item_at, tag_at->second, weight});
  });
  summary.assignments = assignments.size();
  summary.skipped_items = skipped_items.size();
  summary.unused_tags = static_cast<std::size_t>(std::count(used.begin(), used.end(), false));
  return assignments;
}

Dataset prepare(const std::filesystem::path& folder, const Release& release, const ContextOptions& options) {
  Dataset dataset;
  const Index items = read_items(folder, release.items);
  Index users;
  const auto friends = read_friends(folder, release.friends, users);
  const auto payoffs = read_payoffs(folder, release, items, users);
  users.finish();
  dataset.graph = graph_of(friends, users);
  dataset.items = items.names();
  dataset.payoffs = payoffs_of(payoffs, users, items);

  Summary& summary = dataset.summary;
  const Tags tags = read_tags(folder, release.tags);
  summary.tags = tags.texts.size();
  summary.repeated_tags = tags.repeated;
  const auto assignments = read_assignments(folder, release, items, tags, summary);
  const std::size_t minimum_count = options.minimum_count.value_or(release.minimum_count);
  set_contexts_from_tags(dataset, tags.texts, assignments, minimum_count, options);
  summarize_graph_and_payoffs(dataset);
  return dataset;
}

std::filesystem::path find(const std::filesystem::path& folder, const Release& release) {
  std::error_code none;
  if (std::filesystem::exists(folder / release.payoffs.file, none)) return folder;
  std::filesystem::path found;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
    const auto& path = entry.path();
    if (path.filename().string().starts_with(release.folder) && entry.is_directory(none) &&
        (found.empty() || path < found)) {
      found = path;
    }
  }
  return found;
}

Dataset read(const std::filesystem::path& given, const Release& release, const ReadOptions& options) {
  const auto folder = find(given, release);
  if (folder.empty()) {
    throw DataError(given.string(), 0,
                    fmt::format("no {} data: neither {} nor a folder {}* is there (goblin data fetch gets it)",
                                release.name, release.payoffs.file, release.folder));
  }
  const std::array tables = {release.friends, release.items, release.tags, release.payoffs, release.assignments};
  std::vector<std::filesystem::path> files;
  files.reserve(tables.size());
  for (const Table& table : tables) files.push_back(folder / table.file);
  Dataset dataset = cached(options, release.name, files, [&] { return prepare(folder, release, options.contexts); });
  std::error_code none;
  const std::string place = std::filesystem::weakly_canonical(folder, none).filename().string();
  const bool reconstructed = place.find("reconstructed") != std::string::npos;
  dataset.name = fmt::format("{}{}", release.name, reconstructed ? " (reconstructed)" : "");
  return dataset;
}

}  // namespace

Dataset read_lastfm(const std::filesystem::path& folder, const ReadOptions& options) {
  return read(folder, lastfm, options);
}
Dataset read_delicious(const std::filesystem::path& folder, const ReadOptions& options) {
  return read(folder, delicious, options);
}
std::filesystem::path find_lastfm(const std::filesystem::path& folder) { return find(folder, lastfm); }
std::filesystem::path find_delicious(const std::filesystem::path& folder) { return find(folder, delicious); }

}  // namespace goblin::data
