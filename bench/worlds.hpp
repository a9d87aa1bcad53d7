#pragma once

#include "goblin/goblin.hpp"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace goblin::bench {

struct Round {
  NodeId user = 0;
  std::vector<double> contexts;
  double reward = 0.0;

  [[nodiscard]] std::span<const double> context(std::size_t arm, std::size_t dimension) const {
    return std::span(contexts).subspan(arm * dimension, dimension);
  }
};

/// Rounds with random users, and contexts whose coordinates fall off like principal components do, of mean square
/// length 1.
inline std::vector<Round> make_rounds(std::size_t count, std::size_t users, std::size_t arms, std::size_t dimension) {
  std::vector<double> scales(dimension);
  double squares = 0.0;
  for (std::size_t k = 0; k < dimension; ++k) {
    scales[k] = 1.0 / std::sqrt(1.0 + static_cast<double>(k));
    squares += scales[k] * scales[k];
  }
  std::vector<Round> rounds(count);
  for (std::size_t t = 0; t < count; ++t) {
    Random random(7, 0, t);
    rounds[t].user = static_cast<NodeId>(random.below(users));
    for (std::size_t at = 0; at < arms * dimension; ++at) {
      rounds[t].contexts.push_back(scales[at % dimension] / std::sqrt(squares) * random.normal());
    }
    rounds[t].reward = random.uniform() < 0.3 ? 1.0 : 0.0;
  }
  return rounds;
}

/// Four cliques of 25 users with, if flips > 0, so many pairs whose edge is made or broken.
inline Graph four_cliques(std::size_t flips) {
  const Graph clean = generate::cliques(4, 25);
  Random random(1);
  std::vector<Edge> edges;
  const double rate = static_cast<double>(flips) / 4950.0;
  for (NodeId a = 0; a < 100; ++a) {
    for (NodeId b = a + 1; b < 100; ++b) {
      const bool flipped = random.uniform() < rate;
      if ((clean.weight(a, b) > 0.0) != flipped) edges.push_back({a, b});
    }
  }
  return {100, edges};
}

/// The social graph of Last.fm, if its data is there: the folder GOBLIN_DATA names, or the one beside the repository.
inline std::optional<Graph> lastfm_graph() {
  const char* named = std::getenv("GOBLIN_DATA");
  const std::filesystem::path folder = named != nullptr ? named : GOBLIN_DEFAULT_DATA;
  for (const auto& file : {folder / "user_friends.dat", folder / "hetrec2011-lastfm-2k" / "user_friends.dat"}) {
    std::ifstream in(file);
    if (!in) continue;
    std::string header;
    std::getline(in, header);
    Names names;
    std::vector<Edge> edges;
    for (std::string a, b; in >> a >> b;) {
      const NodeId first = names.insert(a);
      const NodeId second = names.insert(b);
      if (first < second) edges.push_back({first, second});  // both directions are listed
    }
    return Graph(std::move(names), edges);
  }
  return std::nullopt;
}

}  // namespace goblin::bench
