#pragma once

#include "goblin/graph/graph.hpp"

#include <cstddef>
#include <vector>

namespace goblin {

class BinaryReader;
class BinaryWriter;

/// The last so many rewards, as users gave them, oldest first: Forgetting::window. Takes memory as it fills: d + 2
/// numbers a reward at most.
class RewardWindow {
 public:
  RewardWindow(std::size_t dimension, std::size_t capacity) : dimension_(dimension), capacity_(capacity) {}

  struct Entry {
    NodeId user;
    const double* context;  // d numbers, until the next push
    double reward;
  };

  [[nodiscard]] std::size_t capacity() const { return capacity_; }
  [[nodiscard]] std::size_t size() const { return users_.size(); }
  /// The k-th oldest.
  [[nodiscard]] Entry operator[](std::size_t k) const;
  /// How many leave when so many come.
  [[nodiscard]] std::size_t leaving(std::size_t coming) const;

  /// Makes room for so many more, so that push needs no memory.
  void reserve(std::size_t coming);
  /// The newest; the oldest leaves if there is no place left.
  void push(const Entry& entry);

  /// All of a user's rewards leave, wherever they are.
  void remove(NodeId user);

  [[nodiscard]] std::size_t bytes() const;
  /// Once it is full.
  [[nodiscard]] static double bytes(std::size_t dimension, std::size_t capacity);

  void save(BinaryWriter& out) const;
  static RewardWindow load(BinaryReader& in, std::size_t dimension, std::size_t capacity);

 private:
  [[nodiscard]] std::size_t row() const { return dimension_ + 1; }

  std::size_t dimension_;
  std::size_t capacity_;
  std::size_t oldest_ = 0;  // its place; 0 until the window is full
  std::vector<NodeId> users_;
  std::vector<double> numbers_;  // context and reward
};

}  // namespace goblin
