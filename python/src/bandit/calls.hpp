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
/// What changes nothing: select, decide, probabilities, scores, bounds, rank, ranking, predict_expectations.
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

/// The options that are given by name; the others keep the library's defaults.
BanditOptions options_of(const nb::dict& given);
/// The same the other way round: all that the policy has.
nb::dict dict_of(Policy policy, const BanditOptions& options);

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

/// Where memory ran out while a user came, and on the way back as well, the bandit may have an index that nobody knows.
/// Call it with users_mutex held.
inline void pass_over_strangers(PythonBandit& self) {
  const std::size_t there = asked(self, [](const SharedBandit& it) { return it.user_count(); });
  while (self.users.index_count() < there) self.users.add_nobody();
}

/// Does something with numbers that a caller passed; what the library says about them gets said whose they are, and
/// what to do where one is missing.
template <typename Whose, typename Work>
void naming_as(Whose whose, Work work) {
  try {
    work();
  } catch (const CapacityError&) {
    throw;  // the numbers are good
  } catch (const std::invalid_argument& error) {
    std::string message = whose() + ": " + error.what();
    if (message.ends_with("nan (must be finite)")) message += missing_advice("number");
    throw std::invalid_argument(message);
  }
}

/// The same with an array, whose name and shape are said.
template <typename Work>
void naming(const Array<double>& array, Work work) {
  naming_as([&] { return array.described(); }, work);
}

/// Checks the contexts of a batch: (rows, dimension), a row for each user.
inline void check_rows(const Array<double>& contexts, std::size_t rows, std::size_t dimension) {
  contexts.expect(contexts.dimensions() == 2 && contexts.size(0) == rows && contexts.size(1) == dimension,
                  "(" + std::to_string(rows) + ", " + std::to_string(dimension) + "), one row a user");
}

}  // namespace goblin::python
