#include "bandit/calls.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <nanobind/stl/string.h>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
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
  if (!std::isfinite(number)) {
    throw std::invalid_argument("reward: " + shown(reward) + " (must be finite)" +
                                (std::isnan(number) ? missing_advice("reward") : ""));
  }
  const NodeId index = self.users.find(user);
  naming(x, [&] { without_gil([&] { self.bandit.update(index, x.all(), number); }); });
}

/// Rewards that are learned together, row after row.
struct Batch {
  std::vector<NodeId> users;
  std::span<const double> contexts;
  std::span<const double> rewards;
  std::vector<double> own_contexts = {};  // copies, where not all rows are learned
  std::vector<double> own_rewards = {};

  [[nodiscard]] RewardTable rows(std::size_t begin, std::size_t count, std::size_t dimension) const {
    return {.users = std::span(users).subspan(begin, count),
            .contexts = contexts.subspan(begin * dimension, count * dimension),
            .rewards = rewards.subspan(begin, count)};
  }
};

/// What happens to rows of users who are not known.
enum class Unknown { error, add, skip };

Unknown unknown_named(nb::handle given) {
  const std::string text = text_argument(given, "unknown");
  if (text == "error") return Unknown::error;
  if (text == "add") return Unknown::add;
  if (text == "skip") return Unknown::skip;
  throw std::invalid_argument("unknown: '" + text + "' (must be add, skip or error)");
}

/// Checks the batch row by row, where some rows belong to users who are not there yet (`unknown`, in order) and who are
/// added or whose rows are skipped.
void check_with_unknown(const PythonBandit& self, const Array<double>& contexts, const Batch& batch,
                        const std::vector<std::size_t>& unknown, bool skip) {
  const std::size_t dimension = self.dimension;
  std::size_t row = 0;
  naming_as([&] { return contexts.described() + ": batch[" + std::to_string(row) + "]"; },
            [&] {
              without_gil([&] {
                auto next = unknown.begin();
                for (; row < batch.users.size(); ++row) {
                  const auto context = batch.contexts.subspan(row * dimension, dimension);
                  const bool known = next == unknown.end() || *next != row;
                  if (!known) ++next;
                  if (known) {
                    self.bandit.check(batch.users[row], context, batch.rewards[row]);
                  } else if (!skip) {
                    self.bandit.check_new_user(context, batch.rewards[row]);
                  }
                }
              });
            });
}

void warn(const std::string& message) {
  const nb::object category = nb::module_::import_("goblin._types").attr("UnknownUserWarning");
  nb::module_::import_("goblin._graph").attr("warn")(message, category);
}

std::string counted(std::size_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

/// "3 of 10 rewards", "users[4]: 'dan'" for the warnings.
std::string share_of(const PythonNames::Found& found) {
  return std::to_string(found.unknown.size()) + " of " + counted(found.indices.size(), "reward", "rewards");
}
std::string first_of(const PythonNames::Found& found) {
  return "users[" + std::to_string(found.unknown.front()) + "]: " + shown(found.unknown_names[0]);
}

void skip_unknown(Batch& batch, const PythonNames::Found& found, std::size_t dimension) {
  warn("partial_fit: " + share_of(found) + " left out, whose users are not known; the first is " + first_of(found));
  std::vector<NodeId> users;
  auto next = found.unknown.begin();
  for (std::size_t row = 0; row < batch.users.size(); ++row) {
    if (next != found.unknown.end() && *next == row) {
      ++next;
      continue;
    }
    users.push_back(batch.users[row]);
    const auto context = batch.contexts.subspan(row * dimension, dimension);
    batch.own_contexts.insert(batch.own_contexts.end(), context.begin(), context.end());
    batch.own_rewards.push_back(batch.rewards[row]);
  }
  batch.users = std::move(users);
  batch.contexts = batch.own_contexts;
  batch.rewards = batch.own_rewards;
}

/// Lets the plain names join, as far as nobody else has added them meanwhile: all of them, or none if one is refused.
/// Where memory runs out, those before it have come.
void add_all(PythonBandit& self, const nb::list& plain_names) {
  const auto lock = lock_with_gil(self.users_mutex);
  nb::list missing;
  std::vector<std::string> texts;
  for (const nb::handle plain : plain_names) {
    if (self.users.contains(plain)) continue;
    missing.append(plain);
    texts.push_back(self.bandit_has_names ? text_of(plain) : "");
  }
  std::size_t come = 0;
  const auto name_them = [&] {
    for (std::size_t k = 0; k < come; ++k) self.users.add(missing[k]);
  };
  try {
    without_gil([&] {
      // Only to be joined to a hub can be refused.
      if (has_hub(self.bandit.policy())) {
        self.bandit.change([&](Bandit& bandit) {
          for (const std::string& text : texts) bandit.add_user(text);
        });
        come = texts.size();
      } else {
        for (; come < texts.size(); ++come) self.bandit.add_user(texts[come]);
      }
    });
  } catch (...) {
    name_them();
    pass_over_strangers(self);
    throw;
  }
  name_them();
}

void add_unknown(PythonBandit& self, Batch& batch, const PythonNames::Found& found) {
  nb::dict plain_by_key;
  nb::list keys;  // of each row
  for (std::size_t k = 0; k < found.unknown.size(); ++k) {
    const nb::object plain = checked_name(found.unknown_names[k], "users[" + std::to_string(found.unknown[k]) + "]");
    const nb::object key = key_of(plain);
    if (!plain_by_key.contains(key)) plain_by_key[key] = plain;
    keys.append(key);
  }
  warn("partial_fit: " + counted(plain_by_key.size(), "new user", "new users") + ", with " + share_of(found) +
       "; the first is " + first_of(found));
  add_all(self, plain_by_key.values());
  for (std::size_t k = 0; k < found.unknown.size(); ++k) batch.users[found.unknown[k]] = self.users.find(keys[k]);
}

void check_rewards(const Array<double>& rewards, const std::vector<std::size_t>& but) {
  auto next = but.begin();
  for (std::size_t k = 0; k < rewards.size(0); ++k) {
    if (next != but.end() && *next == k) {
      ++next;
      continue;
    }
    const double reward = rewards.all()[k];
    if (std::isfinite(reward)) continue;
    throw std::invalid_argument(rewards.described() + ": rewards[" + std::to_string(k) + "] is " +
                                std::to_string(reward) + " (must be finite)" +
                                (std::isnan(reward) ? missing_advice("reward") : ""));
  }
}

/// Checks the whole batch, then learns its first thousand rewards and the rest: many at once cost less a reward than in
/// several pieces. In between other threads get to learn, and Ctrl-C is heard.
nb::object partial_fit(nb::handle object, nb::handle users, nb::handle contexts, nb::handle rewards,
                       nb::handle unknown) {
  check_given("partial_fit", "users", users);
  check_given("partial_fit", "X", contexts);
  check_given("partial_fit", "rewards", rewards);
  auto& self = nb::cast<PythonBandit&>(object);
  const std::size_t dimension = self.dimension;
  const Unknown wanted = unknown_named(unknown);
  const PythonNames::Found found = self.users.find_known(users);
  if (wanted == Unknown::error) PythonNames::check_all_known(found);
  const Array<double> x(contexts, "X");
  const Array<double> payoffs(rewards, "rewards");
  const std::size_t count = found.indices.size();
  check_rows(x, count, dimension);
  payoffs.expect(payoffs.dimensions() == 1 && payoffs.size(0) == count, "(" + std::to_string(count) + ",)");
  const bool skip = wanted == Unknown::skip;
  check_rewards(payoffs, skip ? found.unknown : std::vector<std::size_t>());
  Batch batch{.users = found.indices, .contexts = x.all(), .rewards = payoffs.all()};
  if (found.unknown.empty()) {
    naming(x, [&] { without_gil([&] { self.bandit.check(batch.rows(0, count, dimension)); }); });
  } else {
    check_with_unknown(self, x, batch, found.unknown, skip);
    if (skip) {
      skip_unknown(batch, found, dimension);
    } else {
      add_unknown(self, batch, found);
    }
  }
  constexpr std::size_t first_piece = 1000;
  for (std::size_t begin = 0; begin < batch.users.size();) {
    const std::size_t rest = batch.users.size() - begin;
    const std::size_t piece = begin == 0 ? std::min(first_piece, rest) : rest;
    naming(x, [&] { without_gil([&] { self.bandit.update(batch.rows(begin, piece, dimension)); }); });
    begin += piece;
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
    for (std::size_t k = 0; k < std::min(self.users.index_count(), from.users.index_count()); ++k) {
      if (self.users.same_at(from.users, k)) continue;
      throw std::invalid_argument("other: user " + std::to_string(k) + " is " + shown(from.users.name(k)) +
                                  " (must be " + shown(self.users.name(k)) + ", as here)");
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
unknown : what to do about users who are not there. ``"error"``: refuse the batch, with ``UnknownUser``. ``"add"``: let
    them join, without friends, once all else is checked; they stay if learning is stopped. ``"skip"``: leave their rows
    out. Of both, an ``UnknownUserWarning`` says how many; ``warnings.simplefilter("ignore", goblin.UnknownUserWarning)``
    makes it quiet

>>> import goblin
>>> bandit = goblin.GobLin([(0, 1)], dimension=2)
>>> bandit.partial_fit([0, 1], [[1.0, 0.0], [0.0, 1.0]], [1.0, 0.0]).rewards
2
>>> import warnings
>>> warnings.simplefilter("ignore", goblin.UnknownUserWarning)
>>> bandit.partial_fit([1, 7], [[1.0, 0.0], [0.0, 1.0]], [1.0, 0.0], unknown="add").users
[0, 1, 7]
)";

constexpr const char* merge_doc =
    R"(Adds everything that another bandit has learned, as if this one had learned it too. Gives the bandit.

Two processes may each learn half of a log, from the same start without rewards; merged they are the bandit of the whole
log. The other must have the same policy, users, edges, clusters, dimension, intercept, ridge, coupling, evidence_per_node
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
             nb::arg("unknown").none() = "error",
             nb::sig("def partial_fit(self, users: collections.abc.Iterable[collections.abc.Hashable], "
                     "X: numpy.typing.ArrayLike, rewards: numpy.typing.ArrayLike, "
                     "unknown: str = 'error') -> typing.Self"),
             partial_fit_doc);
  bandit.def("merge", &merge, needed("other"), nb::sig("def merge(self, other: Bandit) -> typing.Self"), merge_doc);
}

}  // namespace goblin::python
