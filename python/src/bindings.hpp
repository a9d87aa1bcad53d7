#pragma once

#include "goblin/bandit/bandit.hpp"
#include "goblin/data/dataset.hpp"
#include "goblin/world/world.hpp"
#include "lock.hpp"
#include "names.hpp"

#include <memory>
#include <nanobind/nanobind.h>
#include <utility>

/// The classes of goblin._core. Users have no names in the C++ objects, they have them here: any hashable objects.
namespace goblin::python {

namespace nb = nanobind;

struct PythonGraph {
  Graph graph;
  PythonNames users;

  int traverse(visitproc visit, void* argument) const { return users.traverse(visit, argument); }
  void clear() { users.clear(); }
};

struct PythonBandit {
  PythonBandit(Bandit the_bandit, const PythonNames& the_users) : bandit(std::move(the_bandit)), users(the_users) {}

  Bandit bandit;
  PythonNames users;              // guarded by the GIL
  mutable FairSharedMutex mutex;  // guards the bandit

  int traverse(visitproc visit, void* argument) const { return users.traverse(visit, argument); }
  void clear() { users.clear(); }
};

struct PythonDataset {
  std::shared_ptr<const data::Dataset> data;
  PythonNames users;
  PythonNames items;

  int traverse(visitproc visit, void* argument) const {
    const int stopped = users.traverse(visit, argument);
    return stopped != 0 ? stopped : items.traverse(visit, argument);
  }
  void clear() {
    users.clear();
    items.clear();
  }
};

struct PythonWorld {
  std::shared_ptr<const world::World> world;
  PythonNames users;
  PythonNames items;  // none where the world has no items

  int traverse(visitproc visit, void* argument) const {
    const int stopped = users.traverse(visit, argument);
    return stopped != 0 ? stopped : items.traverse(visit, argument);
  }
  void clear() {
    users.clear();
    items.clear();
  }
};

/// What was asked for and what is used, as a dict.
nb::dict summary_of(const BanditSummary& summary);

void bind_graph(nb::module_& module);
void bind_bandit(nb::module_& module);
void bind_worlds(nb::module_& module);
void bind_experiment(nb::module_& module);

}  // namespace goblin::python
