#pragma once

#include "belief/neighbourhood.hpp"
#include "belief/node_inverse.hpp"
#include "belief/packs.hpp"
#include "goblin/belief/engine.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace goblin {

/// Keeps approximate means and what they leave of the equations, and looks around a node when a decision asks for it:
/// the cost of a reward or a decision does not grow with n, and each decision knows how far it can be off.
///
/// Means. Beside w there is the residual r = c - N w, true at all times. A reward changes it at one node; nodes whose
/// |r_j| is above what is allowed are settled, w_j += B_j^{-1} r_j, which passes coupling * weight * step on to each
/// neighbour. N is block diagonally dominant with margin ridge, so |w_i - exact| <= max |r_j| / ridge for every node.
///
/// What is left in the residuals a decision estimates: near its node as it is, and everywhere else as the same step for
/// the whole component (the coarse level), in which direction the equations are softest.
///
/// Variances. None are kept. For the nodes S around i that matter (Neighbourhood), N_SS u = phi_i(x) is solved by
/// conjugate gradients, and with the residual that u leaves outside S, x^T C_i x lies between x.u_i and
/// x.u_i + gap * max_j (|u_j| / g_j)^2: docs/engines.md has the proof. The upper end is what decisions use.
///
/// A node takes memory when a reward first reaches it: two vectors of d numbers, and B_j^{-1} once it has evidence.
/// Deciding takes a workspace for each thread that does, n indices among it.
class LocalEngine final : public Engine {
 public:
  LocalEngine(const Graph& component, std::size_t dimension, const Prior& prior, const LocalOptions& options);
  /// Two components side by side, of any kind.
  LocalEngine(const Engine& first, const Engine& second, std::span<const NodeEvidence> evidence, std::size_t dimension,
              const Prior& prior, const LocalOptions& options);
  LocalEngine(BinaryReader& in, std::size_t dimension, const Prior& prior, const LocalOptions& options);

  [[nodiscard]] EngineKind kind() const override { return EngineKind::local; }
  [[nodiscard]] std::size_t node_count() const override { return graph_.node_count(); }
  [[nodiscard]] std::size_t bytes() const override;
  [[nodiscard]] static std::size_t bytes(std::size_t nodes, std::size_t edges, std::size_t dimension);
  [[nodiscard]] std::unique_ptr<Engine> clone() const override { return std::make_unique<LocalEngine>(*this); }
  void mean(std::size_t node, std::span<double> out) const override;
  /// Not below C_i.
  void covariance(std::size_t node, std::span<double> out) const override;
  void evaluate(std::size_t node, std::span<const double> contexts, std::span<double> means,
                std::span<double> variances) const override;
  void evaluate_with_errors(std::size_t node, std::span<const double> contexts, std::span<double> means,
                            std::span<double> variances, std::span<double> mean_errors,
                            std::span<double> variance_errors) const override;
  Learned learn(std::size_t node, std::span<const double> context, double reward) override;
  EdgeChanged change_edge(std::size_t a, std::size_t b, double change, std::span<const NodeEvidence> evidence) override;
  [[nodiscard]] std::unique_ptr<Engine> extract(std::span<const NodeId> nodes) const override;
  [[nodiscard]] const Graph& graph() const override { return graph_; }
  void save(BinaryWriter& out) const override;

 private:
  static constexpr NodeId none = static_cast<NodeId>(-1);
  static constexpr std::size_t level_count = 32;

  /// Where a decision works.
  struct Workspace {
    explicit Workspace(std::size_t node_count) : near(node_count) {}

    Neighbourhood near;
    std::vector<LaneRow> solution;  // all of |S| d rows, eight right-hand sides beside each other
    std::vector<LaneRow> residual;
    std::vector<LaneRow> direction;           // p
    std::vector<LaneRow> diagonal_direction;  // B p
    std::vector<LaneRow> image;               // N p, then B^{-1} residual
    std::vector<double> coarse_step;          // y
  };
  /// Workspaces that no thread uses just now. A copy of an engine has its own.
  class Workspaces {
   public:
    Workspaces() = default;
    Workspaces(const Workspaces& /*other*/) {}
    Workspaces& operator=(const Workspaces&) = delete;
    ~Workspaces() = default;

    [[nodiscard]] std::unique_ptr<Workspace> take(std::size_t node_count);
    void put_back(std::unique_ptr<Workspace> workspace);
    [[nodiscard]] std::size_t count() const;

   private:
    mutable std::mutex mutex_;
    std::vector<std::unique_ptr<Workspace>> idle_;
  };

  [[nodiscard]] double* mean_at(std::size_t slot) {
    return blocks_[slot >> block_shift_].data() + (slot & (block_slots() - 1)) * 2 * stride_;
  }
  [[nodiscard]] const double* mean_at(std::size_t slot) const {
    return blocks_[slot >> block_shift_].data() + (slot & (block_slots() - 1)) * 2 * stride_;
  }
  [[nodiscard]] double* residual_at(std::size_t slot) { return mean_at(slot) + stride_; }
  [[nodiscard]] const double* residual_at(std::size_t slot) const { return mean_at(slot) + stride_; }
  [[nodiscard]] double squared_residual(std::size_t slot) const;
  [[nodiscard]] const NodeInverse* inverse_of(NodeId node) const;
  NodeInverse& make_inverse(std::size_t slot);

  std::size_t touch(NodeId node);
  void note(std::size_t slot, double squared);
  void note_all();
  void observe_length(double squared_length);
  void compute_residual(NodeId node, const NodeEvidence& evidence);
  void copy_part(const Engine& from, NodeId shift, std::span<const NodeEvidence> evidence);
  void copy_node(NodeId node, const LocalEngine& from, NodeId from_node);
  void rebuild_coarse(const Eigen::MatrixXd& observed);

  std::size_t push(std::size_t slot);
  std::size_t settle_around(NodeId node);
  SolveSummary relax();

  template <typename Number>
  void apply_inverse(NodeId node, const Number* from, Number* to) const;
  void resize(Workspace& work) const;
  void solve(Workspace& work, const Lanes& goal) const;
  struct MatrixBracket;
  [[nodiscard]] MatrixBracket matrix_bracket(std::span<const NodeId> seeds) const;

  [[nodiscard]] std::size_t block_slots() const { return std::size_t{1} << block_shift_; }

  std::size_t dimension_;
  std::size_t stride_;
  std::size_t block_shift_ = 0;
  Prior prior_;
  LocalOptions options_;
  Graph graph_;
  std::vector<double> diagonal_;  // of A

  // Nodes that a reward has reached have a slot.
  std::vector<NodeId> slot_of_;
  std::vector<NodeId> node_of_;
  std::vector<std::vector<double>> blocks_;  // w_j, then r_j; a block is about 100 kB, and never moves
  std::vector<NodeId> inverse_at_;           // of a slot, in inverses_
  std::vector<NodeInverse> inverses_;

  // Slots whose residual is above what is allowed wait at the level floor(log2(residual / allowed)), or at a lower one
  // in vain. level_ is one more than the level at which a slot waits.
  std::array<std::vector<NodeId>, level_count> waiting_;
  std::vector<std::uint8_t> level_;
  double quiet_ = 0.0;           // no residual of a slot that does not wait is above, squared
  double allowed_ = 0.0;         // squared
  double residual_bound_ = 0.0;  // no residual is above
  double length_ = 0.0;          // the usual length of a context, as far as it is known; never falls
  double squared_lengths_ = 0.0;
  std::size_t observations_ = 0;

  // The coarse level, the component as one node: the sum of the residuals, and (n ridge I + sum of S_j)^{-1}.
  std::vector<double> coarse_residual_;
  NodeInverse coarse_inverse_;

  std::vector<double> step_;
  mutable Workspaces workspaces_;
};

}  // namespace goblin
