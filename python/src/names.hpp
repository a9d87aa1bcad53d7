#pragma once

#include "goblin/graph/names.hpp"

#include <cstddef>
#include <nanobind/nanobind.h>
#include <string_view>
#include <vector>

namespace goblin::python {

namespace nb = nanobind;

/// Who is which index: any hashable objects, or simply the numbers 0, 1, 2, ..., which take no memory. Copies share the
/// objects until one of them changes. Call it with the GIL held.
class PythonNames {
 public:
  /// The numbers below count.
  explicit PythonNames(std::size_t count) : count_(count) {}
  /// Distinct hashable objects; throws ValueError if one stands twice. The kind is for messages: "user", "item".
  PythonNames(nb::handle iterable, const char* kind);
  /// The texts of a graph or a catalogue; the numbers below count where it has none.
  PythonNames(const Names& names, std::size_t count);
  PythonNames(const PythonNames& other);
  PythonNames& operator=(const PythonNames& other) = delete;

  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] bool are_numbers() const { return !index_.is_valid(); }
  [[nodiscard]] bool contains(nb::handle name) const { return find_or(name, -1) >= 0; }
  /// Throws KeyError if there is none.
  [[nodiscard]] NodeId find(nb::handle name, const char* kind = "user") const;
  /// The same for a list, an array or a column of them.
  [[nodiscard]] std::vector<NodeId> find_all(nb::handle names, const char* kind = "user") const;
  /// A new name, which must not be there.
  void add(nb::handle name);
  [[nodiscard]] nb::object name(std::size_t index) const;
  [[nodiscard]] nb::list list() const;

  /// For the garbage collector.
  int traverse(visitproc visit, void* argument) const;
  void clear();

 private:
  [[nodiscard]] Py_ssize_t find_or(nb::handle name, Py_ssize_t otherwise) const;
  void make_own();

  std::size_t count_ = 0;
  nb::object index_;  // a dict, name -> index; none where the names are numbers
  nb::object names_;  // a list
  bool own_ = false;  // nobody else has these two
};

/// The slots with which the garbage collector finds the names inside a bound type: T has traverse and clear.
template <typename T>
const PyType_Slot* collected_slots() {
  static const PyType_Slot slots[] = {
      {Py_tp_traverse, reinterpret_cast<void*>(+[](PyObject* self, visitproc visit, void* arg) -> int {
         Py_VISIT(Py_TYPE(self));
         return nb::inst_ready(self) ? nb::inst_ptr<T>(self)->traverse(visit, arg) : 0;
       })},
      {Py_tp_clear, reinterpret_cast<void*>(+[](PyObject* self) -> int {
         if (nb::inst_ready(self)) nb::inst_ptr<T>(self)->clear();
         return 0;
       })},
      {0, nullptr}};
  return slots;
}

}  // namespace goblin::python
