#pragma once

#include "arguments.hpp"
#include "arrays.hpp"
#include "bindings.hpp"
#include "goblin/error.hpp"

#include <stdexcept>
#include <string>
#include <utility>

/// What the methods of goblin._core.Bandit have in common; each file of this folder binds some of them.
namespace goblin::python {

using BanditClass = nb::class_<PythonBandit>;

/// Making one: the constructor of every policy.
void bind_making(BanditClass& bandit);
/// What changes nothing: select, decide, probabilities, scores, bounds, rank, predict_expectations.
void bind_deciding(BanditClass& bandit);
/// Whose rewards an estimate came from: explain.
void bind_explaining(BanditClass& bandit);
/// Rewards: update, partial_fit, merge.
void bind_learning(BanditClass& bandit);
/// Users, friends and options that change while the bandit runs.
void bind_editing(BanditClass& bandit);
/// What a bandit says of itself: the belief about a user, the graph, the options, a summary.
void bind_inspecting(BanditClass& bandit);
/// Copies, model files and pickles.
void bind_keeping(BanditClass& bandit);

/// An argument that must be given. It has a default all the same, which check_given refuses by name: to a missing
/// argument nanobind would answer with a list of signatures.
inline auto needed(const char* name) { return nb::arg(name).none() = nb::ellipsis(); }

/// Refuses a call without the argument: "update: reward is missing".
inline void check_given(const char* call, const char* name, nb::handle value) {
  if (value.ptr() == Py_Ellipsis) throw nb::type_error((std::string(call) + ": " + name + " is missing").c_str());
}

/// Called while a bandit is made, saved or learns many rewards, without the GIL: Ctrl-C is heard, and stops it.
inline void hear_signals(double /*share*/) {
  const nb::gil_scoped_acquire acquired;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

/// What ask(bandit) gives, without the GIL.
template <typename Ask>
auto asked(const PythonBandit& self, Ask ask) {
  return without_gil([&] { return ask(self.bandit); });
}

/// Does something with an array; what the library says about its numbers gets the array's name and shape.
template <typename Work>
void naming(const Array<double>& array, Work work) {
  try {
    work();
  } catch (const CapacityError&) {
    throw;  // the array is good
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(array.described() + ": " + error.what());
  }
}

/// Checks the contexts of a batch: (rows, dimension), a row for each user.
inline void check_rows(const Array<double>& contexts, std::size_t rows, std::size_t dimension) {
  contexts.expect(contexts.dimensions() == 2 && contexts.size(0) == rows && contexts.size(1) == dimension,
                  "(" + std::to_string(rows) + ", " + std::to_string(dimension) + "), one row a user");
}

}  // namespace goblin::python
