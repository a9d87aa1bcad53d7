#include "names.hpp"

#include "arguments.hpp"
#include "arrays.hpp"

#include <stdexcept>
#include <utility>

namespace goblin::python {
namespace {

[[noreturn]] void fail_unknown(const std::string& message, const std::string& kind) {
  if (kind != "user") throw nb::key_error(message.c_str());
  const nb::object type = nb::module_::import_("goblin._types").attr("UnknownUser");
  PyErr_SetObject(type.ptr(), nb::str(message.c_str(), message.size()).ptr());
  throw nb::python_error();
}

bool is_unhashable(nb::handle object) { return Py_TYPE(object.ptr())->tp_hash == PyObject_HashNotImplemented; }

/// "users[3]: 'dan' is not known; nor are the users of 4 more rows"
[[noreturn]] void fail_unknown_row(nb::handle name, std::size_t row, std::size_t more, const std::string& kind) {
  std::string message = kind + "s[" + std::to_string(row) + "]: " + shown(name) + " is not known";
  if (more == 1) message += "; nor is the " + kind + " of 1 more row";
  if (more > 1) message += "; nor are the " + kind + "s of " + std::to_string(more) + " more rows";
  fail_unknown(message, kind);
}

bool is_number(nb::handle name, std::size_t number) {
  if (PyLong_CheckExact(name.ptr()) == 0) return false;
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(name.ptr(), &overflow);
  return overflow == 0 && value >= 0 && static_cast<std::size_t>(value) == number;
}

}  // namespace

void PythonNames::take(nb::list names, nb::dict index) {
  count_ = names.size();
  bool numbers = true;
  for (std::size_t k = 0; numbers && k < count_; ++k) numbers = is_number(names[k], k);
  if (numbers) return;
  index_ = std::move(index);
  names_ = std::move(names);
}

PythonNames::PythonNames(nb::handle iterable, const char* kind) {
  const std::string argument = std::string(kind) + "s";
  nb::list names;
  nb::dict index;
  for (nb::handle given : iterable) {
    const std::size_t row = names.size();
    const nb::object plain = plain_name(given);
    if (!plain.is_valid()) fail_name(given, argument + "[" + std::to_string(row) + "]");
    const nb::object key = key_of(plain);
    if (PyDict_Contains(index.ptr(), key.ptr()) == 1) {
      const nb::object first = names[nb::cast<std::size_t>(index[key])];
      const std::string same =
          first.equal(plain) ? "" : ", the same " + std::string(kind) + " as " + shown(first) + ",";
      throw std::invalid_argument(argument + ": " + shown(plain) + same + " stands twice (must be distinct)");
    }
    index[key] = nb::int_(row);
    names.append(plain);
  }
  take(std::move(names), std::move(index));
}

PythonNames PythonNames::of_texts(const Names& texts, std::size_t count) {
  PythonNames result(count);
  if (texts.empty()) return result;
  nb::dict index;
  nb::list names;
  for (std::size_t k = 0; k < count; ++k) {
    const nb::object name = decoded(texts[k]);
    index[key_of(name)] = nb::int_(k);
    names.append(name);
  }
  result.index_ = std::move(index);
  result.names_ = std::move(names);
  return result;
}

PythonNames PythonNames::of_model(const Names& texts, std::size_t count) {
  if (texts.empty()) return PythonNames(count);
  nb::list slots;
  for (std::size_t k = 0; k < count; ++k) slots.append(texts[k].empty() ? nb::none() : name_from(texts[k]));
  return of_slots(slots);
}

PythonNames PythonNames::of_slots(nb::handle slots) {
  std::size_t nobody = 0;
  nb::list names;
  nb::dict index;
  for (const nb::handle name : slots) {
    if (name.is_none()) {
      ++nobody;
    } else {
      const nb::object key = key_of(name);
      if (!key.is_valid()) fail_name(name, "users[" + std::to_string(names.size()) + "]");
      if (index.contains(key))
        throw std::invalid_argument("users: " + shown(name) + " stands twice (must be distinct)");
      index[key] = nb::int_(names.size());
    }
    names.append(name);
  }
  PythonNames result(std::size_t{0});
  result.take(std::move(names), std::move(index));
  result.removed_ = nobody;
  return result;
}

PythonNames::PythonNames(const PythonNames& other)
    : count_(other.count_), removed_(other.removed_), index_(other.index_), names_(other.names_) {
  shared_ = other.shared_ = true;
}

void PythonNames::stop_sharing() {
  if (!are_numbers() && !shared_) return;
  nb::dict index;
  nb::list names = slots();
  if (are_numbers()) {
    for (std::size_t k = 0; k < count_; ++k) index[names[k]] = names[k];
  } else {
    index.update(nb::borrow<nb::dict>(index_));
  }
  index_ = std::move(index);
  names_ = std::move(names);
  shared_ = false;
}

Py_ssize_t PythonNames::index_or_none(nb::handle name) const {
  const nb::object key = key_of(name);
  if (!key.is_valid()) {
    if (is_unhashable(name)) fail_name(name, "user");
    return none;
  }
  if (are_numbers()) {
    if (PyLong_CheckExact(key.ptr()) == 0) return none;
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(key.ptr(), &overflow);
    const bool there = overflow == 0 && number >= 0 && static_cast<std::size_t>(number) < count_;
    return there ? static_cast<Py_ssize_t>(number) : none;
  }
  const nb::object index = index_;  // it lives on during the lookup, even if another thread adds a user now
  PyObject* found = PyDict_GetItemWithError(index.ptr(), key.ptr());
  if (found != nullptr) return PyLong_AsSsize_t(found);
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  return none;
}

bool PythonNames::same_as(const PythonNames& other) const {
  if (count_ != other.count_) return false;
  if (names_.is(other.names_)) return true;
  for (std::size_t k = 0; k < count_; ++k) {
    if (!same_at(other, k)) return false;
  }
  return true;
}

bool PythonNames::same_at(const PythonNames& other, std::size_t index) const {
  if (!has(index) || !other.has(index)) return has(index) == other.has(index);
  return index_or_none(other.name(index)) == static_cast<Py_ssize_t>(index);
}

NodeId PythonNames::find(nb::handle name, const char* kind) const {
  const Py_ssize_t found = index_or_none(name);
  if (found == none) fail_unknown(std::string(kind) + " " + shown(name) + " is not known", kind);
  return static_cast<NodeId>(found);
}

NodeId PythonNames::find_in(nb::handle name, const std::string& where) const {
  if (is_unhashable(name)) fail_name(name, where);
  const Py_ssize_t found = index_or_none(name);
  if (found == none) fail_unknown(where + ": user " + shown(name) + " is not known", "user");
  return static_cast<NodeId>(found);
}

PythonNames::Found PythonNames::find_numbers(nb::handle array, const char* kind) const {
  const Array<std::int64_t> numbers(array, kind);
  numbers.expect(numbers.dimensions() == 1, "one-dimensional");
  Found found;
  found.indices.reserve(numbers.size(0));
  for (std::size_t row = 0; row < numbers.size(0); ++row) {
    const std::int64_t number = numbers.all()[row];
    const bool there = number >= 0 && static_cast<std::size_t>(number) < count_;
    if (!there) {
      found.unknown.push_back(row);
      found.unknown_names.append(number);
    }
    found.indices.push_back(there ? static_cast<NodeId>(number) : 0);
  }
  return found;
}

PythonNames::Found PythonNames::find_known(nb::handle names, const char* kind) const {
  if (are_numbers() && PyObject_CheckBuffer(names.ptr()) != 0 && nb::hasattr(names, "dtype")) {
    const nb::object type = names.attr("dtype").attr("kind");
    if (nb::str("i").equal(type) || nb::str("u").equal(type)) return find_numbers(names, kind);
  }
  const nb::object list = nb::hasattr(names, "tolist")    ? names.attr("tolist")()
                          : nb::hasattr(names, "to_list") ? names.attr("to_list")()
                                                          : nb::borrow(names);
  if (PyUnicode_Check(list.ptr()) != 0 || PyBytes_Check(list.ptr()) != 0 || !nb::hasattr(list, "__iter__")) {
    throw nb::type_error(
        (std::string(kind) + "s: " + shown(list) + " (must be a list or an array, one a row)").c_str());
  }
  Found found;
  for (nb::handle name : list) {
    const std::size_t row = found.indices.size();
    if (is_unhashable(name)) fail_name(name, std::string(kind) + "s[" + std::to_string(row) + "]");
    const Py_ssize_t index = index_or_none(name);
    if (index == none) {
      found.unknown.push_back(row);
      found.unknown_names.append(name);
    }
    found.indices.push_back(index == none ? 0 : static_cast<NodeId>(index));
  }
  return found;
}

std::vector<NodeId> PythonNames::find_all(nb::handle names, const char* kind) const {
  Found found = find_known(names, kind);
  check_all_known(found, kind);
  return std::move(found.indices);
}

void PythonNames::check_all_known(const Found& found, const char* kind) {
  if (found.unknown.empty()) return;
  fail_unknown_row(found.unknown_names[0], found.unknown.front(), found.unknown.size() - 1, kind);
}

void PythonNames::add(nb::handle plain) {
  if (!are_numbers() || !is_number(plain, count_)) {
    stop_sharing();
    nb::borrow<nb::list>(names_).append(plain);
    nb::borrow<nb::dict>(index_)[key_of(plain)] = nb::int_(count_);
  }
  ++count_;
}

nb::object PythonNames::name(std::size_t index) const {
  if (are_numbers()) return nb::int_(index);
  return nb::borrow<nb::list>(names_)[index];
}

void PythonNames::add_nobody() {
  stop_sharing();
  nb::borrow<nb::list>(names_).append(nb::none());
  ++count_;
  ++removed_;
}

void PythonNames::remove(std::span<const NodeId> indices) {
  if (indices.empty()) return;
  stop_sharing();
  const auto names = nb::borrow<nb::list>(names_);
  const auto index = nb::borrow<nb::dict>(index_);
  for (const NodeId one : indices) {
    const nb::object key = key_of(names[one]);
    if (PyDict_DelItem(index.ptr(), key.ptr()) != 0) throw nb::python_error();
    names[one] = nb::none();
    ++removed_;
  }
}

nb::list PythonNames::list() const {
  if (removed_ == 0) return slots();
  nb::list names;
  for (const nb::handle name : slots()) {
    if (!name.is_none()) names.append(name);
  }
  return names;
}

nb::list PythonNames::slots() const {
  if (!are_numbers()) return nb::list(names_);
  nb::list numbers;
  for (std::size_t k = 0; k < count_; ++k) numbers.append(k);
  return numbers;
}

Names PythonNames::texts() const {
  Names result;
  if (are_numbers()) return result;
  const nb::list names = slots();
  bool numbers = true;
  for (std::size_t k = 0; k < count_; ++k) {
    if (nb::handle(names[k]).is_none()) {
      result.insert_nameless();
      continue;
    }
    numbers = numbers && is_number(key_of(names[k]), k);
    result.insert(text_of(names[k]));
  }
  return numbers ? Names() : result;
}

bool are_many(nb::handle users) {
  if (PyUnicode_CheckExact(users.ptr()) != 0 || PyLong_CheckExact(users.ptr()) != 0) return false;  // the usual ones
  return PyList_Check(users.ptr()) != 0 || is_column(users);
}

nb::tuple numbered_names(nb::handle names, std::size_t per_row, const std::string& argument, nb::handle known) {
  nb::list distinct;
  nb::dict index;
  for (nb::handle name : known) {
    index[key_of(name)] = nb::int_(distinct.size());
    distinct.append(name);
  }
  std::vector<std::int64_t> numbers;
  for (nb::handle given : names) {
    const auto where = [&] { return argument + "[" + std::to_string(numbers.size() / per_row) + "]"; };
    const nb::object key = key_of(given);
    if (!key.is_valid()) fail_name(given, where());
    PyObject* found = PyDict_GetItemWithError(index.ptr(), key.ptr());
    if (found == nullptr && PyErr_Occurred() != nullptr) throw nb::python_error();
    if (found != nullptr) {
      numbers.push_back(PyLong_AsLongLong(found));
      continue;
    }
    const nb::object plain = plain_name(given);
    if (!plain.is_valid()) fail_name(given, where());
    numbers.push_back(static_cast<std::int64_t>(distinct.size()));
    index[key] = nb::int_(distinct.size());
    distinct.append(plain);
  }
  return nb::make_tuple(distinct, array_of(std::move(numbers)));
}

nb::list name_texts(nb::handle names) {
  nb::list texts;
  for (nb::handle name : names) {
    const std::string text = text_of(name);
    texts.append(nb::bytes(text.data(), text.size()));
  }
  return texts;
}

}  // namespace goblin::python
