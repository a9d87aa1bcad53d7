#include "bandit/calls.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace goblin::python {
namespace {

void update(PythonBandit& self, nb::handle user, nb::handle context, nb::handle reward) {
  check_given("update", "user", user);
  check_given("update", "x", context);
  check_given("update", "reward", reward);
  const Array<double> x(context, "x");
  if (x.dimensions() != 1 || x.size(0) != self.dimension) {
    x.fail_shape("(" + std::to_string(self.dimension) + ",)");
  }
  const double number = number_argument(reward, "reward");
  if (!std::isfinite(number)) throw std::invalid_argument("reward: " + shown(reward) + " (must be finite)");
  const NodeId index = self.users.find(user);
  naming(x, [&] { without_gil([&] { self.bandit.update(index, x.all(), number); }); });
}

/// Checks the whole batch, then learns its first thousand rewards and the rest: many at once cost less a reward than in
/// several pieces. In between other threads get to learn, and Ctrl-C is heard.
nb::object partial_fit(nb::handle object, nb::handle users, nb::handle contexts, nb::handle rewards) {
  check_given("partial_fit", "users", users);
  check_given("partial_fit", "X", contexts);
  check_given("partial_fit", "rewards", rewards);
  auto& self = nb::cast<PythonBandit&>(object);
  const std::size_t dimension = self.dimension;
  const auto who = self.users.find_all(users);
  const Array<double> x(contexts, "X");
  const Array<double> payoffs(rewards, "rewards");
  check_rows(x, who.size(), dimension);
  payoffs.expect(payoffs.dimensions() == 1 && payoffs.size(0) == who.size(), "(" + std::to_string(who.size()) + ",)");
  for (std::size_t k = 0; k < who.size(); ++k) {
    if (!std::isfinite(payoffs.all()[k])) {
      throw std::invalid_argument(payoffs.described() + ": rewards[" + std::to_string(k) + "] is " +
                                  std::to_string(payoffs.all()[k]) + " (must be finite)");
    }
  }
  const auto rows = [&](std::size_t begin, std::size_t count) {
    return RewardTable{.users = std::span(who).subspan(begin, count),
                       .contexts = x.all().subspan(begin * dimension, count * dimension),
                       .rewards = payoffs.all().subspan(begin, count)};
  };
  naming(x, [&] { without_gil([&] { self.bandit.check(rows(0, who.size())); }); });
  constexpr std::size_t first_piece = 1000;
  for (std::size_t begin = 0; begin < who.size();) {
    const std::size_t count = begin == 0 ? std::min(first_piece, who.size()) : who.size() - begin;
    naming(x, [&] { without_gil([&] { self.bandit.update(rows(begin, count)); }); });
    begin += count;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }
  return nb::borrow(object);
}

/// The other is copied first: two bandits that are merged into each other at the same time must not wait for each
/// other.
nb::object merge(nb::handle object, nb::handle other) {
  check_given("merge", "other", other);
  if (!nb::isinstance<PythonBandit>(other)) {
    throw nb::type_error(("other: " + shown(other) + " (must be a bandit)").c_str());
  }
  auto& self = nb::cast<PythonBandit&>(object);
  const auto& from = nb::cast<const PythonBandit&>(other);
  const Bandit theirs = asked(from, [](const SharedBandit& it) { return it.snapshot(); });
  if (!self.users.same_as(from.users)) {
    for (std::size_t k = 0; k < std::min(self.users.size(), from.users.size()); ++k) {
      const nb::object ours = self.users.name(k);
      const nb::object name = from.users.name(k);
      if (key_of(ours).equal(key_of(name))) continue;
      throw std::invalid_argument("other: user " + std::to_string(k) + " is " + shown(name) + " (must be " +
                                  shown(ours) + ", as here)");
    }
  }
  without_gil([&] { self.bandit.merge(theirs, false); });
  return nb::borrow(object);
}

constexpr const char* update_doc =
    R"(Learns that user got ``reward`` for context ``x``, whenever and in whatever order rewards come.

The user's evidence becomes ``S_i + x x'`` and ``c_i + reward x``; what that means for the user, the friends and the
friends of friends is worked out at once.

Parameters
----------
user : a user of the bandit; ``KeyError`` if it is none
x : array of shape (dimension,), the context of the arm that was played
reward : a number

>>> import goblin
>>> bandit = goblin.GobLin([("ann", "bob")], dimension=1)
>>> bandit.update("ann", [1.0], 1.0)
>>> bandit.mean("ann").round(3), bandit.mean("bob").round(3)   # bob learns from ann
(array([0.4]), array([0.2]))
)";

constexpr const char* partial_fit_doc =
    R"(Learns a batch of rewards, all of it or, if something in it is wrong, nothing. Gives the bandit.

Many at once cost far less a reward than one by one. The first thousand are learned, then the rest; in between other
threads get their turns, and a keyboard interrupt stops it. So does a ``MemoryError``, if the rest at once would not fit
into memory. The first thousand, where they are learned by then, are kept, and ``rewards`` tells how many there are.

Parameters
----------
users : n users, as a list, an array or a column
X : array of shape (n, dimension)
rewards : array of shape (n,)

>>> import goblin
>>> bandit = goblin.GobLin([(0, 1)], dimension=2)
>>> bandit.partial_fit([0, 1], [[1.0, 0.0], [0.0, 1.0]], [1.0, 0.0]).rewards
2
)";

constexpr const char* merge_doc =
    R"(Adds everything that another bandit has learned, as if this one had learned it too. Gives the bandit.

Two processes may each learn half of a log, from the same start without rewards; merged they are the bandit of the whole
log. The other must have the same policy, users, edges, clusters, dimension, ridge, coupling, evidence_per_node
and options of its policy, and neither may forget, nor be one of ``Club`` and ``DynUcb``;
``ValueError`` says in what it differs. Its alpha and its engine may be others.

>>> import goblin
>>> first = goblin.GobLin([("ann", "bob")], dimension=1)
>>> second = first.copy()
>>> first.update("ann", [1.0], 1.0)
>>> second.update("bob", [1.0], 0.0)
>>> first.merge(second).rewards
2
)";

}  // namespace

void bind_learning(BanditClass& bandit) {
  bandit.def("update", &update, needed("user"), needed("x"), needed("reward"),
             nb::sig("def update(self, user: collections.abc.Hashable, x: numpy.typing.ArrayLike, "
                     "reward: float) -> None"),
             update_doc);
  bandit.def("partial_fit", &partial_fit, needed("users"), needed("X"), needed("rewards"),
             nb::sig("def partial_fit(self, users: collections.abc.Iterable[collections.abc.Hashable], "
                     "X: numpy.typing.ArrayLike, rewards: numpy.typing.ArrayLike) -> typing.Self"),
             partial_fit_doc);
  bandit.def("merge", &merge, needed("other"), nb::sig("def merge(self, other: Bandit) -> typing.Self"), merge_doc);
}

}  // namespace goblin::python
