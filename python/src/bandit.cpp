#include "goblin/bandit/bandit.hpp"

#include "arrays.hpp"
#include "bindings.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <mutex>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace goblin::python {
namespace {

template <typename Work>
void read(const PythonBandit& self, Work work) {
  work_under<std::shared_lock>(self.mutex, work);
}
template <typename Work>
void change(PythonBandit& self, Work work) {
  work_under<std::unique_lock>(self.mutex, work);
}

/// Does something with an array; what the library says about its numbers gets the array's name and shape.
template <typename Work>
void naming(const Array<double>& array, Work work) {
  try {
    work();
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(array.described() + ": " + error.what());
  }
}

std::size_t dimension_of(const PythonBandit& self) { return self.bandit.options().dimension; }

/// Candidates: (arms, dimension).
std::size_t arms_of(const Array<double>& contexts, std::size_t dimension) {
  if (contexts.dimensions() != 2 || contexts.size(0) == 0 || contexts.size(1) != dimension) {
    contexts.fail_shape("(arms, " + std::to_string(dimension) + "), one row a candidate");
  }
  return contexts.size(0);
}

/// Asks the bandit about a user's candidates: ask(index, contexts, mask), without the GIL. With no candidates left out
/// `allowed` is None.
template <typename Ask>
void ask_about(const PythonBandit& self, nb::handle user, nb::handle candidates, nb::handle allowed, Ask ask) {
  const Array<double> contexts(candidates, "X");
  const std::size_t dimension = dimension_of(self);
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
  naming(contexts, [&] { read(self, [&] { ask(index, Contexts{contexts.all(), dimension}, mask); }); });
}

std::size_t select(const PythonBandit& self, nb::handle user, nb::handle candidates, nb::handle allowed) {
  thread_local Decision decision;  // its memory is used again
  ask_about(self, user, candidates, allowed,
            [&](NodeId index, Contexts contexts, Mask mask) { self.bandit.select(index, contexts, mask, decision); });
  return decision.arm;
}

Decision decision_of(const PythonBandit& self, nb::handle user, nb::handle candidates, nb::handle allowed) {
  Decision decision;
  ask_about(self, user, candidates, allowed,
            [&](NodeId index, Contexts contexts, Mask mask) { self.bandit.select(index, contexts, mask, decision); });
  return decision;
}

nb::object bounds(const PythonBandit& self, nb::handle user, nb::handle candidates, nb::handle allowed) {
  return array_of(decision_of(self, user, candidates, allowed).bounds);
}

nb::object scores(const PythonBandit& self, nb::handle user, nb::handle candidates, nb::handle allowed) {
  const Decision decision = decision_of(self, user, candidates, allowed);
  return nb::module_::import_("goblin._types")
      .attr("Scores")(array_of(decision.scores), array_of(decision.means), array_of(decision.widths));
}

nb::object rank(const PythonBandit& self, nb::handle user, nb::handle candidates, std::int64_t k, nb::handle allowed) {
  const std::size_t count = whole(k, "k", 1);
  std::vector<std::int64_t> arms;
  ask_about(self, user, candidates, allowed, [&](NodeId index, Contexts contexts, Mask mask) {
    for (const Ranked& ranked : self.bandit.rank(index, contexts, count, mask)) {
      arms.push_back(static_cast<std::int64_t>(ranked.arm));
    }
  });
  return array_of(std::move(arms));
}

void update(PythonBandit& self, nb::handle user, nb::handle context, double reward) {
  const Array<double> x(context, "x");
  if (x.dimensions() != 1 || x.size(0) != dimension_of(self)) {
    x.fail_shape("(" + std::to_string(dimension_of(self)) + ",)");
  }
  if (!std::isfinite(reward)) throw std::invalid_argument("reward: " + std::to_string(reward) + " (must be finite)");
  const NodeId index = self.users.find(user);
  naming(x, [&] { change(self, [&] { self.bandit.update(index, x.all(), reward); }); });
}

/// Rows of a batch: (rows, dimension), and one user for each.
void check_rows(const Array<double>& contexts, const std::vector<NodeId>& users, std::size_t dimension) {
  contexts.expect(contexts.dimensions() == 2 && contexts.size(0) == users.size() && contexts.size(1) == dimension,
                  "(" + std::to_string(users.size()) + ", " + std::to_string(dimension) + "), one row a user");
}

/// Learns for 20 milliseconds, or one reward if that takes longer, and gives what is left of the batch. Pieces double,
/// so that the last takes about as long as all before it.
std::span<const Observation> learn_for_a_while(Bandit& bandit, std::span<const Observation> batch) {
  const auto begin = std::chrono::steady_clock::now();
  const auto time_left = [&] { return std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(10); };
  for (std::size_t count = 1; !batch.empty() && time_left(); count *= 2) {
    const auto piece = batch.first(std::min(count, batch.size()));
    bandit.update(piece);
    batch = batch.subspan(piece.size());
  }
  return batch;
}

nb::object partial_fit(nb::handle object, nb::handle users, nb::handle contexts, nb::handle rewards) {
  auto& self = nb::cast<PythonBandit&>(object);
  const std::size_t dimension = dimension_of(self);
  const auto who = self.users.find_all(users);
  const Array<double> x(contexts, "X");
  const Array<double> payoffs(rewards, "rewards");
  check_rows(x, who, dimension);
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
  naming(x, [&] { read(self, [&] { self.bandit.check(batch); }); });
  for (std::span<const Observation> left = batch; !left.empty();) {
    naming(x, [&] { change(self, [&] { left = learn_for_a_while(self.bandit, left); }); });
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }
  return nb::borrow(object);
}

/// Means for (rows, dimension), one a row, or for (rows, arms, dimension).
nb::object predict_expectations(const PythonBandit& self, nb::handle users, nb::handle contexts) {
  const std::size_t dimension = dimension_of(self);
  const auto who = self.users.find_all(users);
  const Array<double> x(contexts, "X");
  const bool has_arms = x.dimensions() == 3;
  if (has_arms) {
    x.expect(x.size(0) == who.size() && x.size(2) == dimension,
             "(" + std::to_string(who.size()) + ", arms, " + std::to_string(dimension) + ")");
  } else {
    check_rows(x, who, dimension);
  }
  const std::size_t arms = has_arms ? x.size(1) : 1;
  std::vector<double> means;
  means.reserve(who.size() * arms);
  naming(x, [&] {
    read(self, [&] {
      Decision decision;
      for (std::size_t begin = 0, end = 0; begin < who.size() && arms > 0; begin = end) {
        while (end < who.size() && who[end] == who[begin]) ++end;  // rows of the same user go together
        const auto rows = x.all().subspan(begin * arms * dimension, (end - begin) * arms * dimension);
        self.bandit.select(who[begin], {rows, dimension}, {}, decision);
        means.insert(means.end(), decision.means.begin(), decision.means.end());
      }
    });
  });
  std::vector<std::size_t> shape = {who.size()};
  if (has_arms) shape.push_back(arms);
  return array_of(std::move(means), std::move(shape));
}

void add_user(PythonBandit& self, nb::handle user, std::optional<std::int64_t> cluster) {
  const LockWithGil lock(self.mutex);
  if (self.users.contains(user)) {
    throw std::invalid_argument(std::string("user: ") + nb::repr(user).c_str() + " (must not be there already)");
  }
  std::optional<NodeId> wanted;
  if (cluster) wanted = static_cast<NodeId>(whole(*cluster, "cluster"));
  self.bandit.add_user({}, wanted);
  self.users.add(user);
}

void add_edge(PythonBandit& self, nb::handle user, nb::handle friend_, double weight) {
  const NodeId a = self.users.find(user);
  const NodeId b = self.users.find(friend_);
  change(self, [&] { self.bandit.add_edge(a, b, weight); });
}

void remove_edge(PythonBandit& self, nb::handle user, nb::handle friend_) {
  const NodeId a = self.users.find(user);
  const NodeId b = self.users.find(friend_);
  change(self, [&] { self.bandit.remove_edge(a, b); });
}

/// For what reads the whole bandit, without the GIL, and then its users: the lock is held over both, so that they
/// belong together.
template <typename Result, typename Ask, typename WithUsers>
auto asked_with_users(const PythonBandit& self, Ask ask, WithUsers with_users) {
  std::optional<Result> result;
  std::shared_lock lock(self.mutex, std::defer_lock);
  {
    const nb::gil_scoped_release released;
    lock.lock();
    result.emplace(ask(self.bandit));
  }
  return with_users(*std::move(result));
}

template <typename Result, typename Ask>
Result asked(const PythonBandit& self, Ask ask) {
  std::optional<Result> result;
  read(self, [&] { result.emplace(ask(self.bandit)); });
  return *std::move(result);
}

std::vector<NodeId> labels_of(nb::handle clusters) {
  std::vector<NodeId> labels;
  if (clusters.is_none()) return labels;
  const Array<std::int64_t> numbers(clusters, "clusters");
  numbers.expect(numbers.dimensions() == 1, "one-dimensional");
  for (const std::int64_t label : numbers.all()) labels.push_back(static_cast<NodeId>(whole(label, "clusters")));
  return labels;
}

struct Options {
  static BanditOptions from(const nb::dict& options) {
    BanditOptions result;
    result.dimension = whole(nb::cast<std::int64_t>(options["dimension"]), "dimension", 1);
    result.alpha = nb::cast<double>(options["alpha"]);
    result.ridge = nb::cast<double>(options["ridge"]);
    result.coupling = nb::cast<double>(options["coupling"]);
    result.engine.kind = engine_kind(nb::cast<std::string>(options["engine"]));
    result.engine.tolerance = nb::cast<double>(options["tolerance"]);
    result.engine.local.tolerance = nb::cast<double>(options["local_tolerance"]);
    result.engine.memory_limit = whole(nb::cast<std::int64_t>(options["memory_limit"]), "memory_limit");
    const nb::object bound = options["printed_bound"];
    if (!bound.is_none()) {
      result.printed_bound = PrintedBound{
          .noise = nb::cast<double>(bound[0]), .delta = nb::cast<double>(bound[1]), .norm = nb::cast<double>(bound[2])};
    }
    return result;
  }
};

void make(PythonBandit* self, const std::string& policy, const PythonGraph& graph, nb::handle clusters,
          const nb::dict& options) {
  const auto labels = labels_of(clusters);
  const BanditOptions given = Options::from(options);
  std::optional<Bandit> bandit;
  {
    const nb::gil_scoped_release released;
    bandit = Bandit::make(policy_named(policy), graph.graph, labels, given);
  }
  new (self) PythonBandit(*std::move(bandit), graph.users);
}

void place(PythonBandit* self, Bandit bandit, const PythonNames& users) {
  if (users.size() != bandit.user_count()) {
    throw std::invalid_argument("users: " + std::to_string(users.size()) + " (must be " +
                                std::to_string(bandit.user_count()) + ")");
  }
  new (self) PythonBandit(std::move(bandit), users);
}

/// The bandit of a model file; names_of makes names of the texts that the file has for them.
void load(PythonBandit* self, const std::string& path, const nb::callable& names_of) {
  std::optional<Bandit> loaded;
  {
    const nb::gil_scoped_release released;
    loaded = Bandit::load(path);
  }
  const PythonNames texts(loaded->graph().names(), loaded->user_count());
  place(self, *std::move(loaded), texts.are_numbers() ? texts : PythonNames(names_of(texts.list()), "user"));
}

void save(const PythonBandit& self, const std::string& path, nb::handle texts) {
  Names names;
  if (!texts.is_none()) {
    for (nb::handle text : texts) {
      const nb::bytes encoded = nb::steal<nb::bytes>(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogateescape"));
      if (!encoded.is_valid()) throw nb::python_error();
      names.insert({encoded.c_str(), encoded.size()});
    }
  }
  read(self, [&] { self.bandit.save(path, names); });
}

constexpr const char* select_doc = R"(The arm to play for a user: the candidate with the highest score.

The score of candidate x is its upper confidence bound, ``w_i . x + alpha sqrt(x' C_i x ln(t + 1))``: the reward that
the user's belief expects, and how uncertain it is. Deciding changes nothing, and many threads may do it at once. Ties
go to the lowest index.

Parameters
----------
user : a user of the bandit; ``KeyError`` if it is none
X : array of shape (arms, dimension), a row for each candidate
allowed : booleans of shape (arms,), optional; candidates with False are left out

>>> import goblin
>>> bandit = goblin.GobLin([("ann", "bob"), ("bob", "cat")], dimension=2)
>>> bandit.update("ann", [0.0, 1.0], 1.0)
>>> bandit.select("bob", [[1.0, 0.0], [0.0, 1.0]])
1
>>> bandit.select("bob", [[1.0, 0.0], [0.0, 1.0]], allowed=[True, False])
0
)";

constexpr const char* scores_doc = R"(How every candidate is judged: ``(score, mean, width)``, a named tuple of arrays.

``mean = w_i . x`` is the expected reward, ``width`` the half width of the confidence interval, ``score`` their sum.
Candidates that ``allowed`` leaves out have mean and width 0 and score -inf.

Parameters
----------
user, X, allowed : as in ``select``

>>> import goblin
>>> bandit = goblin.LinUcbInd([("ann", "bob")], dimension=2, alpha=1.0)
>>> for _ in range(3):
...     bandit.update("ann", [1.0, 0.0], 1.0)
>>> bandit.scores("ann", [[1.0, 0.0], [0.0, 1.0]]).mean.round(3)
array([0.75, 0.  ])
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
    R"(The ``k`` best candidates, best first: an array of arms; all that are allowed if there are fewer.

Parameters
----------
user, X, allowed : as in ``select``
k : how many, at least 1

>>> import goblin
>>> bandit = goblin.LinUcbSin([("ann", "bob")], dimension=1)
>>> bandit.update("ann", [1.0], 1.0)
>>> bandit.rank("bob", [[0.1], [0.3], [0.2]], k=2).tolist()
[1, 2]
)";

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

constexpr const char* add_user_doc = R"(A new user without friends, by any hashable name.

Policies with clusters put the user into the given cluster, a number, or into a new one.

>>> import goblin
>>> bandit = goblin.GobLin([("ann", "bob")], dimension=1)
>>> bandit.add_user("cat")
>>> bandit.add_edge("cat", "ann")
>>> bandit.users
['ann', 'bob', 'cat']
)";

constexpr const char* add_edge_doc =
    R"(Makes two users friends, or better ones: a second edge adds to the weight of the first.

The belief becomes what it would be had the graph always been so: ``N`` gets ``coupling weight`` times the Laplacian of
the edge.

>>> import goblin
>>> bandit = goblin.GobLin([("ann", "bob")], dimension=1, users=["ann", "bob", "cat"])
>>> bandit.update("ann", [1.0], 1.0)
>>> bandit.mean("cat")
array([0.])
>>> bandit.add_edge("cat", "ann", weight=2.0)
>>> bandit.mean("cat").round(3)
array([0.211])
)";

constexpr const char* remove_edge_doc = R"(Ends a friendship, whatever its weight.

The belief becomes what it would be had it never been; ``ValueError`` if the two are no friends.

>>> import goblin
>>> bandit = goblin.GobLin([("ann", "bob")], dimension=1)
>>> bandit.update("ann", [1.0], 1.0)
>>> bandit.remove_edge("ann", "bob")
>>> bandit.mean("ann").round(3)
array([0.5])
)";

constexpr const char* mean_doc = R"(``w_i``, what is believed of the user's vector: an array of shape (dimension,).

>>> import goblin
>>> bandit = goblin.LinUcbInd([("ann", "bob")], dimension=2)
>>> bandit.update("ann", [1.0, 0.0], 1.0)
>>> bandit.mean("ann")
array([0.5, 0. ])
)";

constexpr const char* covariance_doc =
    R"(``C_i``, how uncertain the user's vector is: an array of shape (dimension, dimension).

The width of candidate x is ``alpha sqrt(x' C_i x ln(t + 1))``.

>>> import goblin
>>> bandit = goblin.LinUcbInd([("ann", "bob")], dimension=2)
>>> bandit.update("ann", [1.0, 0.0], 1.0)
>>> bandit.covariance("ann")
array([[0.5, 0. ],
       [0. , 1. ]])
)";

}  // namespace

nb::dict summary_of(const BanditSummary& summary) {
  nb::dict result;
  result["policy"] = std::string(name_of(summary.policy));
  result["engine"] = std::string(name_of(summary.asked_engine));
  result["users"] = summary.users;
  result["nodes"] = summary.nodes;
  result["edges"] = summary.edges;
  result["rewards"] = summary.rewards;
  result["unconverged_solves"] = summary.unconverged_solves;
  result["bytes"] = summary.bytes;
  nb::list components;
  for (const ComponentSummary& component : summary.components) {
    nb::dict part;
    part["nodes"] = component.nodes;
    part["edges"] = component.edges;
    part["engine"] = std::string(name_of(component.engine));
    part["reason"] = std::string(component.reason);
    part["bytes"] = component.bytes;
    components.append(part);
  }
  result["components"] = components;
  return result;
}

void bind_bandit(nb::module_& module) {
  const auto none = nb::none();
  nb::class_<PythonBandit> bandit(module, "Bandit", nb::type_slots(collected_slots<PythonBandit>()),
                                  nb::is_weak_referenceable(),
                                  "What all policies can do; goblin.Bandit is the class to use.");
  bandit.def("__init__", &make, nb::arg("policy"), nb::arg("graph"), nb::arg("clusters").none(), nb::arg("options"),
             nb::sig("def __init__(self, policy: str, graph: Graph, clusters: numpy.typing.ArrayLike | None, "
                     "options: dict[str, typing.Any]) -> None"));
  bandit.def(
      "__init__",
      [](PythonBandit* self, const PythonBandit& other) {
        asked_with_users<Bandit>(
            other, [](const Bandit& source) { return source; },
            [&](Bandit copied) { new (self) PythonBandit(std::move(copied), other.users); });
      },
      nb::arg("other"), nb::sig("def __init__(self, other: Bandit) -> None"));
  bandit.def("__init__", &load, nb::arg("path"), nb::arg("names_of"),
             nb::sig("def __init__(self, path: str, names_of: collections.abc.Callable[[list[str]], "
                     "list[typing.Any]]) -> None"));
  bandit.def(
      "__init__",
      [](PythonBandit* self, const nb::bytes& content, nb::handle users) {
        std::optional<Bandit> bandit;
        {
          const nb::gil_scoped_release released;
          bandit = Bandit::from_bytes({content.c_str(), content.size()});
        }
        place(self, *std::move(bandit), PythonNames(users, "user"));
      },
      nb::arg("content"), nb::arg("users"),
      nb::sig("def __init__(self, content: bytes, users: collections.abc.Iterable[typing.Any]) -> None"));
  bandit.def("select", &select, nb::arg("user").none(), nb::arg("X"), nb::arg("allowed").none() = none,
             nb::sig("def select(self, user: collections.abc.Hashable, X: numpy.typing.ArrayLike, "
                     "allowed: numpy.typing.ArrayLike | None = None) -> int"),
             select_doc);
  bandit.def("scores", &scores, nb::arg("user").none(), nb::arg("X"), nb::arg("allowed").none() = none,
             nb::sig("def scores(self, user: collections.abc.Hashable, X: numpy.typing.ArrayLike, "
                     "allowed: numpy.typing.ArrayLike | None = None) -> goblin._types.Scores"),
             scores_doc);
  bandit.def("bounds", &bounds, nb::arg("user").none(), nb::arg("X"), nb::arg("allowed").none() = none,
             nb::sig("def bounds(self, user: collections.abc.Hashable, X: numpy.typing.ArrayLike, "
                     "allowed: numpy.typing.ArrayLike | None = None) -> numpy.typing.NDArray[numpy.float64]"),
             bounds_doc);
  bandit.def("rank", &rank, nb::arg("user").none(), nb::arg("X"), nb::arg("k"), nb::arg("allowed").none() = none,
             nb::sig("def rank(self, user: collections.abc.Hashable, X: numpy.typing.ArrayLike, k: int, "
                     "allowed: numpy.typing.ArrayLike | None = None) -> numpy.typing.NDArray[numpy.int64]"),
             rank_doc);
  bandit.def("update", &update, nb::arg("user").none(), nb::arg("x"), nb::arg("reward"),
             nb::sig("def update(self, user: collections.abc.Hashable, x: numpy.typing.ArrayLike, "
                     "reward: float) -> None"),
             update_doc);
  bandit.def("partial_fit", &partial_fit, nb::arg("users"), nb::arg("X"), nb::arg("rewards"),
             nb::sig("def partial_fit(self, users: collections.abc.Iterable[collections.abc.Hashable], "
                     "X: numpy.typing.ArrayLike, rewards: numpy.typing.ArrayLike) -> typing.Self"),
             partial_fit_doc);
  bandit.def("predict_expectations", &predict_expectations, nb::arg("users"), nb::arg("X"),
             nb::sig("def predict_expectations(self, users: collections.abc.Iterable[collections.abc.Hashable], "
                     "X: numpy.typing.ArrayLike) -> numpy.typing.NDArray[numpy.float64]"),
             predict_doc);
  bandit.def("add_user", &add_user, nb::arg("user").none(), nb::arg("cluster").none() = none,
             nb::sig("def add_user(self, user: collections.abc.Hashable, cluster: int | None = None) -> None"),
             add_user_doc);
  bandit.def("add_edge", &add_edge, nb::arg("user").none(), nb::arg("friend").none(), nb::arg("weight") = 1.0,
             nb::sig("def add_edge(self, user: collections.abc.Hashable, friend: collections.abc.Hashable, "
                     "weight: float = 1.0) -> None"),
             add_edge_doc);
  bandit.def("remove_edge", &remove_edge, nb::arg("user").none(), nb::arg("friend").none(),
             nb::sig("def remove_edge(self, user: collections.abc.Hashable, friend: collections.abc.Hashable) -> None"),
             remove_edge_doc);
  bandit.def(
      "mean",
      [](const PythonBandit& self, nb::handle user) {
        const NodeId index = self.users.find(user);
        return array_of(asked<std::vector<double>>(self, [&](const Bandit& it) { return it.mean(index); }));
      },
      nb::arg("user").none(),
      nb::sig("def mean(self, user: collections.abc.Hashable) -> numpy.typing.NDArray[numpy.float64]"), mean_doc);
  bandit.def(
      "covariance",
      [](const PythonBandit& self, nb::handle user) {
        const NodeId index = self.users.find(user);
        const std::size_t dimension = dimension_of(self);
        return array_of(asked<std::vector<double>>(self, [&](const Bandit& it) { return it.covariance(index); }),
                        {dimension, dimension});
      },
      nb::arg("user").none(),
      nb::sig("def covariance(self, user: collections.abc.Hashable) -> numpy.typing.NDArray[numpy.float64]"),
      covariance_doc);
  bandit.def(
      "cluster",
      [](const PythonBandit& self, nb::handle user) {
        const NodeId index = self.users.find(user);
        return asked<std::optional<NodeId>>(self, [&](const Bandit& it) { return it.cluster(index); });
      },
      nb::arg("user").none(), nb::sig("def cluster(self, user: collections.abc.Hashable) -> int | None"),
      "The user's cluster, where the policy has clusters.");
  bandit.def(
      "summary",
      [](const PythonBandit& self) {
        return summary_of(asked<BanditSummary>(self, [](const Bandit& it) { return it.summary(); }));
      },
      nb::sig("def summary(self) -> dict[str, typing.Any]"),
      "What was asked for and what is used: the engine of each connected component and why, the bytes.");
  bandit.def(
      "__len__", [](const PythonBandit& self) { return self.users.size(); }, "The number of users.");
  bandit.def(
      "__contains__", [](const PythonBandit& self, nb::handle user) { return self.users.contains(user); },
      nb::sig("def __contains__(self, user: object) -> bool"), "Whether it is a user.");
  bandit.def_prop_ro(
      "users", [](const PythonBandit& self) { return self.users.list(); },
      nb::sig("def users(self) -> list[typing.Any]"), "The users' names, in the order they came.");
  bandit.def_prop_ro(
      "graph",
      [](const PythonBandit& self) {
        return asked_with_users<Graph>(
            self, [](const Bandit& it) { return it.graph(); },
            [&self](Graph graph) {
              return PythonGraph{std::move(graph), self.users};
            });
      },
      "The users' graph as it is now.");
  bandit.def_prop_ro(
      "policy", [](const PythonBandit& self) { return std::string(name_of(self.bandit.policy())); },
      "The policy's name, as everywhere in goblin.");
  bandit.def_prop_ro("dimension", &dimension_of, "How many numbers a context has.");
  bandit.def_prop_ro(
      "alpha", [](const PythonBandit& self) { return self.bandit.options().alpha; }, "How much uncertainty attracts.");
  bandit.def_prop_ro(
      "rewards",
      [](const PythonBandit& self) { return asked<std::size_t>(self, [](const Bandit& it) { return it.rewards(); }); },
      "The number of rewards learned.");
  bandit.def_prop_ro(
      "log_determinant",
      [](const PythonBandit& self) {
        return asked<double>(self, [](const Bandit& it) { return it.log_determinant(); });
      },
      "``ln |M_t|`` of the paper's Theorem 1.");
  bandit.def("_save", &save, nb::arg("path"), nb::arg("texts").none(),
             nb::sig("def _save(self, path: str, texts: collections.abc.Iterable[str] | None) -> None"));
  bandit.def(
      "_content",
      [](const PythonBandit& self) {
        return asked_with_users<std::string>(
            self, [](const Bandit& it) { return it.to_bytes(); },
            [&self](const std::string& bytes) {
              return nb::make_tuple(nb::bytes(bytes.data(), bytes.size()), self.users.list());
            });
      },
      nb::sig("def _content(self) -> tuple[bytes, list[typing.Any]]"));
}

}  // namespace goblin::python
