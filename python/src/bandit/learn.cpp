#include "bandit/calls.hpp"

#include <algorithm>
#include <chrono>
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
  if (x.dimensions() != 1 || x.size(0) != dimension_of(self)) {
    x.fail_shape("(" + std::to_string(dimension_of(self)) + ",)");
  }
  const double number = number_argument(reward, "reward");
  if (!std::isfinite(number)) throw std::invalid_argument("reward: " + shown(reward) + " (must be finite)");
  const NodeId index = self.users.find(user);
  naming(x, [&] { without_gil([&] { self.bandit.update(index, x.all(), number); }); });
}

/// Learns for 20 milliseconds, or one reward if that takes longer, and gives what is left of the batch. Pieces double,
/// so that the last takes about as long as all before it.
std::span<const Observation> learn_for_a_while(SharedBandit& bandit, std::span<const Observation> batch) {
  const auto begin = std::chrono::steady_clock::now();
  const auto time_left = [&] { return std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(10); };
  for (std::size_t count = 1; !batch.empty() && time_left(); count *= 2) {
    const auto piece = batch.first(std::min(count, batch.size()));
    bandit.update(piece);
    batch = batch.subspan(piece.size());
  }
  return batch;
}

/// Checks the whole batch, then learns it bit by bit: in between other threads get to learn, and Ctrl-C is heard.
nb::object partial_fit(nb::handle object, nb::handle users, nb::handle contexts, nb::handle rewards) {
  check_given("partial_fit", "users", users);
  check_given("partial_fit", "X", contexts);
  check_given("partial_fit", "rewards", rewards);
  auto& self = nb::cast<PythonBandit&>(object);
  const std::size_t dimension = dimension_of(self);
  const auto who = self.users.find_all(users);
  const Array<double> x(contexts, "X");
  const Array<double> payoffs(rewards, "rewards");
  check_rows(x, who.size(), dimension);
  payoffs.expect(payoffs.dimensions() == 1 && payoffs.size(0) == who.size(), "(" + std::to_string(who.size()) + ",)");
  std::vector<Observation> batch;
  batch.reserve(who.size());
  for (std::size_t k = 0; k < who.size(); ++k) {
    if (!std::isfinite(payoffs.all()[k])) {
      throw std::invalid_argument(payoffs.described() + ": rewards[" + std::to_string(k) + "] is " +
                                  std::to_string(payoffs.all()[k]) + " (must be finite)");
    }
    batch.push_back({who[k], x.all().subspan(k * dimension, dimension), payoffs.all()[k]});
  }
  naming(x, [&] { without_gil([&] { self.bandit.check(batch); }); });
  for (std::span<const Observation> left = batch; !left.empty();) {
    naming(x, [&] { without_gil([&] { left = learn_for_a_while(self.bandit, left); }); });
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }
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

A keyboard interrupt stops it: what it has learned by then, the first of them, it keeps, and ``rewards`` tells how many.
Other threads get their turns in between.

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
}

}  // namespace goblin::python
