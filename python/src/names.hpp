#pragma once

#include "goblin/graph/names.hpp"
#include "identity.hpp"

#include <cstddef>
#include <nanobind/nanobind.h>
#include <span>
#include <string>
#include <vector>

namespace goblin::python {

/// Which index a user (or an item) has, and which name an index. Names are what identity.hpp says; the numbers 0, 1, 2,
/// ... as names take no memory. A name may be taken away; its index is then nobody's. Copies share their objects until
/// one of them changes. Names are plain values, which refer to nothing, so the garbage collector need not look in here.
/// Call it with the GIL held.
class PythonNames {
 public:
  /// What a list of names stands for. A row whose name is unknown has the index 0.
  struct Found {
    std::vector<NodeId> indices;
    std::vector<std::size_t> unknown;  ///< rows
    nb::list unknown_names;            ///< as they were given
  };

  /// The numbers below count.
  explicit PythonNames(std::size_t count) : count_(count) {}
  /// Distinct names; throws ValueError if one stands twice, and what checked_name throws. The kind is for messages:
  /// "user", "item".
  PythonNames(nb::handle iterable, const char* kind);
  /// The texts of a graph or a catalogue as they are; the numbers below count where it has none.
  static PythonNames of_texts(const Names& texts, std::size_t count);
  /// The users whose texts (text_of) a model file has, nobody where one is empty; the numbers below count where it has
  /// none.
  static PythonNames of_model(const Names& texts, std::size_t count);
  /// What slots() gave.
  static PythonNames of_slots(nb::handle slots);

  PythonNames(const PythonNames& other);
  PythonNames& operator=(const PythonNames& other) = delete;

  [[nodiscard]] std::size_t size() const { return count_ - removed_; }
  /// One more than the largest index that anybody has or had.
  [[nodiscard]] std::size_t index_count() const { return count_; }
  [[nodiscard]] bool are_numbers() const { return !index_.is_valid(); }
  [[nodiscard]] bool contains(nb::handle name) const { return index_or_none(name) != none; }
  /// Whether an index has a name.
  [[nodiscard]] bool has(std::size_t index) const { return removed_ == 0 || !name(index).is_none(); }
  /// Whether the other has the same user at an index, or nobody as well.
  [[nodiscard]] bool same_at(const PythonNames& other, std::size_t index) const;
  /// Whether the other has the same users in the same order.
  [[nodiscard]] bool same_as(const PythonNames& other) const;
  /// Throws UnknownUser, a KeyError, if there is none; for items a KeyError.
  [[nodiscard]] NodeId find(nb::handle name, const char* kind = "user") const;
  /// The same, and the message begins with where the name stands: "edges[3]: user 'dan' is not known".
  [[nodiscard]] NodeId find_in(nb::handle name, const std::string& where) const;
  /// The same for a list, an array or a column of them; the error says which row, and how many more there are.
  [[nodiscard]] std::vector<NodeId> find_all(nb::handle names, const char* kind = "user") const;
  /// The same where some may be unknown, and what says so if there are.
  [[nodiscard]] Found find_known(nb::handle names, const char* kind = "user") const;
  static void check_all_known(const Found& found, const char* kind = "user");
  /// A new name, a plain one, which must not be there.
  void add(nb::handle plain);
  /// An index that nobody has.
  void add_nobody();
  /// Takes the names of some indices, which have one.
  void remove(std::span<const NodeId> indices);
  /// None where nobody has the index.
  [[nodiscard]] nb::object name(std::size_t index) const;
  /// All names; with None for each index that nobody has.
  [[nodiscard]] nb::list list() const;
  [[nodiscard]] nb::list slots() const;
  /// The names as a model file has them; none where they are 0, 1, 2, ....
  [[nodiscard]] Names texts() const;

 private:
  static constexpr Py_ssize_t none = -1;

  [[nodiscard]] Py_ssize_t index_or_none(nb::handle name) const;
  [[nodiscard]] Found find_numbers(nb::handle array, const char* kind) const;
  void take(nb::list names, nb::dict index);
  void stop_sharing();

  std::size_t count_ = 0;
  std::size_t removed_ = 0;      // of the indices below count_
  nb::object index_;             // a dict, key -> index; invalid where the names are the numbers below count_
  nb::object names_;             // a list of plain names
  mutable bool shared_ = false;  // somebody else may have these two objects as well
};

/// Whether these are users, a list, an array or a column of them, and not one user: a tuple is one.
bool are_many(nb::handle users);

/// The distinct names among many, in the order in which they appear, and the index of each: a list and an array.
/// `known` are plain and distinct names that come before all of them. `per_row` of the names make a row of the argument
/// `argument`, for messages: "edges[3]: None (...)".
nb::tuple numbered_names(nb::handle names, std::size_t per_row, const std::string& argument, nb::handle known);

/// Plain names as model files and logs have them: bytes.
nb::list name_texts(nb::handle names);

}  // namespace goblin::python
