#pragma once

#include "goblin/data/dataset.hpp"

#include <filesystem>

namespace goblin::data {

struct ReadOptions {
  ContextOptions contexts = {};
  /// Where prepared data is kept for the next time, keyed by the options and the checksums of the files; empty:
  /// nowhere. default_cache_folder() is the usual place.
  std::filesystem::path cache = {};
};

/// The HetRec 2011 releases as they are published. The folder is that of the files, or one that holds it as
/// `hetrec2011-lastfm-2k*` or `hetrec2011-delicious-2k*` (the first of these in alphabetical order).
///
/// Users and items are in the order of their ids, which are their names. A payoff is 1 where the user listened to the
/// artist or bookmarked the page. Friends are listed in both directions and become one edge. Tags are read as Latin-1;
/// assignments of tags to items that are not listed are passed over and counted.
///
/// Throws DataError with file and line on a missing file, another header, a short row, something that is no number, a
/// user who is their own friend, an id that stands twice or a tag that is not listed.
///
///     const auto data = goblin::data::read_lastfm("data/hetrec2011-lastfm-2k");
///     data.graph.node_count();   // 1892
///     data.context(0);           // 25 numbers
[[nodiscard]] Dataset read_lastfm(const std::filesystem::path& folder, const ReadOptions& options = {});
[[nodiscard]] Dataset read_delicious(const std::filesystem::path& folder, const ReadOptions& options = {});

/// The folder of the files, given it or the one that holds it; empty if there is none.
[[nodiscard]] std::filesystem::path find_lastfm(const std::filesystem::path& folder);
[[nodiscard]] std::filesystem::path find_delicious(const std::filesystem::path& folder);

/// $XDG_CACHE_HOME/goblin, else $HOME/.cache/goblin; empty if neither is set.
[[nodiscard]] std::filesystem::path default_cache_folder();

}  // namespace goblin::data
