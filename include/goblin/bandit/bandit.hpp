#pragma once

#include "goblin/bandit/confidence.hpp"
#include "goblin/bandit/explanation.hpp"
#include "goblin/bandit/exploration.hpp"
#include "goblin/bandit/policy.hpp"
#include "goblin/bandit/policy_options.hpp"
#include "goblin/belief/evidence.hpp"
#include "goblin/belief/options.hpp"
#include "goblin/belief/solve_summary.hpp"
#include "goblin/graph/graph.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace goblin {

/// Messages call an option what the command line and Python call it, without the struct that it is in here: `window`,
/// `buckets`, `tolerance`. Where that could be two, both are named: `hub_ridge`, `local_tolerance`. The hub's weight is
/// `hub`.
struct BanditOptions {
  /// d: how many numbers a context has, as it is given to the bandit.
  std::size_t dimension = 0;
  /// Whether the bandit puts a 1 after the numbers of every context, so that estimates need not be 0 where the context
  /// is. Then contexts must not have a constant themselves. A context may be as long as without it, the 1 counted in.
  bool intercept = false;
  /// How much uncertainty attracts; 0 never explores.
  double alpha = 0.1;
  /// How candidates are chosen. If it is not set, that is Exploration::ucb(alpha); if it is, alpha is not used.
  std::optional<Exploration> exploration = {};
  /// How strongly every node's vector is drawn towards zero, and towards those of its neighbours:
  /// A = ridge I + coupling L. Scaling every context by s is the same as dividing both by s^2. A ridge that is not set
  /// is the policy's usual one (PolicyInfo::usual_ridge): 1, but for gob.lin.hub.
  std::optional<double> ridge = {};
  double coupling = 1.0;
  /// A ridge for each node instead (Policy says what the nodes are); empty: `ridge` for all. Nodes that come later have
  /// `ridge`. With gob.lin.hub it is one for each user: the hub has HubOptions::ridge. With the normalized Laplacian it
  /// is a user's ridge as that of all is, not divided by the degree.
  std::vector<double> node_ridges = {};
  /// Where users share nodes (linucb-sin, gob.lin.macro, linucb.hash), evidence is kept for each user, d (d + 3) / 2
  /// numbers from the first reward on, so that Bandit::evidence can be asked and, with gob.lin.macro, users can move to
  /// another cluster. With this it is kept for the nodes only.
  bool evidence_per_node = false;
  /// What one policy has that the others have not.
  Laplacian laplacian = Laplacian::combinatorial;
  HubOptions hub = {};
  HashOptions hash = {};
  ClubOptions club = {};
  DynucbOptions dynucb = {};
  Forgetting forgetting = {};
  EngineOptions engine = {};

  /// How many numbers the vector of a user has, and with it means, covariances and evidence: d, and with the intercept
  /// one more, the last. Where formulas say d, this is meant.
  [[nodiscard]] std::size_t weight_count() const { return dimension + (intercept ? 1 : 0); }
};

/// A user, by index or by name. A name is only looked at during the call it is passed to. In a bandit whose users have
/// no names, the text "3" is the user 3.
class UserRef {
 public:
  template <std::integral Index>
  requires(!std::same_as<std::remove_cv_t<Index>, bool>) UserRef(Index index)
      : user_(to_size(index)) {}                                       // NOLINT(google-explicit-constructor)
  UserRef(std::string_view name) : user_(name) {}                      // NOLINT(google-explicit-constructor)
  UserRef(const char* name) : user_(std::string_view(name)) {}         // NOLINT(google-explicit-constructor)
  UserRef(const std::string& name) : user_(std::string_view(name)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] const std::variant<std::size_t, std::string_view>& value() const { return user_; }

 private:
  template <std::integral Index>
  static std::size_t to_size(Index index) {
    if constexpr (std::is_signed_v<Index>) {
      if (index < 0) return static_cast<std::size_t>(-1);
    }
    return static_cast<std::size_t>(index);
  }

  std::variant<std::size_t, std::string_view> user_;
};

/// The candidates of a round: numbers in one block, candidate after candidate. It looks at the numbers, it does not
/// hold them: `bandit.select("ann", {numbers, 25})`.
class Contexts {
 public:
  /// numbers.size() must be a multiple of the dimension, which must be the bandit's; select and rank check both.
  Contexts(std::span<const double> numbers, std::size_t dimension) : numbers_(numbers), dimension_(dimension) {}

  [[nodiscard]] std::span<const double> numbers() const { return numbers_; }
  [[nodiscard]] std::size_t dimension() const { return dimension_; }

 private:
  std::span<const double> numbers_;
  std::size_t dimension_;
};

/// One flag a candidate, 0 leaves it out; no flags at all leave none out.
using Mask = std::span<const std::uint8_t>;

/// What select decided: an arm, and what is believed of each candidate. A candidate that was left out has mean, width
/// and bound 0 and score -infinity.
struct Decision {
  std::size_t arm = 0;
  /// What the rule goes by; of equals the lowest index counts. It is mean + width, but with Thompson's rule what was
  /// drawn.
  std::vector<double> scores;
  std::vector<double> means;
  /// Of the confidence interval; 0 with greedy and SquareCB, and with Thompson's rule the standard deviation of the
  /// draw.
  std::vector<double> widths;
  /// |mean + width - their exact sum| <= bound, proved for each candidate anew. The engines dense and sparse say 0:
  /// dense is exact but for rounding, sparse to the tolerance of its solves. local knows two ends of a width and takes
  /// their middle; with the printed bound and Thompson's rule the upper one, which is never smaller than the exact
  /// width.
  std::vector<double> bounds;
  /// How probable it was that the rule would choose this arm, before chance decided: 1 where chance has no part. Exact,
  /// but for Thompson's rule, where it is estimated (Draw::samples) and not a number if it was not wanted.
  double probability = 1.0;
  /// The standard error of that estimate; 0 where the probability is exact.
  double probability_error = 0.0;
  /// That of every candidate, where Draw::every_arm asked for it; else empty. They sum up to 1. Estimates have a
  /// standard error of about sqrt(p (1 - p) / samples + 1 / samples^2) at most.
  std::vector<double> probabilities;
  /// What kept the belief that decided.
  EngineKind engine = EngineKind::dense;
};

/// One place of a ranking.
struct Ranked {
  std::size_t arm = 0;
  double score = 0.0;
  /// That this arm would be chosen for this place, given those before it, as in Decision. The product over the places
  /// is the probability of the whole ranking.
  double probability = 1.0;
};

/// One reward to learn from. The user's name and the context must live as long as the observation: it only looks at
/// them.
struct Observation {
  UserRef user;
  std::span<const double> context;
  double reward = 0.0;
};

/// Many rewards as columns, for those who have them so: a user's index, d numbers and a reward for each, all of the
/// first before all of the second in `contexts`. It only looks at them.
struct RewardTable {
  std::span<const NodeId> users;
  std::span<const double> contexts;
  std::span<const double> rewards;
};

/// One change of the graph. The names must live as long as it does.
struct EdgeChange {
  UserRef a;
  UserRef b;
  double weight = 1.0;  ///< is added to what there is between the two; 0 removes the edge, which must be there
};

struct ComponentSummary {
  std::size_t nodes = 0;
  std::size_t edges = 0;
  EngineKind engine = EngineKind::dense;
  std::string reason;  ///< why this engine, in words and in what a reward costs
  std::size_t bytes = 0;
};

/// What was asked for and what is used.
struct BanditSummary {
  Policy policy = Policy::gob_lin;
  Exploration exploration = {};
  EngineKind asked_engine = EngineKind::automatic;
  std::size_t users = 0;  ///< without those who were removed
  std::size_t nodes = 0;
  std::size_t clusters = 0;  ///< that somebody is in, where the policy has clusters
  std::size_t edges = 0;     ///< between nodes
  std::size_t rewards = 0;
  std::size_t unconverged_solves = 0;  ///< that ended above the tolerance
  std::size_t bytes = 0;               ///< in all, with the social graph and the evidence
  std::vector<ComponentSummary> components;
};

/// A linear bandit for every user, which learn from each other over a social graph.
///
/// Each node i of the policy's graph (Policy says which) has an unknown vector; a reward for context x is that vector
/// times x plus noise, and vectors of neighbours are alike. With A = ridge I + coupling L, L the graph's Laplacian,
/// and the rewards a_s seen for contexts x_s at nodes i_s, the bandit believes in
///
///     N = A (x) I_d + sum phi_s phi_s^T,   w = N^{-1} sum a_s phi_s,   phi_s = x_s at node i_s, 0 elsewhere
///
/// and scores x at node i by w_i.x + width(x), the width growing with x^T C_i x, C_i the i-th diagonal block of N^{-1}.
/// This is the paper's GOB.Lin exactly: docs/notation.md has the translation.
///
///     #include <goblin/goblin.hpp>
///     #include <iostream>
///
///     int main() {
///       goblin::Names names;
///       for (const char* name : {"ann", "bob", "cat"}) names.insert(name);
///       const goblin::Graph friends(names, std::vector<goblin::Edge>{{0, 1}, {1, 2}});
///       auto bandit = goblin::Bandit::gob_lin(friends, {.dimension = 2, .alpha = 0.1});
///       const std::vector<double> arms = {1.0, 0.0, 0.0, 1.0};  // two candidates
///       for (int round = 0; round < 20; ++round) bandit.update("ann", std::span(arms).first(2), 1.0);
///       std::cout << "bob gets arm " << bandit.select("bob", {arms, 2}).arm << '\n';
///     }
///
/// Mistakes of the caller are std::invalid_argument with name, value and bound, and leave the bandit as it was; a user
/// who is not there is an UnknownUser, which is one. Rewards outside [-1, 1] are allowed: the algorithm does not need
/// that bound, only Theorem 1 does.
///
/// What is believed stays within 1e-6 of the exact value, relatively, because what would take more digits is refused:
/// contexts longer than 30,000 sqrt(ridge) (the smallest ridge of the component), and edges with coupling * degree /
/// ridge above 2e9. With the engine sparse |x| / sqrt(ridge) times coupling * degree / ridge may be at most 1e11, too
/// (docs/decisions/0004-tolerance.md). With the normalized Laplacian a context counts sqrt(degree) times as long, a
/// ridge degree times as large; with linucb.hash a context counts at least sqrt(2) times as long (docs/notation.md).
///
/// Threads: any number of calls of const functions at the same time, or one call of another function and nothing else.
class Bandit {
 public:
  static Bandit linucb_sin(const Graph& users, const BanditOptions& options);
  static Bandit linucb_ind(const Graph& users, const BanditOptions& options);
  static Bandit gob_lin(const Graph& users, const BanditOptions& options);
  static Bandit gob_lin_macro(const Graph& users, std::span<const NodeId> clusters, const BanditOptions& options);
  static Bandit gob_lin_block(const Graph& users, std::span<const NodeId> clusters, const BanditOptions& options);
  /// Not the paper's. HubOptions says why the usual `ridge` is small here.
  static Bandit gob_lin_hub(const Graph& users, const BanditOptions& options);
  /// Feature hashing: HashOptions.
  static Bandit linucb_hash(const Graph& users, const BanditOptions& options);
  /// These two find clusters themselves, as rewards come in; one belief for each, and no edges between them.
  /// BanditOptions::club and BanditOptions::dynucb say how. Which cluster a user is in depends on the order of the
  /// rewards, so a batch is learned one by one, in a copy of the bandit, and two bandits cannot be merged.
  static Bandit club(const Graph& users, const BanditOptions& options);
  static Bandit dynucb(const Graph& users, const BanditOptions& options);
  /// Any of them; the clusters are for the policies that use them and must be empty for the others. Throws
  /// CapacityError, before it allocates, if the bandit would not fit.
  static Bandit make(Policy policy, const Graph& users, std::span<const NodeId> clusters, const BanditOptions& options);

  /// The bytes that make(...) will need at most, once every node has evidence.
  [[nodiscard]] static std::size_t estimate_bytes(Policy policy, const Graph& users, std::span<const NodeId> clusters,
                                                  const BanditOptions& options);

  Bandit(const Bandit& other);
  Bandit& operator=(const Bandit& other);
  Bandit(Bandit&&) noexcept;
  Bandit& operator=(Bandit&&) noexcept;
  ~Bandit();

  /// Decides, and changes nothing. With the engines dense and sparse O(candidates d^2); local looks around the user
  /// first, at up to LocalOptions::most_nodes nodes, and solves a system over them for every eight candidates.
  ///
  /// Rules that leave something to chance (Exploration::is_random) need a draw, and throw std::invalid_argument without
  /// one; the others do not look at its seed and number. Thompson's rule takes O(d^3) more to choose and, with the
  /// engine local, draws from the upper end of what C_i can be; its probability takes Draw::samples times as long.
  [[nodiscard]] Decision select(UserRef user, Contexts contexts, Mask allowed = {},
                                const std::optional<Draw>& draw = {}) const;
  /// The same into a decision that is used again: no allocation once its vectors are large enough (for d <= 128,
  /// without Thompson's rule, and where users see their nodes as they are: not with the normalized Laplacian,
  /// linucb.hash or the intercept).
  void select(UserRef user, Contexts contexts, Mask allowed, Decision& decision,
              const std::optional<Draw>& draw = {}) const;
  /// k choices, one after the other, each among the candidates that those before have left; all that are allowed if
  /// there are fewer. Without chance these are the k highest scores, best first. The first is what select chooses.
  [[nodiscard]] std::vector<Ranked> rank(UserRef user, Contexts contexts, std::size_t k, Mask allowed = {},
                                         const std::optional<Draw>& draw = {}) const;
  /// The same into a decision, the first of them, and a list that are used again.
  void rank(UserRef user, Contexts contexts, std::size_t k, Mask allowed, Decision& decision,
            std::vector<Ranked>& ranked, const std::optional<Draw>& draw = {}) const;
  /// How probable each candidate is: Decision::probabilities, for those who do not want to choose. Of the draw, only
  /// Thompson's rule looks at something.
  [[nodiscard]] std::vector<double> probabilities(UserRef user, Contexts contexts, Mask allowed = {},
                                                  const Draw& draw = {}) const;
  /// Whose rewards the estimate for a context came from: the k largest contributions, and the rest. One linear solve
  /// (dense: a product); local solves around the user, over at most LocalOptions::most_edges edges.
  [[nodiscard]] Explanation explain(UserRef user, std::span<const double> context, std::size_t k = 10) const;

  /// Learns from a reward, whenever it comes and whatever the order, and forgets what BanditOptions::forgetting says:
  /// then the order is that of the calls, and within a batch that of its rewards.
  SolveSummary update(UserRef user, std::span<const double> context, double reward);
  /// All of them, or none if one is bad. The belief becomes what it would be had they been learned one after the other,
  /// in any order; the more there are, the less each costs. With the exact engines all rewards of a node are one change
  /// that costs at most d rewards, sparse learns some dozens of changes side by side, and from about a reward a row of
  /// N on (sparse: some thousands) the belief is computed anew, which costs the same for any number. Local solves once
  /// for all means; where rewards are very many it knows ln|M| less well afterwards (docs/engines.md). Throws
  /// CapacityError, before it learns anything, if many at once would not fit. If something stops it half way, memory
  /// that runs out or what EngineOptions::progress throws, nothing was learned: the evidence is as it was, and so is
  /// the belief, where need be computed anew from it. The same holds for update_edges and merge. Policies that find the
  /// clusters learn one after the other as they stand in the batch, and work on a copy of the bandit.
  SolveSummary update(std::span<const Observation> batch);
  SolveSummary update(const RewardTable& table);
  /// Throw what update would throw, and learn nothing.
  void check(UserRef user, std::span<const double> context, double reward) const;
  void check(std::span<const Observation> batch) const;
  void check(const RewardTable& table) const;
  /// Throws what update would throw of a user who joins by add_user(name), without having to add the user first.
  void check_new_user(std::span<const double> context, double reward = 0.0) const;

  /// A user without friends; gives the index. In a bandit whose users have names a new one needs a new name, in the
  /// others it must have none. Policies with clusters put the user into the given cluster or a new one; those that
  /// find the clusters say themselves where. gob.lin.hub joins the user to the hub, which costs as much as an edge.
  NodeId add_user(std::string_view name = {}, std::optional<NodeId> cluster = {});
  /// Users who go: their friendships, what was learned from their rewards, and their names, which others may have then.
  /// What is believed becomes what it would be had they never been there, and rewards() counts theirs no more; with a
  /// window, those that had left it already stay counted. Indices do not change: nobody else gets theirs, and asking
  /// for it throws UnknownUser. Clusters that were found with their help (club, dynucb) stay, but where only they held
  /// one together in club. All of them or none. Not with evidence_per_node where users share nodes: what they brought
  /// cannot be told apart. Works on a copy of the bandit. Costs as much as an edge for each friend, and one more for
  /// what was learned, which is taken out of a shared node by summing up that of all who stay.
  SolveSummary remove_users(std::span<const UserRef> users);
  SolveSummary remove_user(UserRef user);
  /// Changes the graph, and the belief to what it would be had the graph always been so. A second edge between two
  /// users adds to the weight of the first. Costs about as much as learning d rewards; with local about as much as one.
  /// With the normalized Laplacian an edge changes the ridges of both ends, too, and the components that it touches are
  /// made anew from the evidence: as much as making them, and a batch of about d rewards for each user with evidence.
  SolveSummary add_edge(UserRef a, UserRef b, double weight = 1.0);
  SolveSummary remove_edge(UserRef a, UserRef b);
  /// All of these changes, as if one came after the other, or none if one is bad. Cheaper than one by one: components
  /// are joined and split once, and with local what the edges change is settled once.
  SolveSummary update_edges(std::span<const EdgeChange> changes);
  /// Puts a user into another cluster, which may be a new one (its number is then the number of clusters). The belief
  /// becomes what it would be had the user always been there. For the policies whose clusters are given. Costs as much
  /// as an edge for each friend; with gob.lin.macro for each cluster with a friend in it, and one more for the user's
  /// evidence, which is taken out by summing up that of all who stay.
  SolveSummary move_user(UserRef user, NodeId cluster);
  /// Adds everything that another bandit has learned, as if this one had learned it too: two halves of a log that two
  /// processes learned are merged into the bandit of the whole log. The other must have the same policy, users (and
  /// names, unless they are not compared: for those who keep them elsewhere), edges, clusters, dimension, intercept,
  /// ridges, coupling, options of the policy and evidence_per_node; std::invalid_argument says in what it differs.
  /// Exploration and engines may differ; they stay as they are here. Costs as much as a batch of at most about d
  /// rewards for each node that the other has evidence of. Not for policies that find the clusters, nor for bandits
  /// that forget: nothing says whose rewards are older.
  SolveSummary merge(const Bandit& other, bool compare_names = true);
  /// EngineOptions::threads and EngineOptions::progress, which no model file holds.
  void set_threads(std::size_t threads);
  void set_progress(std::function<void(double share)> progress);
  /// Only decisions depend on it, so it may change at any time.
  void set_exploration(const Exploration& exploration);
  /// The alpha of ucb. Throws std::invalid_argument if the bandit has another rule.
  void set_alpha(double alpha);
  /// Computes the belief anew from the evidence and the graph, which it follows from; a check rather than a need. Costs
  /// (n d)^3 with dense. sparse inverts N on all threads, as far as C needs it: 36 s of one core's time for Last.fm's
  /// 1,892 users and d = 25, and n d solves where the factor of N does not fit into memory.
  SolveSummary rebuild();

  [[nodiscard]] Policy policy() const;
  /// With the exploration and the ridge that are used, whether they were set or not.
  [[nodiscard]] const BanditOptions& options() const;
  [[nodiscard]] const Exploration& exploration() const;
  /// How many indices users have had: those of users who were removed, which has_user does not know, count.
  [[nodiscard]] std::size_t user_count() const;
  [[nodiscard]] std::size_t node_count() const;
  /// The index of a user; throws UnknownUser if there is none.
  [[nodiscard]] NodeId user(UserRef user) const;
  [[nodiscard]] bool has_user(UserRef user) const;
  /// The user's cluster, where the policy has clusters, and the node that decides for the user.
  [[nodiscard]] std::optional<NodeId> cluster(UserRef user) const;
  [[nodiscard]] NodeId node(UserRef user) const;
  /// The users' graph as it is now, and the policy's graph over the nodes. Users who were removed are in it without
  /// edges and with an empty name. With gob.lin.hub the latter has the weights
  /// that A has: coupling times those of friends, and HubOptions::weight.
  [[nodiscard]] Graph graph() const;
  [[nodiscard]] Graph node_graph() const;
  /// What was learned from a user's rewards; valid until the next change of the bandit.
  [[nodiscard]] UserEvidence evidence(UserRef user) const;
  /// The number of rewards learned, those that were forgotten too, but not those of users who were removed.
  [[nodiscard]] std::size_t rewards() const;

  /// How many numbers a user's vector has: the dimension, or one more with BanditOptions::intercept.
  [[nodiscard]] std::size_t weight_count() const { return options().weight_count(); }
  /// w_i and C_i (d x d) of the user's node, as the user sees it. The intercept, where there is one, comes last.
  [[nodiscard]] std::vector<double> mean(UserRef user) const;
  [[nodiscard]] std::vector<double> covariance(UserRef user) const;

  /// ln|M_t|, M_t the paper's matrix: ln|N| - d ln|A|. Where the engine is local it may be too large by
  /// log_determinant_error(), never too small.
  [[nodiscard]] double log_determinant() const;
  [[nodiscard]] double log_determinant_error() const;
  /// L(u_1, ..., u_n) = ridge sum |u_i|^2 + coupling sum over edges weight |u_i - u_j|^2 of the users' true vectors (d
  /// numbers each, user after user), with the Laplacian of the options. Those of users who were removed do not count.
  /// Users who share a node must have the same vector; a hub has the one that makes the sum smallest. Not for
  /// linucb.hash, where that says little.
  [[nodiscard]] double smoothness(std::span<const double> user_vectors) const;
  /// x^T C_i x is at most |x|^2 / prior_precision() for every user, whatever was learned: the smallest ridge, or more
  /// with a hub, which knows more of users than their ridges say; with linucb.hash less, as contexts become longer.
  [[nodiscard]] double prior_precision() const;
  /// Theorem 1 after the rewards learned so far.
  [[nodiscard]] double regret_bound(const RegretBoundOptions& options) const;

  [[nodiscard]] BanditSummary summary() const;
  /// How much more memory it may take: EngineOptions::memory_limit less what the belief takes, or what the machine has
  /// free.
  [[nodiscard]] std::size_t free_bytes() const;

  /// Writes the bandit to a file, all of it or nothing: docs/model-file.md has the format. Throws std::system_error if
  /// the file cannot be written. With `names`, one for each user in the order of their indices, the file says these
  /// instead of the names that the bandit has.
  void save(const std::filesystem::path& path, const Names& names = {}) const;
  /// The bandit that was saved, which goes on as if nothing had happened. Throws DataError if the file is missing,
  /// truncated, altered or of a version that is not read, and says which.
  static Bandit load(const std::filesystem::path& path);
  /// The bytes of such a file, and the bandit of such bytes, for those who keep bandits elsewhere.
  [[nodiscard]] std::string to_bytes() const;
  static Bandit from_bytes(std::span<const char> bytes);

 private:
  struct State;
  void check_some(std::span<const Observation> batch, std::size_t first, std::size_t end) const;
  void check_some(const RewardTable& table, std::size_t first, std::size_t end) const;
  // The two halves of add_user, for those who let others decide meanwhile, and the way back from between them.
  NodeId add_user_alone(std::string_view name, std::optional<NodeId> cluster);
  void join_to_hub(NodeId user);
  void remove_user_alone(NodeId user);
  explicit Bandit(std::unique_ptr<State> state);
  friend class ModelFile;
  friend class SharedBandit;
  [[nodiscard]] State& state() const;

  std::unique_ptr<State> state_;
};

}  // namespace goblin
