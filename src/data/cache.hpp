#pragma once

#include "goblin/data/hetrec.hpp"

#include <functional>
#include <span>
#include <string_view>

namespace goblin::data {

/// What prepare() gives, from the cache if the same options met the same files before. The key is made of the options
/// and the files' sizes and checksums, so a changed file is never mistaken for the old one. A cache that cannot be read
/// or written is as good as none.
[[nodiscard]] Dataset cached(const ReadOptions& options, std::string_view name,
                             std::span<const std::filesystem::path> files, const std::function<Dataset()>& prepare);

}  // namespace goblin::data
