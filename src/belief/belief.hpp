#pragma once

#include "belief/engine.hpp"
#include "belief/evidence.hpp"
#include "belief/lens.hpp"
#include "belief/prior_matrix.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace goblin {

/// One reward of a user, at the node that decides for the user.
struct UserReward {
  NodeId user;
  NodeId node;
  const double* context;  // d numbers
  double reward;
  const double* at_node =
      nullptr;  // what the node learns instead of the context (Lens); null: that has yet to be found

  [[nodiscard]] const double* learned() const { return at_node == nullptr ? context : at_node; }
};

/// What a node is given by its edges, where contexts are multiplied by a factor (Lenses::scaling).
struct NodePrior {
  NodeId node;
  double ridge;
  double factor;
};

/// Users who go to another node together.
struct UsersMove {
  std::vector<NodeId> users;  // ascending
  NodeId to = 0;
};

/// Which sums rewards or users' sums are taken from again, so that rounding must not stay behind in them.
struct TakenFrom {
  bool nodes = false;
  bool users = false;
};

/// What a bandit believes about the nodes of its graph, and the evidence that this follows from.
///
/// The evidence is the truth: sums over the rewards of every user, and their sums over the users of a node. The belief
/// is derived from it and the graph, and kept at hand by one engine for each connected component. Whatever changes (a
/// reward, an edge, a user who moves to another node), the belief becomes what it would be had everything always been
/// so.
///
/// Users look at their nodes through lenses (Lens), most of them plain glass. Contexts, means and covariances are those
/// of users here, and what the engines have is behind the lens.
///
/// Arguments are checked by whoever calls. const calls may run at the same time; the others may not.
class Belief {
 public:
  /// Without evidence. `users`: how many there are, where evidence is kept for each of them; none where that of the
  /// nodes is all there is (a node per user behind plain glass, or evidence_per_node).
  Belief(const PriorMatrix& prior, Lenses lenses, const EngineOptions& options, std::optional<std::size_t> users,
         TakenFrom taken_from = {});
  Belief(const Belief& other);
  Belief(Belief&&) noexcept = default;
  Belief& operator=(const Belief&) = delete;
  Belief& operator=(Belief&&) noexcept = default;
  ~Belief() = default;

  /// Who reads meanwhile; null, as in every copy: nobody. mean, covariance, evaluate, longest_context and engine may be
  /// called while rewards are learned or forgotten (learn, learn_many, forget, learn_and_forget, learn_anew,
  /// discount_and_learn, pass_over), and while merge, set_edges, join_new_node or rebuild run: these lock what they
  /// write themselves. add_node, add_user, move_evidence, set_threads, set_progress and set_access do not; whoever
  /// calls them does so within Access::exclusively, or on a copy that nobody reads yet. The rest (evidence, graph,
  /// influence, save, a copy) is for between two changes.
  void set_access(Access* access);
  [[nodiscard]] Access* access() const { return access_; }
  /// Work on what decisions look at first, while nobody reads.
  void exclusively(const std::function<void()>& work);

  /// Of the nodes; that of contexts is another one where lenses hash.
  [[nodiscard]] std::size_t dimension() const { return evidence_.dimension(); }
  [[nodiscard]] const Lenses& lenses() const { return lenses_; }
  [[nodiscard]] std::size_t node_count() const { return places_.size(); }
  [[nodiscard]] double coupling() const { return coupling_; }
  [[nodiscard]] double ridge(NodeId node) const { return prior_of(node).ridge(places_[node].index); }
  [[nodiscard]] double degree(NodeId node) const { return prior_of(node).graph().degree(places_[node].index); }
  /// visit(neighbour, weight) for every edge of a node.
  template <typename Visit>
  void for_each_neighbour(NodeId node, Visit visit) const {
    const Component& component = components_[places_[node].component];
    const EditableGraph& graph = component.engine->graph();
    const auto neighbours = graph.neighbours(places_[node].index);
    const auto weights = graph.weights(places_[node].index);
    for (std::size_t k = 0; k < neighbours.size(); ++k) visit(component.nodes[neighbours[k]], weights[k]);
  }
  /// 0 where there is no edge.
  [[nodiscard]] double edge_weight(NodeId a, NodeId b) const;
  [[nodiscard]] Graph graph() const;

  /// What was observed of a user, as the user saw it; or of a node, if evidence is not kept for users.
  [[nodiscard]] UserEvidence evidence(NodeId user, NodeId node) const {
    return user_evidence_ ? user_evidence_->at(user) : evidence_.at(node);
  }
  [[nodiscard]] UserEvidence node_evidence(NodeId node) const { return evidence_.at(node); }
  [[nodiscard]] std::size_t rewards() const { return rewards_; }
  /// No context learned at the node was longer than this; as its user saw it, but where lenses hash.
  [[nodiscard]] double longest_learned(NodeId node) const;
  void set_threads(std::size_t threads) { options_.threads = threads; }
  void set_progress(const std::function<void(double)>& progress);
  /// Takes over what engines of a copy have found about the prior since it was made, where nothing but rewards came
  /// between. Decisions may be made meanwhile.
  void take_prior_variances(const Belief& copy) const;

  // What is believed.
  void mean(NodeId user, NodeId node, std::span<double> out) const;
  void covariance(NodeId user, NodeId node, std::span<double> out) const;
  /// With the covariance of the same moment, if there is room for it.
  void evaluate(NodeId user, NodeId node, std::span<const double> contexts, std::span<const std::uint8_t> allowed,
                const Evaluation& out, std::span<double> covariance = {}) const;
  /// Engine::influence, by the numbers that nodes have here, and behind the lens. Not while anything changes.
  [[nodiscard]] Influence influence(NodeId user, NodeId node, std::span<const double> context) const;
  /// How long a context of a user may be: Engine::longest_context behind the lens. The user need not be there yet.
  [[nodiscard]] double longest_context(NodeId user, NodeId node) const;
  /// The same of a node, if its users do not hash.
  [[nodiscard]] double longest_context_at(NodeId node) const {
    return engine_of(node).longest_context() / lenses_.factor(node);
  }
  /// How large the degree of a node may be beside its ridge and the contexts learned so far, with the engine it has.
  [[nodiscard]] double largest_degree(NodeId node) const { return largest_degree(node, engine(node)); }
  [[nodiscard]] EngineKind engine(NodeId node) const { return engine_of(node).kind(); }
  /// ln|M| = ln|N| - d ln|A|, and how much it can be too large; it is never too small.
  [[nodiscard]] double log_determinant() const { return log_determinant_; }
  [[nodiscard]] double log_determinant_error() const { return log_determinant_error_; }

  // What changes it.
  SolveSummary learn(NodeId user, NodeId node, std::span<const double> context, double reward);
  /// The same belief as learning them one after the other, in the way that is cheapest for their number. Throws
  /// CapacityError, before it learns anything, if what they take would not fit. If anything else stops it half way
  /// (EngineOptions::progress, or memory that runs out all the same), the evidence is what it was, bit by bit, and so
  /// is the belief, or it is computed anew from the evidence.
  SolveSummary learn_many(std::span<const UserReward> rewards);
  /// Forgets a reward that was learned, at the node that decides for the user now; where sums are TakenFrom.
  SolveSummary forget(const UserReward& one);
  /// Learns some rewards and forgets others, as learn_many: all or nothing.
  SolveSummary learn_and_forget(std::span<const UserReward> learned, std::span<const UserReward> forgotten);
  /// Forgets everything and learns these, of which the last so many are new; all or nothing. Costs what it costs to
  /// make the engines and learn as many at once.
  SolveSummary learn_anew(std::span<const UserReward> rewards, std::size_t new_rewards);
  /// Multiplies what was observed of users, each once, by factors below 1, and then learns rewards; all or nothing.
  struct Discount {
    NodeId user;
    NodeId node;
    double factor;
  };
  SolveSummary discount_and_learn(std::span<const Discount> discounts, std::span<const UserReward> rewards);
  /// Takes away all that was learned from a user, whose rewards count no more. `rewards` are those where sums of users
  /// are TakenFrom, and not looked at elsewhere; `stay` are the other users of the node, where evidence is kept for
  /// users. If something stops it half way, the belief means nothing: whoever calls works on a copy.
  SolveSummary forget_user(NodeId user, NodeId node, std::span<const UserReward> rewards, std::span<const NodeId> stay);
  /// So many were learned and forgotten again, without a trace but their number and the longest of them.
  void pass_over(std::size_t count, double longest) noexcept;
  /// The length of the longest context, in units of the root of its node's ridge.
  [[nodiscard]] double longest_of(std::span<const UserReward> rewards) const;
  /// What the caller keeps beside the belief counts, where memory is asked for, as if it were the belief's.
  void set_bytes_beside(std::size_t bytes) { bytes_beside_ = bytes; }
  /// Adds the evidence of another belief about the same nodes, with the same graph and ridges; all of it or nothing, as
  /// learn_many.
  SolveSummary merge(const Belief& other);
  /// Throws CapacityError if a component that edges with these weights would make of the nodes they join did not fit,
  /// and std::invalid_argument if its engine would be sparse and the degree of a node too large for that, or contexts
  /// learned in a part too long beside the smallest ridge of the whole. Nodes that are not there yet are alone, and
  /// have the ridge of new ones.
  void check_joins_fit(std::span<const Edge> edges, double ridge_of_new) const;
  /// Sets the weights of edges, each pair of nodes once; 0 removes one. Joins and splits components where an edge is
  /// the first or the last way between them. If something stops it half way, the edges that were changed are changed
  /// back. Throws CapacityError before it begins if it would not fit.
  SolveSummary set_edges(std::span<const Edge> edges);
  /// The same where edges change more than themselves: the ridge and the factor of their ends. The components that they
  /// touch are made anew from the evidence, all of them or none: as much as making them, and a batch of at most about d
  /// rewards for each of their nodes with evidence. Throws std::invalid_argument, too, if a new engine would be sparse
  /// and the coupling too large for that.
  SolveSummary set_edges(std::span<const Edge> edges, std::span<const NodePrior> priors);
  /// The way back where something that comes after set_edges fails. Tells EngineOptions::progress nothing.
  void take_edges_back(std::span<const Edge> before);
  /// A user without evidence; only where evidence is kept for users.
  void add_user() { user_evidence_->add_place(); }
  /// Takes away the users and nodes that were added after so many, which have no edges or evidence. Takes no memory. A
  /// node that something still holds together with others, as memory ran out on the way back, stays.
  void keep_first(std::size_t users, std::size_t nodes);
  /// Whether nothing holds the node together with others.
  [[nodiscard]] bool is_alone(NodeId node) const { return components_[places_[node].component].nodes.size() == 1; }
  [[nodiscard]] bool has_user_evidence() const { return user_evidence_.has_value(); }
  [[nodiscard]] std::size_t user_evidence_count() const { return user_evidence_ ? user_evidence_->size() : 0; }
  /// A node without edges or evidence. If memory runs out, nothing has changed.
  void add_node(double ridge);
  /// Joins a node without evidence to another, as set_edges does, but tells EngineOptions::progress nothing: what it
  /// throws cannot stop this half way.
  SolveSummary join_new_node(const Edge& edge);
  /// The evidence of some users of a node counts for other nodes from now on; only where evidence is kept for users.
  /// `stay`: the node's other users. If something stops it half way, the evidence is what it was, and the belief
  /// computed anew from it.
  SolveSummary move_evidence(NodeId from, std::span<const UsersMove> moves, std::span<const NodeId> stay);
  /// Computes everything anew from the evidence and the graph, but for ln|M|, which does not change. Throws
  /// CapacityError before it begins if it would not fit.
  SolveSummary rebuild();

  /// The nodes whose belief one engine keeps; node k of the engine is nodes[k].
  struct Component {
    std::vector<NodeId> nodes;
    std::unique_ptr<Engine> engine;
    /// Its share of ln|M| and of the error, where it may be made anew (Lenses::scaling); else not kept.
    double log_determinant = 0.0;
    double log_determinant_error = 0.0;
  };
  [[nodiscard]] std::span<const Component> components() const { return components_; }
  /// How many changes ended above the engine's tolerance.
  [[nodiscard]] std::size_t unconverged_solves() const { return unconverged_solves_; }
  [[nodiscard]] std::size_t bytes() const;
  /// Throws CapacityError if a copy would not fit.
  void check_copy_fits() const;

  void save(BinaryWriter& out) const;
  /// The factors of lenses that scale are in the file.
  Belief(BinaryReader& in, double coupling, Lenses lenses, const EngineOptions& options, TakenFrom taken_from = {});

 private:
  /// Where a node's belief is.
  struct Place {
    NodeId component = 0;
    NodeId index = 0;
  };

  [[nodiscard]] double largest_degree(NodeId node, EngineKind kind) const;
  /// How long a context that a node learned is, in units of the root of its ridge.
  [[nodiscard]] double length_at(NodeId node, std::span<const double> learned) const;
  void check_degrees_in_sparse(std::span<const NodeId> parts, std::span<const Edge> edges) const;
  void check_lengths_in_sparse(std::span<const NodeId> parts, double smallest) const;
  [[nodiscard]] const Engine& engine_of(NodeId node) const { return *components_[places_[node].component].engine; }
  [[nodiscard]] const PriorMatrix& prior_of(NodeId node) const { return engine_of(node).prior(); }
  [[nodiscard]] ComponentEvidence evidence_of(const Component& component) const { return {evidence_, component.nodes}; }
  /// How many threads a change of many rewards may use.
  [[nodiscard]] std::size_t thread_count() const;

  // Many rewards at once: bulk.cpp.
  /// The rewards of one component.
  struct BulkPart {
    NodeId component = 0;
    std::size_t rewards = 0;
    std::size_t nodes = 0;         // that they are about
    std::size_t new_nodes = 0;     // of these, the ones without evidence
    std::size_t of_new_users = 0;  // rewards
  };
  class BulkChange;
  /// What was observed before a batch.
  struct EvidenceBefore {
    std::vector<Evidence::Before> of_nodes;
    std::vector<Evidence::Before> of_users;
  };
  [[nodiscard]] bool learns_in_a_copy(const Engine& engine, std::size_t rewards) const;
  [[nodiscard]] std::vector<std::uint32_t> order_by_node(std::span<const UserReward> rewards) const;
  [[nodiscard]] std::vector<BulkPart> parts_of(std::span<const UserReward> rewards,
                                               std::span<const std::uint32_t> by_node) const;
  [[nodiscard]] double bulk_bytes(std::span<const BulkPart> parts, std::size_t rewards, std::size_t of) const;
  void check_bulk_fits(std::span<const BulkPart> parts, std::size_t rewards) const;
  void check_merge_fits(std::span<const NodeId> nodes) const;
  template <typename Work>
  void for_each_by_node(std::span<const UserReward> rewards, std::span<const std::uint32_t> by_node,
                        std::size_t threads, const Work& work) const;
  void reserve_evidence(std::span<const UserReward> rewards, std::span<const std::uint32_t> by_node,
                        std::size_t threads);
  void add_evidence(std::span<const UserReward> rewards, std::span<const std::uint32_t> by_node, std::size_t threads);
  void put_back(EvidenceBefore& before);
  void run(BulkChange& change, double needed, std::size_t rewards);
  /// `alone`: whoever calls it has everything to themselves already.
  SolveSummary rebuild(Component& component, const std::function<void(double)>& progress, bool alone = false);

  // What is forgotten: forget.cpp.
  class Attempt;
  SolveSummary discount(const Discount& one, Engine& engine);

  void check_edges_fit(std::span<const Edge> edges) const;
  [[nodiscard]] bool changes_edges_in_a_copy(const Engine& engine) const;
  Engine::Changed change_edges(std::span<const Edge> edges, const std::function<void(double)>& progress);
  SolveSummary change_edges_or_go_back(std::span<const Edge> edges, const std::function<void(double)>& progress);
  SolveSummary account_for(NodeId component, const Engine::Changed& changed);
  SolveSummary learn(const UserReward& one);
  [[nodiscard]] std::span<const double> behind_lens(const UserReward& one, std::vector<double>& room) const;
  void sum_up_anew(NodeId user, NodeId node);
  [[nodiscard]] std::vector<double> behind_lenses(std::span<const UserReward> rewards,
                                                  std::vector<UserReward>& seen) const;
  SolveSummary learn_sums(std::span<const UserReward> rewards);
  void look(const Lens& lens, NodeId node, std::span<double> mean, std::span<double> covariance) const;
  void make_room_for_a_component();
  void add_component(Component component);
  void remove_component(std::size_t component);
  void place_nodes_of(std::size_t component);
  void exchange(Component& component, std::unique_ptr<Engine>& engine);
  void join(NodeId a, NodeId b);
  bool split(NodeId a, NodeId b);
  void split_between(std::vector<std::pair<NodeId, NodeId>> pairs);

  EngineOptions options_;
  double coupling_;
  Lenses lenses_;
  Evidence evidence_;                      // of the nodes
  std::optional<Evidence> user_evidence_;  // of the users, where it is another one than that of their nodes
  std::size_t rewards_ = 0;
  std::size_t bytes_beside_ = 0;
  double longest_learned_ = 0.0;  // context at a node, |x| / sqrt(its ridge)
  std::vector<Component> components_;
  std::vector<Place> places_;  // of the nodes
  double log_determinant_ = 0.0;
  double log_determinant_error_ = 0.0;
  std::size_t unconverged_solves_ = 0;
  /// Another one after every change of edges, nodes or components; copies share it.
  std::shared_ptr<const char> structure_ = std::make_shared<const char>();
  Access* access_ = nullptr;
};

}  // namespace goblin
