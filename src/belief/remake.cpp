// Components that are made anew from the evidence, because an edge changes more of the prior than itself.

#include "belief/belief.hpp"
#include "belief/engine_factory.hpp"
#include "belief/equivalent_rewards.hpp"
#include "belief/memory.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace goblin {
namespace {

/// Throws std::invalid_argument if the engine is sparse and the degree of a node too large for it beside its ridge and
/// the contexts learned.
void check_degrees(const Engine& engine, double longest_learned) {
  if (engine.kind() != EngineKind::sparse) return;
  const PriorMatrix& prior = engine.prior();
  const double largest = Limits::in_sparse / std::max(1.0, longest_learned);
  for (std::size_t node = 0; node < prior.node_count(); ++node) {
    const double ratio = prior.coupling() * prior.graph().degree(node) / prior.ridge(node);
    if (ratio <= largest) continue;
    throw std::invalid_argument(
        fmt::format("coupling: {:g} times the ridge (must be at most {:g} times beside the contexts learned in the "
                    "component that the edges make, whose engine is sparse)",
                    ratio, largest));
  }
}

}  // namespace

/// Everything is made beside what there is, but for the evidence of nodes whose factor changes, which nobody who
/// decides reads. So there is no way back to go if something stops it, but to put that evidence back.
SolveSummary Belief::set_edges(std::span<const Edge> edges, std::span<const NodePrior> priors) {
  if (edges.empty()) return {};
  // The nodes of the components that the edges touch, ascending, and the edges among them as they become.
  std::set<NodeId> touched;
  for (const Edge& edge : edges) touched.insert({places_[edge.a].component, places_[edge.b].component});
  std::vector<NodeId> nodes;
  for (const NodeId part : touched) {
    nodes.insert(nodes.end(), components_[part].nodes.begin(), components_[part].nodes.end());
  }
  std::sort(nodes.begin(), nodes.end());
  const auto index_of = [&nodes](NodeId node) {
    return static_cast<NodeId>(std::lower_bound(nodes.begin(), nodes.end(), node) - nodes.begin());
  };
  std::map<std::pair<NodeId, NodeId>, double> weights;
  for (const NodeId part : touched) {
    const Component& component = components_[part];
    for (const Edge& edge : component.engine->graph().edges()) {
      weights[std::minmax({component.nodes[edge.a], component.nodes[edge.b]})] = edge.weight;
    }
  }
  for (const Edge& edge : edges) weights[std::minmax({edge.a, edge.b})] = edge.weight;
  std::vector<Edge> kept;
  for (const auto& [ends, weight] : weights) {
    if (weight > 0.0) kept.push_back({index_of(ends.first), index_of(ends.second), weight});
  }
  std::vector<double> ridges;
  ridges.reserve(nodes.size());
  for (const NodeId node : nodes) ridges.push_back(ridge(node));
  for (const NodePrior& prior : priors) ridges[index_of(prior.node)] = prior.ridge;
  const Graph graph(nodes.size(), kept);
  const Components parts = graph.components();
  const PriorMatrix whole(graph, std::move(ridges), coupling_);

  // What it takes, as far as it can be said before the engines are there.
  const auto d = static_cast<double>(dimension());
  double needed = 0.0;
  for (std::size_t part = 0; part < parts.count(); ++part) {
    const auto members = parts.nodes(part);
    const PriorMatrix prior = whole.part(members);
    const EngineKind kind = choose_engine(options_.kind, shape_of(prior), dimension());
    needed +=
        static_cast<double>(engine_factory().bytes(kind, prior.node_count(), prior.graph().edge_count(), dimension()));
    for (const NodeId index : members) {
      if (evidence_.at(nodes[index]).count > 0) needed += (d + 1.0) * d * sizeof(double) + evidence_.place_bytes();
    }
  }
  const auto check_fits = [this](std::size_t count, double bytes) {
    check_memory(
        fmt::format("making the belief about {} nodes anew for another edge", count), bytes, options_,
        [this] { return this->bytes(); }, [](std::size_t /*available*/) { return std::string("nothing less fits"); });
  };
  check_fits(nodes.size(), needed);

  std::vector<Component> made;
  std::vector<Evidence::Before> before;
  Engine::Changed total;
  try {
    for (const NodePrior& prior : priors) {
      before.push_back(evidence_.before(prior.node));
      const UserEvidence own = user_evidence_->at(prior.node);  // the node has one user, of the same number
      if (own.count == 0) continue;
      evidence_.clear(prior.node);
      evidence_.add(prior.node, Lens(dimension(), prior.factor).to_node(own).view());
    }
    std::size_t done = 0;
    for (std::size_t part = 0; part < parts.count(); ++part) {
      const auto members = parts.nodes(part);
      Component component;
      for (const NodeId index : members) component.nodes.push_back(nodes[index]);
      component.engine = engine_factory().make(options_.kind, whole.part(members), dimension(), options_);
      Engine& engine = *component.engine;
      check_degrees(engine, longest_learned_);
      std::vector<EquivalentRewards> equivalent;
      equivalent.reserve(component.nodes.size());  // rewards look into it
      std::vector<NodeReward> rewards;
      for (NodeId node = 0; node < component.nodes.size(); ++node) {
        const UserEvidence sums = evidence_.at(component.nodes[node]);
        if (sums.count == 0) continue;
        equivalent.push_back(
            equivalent_rewards(sums, dimension(), engine.prior().ridge(node), engine.longest_context()));
        const EquivalentRewards& few = equivalent.back();
        for (Eigen::Index column = 0; column < few.rewards.size(); ++column) {
          rewards.push_back({node, few.contexts.col(column).data(), few.rewards[column]});
        }
      }
      if (!rewards.empty()) {
        const Engine::Bytes bytes = engine.bulk_bytes(rewards.size(), equivalent.size(), thread_count());
        check_fits(component.nodes.size(), bytes.kept + bytes.meanwhile);
        const auto spare_bytes = [this] {
          return 0.5 * static_cast<double>(available_bytes(options_, [this] { return this->bytes(); }));
        };
        const auto share = [&](std::size_t count) {
          return static_cast<double>(count) / static_cast<double>(nodes.size());
        };
        const Work all{
            .threads = thread_count(), .spare_bytes = spare_bytes, .progress = never_back(options_.progress)};
        const Work work = all.part(share(done), share(done + members.size()));
        const Engine::Changed changed = engine.learn_many(rewards, evidence_of(component), work);
        component.log_determinant = changed.log_determinant;
        component.log_determinant_error = changed.error;
        total.add(changed);
      }
      done += members.size();
      engine.set_access(access_);
      made.push_back(std::move(component));
    }
    std::vector<NodeId> one_of_each;
    one_of_each.reserve(touched.size());
    for (const NodeId part : touched) one_of_each.push_back(components_[part].nodes.front());
    auto structure = std::make_shared<const char>();
    exclusively([&] {
      components_.reserve(components_.size() + made.size());
      // From here on nothing takes memory, so that nothing can go wrong.
      for (const NodeId node : one_of_each) {
        const Component& gone = components_[places_[node].component];
        total.log_determinant -= gone.log_determinant;
        total.error -= gone.log_determinant_error;
        remove_component(places_[node].component);
      }
      for (Component& component : made) add_component(std::move(component));
      for (const NodePrior& prior : priors) lenses_.set_factor(prior.node, prior.factor);
      structure_ = std::move(structure);
    });
  } catch (...) {
    for (Evidence::Before& one : before) evidence_.put_back(one);
    throw;
  }
  log_determinant_ += total.log_determinant;
  log_determinant_error_ = std::max(0.0, log_determinant_error_ + total.error);
  if (!total.solve.converged) ++unconverged_solves_;
  return total.solve;
}

}  // namespace goblin
