#include "goblin/bandit/policy_options.hpp"

#include "joined.hpp"

#include <array>
#include <stdexcept>

#include <fmt/format.h>

namespace goblin {
namespace {

constexpr std::array<std::string_view, 2> laplacians = {"combinatorial", "normalized"};
constexpr std::array<std::string_view, 3> club_graphs = {"social", "complete", "random"};

/// Where a name stands in the list of an enumeration's names.
template <typename Value, std::size_t count>
Value named(const char* what, const std::array<std::string_view, count>& names, std::string_view name) {
  for (std::size_t k = 0; k < count; ++k) {
    if (names[k] == name) return static_cast<Value>(k);
  }
  throw std::invalid_argument(fmt::format("{}: '{}' (must be {})", what, name, joined(names, "or")));
}

}  // namespace

std::string_view name_of(Laplacian laplacian) { return laplacians[static_cast<std::size_t>(laplacian)]; }
Laplacian laplacian_named(std::string_view name) { return named<Laplacian>("laplacian", laplacians, name); }

std::string_view name_of(ClubGraph graph) { return club_graphs[static_cast<std::size_t>(graph)]; }
ClubGraph club_graph_named(std::string_view name) { return named<ClubGraph>("club_graph", club_graphs, name); }

}  // namespace goblin
