#pragma once

#include <cstddef>
#include <functional>

namespace goblin {

/// Lets decisions go on while the belief changes.
///
/// Nodes have places, some share one. Whoever reads the belief of a node holds its place for reading meanwhile, whoever
/// changes it holds the place for writing, for as short a time as possible: all that can be computed before is computed
/// before. Where there is no Access (a null pointer), nobody reads while something changes.
///
/// The engines are compiled apart from this (cmake/EngineVariants.cmake), so they know no more than these functions.
class Access {
 public:
  /// So many nodes of an engine that follow each other share a place: taking one costs as much as changing a node.
  static constexpr std::size_t nodes_in_a_place = 8;

  Access() = default;
  Access(const Access&) = delete;
  Access& operator=(const Access&) = delete;
  virtual ~Access() = default;

  virtual void begin_reading(std::size_t place) = 0;
  virtual void end_reading(std::size_t place) = 0;
  virtual void begin_writing(std::size_t place) = 0;
  /// The same if nobody reads or writes there; else false.
  [[nodiscard]] virtual bool try_writing(std::size_t place) = 0;
  virtual void end_writing(std::size_t place) = 0;
  /// Of a place that the caller writes.
  [[nodiscard]] virtual bool readers_wait(std::size_t place) const = 0;

  virtual void begin_writing_everywhere() = 0;
  virtual void end_writing_everywhere() = 0;

  /// Does work while nobody reads anything, nor looks for the engine of a node. Not to be called within itself, nor by
  /// somebody who holds a place.
  virtual void exclusively(const std::function<void()>& work) = 0;
};

/// Holds a place for reading. A null access holds nothing.
class Reading {
 public:
  template <typename Place>
  Reading(Access* access, Place place) : access_(access), place_(access == nullptr ? 0 : place()) {
    if (access_ != nullptr) access_->begin_reading(place_);
  }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;
  ~Reading() {
    if (access_ != nullptr) access_->end_reading(place_);
  }

 private:
  Access* access_;
  std::size_t place_;
};

/// Holds a place for writing.
class Writing {
 public:
  Writing(Access* access, std::size_t place) : access_(access), place_(place) {
    if (access_ != nullptr) access_->begin_writing(place_);
  }
  Writing(const Writing&) = delete;
  Writing& operator=(const Writing&) = delete;
  ~Writing() {
    if (access_ != nullptr) access_->end_writing(place_);
  }

 private:
  Access* access_;
  std::size_t place_;
};

}  // namespace goblin
