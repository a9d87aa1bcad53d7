#include "names.hpp"

#include "arrays.hpp"

#include <stdexcept>
#include <string>

namespace goblin::python {
namespace {

std::string shown(nb::handle name) { return nb::repr(name).c_str(); }

std::vector<NodeId> checked_numbers(const Array<std::int64_t>& numbers, std::size_t count) {
  numbers.expect(numbers.dimensions() == 1, "one-dimensional");
  std::vector<NodeId> result;
  result.reserve(numbers.size(0));
  for (const std::int64_t number : numbers.all()) {
    if (number < 0 || static_cast<std::size_t>(number) >= count) {
      throw nb::key_error((std::string(numbers.name()) + " " + std::to_string(number) + " is not known").c_str());
    }
    result.push_back(static_cast<NodeId>(number));
  }
  return result;
}

}  // namespace

PythonNames::PythonNames(nb::handle iterable, const char* kind) {
  nb::list names(iterable);
  nb::dict index;
  bool numbers = true;
  for (nb::handle name : names) {
    numbers = numbers && PyLong_CheckExact(name.ptr()) != 0 && PyLong_AsSize_t(name.ptr()) == count_;
    PyErr_Clear();  // of a number that does not fit
    if (PyDict_Contains(index.ptr(), name.ptr()) == 1) {
      throw std::invalid_argument(std::string(kind) + "s: " + shown(name) + " stands twice (must be distinct)");
    }
    index[name] = nb::int_(count_++);
  }
  if (numbers) return;
  index_ = std::move(index);
  names_ = std::move(names);
}

PythonNames::PythonNames(const Names& names, std::size_t count) : count_(count) {
  if (names.empty()) return;
  nb::dict index;
  nb::list list;
  for (std::size_t k = 0; k < count; ++k) {
    const std::string_view text = names[k];
    const nb::object name =
        nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape"));
    index[name] = nb::int_(k);
    list.append(name);
  }
  index_ = std::move(index);
  names_ = std::move(list);
}

PythonNames::PythonNames(const PythonNames& other) : count_(other.count_), index_(other.index_), names_(other.names_) {
  if (other.own_) make_own();
}

void PythonNames::make_own() {
  nb::dict index;
  nb::list names = list();
  if (index_.is_valid()) {
    index.update(nb::borrow<nb::dict>(index_));
  } else {
    for (std::size_t k = 0; k < count_; ++k) index[names[k]] = names[k];
  }
  index_ = std::move(index);
  names_ = std::move(names);
  own_ = true;
}

Py_ssize_t PythonNames::find_or(nb::handle name, Py_ssize_t otherwise) const {
  if (are_numbers()) {
    if (PyIndex_Check(name.ptr()) == 0) return otherwise;
    const Py_ssize_t number = PyNumber_AsSsize_t(name.ptr(), nullptr);  // one that does not fit is a large one
    if (number == -1 && PyErr_Occurred() != nullptr) PyErr_Clear();
    return number >= 0 && static_cast<std::size_t>(number) < count_ ? number : otherwise;
  }
  PyObject* found = PyDict_GetItemWithError(index_.ptr(), name.ptr());
  if (found != nullptr) return PyLong_AsSsize_t(found);
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  return otherwise;
}

NodeId PythonNames::find(nb::handle name, const char* kind) const {
  const Py_ssize_t found = find_or(name, -1);
  if (found >= 0) return static_cast<NodeId>(found);
  throw nb::key_error((std::string(kind) + " " + shown(name) + " is not known").c_str());
}

std::vector<NodeId> PythonNames::find_all(nb::handle names, const char* kind) const {
  if (are_numbers() && PyObject_CheckBuffer(names.ptr()) != 0 && nb::hasattr(names, "dtype")) {
    const nb::object type = names.attr("dtype").attr("kind");
    if (nb::str("i").equal(type) || nb::str("u").equal(type))
      return checked_numbers(Array<std::int64_t>(names, kind), count_);
  }
  const nb::object list = nb::hasattr(names, "tolist")    ? names.attr("tolist")()
                          : nb::hasattr(names, "to_list") ? names.attr("to_list")()
                                                          : nb::borrow(names);
  if (PyUnicode_Check(list.ptr()) != 0 || nb::hasattr(list, "__iter__") == false) {
    throw std::invalid_argument(std::string(kind) + "s: " + shown(list) + " (must be a list or an array, one a row)");
  }
  std::vector<NodeId> found;
  for (nb::handle name : list) found.push_back(find(name, kind));
  return found;
}

void PythonNames::add(nb::handle name) {
  const bool next = are_numbers() && PyLong_CheckExact(name.ptr()) != 0 && find_or(name, -1) < 0 &&
                    PyLong_AsSsize_t(name.ptr()) == static_cast<Py_ssize_t>(count_);
  PyErr_Clear();
  if (!next) {
    if (!own_) make_own();
    nb::borrow<nb::dict>(index_)[name] = nb::int_(count_);
    nb::borrow<nb::list>(names_).append(name);
  }
  ++count_;
}

nb::object PythonNames::name(std::size_t index) const {
  if (are_numbers()) return nb::int_(index);
  return nb::borrow<nb::list>(names_)[index];
}

nb::list PythonNames::list() const {
  if (!are_numbers()) return nb::list(names_);
  nb::list numbers;
  for (std::size_t k = 0; k < count_; ++k) numbers.append(k);
  return numbers;
}

int PythonNames::traverse(visitproc visit, void* arg) const {
  Py_VISIT(index_.ptr());
  Py_VISIT(names_.ptr());
  return 0;
}

void PythonNames::clear() {
  index_.reset();
  names_.reset();
}

}  // namespace goblin::python
