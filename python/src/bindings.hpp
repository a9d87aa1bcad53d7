#pragma once

#include "goblin/bandit/shared_bandit.hpp"
#include "goblin/data/dataset.hpp"
#include "goblin/world/world.hpp"
#include "lock.hpp"
#include "names.hpp"

#include <cstddef>
#include <memory>
#include <mutex>
#include <nanobind/nanobind.h>
#include <utility>

/// The classes of goblin._core: C++ objects, whose users are indices, and the users' names in Python.
namespace goblin::python {

namespace nb = nanobind;

struct PythonGraph {
  Graph graph;
  PythonNames users;
};

struct PythonBandit {
  PythonBandit(Bandit the_bandit, const PythonNames& the_users, bool the_bandit_has_names = false)
      : dimension(the_bandit.options().dimension),
        intercept(the_bandit.options().intercept),
        coupling(the_bandit.options().coupling),
        bandit(std::move(the_bandit)),
        users(the_users),
        bandit_has_names(the_bandit_has_names) {}

  /// Of the bandit's options, what never changes: to read it here takes no lock.
  const std::size_t dimension;
  const bool intercept;
  const double coupling;
  /// How many numbers a user's vector has.
  [[nodiscard]] std::size_t weight_count() const { return dimension + (intercept ? 1 : 0); }
  SharedBandit bandit;
  PythonNames users;
  /// The bandit came from a model file with names, and wants one for each new user. Here it is never asked by name.
  bool bandit_has_names;
  /// Held while a user comes, first to the bandit and then, with the GIL, to the names; and by whoever wants all users
  /// of both. Who only looks up a user needs no more than the GIL: if the user is removed meanwhile, the bandit says
  /// so, as nobody else ever gets the index.
  mutable std::mutex users_mutex;
};

struct PythonDataset {
  std::shared_ptr<const data::Dataset> data;
  PythonNames users;
  PythonNames items;
};

struct PythonWorld {
  std::shared_ptr<const world::World> world;
  PythonNames users;
  PythonNames items;  // none where the world has no items
};

/// What was asked for and what is used, as a dict.
nb::dict summary_of(const BanditSummary& summary);

void bind_graph(nb::module_& module);
void bind_bandit(nb::module_& module);
void bind_worlds(nb::module_& module);
void bind_experiment(nb::module_& module);
void bind_evaluate(nb::module_& module);
void bind_fit(nb::module_& module);
void bind_reproduce(nb::module_& module);
void bind_tune(nb::module_& module);

}  // namespace goblin::python
