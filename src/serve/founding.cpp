#include "serve/founding.hpp"

#include "serve/checksum.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace goblin::serve {
namespace {

void add(Checksum& checksum, const Bandit& bandit, const Graph& graph) {
  for (std::size_t user = 0; user < graph.node_count(); ++user) {
    if (graph.has_names()) checksum.add(graph.names()[user]);
    checksum.add_number(bandit.has_user(user));
    checksum.add_all(graph.neighbours(user));
    checksum.add_all(graph.weights(user));
    if (bandit.has_user(user)) checksum.add_number(bandit.cluster(user).value_or(0));
  }
  const BanditOptions& options = bandit.options();
  checksum.add_all(std::span<const double>(options.node_ridges));
  checksum.add_number(options.evidence_per_node);
  checksum.add_number(options.hub.weight);
  checksum.add_number(options.hub.ridge);
  checksum.add_number(options.hash.buckets);
  checksum.add_number(options.hash.seed);
  checksum.add_number(options.club.graph);
  checksum.add_number(options.club.separation);
  checksum.add_number(options.club.seed);
  checksum.add_number(options.dynucb.clusters);
  checksum.add_number(options.dynucb.seed);
}

}  // namespace

std::string fingerprint_of(const Graph& graph) {
  const auto hash_of = [&](std::size_t user) {
    return checksum_of(graph.has_names() ? std::string(graph.names()[user]) : fmt::format("{}", user));
  };
  std::vector<std::uint64_t> users(graph.node_count());
  std::uint64_t sum = 0;
  for (std::size_t user = 0; user < users.size(); ++user) sum += users[user] = hash_of(user);
  for (std::size_t user = 0; user < users.size(); ++user) {
    const auto neighbours = graph.neighbours(user);
    const auto weights = graph.weights(user);
    for (std::size_t k = 0; k < neighbours.size(); ++k) {
      const std::uint64_t ends = users[user] * users[neighbours[k]];  // the same from both
      sum += checksum_of(fmt::format("{} {}", ends, weights[k]));
    }
  }
  return fmt::format("{} users and {} edges, {:016x}", graph.node_count(), graph.edge_count(), sum);
}

std::string founding_of(const Bandit& bandit) {
  const Graph graph = bandit.graph();
  const BanditOptions& options = bandit.options();
  Checksum checksum;
  add(checksum, bandit, graph);
  if (bandit.rewards() > 0) checksum.add_number(checksum_of_evidence(bandit));
  std::string text =
      fmt::format("{} of dimension {}{}, {} users, {} edges", name_of(bandit.policy()), options.dimension,
                  options.intercept ? " with an intercept" : "", graph.node_count(), graph.edge_count());
  if (options.ridge) text += fmt::format(", ridge {}", *options.ridge);
  text += fmt::format(", coupling {}", options.coupling);
  if (options.laplacian != Laplacian::combinatorial) text += fmt::format(", Laplacian {}", name_of(options.laplacian));
  if (options.forgetting.window > 0) text += fmt::format(", window {}", options.forgetting.window);
  if (options.forgetting.discount < 1.0) text += fmt::format(", discount {}", options.forgetting.discount);
  if (bandit.rewards() > 0) text += fmt::format(", {} rewards learned", bandit.rewards());
  return fmt::format("{} ({:016x})", text, checksum.value());
}

std::uint64_t checksum_of_evidence(const Bandit& bandit) {
  Checksum checksum;
  const bool per_node = bandit.options().evidence_per_node;
  checksum.add_number(bandit.rewards());
  for (std::size_t user = 0; !per_node && user < bandit.user_count(); ++user) {
    if (!bandit.has_user(user)) continue;
    const UserEvidence evidence = bandit.evidence(user);
    if (evidence.count == 0) continue;
    checksum.add_number(user);
    checksum.add_number(evidence.count);
    checksum.add_number(evidence.squared_rewards);
    checksum.add_all(evidence.contexts);
    checksum.add_all(evidence.rewards);
  }
  return checksum.value();
}

}  // namespace goblin::serve
