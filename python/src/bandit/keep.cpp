#include "bandit/calls.hpp"

#include <nanobind/stl/string.h>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace goblin::python {
namespace {

/// Makes something of the bandit, without the GIL, while the caller holds its lock.
template <typename Make>
auto without_gil(Make make) {
  const nb::gil_scoped_release released;
  return make();
}

void copy(PythonBandit* self, const PythonBandit& other) {
  const ReadLock lock = lock_with_gil<ReadLock>(other.mutex);
  Bandit copied = without_gil([&] { return Bandit(other.bandit); });
  new (self) PythonBandit(std::move(copied), other.users, other.bandit_has_names);
}

/// The bandit of a model file.
void load(PythonBandit* self, const std::string& path) {
  Bandit loaded = without_gil([&] { return Bandit::load(path); });
  const Names texts = loaded.graph().names();
  const PythonNames users = PythonNames::of_model(texts, loaded.user_count());
  new (self) PythonBandit(std::move(loaded), users, !texts.empty());
}

/// The lock is held from asking for the users' names to the end of the file: users who come meanwhile wait.
void save(const PythonBandit& self, const std::string& path) {
  const ReadLock lock = lock_with_gil<ReadLock>(self.mutex);
  const Names texts = self.users.texts();
  without_gil([&] { self.bandit.save(path, texts); });
}

/// What a pickle holds: the bytes of a model file, and the users.
nb::tuple content(const PythonBandit& self) {
  const ReadLock lock = lock_with_gil<ReadLock>(self.mutex);
  const std::string bytes = without_gil([&] { return self.bandit.to_bytes(); });
  return nb::make_tuple(nb::bytes(bytes.data(), bytes.size()), self.users.list());
}

void restore(PythonBandit* self, const nb::bytes& content, nb::handle given_users) {
  Bandit bandit = without_gil([&] { return Bandit::from_bytes({content.c_str(), content.size()}); });
  const PythonNames users(given_users, "user");
  if (users.size() != bandit.user_count()) {
    throw std::invalid_argument("users: " + std::to_string(users.size()) + " (must be " +
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
