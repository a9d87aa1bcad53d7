#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace goblin {

/// Which Laplacian ties friends to each other in gob.lin.
enum class Laplacian {
  combinatorial,  ///< L = D - W, the paper's: a user with many friends is held by each of them
  normalized      ///< I - D^(-1/2) W D^(-1/2): all friends together hold a user as strongly as one friend would
};

[[nodiscard]] std::string_view name_of(Laplacian laplacian);
/// The one of that name; throws std::invalid_argument with the names there are.
[[nodiscard]] Laplacian laplacian_named(std::string_view name);

/// gob.lin.hub: a node that nobody is, joined to everybody. Its vector is what all users have in common, and users are
/// drawn to it where those of gob.lin are drawn to zero.
///
///     A = ridge on the users, hub.ridge on the hub, + coupling L of the friends + hub.weight L of the star
///
/// What n users have in common is drawn to zero with n * BanditOptions::ridge + hub.ridge. So that ridge should be
/// small, too: 0.01, as the command line, Python and the experiments have it, and not the 1 of gob.lin, whose part the
/// weight plays here. With coupling 0 friends do not count: that is the hierarchical bandit.
struct HubOptions {
  /// How strongly every user is drawn to the hub; not multiplied by the coupling.
  double weight = 1.0;
  /// How strongly the hub is drawn to zero.
  double ridge = 0.01;

  [[nodiscard]] bool operator==(const HubOptions&) const = default;
};

/// linucb.hash: LinUCB with one vector for everybody, of so many numbers. Every coordinate of a context is added, with
/// a sign, to one of them that all users have for it, and to another that only this user has. Which ones, and the
/// signs, are drawn by a hash of the seed, the user's index and the coordinate, so that some have to share a bucket.
struct HashOptions {
  /// How many numbers the vector has. A reward costs their square, and so does the memory.
  std::size_t buckets = 1024;
  std::uint64_t seed = 0;

  [[nodiscard]] bool operator==(const HashOptions&) const = default;
};

/// Which users club takes for alike at first.
enum class ClubGraph {
  social,    ///< friends
  complete,  ///< everybody
  random     ///< pairs that are drawn, about 3 ln n for each user
};

[[nodiscard]] std::string_view name_of(ClubGraph graph);
/// The one of that name; throws std::invalid_argument with the names there are.
[[nodiscard]] ClubGraph club_graph_named(std::string_view name);

/// club: users who turn out to differ are parted; who is still joined is one cluster.
struct ClubOptions {
  ClubGraph graph = ClubGraph::social;
  /// Two users are parted when their own estimates differ by more than this times F(T_i) + F(T_j), where
  /// F(T) = sqrt((1 + ln(1 + T)) / (1 + T)) and T counts rewards.
  /// On 4Cliques, 0.8 to 1.3 earn most over all levels of noise; the noisier rewards are, the larger it should be.
  double separation = 1.0;
  std::uint64_t seed = 0;  ///< of the random graph

  [[nodiscard]] bool operator==(const ClubOptions&) const = default;
};

/// dynucb: so many clusters; after each reward the user moves to the one whose members are most like them.
struct DynucbOptions {
  std::size_t clusters = 10;
  std::uint64_t seed = 0;  ///< of where users are at first

  [[nodiscard]] bool operator==(const DynucbOptions&) const = default;
};

/// What is forgotten, for tastes that change. At most one of the two; docs/forgetting.md has what they cost.
struct Forgetting {
  /// Only the last so many rewards count, of all users together in the order they were learned; 0 for all.
  std::size_t window = 0;
  /// When a user's reward is learned, what that user's earlier rewards say is first multiplied by this; 1 forgets
  /// nothing.
  double discount = 1.0;

  [[nodiscard]] bool operator==(const Forgetting&) const = default;
};

}  // namespace goblin
