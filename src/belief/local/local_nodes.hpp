#pragma once

#include "belief/low_rank_inverse.hpp"
#include "belief/packs.hpp"
#include "goblin/graph/names.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

namespace goblin {

/// What the local engine keeps of the nodes that rewards have reached: w_j and r_j, and B_j^{-1} where there is
/// evidence. A node gets a slot when a reward first reaches it; the others take four bytes.
class LocalNodes {
 public:
  static constexpr NodeId none = std::numeric_limits<NodeId>::max();

  LocalNodes(std::size_t node_count, std::size_t dimension)
      : dimension_(dimension), stride_(padded<double>(dimension)), slot_of_(node_count, none) {
    constexpr std::size_t numbers_in_a_block = 16'384;
    while (block_slots() < node_count && block_slots() * 4 * stride_ <= numbers_in_a_block) ++block_shift_;
  }

  [[nodiscard]] std::size_t dimension() const { return dimension_; }
  [[nodiscard]] std::size_t stride() const { return stride_; }
  /// How many nodes have a slot.
  [[nodiscard]] std::size_t slot_count() const { return node_of_.size(); }
  /// The slot of a node, or none.
  [[nodiscard]] NodeId find(NodeId node) const { return slot_of_[node]; }
  [[nodiscard]] NodeId node_of(std::size_t slot) const { return node_of_[slot]; }
  [[nodiscard]] const std::vector<NodeId>& nodes() const { return node_of_; }

  /// Nodes without a slot, after those there are.
  void add_nodes(std::size_t count) { slot_of_.resize(slot_of_.size() + count, none); }

  /// Gives a node without a slot the next one, with zeros in it.
  std::size_t add(NodeId node) {
    const std::size_t slot = node_of_.size();
    if (slot >> block_shift_ == blocks_.size()) blocks_.emplace_back(block_slots() * 2 * stride_, 0.0);
    inverse_at_.resize(slot + 1, none);
    node_of_.push_back(node);
    slot_of_[node] = static_cast<NodeId>(slot);  // last: memory may run out before
    return slot;
  }

  /// Takes away the nodes and slots that were added after so many. Takes no memory.
  void keep_first(std::size_t node_count, std::size_t slots) {
    while (slot_count() > slots) {
      if (inverse_at_[slot_count() - 1] != none && inverse_at_[slot_count() - 1] + 1 == inverses_.size()) {
        inverses_.pop_back();
        inverse_at_[slot_count() - 1] = none;
      }
      remove_slot(static_cast<NodeId>(slot_count() - 1));
    }
    slot_of_.resize(node_count);
  }

  /// So that remove_nodes for so many nodes takes no memory.
  void expect_removal(std::size_t count) { unused_inverses_.reserve(unused_inverses_.size() + count); }
  /// Takes away nodes (ascending), as remove_places does. Slots go the same way: calls slot_removed(slot) for each,
  /// whose number then belongs to the slot that was the last.
  template <typename SlotRemoved>
  void remove_nodes(std::span<const NodeId> nodes, SlotRemoved slot_removed) {
    for (std::size_t k = nodes.size(); k-- > 0;) {
      const NodeId node = nodes[k];
      if (const NodeId slot = slot_of_[node]; slot != none) {
        remove_slot(slot);
        slot_removed(slot);
      }
      slot_of_[node] = slot_of_.back();
      slot_of_.pop_back();
      if (node < slot_of_.size() && slot_of_[node] != none) node_of_[slot_of_[node]] = node;
    }
  }

  [[nodiscard]] double* residual(std::size_t slot) {
    return blocks_[slot >> block_shift_].data() + (slot & (block_slots() - 1)) * 2 * stride_;
  }
  [[nodiscard]] const double* residual(std::size_t slot) const {
    return blocks_[slot >> block_shift_].data() + (slot & (block_slots() - 1)) * 2 * stride_;
  }
  [[nodiscard]] double* mean(std::size_t slot) { return residual(slot) + stride_; }
  [[nodiscard]] const double* mean(std::size_t slot) const { return residual(slot) + stride_; }

  /// Asks the machine for what `find` will look at, for a residual, and for a node's mean.
  void prefetch_slot(NodeId node) const { __builtin_prefetch(&slot_of_[node]); }
  void prefetch_residual(std::size_t slot) const {
    const double* numbers = residual(slot);
    for (std::size_t k = 0; k < stride_; k += 8) __builtin_prefetch(numbers + k, 1);
  }
  void prefetch_mean(NodeId node) const {
    const NodeId slot = find(node);
    if (slot == none) return;
    for (std::size_t k = 0; k < stride_; k += 8) __builtin_prefetch(mean(slot) + k);
  }

  [[nodiscard]] double squared_residual(std::size_t slot) const {
    const double* numbers = residual(slot);
    Pack total{};
    for (std::size_t k = 0; k < stride_; k += pack_size) total += *packs(numbers + k) * *packs(numbers + k);
    return sum(total);
  }

  /// B_j^{-1} of a node; null where there is no evidence.
  [[nodiscard]] const LowRankInverse<double>* inverse(NodeId node) const {
    const NodeId slot = slot_of_[node];
    return slot == none || inverse_at_[slot] == none ? nullptr : &inverses_[inverse_at_[slot]].inverse;
  }
  [[nodiscard]] const LowRankInverse<double>* inverse_at(std::size_t slot) const { return inverse(node_of_[slot]); }
  void set_inverse(std::size_t slot, LowRankInverse<double> inverse) {
    if (inverse_at_[slot] == none && !unused_inverses_.empty()) {
      inverse_at_[slot] = unused_inverses_.back();
      unused_inverses_.pop_back();
    } else if (inverse_at_[slot] == none) {
      inverses_.emplace_back();
      inverse_at_[slot] = static_cast<NodeId>(inverses_.size() - 1);
    }
    inverses_[inverse_at_[slot]] = {std::move(inverse)};
    measure(slot);
  }
  /// Makes room for the evidence of a node, B_j = `diagonal` I if there is none yet. From then on several threads may
  /// observe or set inverses at the same time, each at slots of its own.
  void expect(std::size_t slot, double diagonal) {
    if (inverse_at_[slot] == none) set_inverse(slot, LowRankInverse<double>(diagonal));
  }
  /// So many contexts will be observed at a slot that evidence is expected at.
  void reserve_contexts(std::size_t slot, std::size_t count) {
    inverses_[inverse_at_[slot]].inverse.reserve(count, dimension_);
  }
  /// Adds a context to B_j, which is `diagonal` I so far if there is no evidence yet. After the last of some contexts
  /// comes measure.
  LowRankInverse<double>::Observed observe(std::size_t slot, double diagonal, std::span<const double> context) {
    expect(slot, diagonal);
    return inverses_[inverse_at_[slot]].inverse.observe(context);
  }
  void measure(std::size_t slot) {
    Evident& known = inverses_[inverse_at_[slot]];
    known.evidence_share = known.inverse.share_of_terms(dimension_);
  }
  /// How much B_j^{-1} is changed by evidence: no eigenvalue of I - diagonal B_j^{-1} is above. 0 without evidence,
  /// below 1 always.
  [[nodiscard]] double evidence_share(std::size_t slot) const {
    return inverse_at_[slot] == none ? 0.0 : inverses_[inverse_at_[slot]].evidence_share;
  }

  /// to = B_j^{-1} from, `diagonal` what B_j is without evidence.
  template <typename Number>
  void apply_inverse(NodeId node, double diagonal, const Number* from, Number* to) const {
    if (const auto* known = inverse(node)) {
      if constexpr (std::is_same_v<Number, LaneRow>) return known->apply_lanes(from, to, dimension_);
      return known->apply(from, to, dimension_);
    }
    const double scale = 1.0 / diagonal;
    for (std::size_t k = 0; k < dimension_; ++k) to[k] = scale * from[k];
  }

  /// The same for one vector, of which all packs are read and written.
  void apply_inverse_packs(NodeId node, double diagonal, const double* from, double* to) const {
    const auto* known = inverse(node);
    if (known == nullptr) return apply_inverse(node, diagonal, from, to);
    const std::size_t count = stride_ / pack_size;
    with_pack_count(count, [&](auto packs_known) {
      PackRow<double, decltype(packs_known)::value> row(count);
      for (std::size_t b = 0; b < count; ++b) row[b] = packs(from)[b];
      known->apply_packs(row, packs(to), count, dimension_);
    });
  }

  [[nodiscard]] std::size_t bytes() const {
    std::size_t total =
        (slot_of_.capacity() + node_of_.capacity() + inverse_at_.capacity() + unused_inverses_.capacity()) *
            sizeof(NodeId) +
        blocks_.size() * block_slots() * 2 * stride_ * sizeof(double) + inverses_.capacity() * sizeof(Evident);
    for (const auto& known : inverses_) total += known.inverse.bytes();
    return total;
  }

 private:
  struct Evident {
    LowRankInverse<double> inverse;
    double evidence_share = 0.0;
  };

  /// The last slot takes its place.
  void remove_slot(NodeId slot) {
    if (inverse_at_[slot] != none) {
      inverses_[inverse_at_[slot]] = Evident();
      unused_inverses_.push_back(inverse_at_[slot]);
    }
    const std::size_t last = slot_count() - 1;
    if (slot != last) {
      std::copy_n(residual(last), 2 * stride_, residual(slot));
      node_of_[slot] = node_of_[last];
      inverse_at_[slot] = inverse_at_[last];
      slot_of_[node_of_[slot]] = slot;
    }
    std::fill_n(residual(last), 2 * stride_, 0.0);
    node_of_.pop_back();
    inverse_at_.resize(slot_count());
  }

  [[nodiscard]] std::size_t block_slots() const { return std::size_t{1} << block_shift_; }

  std::size_t dimension_;
  std::size_t stride_;
  std::size_t block_shift_ = 0;
  std::vector<NodeId> slot_of_;
  std::vector<NodeId> node_of_;
  std::vector<CacheLineVector<double>> blocks_;  // r_j, then w_j; a block is about 100 kB, and never moves
  std::vector<NodeId> inverse_at_;               // of a slot, in inverses_
  std::vector<Evident> inverses_;
  std::vector<NodeId> unused_inverses_;  // places in inverses_
};

}  // namespace goblin
