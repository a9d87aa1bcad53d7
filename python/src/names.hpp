#pragma once

#include "goblin/graph/names.hpp"
#include "identity.hpp"

#include <cstddef>
#include <nanobind/nanobind.h>
#include <string>
#include <vector>

namespace goblin::python {

/// Which index a user (or an item) has, and which name an index. Names are what identity.hpp says; the numbers 0, 1, 2,
/// ... as names take no memory. Copies share their objects until one of them changes. Names are plain values, which
/// refer to nothing, so the garbage collector need not look in here. Call it with the GIL held.
class PythonNames {
 public:
  /// The numbers below count.
  explicit PythonNames(std::size_t count) : count_(count) {}
  /// Distinct names; throws ValueError if one stands twice, and what checked_name throws. The kind is for messages:
  /// "user", "item".
  PythonNames(nb::handle iterable, const char* kind);
  /// The texts of a graph or a catalogue as they are; the numbers below count where it has none.
  static PythonNames of_texts(const Names& texts, std::size_t count);
  /// The users whose texts (text_of) a model file has; the numbers below count where it has none.
  static PythonNames of_model(const Names& texts, std::size_t count);

  PythonNames(const PythonNames& other);
  PythonNames& operator=(const PythonNames& other) = delete;

  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] bool are_numbers() const { return !index_.is_valid(); }
  [[nodiscard]] bool contains(nb::handle name) const { return index_or_none(name) != none; }
  /// Whether the other has the same users in the same order.
  [[nodiscard]] bool same_as(const PythonNames& other) const;
  /// Throws UnknownUser, a KeyError, if there is none; for items a KeyError.
  [[nodiscard]] NodeId find(nb::handle name, const char* kind = "user") const;
  /// The same, and the message begins with where the name stands: "edges[3]: user 'dan' is not known".
  [[nodiscard]] NodeId find_in(nb::handle name, const std::string& where) const;
  /// The same for a list, an array or a column of them; the error says which row, and how many more there are.
  [[nodiscard]] std::vector<NodeId> find_all(nb::handle names, const char* kind = "user") const;
  /// A new name, a plain one, which must not be there.
  void add(nb::handle plain);
  [[nodiscard]] nb::object name(std::size_t index) const;
  [[nodiscard]] nb::list list() const;
  /// The names as a model file has them; none where they are 0, 1, 2, ....
  [[nodiscard]] Names texts() const;

 private:
  static constexpr Py_ssize_t none = -1;

  [[nodiscard]] Py_ssize_t index_or_none(nb::handle name) const;
  [[nodiscard]] std::vector<NodeId> find_numbers(nb::handle array, const char* kind) const;
  void take(nb::list names, nb::dict index);
  void stop_sharing();

  std::size_t count_ = 0;
  nb::object index_;             // a dict, key -> index; invalid where the names are the numbers below count_
  nb::object names_;             // a list of plain names
  mutable bool shared_ = false;  // somebody else may have these two objects as well
};

/// The distinct names among many, in the order in which they appear, and the index of each: a list and an array.
/// `known` are plain and distinct names that come before all of them. `per_row` of the names make a row of the argument
/// `argument`, for messages: "edges[3]: None (...)".
nb::tuple numbered_names(nb::handle names, std::size_t per_row, const std::string& argument, nb::handle known);

/// Plain names as model files and logs have them: bytes.
nb::list name_texts(nb::handle names);

}  // namespace goblin::python
