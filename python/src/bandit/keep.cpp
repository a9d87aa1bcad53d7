#include "bandit/calls.hpp"

#include <nanobind/stl/string.h>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace goblin::python {
namespace {

Bandit snapshot_of(const PythonBandit& bandit) {
  return asked(bandit, [](const SharedBandit& it) { return it.snapshot(); });
}

void copy(PythonBandit* self, const PythonBandit& other) {
  const auto lock = lock_with_gil(other.users_mutex);
  new (self) PythonBandit(snapshot_of(other), other.users, other.bandit_has_names);
}

/// The indices of users who were removed.
std::vector<NodeId> removed_from(const Bandit& bandit) {
  std::vector<NodeId> removed;
  for (std::size_t user = 0; user < bandit.user_count(); ++user) {
    if (!bandit.has_user(user)) removed.push_back(static_cast<NodeId>(user));
  }
  return removed;
}

/// The bandit of a model file.
void load(PythonBandit* self, const std::string& path) {
  Bandit loaded = without_gil([&] { return Bandit::load(path); });
  loaded.set_progress(hear_signals);
  const Names texts = loaded.graph().names();
  PythonNames users = PythonNames::of_model(texts, loaded.user_count());
  if (texts.empty()) users.remove(removed_from(loaded));
  new (self) PythonBandit(std::move(loaded), users, !texts.empty());
}

/// The file holds the bandit and the names of one moment; what comes while it is written does not wait.
void save(const PythonBandit& self, const std::string& path) {
  auto lock = lock_with_gil(self.users_mutex);
  const Bandit snapshot = snapshot_of(self);
  const Names texts = self.users.texts();
  lock.unlock();
  without_gil([&] {
    snapshot.save(path, texts);
    self.bandit.take_variances(snapshot);
  });
}

/// What a pickle holds: the bytes of a model file, and the users.
nb::tuple content(const PythonBandit& self) {
  auto lock = lock_with_gil(self.users_mutex);
  const Bandit snapshot = snapshot_of(self);
  const nb::list users = self.users.slots();
  lock.unlock();
  const std::string bytes = without_gil([&] { return snapshot.to_bytes(); });
  return nb::make_tuple(nb::bytes(bytes.data(), bytes.size()), users);
}

void restore(PythonBandit* self, const nb::bytes& content, nb::handle given_users) {
  Bandit bandit = without_gil([&] { return Bandit::from_bytes({content.c_str(), content.size()}); });
  bandit.set_progress(hear_signals);
  const PythonNames users = PythonNames::of_slots(given_users);
  if (users.index_count() != bandit.user_count()) {
    throw std::invalid_argument("users: " + std::to_string(users.index_count()) + " (must be " +
                                std::to_string(bandit.user_count()) + ")");
  }
  const bool has_names = bandit.graph().has_names();
  new (self) PythonBandit(std::move(bandit), users, has_names);
}

}  // namespace

void bind_keeping(BanditClass& bandit) {
  bandit.def("__init__", &copy, nb::arg("other"), nb::sig("def __init__(self, other: Bandit) -> None"));
  bandit.def("__init__", &load, nb::arg("path"), nb::sig("def __init__(self, path: str) -> None"));
  bandit.def("__init__", &restore, nb::arg("content"), nb::arg("users"),
             nb::sig("def __init__(self, content: bytes, users: collections.abc.Iterable[typing.Any]) -> None"));
  bandit.def("_save", &save, nb::arg("path"), nb::sig("def _save(self, path: str) -> None"));
  bandit.def("_content", &content, nb::sig("def _content(self) -> tuple[bytes, list[typing.Any]]"));
}

}  // namespace goblin::python
