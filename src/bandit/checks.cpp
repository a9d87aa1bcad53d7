#include "bandit/checks.hpp"

#include "belief/engine.hpp"

#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

namespace goblin {
namespace {

/// A reward beyond this is taken for a mistake; its square is still finite.
constexpr double largest_reward = 1e100;

}  // namespace

void check_options(const BanditOptions& options) {
  const auto check = [](bool good, const char* name, auto value, const char* bound) {
    if (!good) throw std::invalid_argument(fmt::format("{}: {} (must be {})", name, value, bound));
  };
  check(options.dimension >= 1 && options.dimension <= 1'000'000, "dimension", options.dimension,
        "between 1 and 1000000");
  check_exploration(Exploration::ucb(options.alpha));
  if (options.ridge) {
    check(*options.ridge >= 1e-100 && *options.ridge <= 1e100, "ridge", *options.ridge, "between 1e-100 and 1e100");
  }
  for (const double ridge : options.node_ridges) {
    check(ridge >= 1e-100 && ridge <= 1e100, "node_ridges", ridge, "between 1e-100 and 1e100");
  }
  check(options.coupling >= 0.0 && options.coupling <= 1e100, "coupling", options.coupling, "between 0 and 1e100");
  check(options.engine.tolerance > 0.0 && options.engine.tolerance < 1.0, "tolerance", options.engine.tolerance,
        "above 0 and below 1");
  check(options.engine.max_iterations >= 1, "max_iterations", options.engine.max_iterations, "at least 1");
  const LocalOptions& local = options.engine.local;
  check(local.tolerance > 0.0 && std::isfinite(local.tolerance), "local_tolerance", local.tolerance,
        "finite and above 0");
  check(local.most_nodes >= 2 && local.most_nodes <= 1'000'000, "most_nodes", local.most_nodes,
        "between 2 and 1000000");
  check(local.most_edges >= 1, "most_edges", local.most_edges, "at least 1");
  if (options.exploration) check_exploration(*options.exploration);
  check(options.hub.weight > 0.0 && options.hub.weight <= 1e100, "hub", options.hub.weight,
        "above 0 and at most 1e100");
  check(options.hub.ridge >= 1e-100 && options.hub.ridge <= 1e100, "hub_ridge", options.hub.ridge,
        "between 1e-100 and 1e100");
  check(options.hash.buckets >= 1 && options.hash.buckets <= 65'536, "buckets", options.hash.buckets,
        "between 1 and 65536");
  check(options.club.separation >= 0.0 && std::isfinite(options.club.separation), "separation", options.club.separation,
        "finite and at least 0");
  check(options.dynucb.clusters >= 1 && options.dynucb.clusters <= 1'000'000, "dynucb_clusters",
        options.dynucb.clusters, "between 1 and 1000000");
  check(options.forgetting.discount > 0.0 && options.forgetting.discount <= 1.0, "discount",
        options.forgetting.discount, "above 0 and at most 1");
  if (options.forgetting.window > 0 && options.forgetting.discount < 1.0) {
    throw std::invalid_argument(fmt::format("window: {} (must be 0 where discount is {})", options.forgetting.window,
                                            options.forgetting.discount));
  }
}

void check_policy(Policy policy, const BanditOptions& options) {
  if (options.laplacian != Laplacian::combinatorial && policy != Policy::gob_lin) {
    throw std::invalid_argument(fmt::format("laplacian: {} (must be {} for {})", name_of(options.laplacian),
                                            name_of(Laplacian::combinatorial), name_of(policy)));
  }
}

void check_node_ridges(const BanditOptions& options, std::size_t nodes) {
  if (options.node_ridges.empty() || options.node_ridges.size() == nodes) return;
  throw std::invalid_argument(fmt::format("node_ridges: {} numbers (must be none, or one for each of the {} nodes)",
                                          options.node_ridges.size(), nodes));
}

void check_clusters(Policy policy, std::size_t users, std::span<const NodeId> clusters) {
  const std::size_t expected = uses_clusters(policy) ? users : 0;
  if (clusters.size() == expected) return;
  throw std::invalid_argument(
      fmt::format("clusters: {} labels (must be {} for {})", clusters.size(), expected, name_of(policy)));
}

void check_forgetting(Policy policy, const BanditOptions& options) {
  const Forgetting& forgetting = options.forgetting;
  if (forgetting == Forgetting{}) return;
  if (!info_of(policy).cannot_forget.empty()) {
    throw std::invalid_argument(forgetting.window > 0
                                    ? fmt::format("window: {} (must be 0 with {}: {})", forgetting.window,
                                                  name_of(policy), info_of(policy).cannot_forget)
                                    : fmt::format("discount: {} (must be 1 with {}: {})", forgetting.discount,
                                                  name_of(policy), info_of(policy).cannot_forget));
  }
  if (forgetting.discount < 1.0 && !has_node_per_user(policy) && options.evidence_per_node) {
    throw std::invalid_argument(
        fmt::format("evidence_per_node: true (must be false with {} where discount is {}: what a user has "
                    "said cannot be told apart)",
                    name_of(policy), forgetting.discount));
  }
}

void check_hub(const HubOptions& hub, std::size_t users, double largest_degree) {
  if (hub.weight * static_cast<double>(users) <= largest_degree) return;
  throw std::invalid_argument(
      fmt::format("hub: {:g} (must be at most {:g} beside a hub_ridge of {:g}, {} users and the contexts learned)",
                  hub.weight, largest_degree / static_cast<double>(users), hub.ridge, users));
}

void check_hub_beside_user(const HubOptions& hub, double ridge) {
  if (hub.weight <= Limits::coupling * ridge) return;
  throw std::invalid_argument(fmt::format("hub: {:g} (must be at most {:g} beside a ridge of {:g})", hub.weight,
                                          Limits::coupling * ridge, ridge));
}

void refuse_degree(double degree, double largest, std::string_view whose) {
  throw std::invalid_argument(
      fmt::format("degree: {:g} of {} (must be at most {:g} beside this ridge, this coupling and the contexts "
                  "learned; scale the "
                  "weights)",
                  degree, whose, largest));
}

void check_context(std::span<const double> context, const BanditOptions& options, double longest) {
  if (context.size() != options.dimension) {
    throw std::invalid_argument(
        fmt::format("context: {} numbers (must be the dimension, {})", context.size(), options.dimension));
  }
  double squared_length = options.intercept ? 1.0 : 0.0;
  for (const double number : context) squared_length += number * number;
  // Looked at one by one only where the sum says that something may be wrong: this is asked for every candidate.
  if (!std::isfinite(squared_length)) {
    for (std::size_t k = 0; k < context.size(); ++k) {
      if (std::isfinite(context[k])) continue;
      throw std::invalid_argument(fmt::format("context[{}]: {} (must be finite)", k, context[k]));
    }
  }
  if (squared_length <= longest * longest) return;
  throw std::invalid_argument(
      fmt::format("context: length {:g} (must be at most {:g} beside this ridge and these edges; scale the contexts)",
                  std::sqrt(squared_length), longest));
}

void check_reward(double reward) {
  if (std::abs(reward) <= largest_reward) return;
  throw std::invalid_argument(
      fmt::format("reward: {} (must be finite and at most {} in size)", reward, largest_reward));
}

}  // namespace goblin
