#include "bandit/calls.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace goblin::python {
namespace {

/// Candidates: (arms, dimension).
std::size_t arms_of(const Array<double>& contexts, std::size_t dimension) {
  if (contexts.dimensions() != 2 || contexts.size(0) == 0 || contexts.size(1) != dimension) {
    contexts.fail_shape("(arms, " + std::to_string(dimension) + "), one row a candidate");
  }
  return contexts.size(0);
}

/// The chance in a decision: both numbers, or none where chance has no part.
std::optional<Draw> draw_of(nb::handle seed, nb::handle decision) {
  if (seed.is_none() && decision.is_none()) return std::nullopt;
  const auto number = [](nb::handle given, const char* name, const char* other) {
    if (given.is_none()) {
      throw std::invalid_argument(std::string(name) + ": None (must be given with " + other +
                                  ": every decision has a number of its own)");
    }
    return whole_argument(given, name);
  };
  return Draw{.seed = number(seed, "seed", "decision"), .decision = number(decision, "decision", "seed"), .samples = 0};
}

/// Refuses a draw that is missing, in the words of a Python call.
void check_draw(const PythonBandit& self, const std::optional<Draw>& draw) {
  if (draw) return;
  const Exploration exploration = asked(self, [](const SharedBandit& it) { return it.exploration(); });
  if (!exploration.is_random()) return;
  throw std::invalid_argument("seed, decision: None (must be given with " + name_of(exploration) +
                              ", which leaves something to chance: seed=1, decision=0 for the first, then 1, 2, ...)");
}

/// Asks the bandit about a user's candidates, for the method `call`: ask(index, contexts, mask), without the GIL. With
/// no candidates left out `allowed` is None.
template <typename Ask>
void ask_about(const PythonBandit& self, const char* call, nb::handle user, nb::handle candidates, nb::handle allowed,
               Ask ask) {
  check_given(call, "user", user);
  check_given(call, "X", candidates);
  const Array<double> contexts(candidates, "X");
  const std::size_t dimension = self.dimension;
  const std::size_t arms = arms_of(contexts, dimension);
  const NodeId index = self.users.find(user);
  std::optional<Array<bool>> flags;
  Mask mask;
  if (!allowed.is_none()) {
    flags.emplace(allowed, "allowed");
    flags->expect(flags->dimensions() == 1 && flags->size(0) == arms,
                  "(" + std::to_string(arms) + ",), one a candidate");
    mask = {reinterpret_cast<const std::uint8_t*>(flags->all().data()), arms};
  }
  naming(contexts, [&] { without_gil([&] { ask(index, Contexts{contexts.all(), dimension}, mask); }); });
}

/// Many users and the candidates of each.
class ManyCandidates {
 public:
  ManyCandidates(const PythonBandit& self, nb::handle users, nb::handle candidates, nb::handle allowed)
      : dimension_(self.dimension), who_(self.users.find_all(users)), contexts_(candidates, "X") {
    check_contexts();
    if (allowed.is_none()) return;
    flags_.emplace(allowed, "allowed");
    check_flags();
  }

  [[nodiscard]] std::size_t count() const { return who_.size(); }
  /// Of the user who has most.
  [[nodiscard]] std::size_t most_arms() const { return most_arms_; }

  /// Asks about each user in turn, ask(k, index, contexts, mask), without the GIL. Ctrl-C is heard.
  template <typename Ask>
  void for_each(Ask ask) const {
    constexpr std::size_t hear_every = 4096;
    std::size_t k = 0;
    naming_as([&k] { return "X[" + std::to_string(k) + "]"; },
              [&] {
                without_gil([&] {
                  for (; k < count(); ++k) {
                    ask(k, who_[k], Contexts{contexts_.numbers(k), dimension_}, mask(k));
                    if ((k + 1) % hear_every == 0) hear_signals(0.0);
                  }
                });
              });
  }

 private:
  [[nodiscard]] std::size_t arms(std::size_t k) const { return contexts_.numbers(k).size() / dimension_; }
  [[nodiscard]] Mask mask(std::size_t k) const {
    if (!flags_) return {};
    return {reinterpret_cast<const std::uint8_t*>(flags_->numbers(k).data()), flags_->numbers(k).size()};
  }

  void check_contexts() {
    const auto fail = [&](const std::string& message) {
      const std::string n = std::to_string(count());
      throw std::invalid_argument(message + " (must be (" + n + ", arms, " + std::to_string(dimension_) +
                                  "), candidates for each user, or a list of " + n + " arrays)");
    };
    if (contexts_.count() != count()) fail(contexts_.described());
    if (contexts_.is_list()) {
      for (std::size_t k = 0; k < count(); ++k)
        most_arms_ = std::max(most_arms_, arms_of(contexts_.row(k), dimension_));
      return;
    }
    const Array<double>& whole = contexts_.whole();
    if (whole.dimensions() != 3 || whole.size(1) == 0 || whole.size(2) != dimension_) fail(contexts_.described());
    most_arms_ = whole.size(1);
  }

  void check_flags() const {
    const bool has_rows = flags_->is_list() || flags_->whole().dimensions() == 2;
    if (!has_rows || flags_->count() != count()) {
      throw std::invalid_argument(flags_->described() + " (must have a row for each of the " + std::to_string(count()) +
                                  " users, one boolean a candidate)");
    }
    for (std::size_t k = 0; k < count(); ++k) {
      const bool is_row = !flags_->is_list() || flags_->row(k).dimensions() == 1;
      if (is_row && flags_->numbers(k).size() == arms(k)) continue;
      throw std::invalid_argument("allowed[" + std::to_string(k) + "]: " + std::to_string(flags_->numbers(k).size()) +
                                  " booleans (must be " + std::to_string(arms(k)) + ", one a candidate)");
    }
  }

  std::size_t dimension_;
  std::vector<NodeId> who_;
  ArrayOfRows<double> contexts_;
  std::optional<ArrayOfRows<bool>> flags_;
  std::size_t most_arms_ = 0;
};

/// The k-th decision of a batch has the k-th number from the first one on.
std::optional<Draw> draw_of_row(std::optional<Draw> first, std::size_t k) {
  if (first) first->decision += k;
  return first;
}

nb::object select_many(const PythonBandit& self, nb::handle users, nb::handle candidates, nb::handle allowed,
                       const std::optional<Draw>& draw) {
  check_given("select", "X", candidates);
  const ManyCandidates many(self, users, candidates, allowed);
  std::vector<std::int64_t> arms(many.count());
  Decision decision;
  many.for_each([&](std::size_t k, NodeId index, Contexts contexts, Mask mask) {
    self.bandit.select(index, contexts, mask, decision, draw_of_row(draw, k));
    arms[k] = static_cast<std::int64_t>(decision.arm);
  });
  return array_of(std::move(arms));
}

nb::object select(const PythonBandit& self, nb::handle user, nb::handle candidates, nb::handle allowed, nb::handle seed,
                  nb::handle number) {
  thread_local Decision decision;  // its memory is used again
  const auto draw = draw_of(seed, number);
  check_draw(self, draw);
  if (are_many(user)) return select_many(self, user, candidates, allowed, draw);
  ask_about(self, "select", user, candidates, allowed, [&](NodeId index, Contexts contexts, Mask mask) {
    self.bandit.select(index, contexts, mask, decision, draw);
  });
  return nb::int_(decision.arm);
}

Decision decision_of(const PythonBandit& self, const char* call, nb::handle user, nb::handle candidates,
                     nb::handle allowed, const std::optional<Draw>& draw) {
  Decision decision;
  ask_about(self, call, user, candidates, allowed, [&](NodeId index, Contexts contexts, Mask mask) {
    self.bandit.select(index, contexts, mask, decision, draw);
  });
  return decision;
}

/// For what does not depend on chance.
constexpr Draw any_draw{.samples = 0};

nb::object bounds(const PythonBandit& self, nb::handle user, nb::handle candidates, nb::handle allowed) {
  return array_of(decision_of(self, "bounds", user, candidates, allowed, any_draw).bounds);
}

nb::object named_scores(nb::object scores, nb::object means, nb::object widths) {
  return nb::module_::import_("goblin._types").attr("Scores")(scores, means, widths);
}

/// Candidates that a user has not, where others have more, are like those that are left out.
nb::object scores_of_many(const PythonBandit& self, nb::handle users, nb::handle candidates, nb::handle allowed,
                          const std::optional<Draw>& draw) {
  check_given("scores", "X", candidates);
  const ManyCandidates many(self, users, candidates, allowed);
  const std::vector<std::size_t> shape = {many.count(), many.most_arms()};
  std::vector<double> scores(shape[0] * shape[1], -std::numeric_limits<double>::infinity());
  std::vector<double> means(shape[0] * shape[1], 0.0);
  std::vector<double> widths(shape[0] * shape[1], 0.0);
  Decision decision;
  many.for_each([&](std::size_t k, NodeId index, Contexts contexts, Mask mask) {
    self.bandit.select(index, contexts, mask, decision, draw_of_row(draw, k));
    const auto row = static_cast<std::ptrdiff_t>(k * shape[1]);
    std::copy(decision.scores.begin(), decision.scores.end(), scores.begin() + row);
    std::copy(decision.means.begin(), decision.means.end(), means.begin() + row);
    std::copy(decision.widths.begin(), decision.widths.end(), widths.begin() + row);
  });
  return named_scores(array_of(std::move(scores), shape), array_of(std::move(means), shape),
                      array_of(std::move(widths), shape));
}

nb::object scores(const PythonBandit& self, nb::handle user, nb::handle candidates, nb::handle allowed, nb::handle seed,
                  nb::handle number) {
  auto draw = draw_of(seed, number);
  const auto exploration = asked(self, [](const SharedBandit& it) { return it.exploration(); });
  if (!draw && !std::holds_alternative<Thompson>(exploration.rule)) draw = any_draw;
  check_draw(self, draw);
  if (are_many(user)) return scores_of_many(self, user, candidates, allowed, draw);
  const Decision decision = decision_of(self, "scores", user, candidates, allowed, draw);
  return named_scores(array_of(decision.scores), array_of(decision.means), array_of(decision.widths));
}

nb::object decide(const PythonBandit& self, nb::handle user, nb::handle candidates, nb::handle allowed, nb::handle seed,
                  nb::handle number, nb::handle samples, nb::handle every_arm) {
  auto draw = draw_of(seed, number);
  check_draw(self, draw);
  if (!draw) draw = any_draw;
  draw->samples = whole_argument(samples, "samples");
  draw->every_arm = bool_argument(every_arm, "every_arm");
  const Decision decision = decision_of(self, "decide", user, candidates, allowed, draw);
  return nb::module_::import_("goblin._types")
      .attr("Decision")(decision.arm, decision.probability, decision.probability_error,
                        draw->every_arm ? array_of(decision.probabilities) : nb::none(), array_of(decision.scores),
                        array_of(decision.means), array_of(decision.widths));
}

nb::object probabilities(const PythonBandit& self, nb::handle user, nb::handle candidates, nb::handle allowed,
                         nb::handle samples) {
  const Draw draw{.samples = whole_argument(samples, "samples", 1), .every_arm = true};
  return array_of(decision_of(self, "probabilities", user, candidates, allowed, draw).probabilities);
}

void check_all_given(const char* call, nb::handle user, nb::handle candidates, nb::handle k) {
  check_given(call, "user", user);
  check_given(call, "X", candidates);
  check_given(call, "k", k);
}

/// The places, until the thread asks for others.
const std::vector<Ranked>& ranked_by(const PythonBandit& self, const char* call, nb::handle user, nb::handle candidates,
                                     nb::handle k, nb::handle allowed, const std::optional<Draw>& draw) {
  const std::size_t count = whole_argument(k, "k", 1);
  thread_local Decision decision;  // their memory is used again
  thread_local std::vector<Ranked> ranked;
  ask_about(self, call, user, candidates, allowed, [&](NodeId index, Contexts contexts, Mask mask) {
    self.bandit.rank(index, contexts, count, mask, decision, ranked, draw);
  });
  return ranked;
}

nb::object rank(const PythonBandit& self, nb::handle user, nb::handle candidates, nb::handle k, nb::handle allowed,
                nb::handle seed, nb::handle number) {
  check_all_given("rank", user, candidates, k);
  const auto draw = draw_of(seed, number);
  check_draw(self, draw);
  return column_of<std::int64_t>(ranked_by(self, "rank", user, candidates, k, allowed, draw),
                                 [](const Ranked& one) { return one.arm; });
}

nb::object ranking(const PythonBandit& self, nb::handle user, nb::handle candidates, nb::handle k, nb::handle allowed,
                   nb::handle seed, nb::handle number, nb::handle samples) {
  check_all_given("ranking", user, candidates, k);
  auto draw = draw_of(seed, number);
  check_draw(self, draw);
  if (!draw) draw = any_draw;
  draw->samples = whole_argument(samples, "samples");
  const std::vector<Ranked> ranked = ranked_by(self, "ranking", user, candidates, k, allowed, draw);
  return nb::module_::import_("goblin._types")
      .attr("Ranking")(column_of<std::int64_t>(ranked, [](const Ranked& one) { return one.arm; }),
                       column_of<double>(ranked, [](const Ranked& one) { return one.score; }),
                       column_of<double>(ranked, [](const Ranked& one) { return one.probability; }));
}

/// Means for (rows, dimension), one a row, or for (rows, arms, dimension).
nb::object predict_expectations(const PythonBandit& self, nb::handle users, nb::handle contexts) {
  check_given("predict_expectations", "users", users);
  check_given("predict_expectations", "X", contexts);
  const std::size_t dimension = self.dimension;
  const auto who = self.users.find_all(users);
  const Array<double> x(contexts, "X");
  const bool has_arms = x.dimensions() == 3;
  if (has_arms) {
    x.expect(x.size(0) == who.size() && x.size(2) == dimension,
             "(" + std::to_string(who.size()) + ", arms, " + std::to_string(dimension) + ")");
  } else {
    check_rows(x, who.size(), dimension);
  }
  const std::size_t arms = has_arms ? x.size(1) : 1;
  std::vector<double> means;
  means.reserve(who.size() * arms);
  naming(x, [&] {
    without_gil([&] {
      Decision decision;
      for (std::size_t begin = 0, end = 0; begin < who.size() && arms > 0; begin = end) {
        while (end < who.size() && who[end] == who[begin]) ++end;  // rows of the same user go together
        const auto rows = x.all().subspan(begin * arms * dimension, (end - begin) * arms * dimension);
        self.bandit.select(who[begin], {rows, dimension}, {}, decision, any_draw);
        means.insert(means.end(), decision.means.begin(), decision.means.end());
      }
    });
  });
  std::vector<std::size_t> shape = {who.size()};
  if (has_arms) shape.push_back(arms);
  return array_of(std::move(means), std::move(shape));
}

constexpr const char* select_doc = R"(The arm to play for a user: the candidate with the highest score.

The score of candidate x is its upper confidence bound, ``w_i . x + alpha sqrt(x' C_i x ln(t + 1))``: the reward that
the user's belief expects, and how uncertain it is. Deciding changes nothing, and many threads may do it at once. Ties
go to the lowest index. With another ``exploration`` the choice is made as that says; ``decide`` also tells how probable
it was.

Many users at once are one call, which costs less than a call for each and gives the same: an array of arms.

Parameters
----------
user : a user of the bandit; ``KeyError`` if it is none. Or n users, as a list, an array or a column; a tuple is one user
X : array of shape (arms, dimension), a row for each candidate. For n users of shape (n, arms, dimension), or a list of n
    arrays, which need not have as many candidates
allowed : booleans of shape (arms,), optional; candidates with False are left out. For n users of shape (n, arms), or a
    list of n arrays
seed, decision : two whole numbers that chance follows from, where the exploration leaves something to it. The same
    numbers are the same luck: give every decision a number of its own. Of n users the first has the number ``decision``,
    the next one ``decision + 1``, and so on: the next call begins at ``decision + n``

>>> import goblin
>>> bandit = goblin.GobLin([("ann", "bob"), ("bob", "cat")], dimension=2)
>>> bandit.update("ann", [0.0, 1.0], 1.0)
>>> bandit.select("bob", [[1.0, 0.0], [0.0, 1.0]])
1
>>> bandit.select("bob", [[1.0, 0.0], [0.0, 1.0]], allowed=[True, False])
0
>>> bandit.select(["bob", "cat"], [[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [0.5, 0.5], [1.0, 0.0]]]).tolist()
[1, 0]
)";

constexpr const char* decide_doc = R"(What ``select`` chooses, and how probable that was: a ``Decision``.

``probability`` is that of the arm which was chosen, before chance decided; 1 where it has no part. It is what off-policy
evaluation wants of a log. With ``thompson`` it is an estimate and ``probability_error`` its standard error; else it is
exact.

Parameters
----------
user, X, allowed, seed, decision : as in ``select``
samples : how many draws the estimate is made of; 0: ``probability`` is nan
every_arm : whether ``probabilities`` is wanted, an array with that of each candidate

>>> import goblin
>>> bandit = goblin.GobLin([("ann", "bob")], dimension=2, exploration="epsilon_greedy:0.1")
>>> bandit.update("ann", [0.0, 1.0], 1.0)
>>> decision = bandit.decide("ann", [[1.0, 0.0], [0.0, 1.0]], seed=7, decision=0)
>>> decision.arm, round(decision.probability, 3)
(1, 0.95)
)";

constexpr const char* probabilities_doc =
    R"(How probable it is that each candidate is chosen: an array of shape (arms,), whose sum is 1.

Candidates that ``allowed`` leaves out have 0. Exact, but for ``thompson``, where the standard error is at most
about ``sqrt(p (1 - p) / samples)``.

Parameters
----------
user, X, allowed : as in ``select``
samples : how many draws the estimate is made of, with ``thompson``

>>> import goblin
>>> bandit = goblin.GobLin([("ann", "bob")], dimension=1, exploration="square_cb:10")
>>> bandit.update("ann", [1.0], 1.0)
>>> bandit.probabilities("ann", [[1.0], [0.5], [0.0]]).round(3)
array([0.657, 0.2  , 0.143])
)";

constexpr const char* scores_doc = R"(How every candidate is judged: ``(score, mean, width)``, a named tuple of arrays.

``mean = w_i . x`` is the expected reward, ``width`` the half width of the confidence interval, ``score`` their sum.
Candidates that ``allowed`` leaves out have mean and width 0 and score -inf. With ``thompson`` the score is what was
drawn and the width its standard deviation; with ``greedy`` and ``square_cb`` the width is 0.

Of n users at once the arrays have the shape (n, arms). Where some have fewer candidates than others, those that are not
there are like those that are left out.

Parameters
----------
user, X, allowed : as in ``select``
seed, decision : as in ``select``; only with ``thompson``

>>> import goblin
>>> bandit = goblin.LinUcbInd([("ann", "bob")], dimension=2, alpha=1.0)
>>> for _ in range(3):
...     bandit.update("ann", [1.0, 0.0], 1.0)
>>> bandit.scores("ann", [[1.0, 0.0], [0.0, 1.0]]).mean.round(3)
array([0.75, 0.  ])
>>> bandit.scores(["ann", "bob"], [[[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0]]]).mean.round(3)
array([[0.75, 0.  ],
       [0.  , 0.  ]])
)";

constexpr const char* bounds_doc =
    R"(How far each score can be from that of the exact algorithm: an array of shape (arms,).

Proved for each candidate anew with the engine ``local``, which learns only near a user and to a tolerance. The engines
``dense`` and ``sparse`` say 0: they are exact but for rounding and the tolerance of their solves.

>>> import goblin
>>> friends = [(k, k + 1) for k in range(1000)]
>>> exact, local = (goblin.GobLin(friends, dimension=1, engine=engine) for engine in ("dense", "local"))
>>> for bandit in (exact, local):
...     for k in range(0, 1000, 10):
...         bandit.update(k, [1.0], 1.0)
>>> off = abs(exact.scores(55, [[1.0]]).score - local.scores(55, [[1.0]]).score)
>>> bool(off <= local.bounds(55, [[1.0]]))
True
)";

constexpr const char* rank_doc =
    R"(The ``k`` best candidates, best first: an array of arms; all that are allowed if there are fewer. ``ranking`` also tells
how probable they were.

Parameters
----------
user, X, allowed, seed, decision : as in ``select``
k : how many, at least 1

Where chance has a part, these are k choices, one after the other, each among the candidates that those before have left.

>>> import goblin
>>> bandit = goblin.LinUcbSin([("ann", "bob")], dimension=1)
>>> bandit.update("ann", [1.0], 1.0)
>>> bandit.rank("bob", [[0.1], [0.3], [0.2]], k=2).tolist()
[1, 2]
)";

constexpr const char* ranking_doc =
    R"(What ``rank`` gives, and how probable it was: a ``Ranking`` of arrays, a place each.

``probability`` is that of the arm to be chosen for its place, given those before it; their product is the probability of
the whole ranking. 1 where chance has no part, an estimate with ``thompson``.

Parameters
----------
user, X, k, allowed, seed, decision : as in ``rank``
samples : how many draws an estimate is made of; 0: ``probability`` is nan

>>> import goblin
>>> bandit = goblin.LinUcbSin([("ann", "bob")], dimension=1, exploration="epsilon_greedy:0.3")
>>> bandit.update("ann", [1.0], 1.0)
>>> ranking = bandit.ranking("bob", [[0.1], [0.3], [0.2]], k=2, seed=1, decision=0)
>>> ranking.arm.tolist(), ranking.probability.round(3)
([1, 2], array([0.8 , 0.85]))
)";

constexpr const char* predict_doc = R"(Expected rewards ``w_i . x`` for a batch.

Parameters
----------
users : n users, as a list, an array or a column
X : array of shape (n, dimension), a context for each; gives shape (n,).
    Or of shape (n, arms, dimension), candidates for each; gives shape (n, arms)

>>> import goblin
>>> bandit = goblin.GobLin([(0, 1)], dimension=1)
>>> bandit.update(0, [1.0], 1.0)
>>> bandit.predict_expectations([0, 1], [[1.0], [1.0]]).round(3)
array([0.4, 0.2])
)";

}  // namespace

void bind_deciding(BanditClass& bandit) {
  const auto none = nb::none();
  // The second overload of each is for the types: the first one takes every call.
  bandit.def("select", &select, needed("user"), needed("X"), nb::arg("allowed").none() = none, nb::kw_only(),
             nb::arg("seed").none() = none, nb::arg("decision").none() = none,
             nb::sig("def select(self, user: collections.abc.Hashable, X: numpy.typing.ArrayLike, "
                     "allowed: numpy.typing.ArrayLike | None = None, *, seed: int | None = None, "
                     "decision: int | None = None) -> int"),
             select_doc);
  bandit.def("select", &select, needed("user"), needed("X"), nb::arg("allowed").none() = none, nb::kw_only(),
             nb::arg("seed").none() = none, nb::arg("decision").none() = none,
             nb::sig("def select(self, user: goblin._types.ManyUsers, X: goblin._types.Rows, "
                     "allowed: goblin._types.Rows | None = None, *, seed: int | None = None, "
                     "decision: int | None = None) -> numpy.typing.NDArray[numpy.int64]"),
             select_doc);
  bandit.def("decide", &decide, needed("user"), needed("X"), nb::arg("allowed").none() = none, nb::kw_only(),
             nb::arg("seed").none() = none, nb::arg("decision").none() = none,
             nb::arg("samples").none() = Draw().samples, nb::arg("every_arm").none() = false,
             nb::sig("def decide(self, user: collections.abc.Hashable, X: numpy.typing.ArrayLike, "
                     "allowed: numpy.typing.ArrayLike | None = None, *, seed: int | None = None, "
                     "decision: int | None = None, samples: int = 512, every_arm: bool = False) -> "
                     "goblin._types.Decision"),
             decide_doc);
  bandit.def("probabilities", &probabilities, needed("user"), needed("X"), nb::arg("allowed").none() = none,
             nb::arg("samples").none() = Draw().samples,
             nb::sig("def probabilities(self, user: collections.abc.Hashable, X: numpy.typing.ArrayLike, "
                     "allowed: numpy.typing.ArrayLike | None = None, samples: int = 512) -> "
                     "numpy.typing.NDArray[numpy.float64]"),
             probabilities_doc);
  bandit.def("scores", &scores, needed("user"), needed("X"), nb::arg("allowed").none() = none, nb::kw_only(),
             nb::arg("seed").none() = none, nb::arg("decision").none() = none,
             nb::sig("def scores(self, user: collections.abc.Hashable, X: numpy.typing.ArrayLike, "
                     "allowed: numpy.typing.ArrayLike | None = None, *, seed: int | None = None, "
                     "decision: int | None = None) -> goblin._types.Scores"),
             scores_doc);
  bandit.def("scores", &scores, needed("user"), needed("X"), nb::arg("allowed").none() = none, nb::kw_only(),
             nb::arg("seed").none() = none, nb::arg("decision").none() = none,
             nb::sig("def scores(self, user: goblin._types.ManyUsers, X: goblin._types.Rows, "
                     "allowed: goblin._types.Rows | None = None, *, seed: int | None = None, "
                     "decision: int | None = None) -> goblin._types.Scores"),
             scores_doc);
  bandit.def("bounds", &bounds, needed("user"), needed("X"), nb::arg("allowed").none() = none,
             nb::sig("def bounds(self, user: collections.abc.Hashable, X: numpy.typing.ArrayLike, "
                     "allowed: numpy.typing.ArrayLike | None = None) -> numpy.typing.NDArray[numpy.float64]"),
             bounds_doc);
  bandit.def("rank", &rank, needed("user"), needed("X"), needed("k"), nb::arg("allowed").none() = none, nb::kw_only(),
             nb::arg("seed").none() = none, nb::arg("decision").none() = none,
             nb::sig("def rank(self, user: collections.abc.Hashable, X: numpy.typing.ArrayLike, k: int, "
                     "allowed: numpy.typing.ArrayLike | None = None, *, seed: int | None = None, "
                     "decision: int | None = None) -> numpy.typing.NDArray[numpy.int64]"),
             rank_doc);
  bandit.def("ranking", &ranking, needed("user"), needed("X"), needed("k"), nb::arg("allowed").none() = none,
             nb::kw_only(), nb::arg("seed").none() = none, nb::arg("decision").none() = none,
             nb::arg("samples").none() = Draw().samples,
             nb::sig("def ranking(self, user: collections.abc.Hashable, X: numpy.typing.ArrayLike, k: int, "
                     "allowed: numpy.typing.ArrayLike | None = None, *, seed: int | None = None, "
                     "decision: int | None = None, samples: int = 512) -> goblin._types.Ranking"),
             ranking_doc);
  bandit.def("predict_expectations", &predict_expectations, needed("users"), needed("X"),
             nb::sig("def predict_expectations(self, users: collections.abc.Iterable[collections.abc.Hashable], "
                     "X: numpy.typing.ArrayLike) -> numpy.typing.NDArray[numpy.float64]"),
             predict_doc);
}

}  // namespace goblin::python
