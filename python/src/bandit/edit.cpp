#include "bandit/calls.hpp"

#include <charconv>
#include <cmath>
#include <limits>
#include <nanobind/stl/string.h>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace goblin::python {
namespace {

/// The friends of a new user: names, pairs (name, weight), or a dict of weights. A tuple is always such a pair.
std::vector<EdgeChange> friends_of(const PythonBandit& self, nb::handle user, nb::handle given) {
  const bool is_dict = PyDict_Check(given.ptr()) != 0;
  if (PyUnicode_Check(given.ptr()) != 0 || PyBytes_Check(given.ptr()) != 0 || !nb::hasattr(given, "__iter__")) {
    throw nb::type_error(("friends: " + shown(given) + " (must be a list of users or of (user, weight))").c_str());
  }
  std::vector<EdgeChange> friends;
  for (const nb::handle one : is_dict ? given.attr("items")() : nb::borrow(given)) {
    const std::string where = "friends[" + std::to_string(friends.size()) + "]";
    nb::object name = nb::borrow(one);
    double weight = 1.0;
    if (PyTuple_Check(one.ptr()) != 0) {
      if (nb::len(one) != 2) throw std::invalid_argument(where + ": " + shown(one) + " (must be (user, weight))");
      name = one[0];
      weight = number_argument(nb::object(one[1]), (where + "[1]").c_str());
    }
    if (!(weight > 0.0 && std::isfinite(weight))) {
      throw std::invalid_argument(where + ": weight: " + shown(nb::float_(weight)) + " (must be finite and positive)");
    }
    const nb::object key = key_of(name);
    if (key.is_valid() && key.equal(key_of(user))) {
      throw std::invalid_argument(where + ": " + shown(name) + " (must be somebody else than the user)");
    }
    friends.push_back({.a = 0, .b = self.users.find_in(name, where), .weight = weight});
  }
  return friends;
}

/// Joins a user who was just added to the friends. If that is refused, the user goes again, and nobody has the index.
void join_to_friends(PythonBandit& self, NodeId added, std::vector<EdgeChange>& friends) {
  for (EdgeChange& change : friends) change.a = added;
  try {
    without_gil([&] { self.bandit.update_edges(friends); });
    return;
  } catch (...) {
    self.users.add_nobody();
    try {
      without_gil([&] { self.bandit.remove_user(added); });
    } catch (const std::exception&) {  // where even that does not fit: a user without friends, whom nobody can name
    }
    throw;
  }
}

/// Everything that can be refused is refused before the first of the two, bandit and users, has changed.
void add_user(PythonBandit& self, nb::handle user, nb::handle cluster, nb::handle given_friends) {
  check_given("add_user", "user", user);
  const nb::object plain = checked_name(user, "user");
  std::optional<NodeId> wanted;
  if (!cluster.is_none()) wanted = static_cast<NodeId>(whole_argument(cluster, "cluster"));
  std::vector<EdgeChange> friends;
  if (!given_friends.is_none()) friends = friends_of(self, plain, given_friends);
  const std::string text = self.bandit_has_names ? text_of(plain) : "";
  const auto lock = lock_with_gil(self.users_mutex);
  if (self.users.contains(plain)) {
    throw std::invalid_argument("user: " + shown(plain) + " (must not be there already)");
  }
  NodeId added = 0;
  try {
    added = without_gil([&] { return self.bandit.add_user(text, wanted); });
  } catch (...) {
    pass_over_strangers(self);
    throw;
  }
  try {
    if (!friends.empty()) join_to_friends(self, added, friends);
  } catch (const CapacityError&) {
    throw;
  } catch (const std::invalid_argument& error) {
    constexpr std::string_view edges = "edges[";
    const std::string message = error.what();
    throw std::invalid_argument(message.starts_with(edges) ? "friends[" + message.substr(edges.size()) : message);
  }
  self.users.add(plain);
}

/// One user, or many: all of them or none.
void remove_user(PythonBandit& self, nb::handle user) {
  check_given("remove_user", "user", user);
  const auto indices = are_many(user) ? self.users.find_all(user) : std::vector<NodeId>{self.users.find(user)};
  const std::set<NodeId> distinct(indices.begin(), indices.end());
  if (distinct.size() < indices.size()) throw std::invalid_argument("user: somebody stands twice (must be distinct)");
  const auto lock = lock_with_gil(self.users_mutex);
  for (const NodeId index : indices) {
    if (!self.users.has(index)) throw std::invalid_argument("user: was just removed by another thread");
  }
  const std::vector<UserRef> users(indices.begin(), indices.end());
  without_gil([&] { self.bandit.remove_users(users); });
  self.users.remove(indices);
}

void add_edge(PythonBandit& self, nb::handle user, nb::handle friend_, nb::handle weight) {
  check_given("add_edge", "user", user);
  check_given("add_edge", "friend", friend_);
  const double number = number_argument(weight, "weight");
  const NodeId a = self.users.find(user);
  const NodeId b = self.users.find(friend_);
  if (a == b) throw std::invalid_argument("friend: " + shown(friend_) + " (must be somebody else than the user)");
  without_gil([&] { self.bandit.add_edge(a, b, number); });
}

void remove_edge(PythonBandit& self, nb::handle user, nb::handle friend_) {
  check_given("remove_edge", "user", user);
  check_given("remove_edge", "friend", friend_);
  const NodeId a = self.users.find(user);
  const NodeId b = self.users.find(friend_);
  try {
    without_gil([&] { self.bandit.remove_edge(a, b); });
  } catch (const std::invalid_argument&) {
    throw std::invalid_argument("edge: " + shown(user) + " to " + shown(friend_) + " (must be in the graph)");
  }
}

/// Throws the library's message about one of the changes, in which users are indices, with the users' names.
[[noreturn]] void fail_change(const PythonBandit& self, const std::vector<EdgeChange>& changes,
                              const std::vector<std::pair<NodeId, NodeId>>& ends, const std::string& message) {
  constexpr std::string_view before_number = "edges[";
  std::size_t k = changes.size();
  if (message.starts_with(before_number)) {
    std::from_chars(message.data() + before_number.size(), message.data() + message.size(), k);
  }
  if (k >= changes.size() || changes[k].weight != 0.0) throw std::invalid_argument(message);
  const auto [a, b] = ends[k];
  throw std::invalid_argument("edges[" + std::to_string(k) + "]: edge: " + shown(self.users.name(a)) + " to " +
                              shown(self.users.name(b)) + " (must be in the graph)");
}

/// What is wrong with one of the edges gets its number, as the library's own messages do.
void update_edges(PythonBandit& self, nb::handle edges) {
  check_given("update_edges", "edges", edges);
  if (PyUnicode_Check(edges.ptr()) != 0 || PyBytes_Check(edges.ptr()) != 0 || !nb::hasattr(edges, "__iter__")) {
    throw nb::type_error(
        ("edges: " + shown(edges) + " (must be a list of (user, friend) or (user, friend, weight))").c_str());
  }
  std::vector<EdgeChange> changes;
  std::vector<std::pair<NodeId, NodeId>> ends;
  for (const nb::handle edge : edges) {
    const std::string name = "edges[" + std::to_string(changes.size()) + "]";
    const bool is_pair = PyTuple_Check(edge.ptr()) != 0 || PyList_Check(edge.ptr()) != 0;
    if (!is_pair || nb::len(edge) < 2 || nb::len(edge) > 3) {
      throw std::invalid_argument(name + ": " + shown(edge) + " (must be (user, friend) or (user, friend, weight))");
    }
    const double weight = nb::len(edge) == 3 ? number_argument(edge[2], (name + "[2]").c_str()) : 1.0;
    const NodeId a = self.users.find_in(edge[0], name);
    const NodeId b = self.users.find_in(edge[1], name);
    if (a == b && weight != 0.0) {
      throw std::invalid_argument(name + ": friend: " + shown(edge[1]) + " (must be somebody else than the user)");
    }
    changes.push_back({a, b, weight});
    ends.emplace_back(a, b);
  }
  try {
    without_gil([&] { self.bandit.update_edges(changes); });
  } catch (const CapacityError&) {
    throw;
  } catch (const std::invalid_argument& error) {
    fail_change(self, changes, ends, error.what());
  }
}

void move_user(PythonBandit& self, nb::handle user, nb::handle cluster) {
  check_given("move_user", "user", user);
  check_given("move_user", "cluster", cluster);
  const std::size_t number = whole_argument(cluster, "cluster");
  const NodeId index = self.users.find(user);
  if (number > std::numeric_limits<NodeId>::max()) {
    throw std::invalid_argument("cluster: " + shown(cluster) + " (must be at most the number of clusters)");
  }
  without_gil([&] { self.bandit.move_user(index, static_cast<NodeId>(number)); });
}

void set_alpha(PythonBandit& self, nb::handle alpha) {
  const double number = number_argument(alpha, "alpha");
  without_gil([&] { self.bandit.set_alpha(number); });
}

double alpha(const PythonBandit& self) {
  const Exploration exploration = asked(self, [](const SharedBandit& it) { return it.exploration(); });
  if (!exploration.alpha()) throw nb::attribute_error(("alpha: " + name_of(exploration) + " has none").c_str());
  return *exploration.alpha();
}

std::string exploration(const PythonBandit& self) {
  return name_of(asked(self, [](const SharedBandit& it) { return it.exploration(); }));
}

void set_exploration(PythonBandit& self, nb::handle text) {
  const Exploration given = exploration_named(text_argument(text, "exploration"));
  without_gil([&] { self.bandit.set_exploration(given); });
}

constexpr const char* exploration_doc = R"(How candidates are chosen, as a text. May be set at any time.

It has no part in what is learned. ``goblin.ucb``, ``printed_bound``, ``thompson``, ``epsilon_greedy``, ``greedy`` and
``square_cb`` make such texts.

>>> import goblin
>>> bandit = goblin.GobLin([("ann", "bob")], dimension=1)
>>> bandit.exploration
'ucb:0.1'
>>> bandit.exploration = goblin.thompson(0.2)
>>> bandit.exploration
'thompson:0.2'
)";

constexpr const char* alpha_doc = R"(How much uncertainty attracts; 0 never explores. May be set at any time.

It is the number of the rule ``ucb``; with another ``exploration`` there is none. Alpha has no part in what is learned, only in how candidates are scored, so a new one holds from the next decision on.

>>> import goblin
>>> bandit = goblin.GobLin([("ann", "bob")], dimension=1, alpha=1.0)
>>> bandit.scores("ann", [[1.0]]).width.round(3)
array([0.68])
>>> bandit.alpha = 0.5
>>> bandit.scores("ann", [[1.0]]).width.round(3)
array([0.34])
)";

constexpr const char* add_user_doc =
    R"(A new user: a text, a number, bytes or a tuple of these; with friends or without.

The user and the friends come together, or, if something is wrong with one of them, nobody comes.

Parameters
----------
user : who must not be there yet
cluster : for policies whose clusters are given: a number, or a new cluster without it
friends : users who are there, or pairs ``(user, weight)``, or a dict of weights. A tuple is always such a pair: a friend
    whose name is a tuple needs a weight, ``((1, "x"), 1.0)``

>>> import goblin
>>> bandit = goblin.GobLin([("ann", "bob")], dimension=1)
>>> bandit.update("ann", [1.0], 1.0)
>>> bandit.add_user("cat", friends=["ann", ("bob", 0.5)])
>>> bandit.users, bandit.mean("cat").round(2)
(['ann', 'bob', 'cat'], array([0.17]))
)";

constexpr const char* remove_user_doc =
    R"(A user goes, or many do: their friendships and all that was learned from their rewards.

What is believed becomes what it would be had they never been there; ``rewards`` does not count theirs any more. With
``Club`` and ``DynUcb`` the clusters that were found stay. Many at once, all of them or none, cost less than one by one:
the bandit is copied for it. Not with ``evidence_per_node`` where users share a belief: nobody can tell what was theirs.

Parameters
----------
user : a user of the bandit, or a list, an array or a column of them; ``KeyError`` if one is none

>>> import goblin
>>> bandit = goblin.GobLin([("ann", "bob"), ("bob", "cat")], dimension=1)
>>> bandit.update("ann", [1.0], 1.0)
>>> bandit.update("cat", [1.0], -1.0)
>>> bandit.remove_user("cat")
>>> bandit.users, bandit.rewards, bandit.mean("bob").round(3)
(['ann', 'bob'], 1, array([0.2]))
)";

constexpr const char* move_user_doc = R"(Puts a user into another cluster, for the policies whose clusters are given.

The belief becomes what it would be had the user always been there. A number that is one more than the largest makes a
new cluster.

>>> import goblin
>>> friends = [("ann", "bob"), ("bob", "cat")]
>>> bandit = goblin.GobLinMacro(friends, dimension=1, clusters=[0, 0, 1])
>>> bandit.update("bob", [1.0], 1.0)
>>> bandit.move_user("bob", 1)
>>> bandit.cluster("bob")
1
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

constexpr const char* update_edges_doc =
    R"(Many changes of friendships at once, all or none: the belief is that of one after the other.

Each is ``(user, friend)`` or ``(user, friend, weight)``. The weight, 1 if it is left out, adds to what there is between
the two; 0 ends their friendship. Cheaper than one by one where there are many.

>>> import goblin
>>> bandit = goblin.GobLin([("ann", "bob")], dimension=1, users=["ann", "bob", "cat"])
>>> bandit.update_edges([("cat", "ann", 2.0), ("bob", "cat"), ("ann", "bob", 0)])
>>> bandit.update("ann", [1.0], 1.0)
>>> bandit.mean("cat").round(3)
array([0.2])
)";

}  // namespace

void bind_editing(BanditClass& bandit) {
  bandit.def("add_user", &add_user, needed("user"), nb::arg("cluster").none() = nb::none(),
             nb::arg("friends").none() = nb::none(),
             nb::sig("def add_user(self, user: collections.abc.Hashable, cluster: int | None = None, "
                     "friends: collections.abc.Iterable[collections.abc.Hashable] | "
                     "collections.abc.Mapping[typing.Any, float] | None = None) -> None"),
             add_user_doc);
  bandit.def("remove_user", &remove_user, needed("user"),
             nb::sig("def remove_user(self, user: collections.abc.Hashable | goblin._types.ManyUsers) -> None"),
             remove_user_doc);
  bandit.def("add_edge", &add_edge, needed("user"), needed("friend"), nb::arg("weight").none() = 1.0,
             nb::sig("def add_edge(self, user: collections.abc.Hashable, friend: collections.abc.Hashable, "
                     "weight: float = 1.0) -> None"),
             add_edge_doc);
  bandit.def("remove_edge", &remove_edge, needed("user"), needed("friend"),
             nb::sig("def remove_edge(self, user: collections.abc.Hashable, friend: collections.abc.Hashable) -> None"),
             remove_edge_doc);
  bandit.def(
      "update_edges", &update_edges, needed("edges"),
      nb::sig("def update_edges(self, edges: collections.abc.Iterable[tuple[collections.abc.Hashable, ...]]) -> None"),
      update_edges_doc);
  bandit.def("move_user", &move_user, needed("user"), needed("cluster"),
             nb::sig("def move_user(self, user: collections.abc.Hashable, cluster: int) -> None"), move_user_doc);
  bandit.def_prop_rw("alpha", &alpha, &set_alpha, nb::for_getter(nb::sig("def alpha(self) -> float")),
                     nb::for_setter(nb::sig("def alpha(self, value: float, /) -> None")),
                     nb::for_setter(nb::arg("value").none()), alpha_doc);
  bandit.def_prop_rw("exploration", &exploration, &set_exploration,
                     nb::for_getter(nb::sig("def exploration(self) -> str")),
                     nb::for_setter(nb::sig("def exploration(self, value: str, /) -> None")),
                     nb::for_setter(nb::arg("value").none()), exploration_doc);
}

}  // namespace goblin::python
