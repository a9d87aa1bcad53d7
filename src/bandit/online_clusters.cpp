#include "bandit/online_clusters.hpp"

#include "bandit/club.hpp"
#include "bandit/dynucb.hpp"

#include <stdexcept>

#include <fmt/format.h>

namespace goblin {

void check_online_clusters(Policy policy, const BanditOptions& options, std::size_t users) {
  if (!finds_clusters(policy)) return;
  if (options.evidence_per_node) {
    throw std::invalid_argument(
        fmt::format("evidence_per_node: true (must be false for {}: users move, and take along what they have seen)",
                    name_of(policy)));
  }
  if (!options.node_ridges.empty()) {
    throw std::invalid_argument(fmt::format("node_ridges: {} numbers (must be none for {}, whose nodes come and go)",
                                            options.node_ridges.size(), name_of(policy)));
  }
  if (policy == Policy::club && options.club.graph == ClubGraph::complete && users > Club::most_in_complete_graph) {
    throw std::invalid_argument(
        fmt::format("club_graph: complete for {} users (must be at most {}: every pair takes memory; random does the "
                    "same with 3 ln n pairs a user)",
                    users, Club::most_in_complete_graph));
  }
}

std::unique_ptr<OnlineClusters> make_online_clusters(Policy policy, const Graph& users, const BanditOptions& options) {
  if (policy == Policy::club) return std::make_unique<Club>(users, options);
  if (policy == Policy::dynucb) return std::make_unique<Dynucb>(users.node_count(), options);
  return nullptr;
}

std::unique_ptr<OnlineClusters> load_online_clusters(BinaryReader& in, Policy policy, const BanditOptions& options,
                                                     const UserMap& users, const Belief& belief) {
  if (policy == Policy::club) return std::make_unique<Club>(in, options, users, belief);
  if (policy == Policy::dynucb) return std::make_unique<Dynucb>(in, options, users, belief);
  return nullptr;
}

double online_clusters_bytes(Policy policy, const Graph& users, const BanditOptions& options) {
  if (policy == Policy::club) return Club::bytes_at_most(users, options);
  if (policy == Policy::dynucb) return Dynucb::bytes_at_most(users.node_count(), options);
  return 0.0;
}

}  // namespace goblin
