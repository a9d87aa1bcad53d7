#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace goblin::python {

namespace nb = nanobind;

/// Whether it is an array of one axis, or a column of a frame.
inline bool is_column(nb::handle object) {
  if (!nb::hasattr(object, "dtype") || !nb::hasattr(object, "shape")) return false;
  const nb::object shape = object.attr("shape");
  return nb::len(nb::handle(shape)) == 1;
}

/// An array that a caller passed. One of the right type in C order is looked at where it lies; whatever else NumPy can
/// make an array of is copied into that form. Throws ValueError, with the name, if it cannot.
template <typename Number>
class Array {
  static_assert(std::is_same_v<Number, double> || std::is_same_v<Number, std::int64_t> || std::is_same_v<Number, bool>);

 public:
  Array(nb::handle object, const char* name) : name_(name) {
    if (take(object)) return;
    const nb::object converted = convert(object);
    if (!take(converted)) throw nb::python_error();
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() { PyBuffer_Release(&view_); }

  [[nodiscard]] const char* name() const { return name_; }
  [[nodiscard]] std::size_t dimensions() const { return static_cast<std::size_t>(view_.ndim); }
  [[nodiscard]] std::size_t size(std::size_t axis) const { return static_cast<std::size_t>(view_.shape[axis]); }
  [[nodiscard]] std::span<const Number> all() const {
    return {static_cast<const Number*>(view_.buf), static_cast<std::size_t>(view_.len) / sizeof(Number)};
  }
  /// "X: shape (3, 4)"
  [[nodiscard]] std::string described() const {
    std::string text = std::string(name_) + ": shape (";
    for (std::size_t axis = 0; axis < dimensions(); ++axis) {
      text += (axis == 0 ? "" : ", ") + std::to_string(size(axis));
    }
    return text + (dimensions() == 1 ? ",)" : ")");
  }
  /// Throws ValueError with name, shape and what the shape must be.
  [[noreturn]] void fail_shape(const std::string& wanted) const {
    throw std::invalid_argument(described() + " (must be " + wanted + ")");
  }
  void expect(bool good, const std::string& wanted) const {
    if (!good) fail_shape(wanted);
  }

 private:
  static bool is_format(const char* format) {
    if (format == nullptr || format[0] == '\0' || format[1] != '\0') return false;
    if constexpr (std::is_same_v<Number, double>) return format[0] == 'd';
    if constexpr (std::is_same_v<Number, bool>) return format[0] == '?';
    return format[0] == 'l' || format[0] == 'q';
  }

  bool take(nb::handle object) {
    if (PyObject_CheckBuffer(object.ptr()) == 0) return false;
    if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0) {
      PyErr_Clear();
      view_ = {};
      return false;
    }
    if (is_format(view_.format) && view_.itemsize == sizeof(Number)) return true;
    PyBuffer_Release(&view_);
    view_ = {};
    return false;
  }

  [[nodiscard]] nb::object convert(nb::handle object) const {
    const nb::module_ numpy = nb::module_::import_("numpy");
    try {
      const nb::object array = numpy.attr("asarray")(object);
      const nb::object type = array.attr("dtype");
      const std::string kind = nb::str(nb::object(type.attr("kind"))).c_str();
      const char* allowed = std::is_same_v<Number, double> ? "biufO" : std::is_same_v<Number, bool> ? "b" : "iu";
      if (std::string(allowed).find(kind) == std::string::npos) {
        throw std::invalid_argument(std::string(name_) + ": an array of " + nb::str(type).c_str() + " (must be of " +
                                    wanted() + ")");
      }
      return numpy.attr("ascontiguousarray")(array, nb::arg("dtype") = dtype());
    } catch (nb::python_error& error) {
      if (!error.matches(PyExc_ValueError) && !error.matches(PyExc_TypeError)) throw;
      const nb::object missing = nb::module_::import_("goblin._missing").attr("first_missing")(object, name_);
      if (!missing.is_none()) throw std::invalid_argument(nb::str(missing).c_str());
      throw std::invalid_argument(std::string(name_) + ": cannot be read as an array of " + wanted() + ": " +
                                  nb::str(nb::handle(error.value())).c_str());
    }
  }
  static const char* dtype() {
    return std::is_same_v<Number, double> ? "float64" : std::is_same_v<Number, bool> ? "bool" : "int64";
  }
  static const char* wanted() {
    return std::is_same_v<Number, double> ? "numbers" : std::is_same_v<Number, bool> ? "booleans" : "whole numbers";
  }

  const char* name_;
  Py_buffer view_{};
};

/// Arrays for many users: one whose first axis has a row for each, or a list with an array for each, whose shapes may
/// differ. An error names the row: "X[3]: shape (2, 4)".
template <typename Number>
class ArrayOfRows {
 public:
  ArrayOfRows(nb::handle object, const char* name) : name_(name) {
    const nb::object list = list_of(object);
    if (!list.is_valid()) {
      whole_.emplace(object, name);
      return;
    }
    for (const nb::handle row : list) {
      names_.push_back(std::string(name) + "[" + std::to_string(rows_.size()) + "]");
      rows_.emplace_back(row, names_.back().c_str());
    }
  }

  [[nodiscard]] bool is_list() const { return !whole_; }
  [[nodiscard]] const Array<Number>& whole() const { return *whole_; }
  [[nodiscard]] const Array<Number>& row(std::size_t k) const { return rows_[k]; }
  /// 0 where the array has no axes.
  [[nodiscard]] std::size_t count() const {
    if (is_list()) return rows_.size();
    return whole_->dimensions() == 0 ? 0 : whole_->size(0);
  }
  [[nodiscard]] std::span<const Number> numbers(std::size_t k) const {
    if (is_list()) return rows_[k].all();
    const std::size_t each = whole_->all().size() / whole_->size(0);
    return whole_->all().subspan(k * each, each);
  }
  /// "X: shape (2, 5, 4)", or "X: a list of 3"
  [[nodiscard]] std::string described() const {
    return is_list() ? std::string(name_) + ": a list of " + std::to_string(count()) : whole_->described();
  }

 private:
  /// The rows of a list, a tuple, or a column of arrays; invalid for an array of numbers.
  static nb::object list_of(nb::handle object) {
    if (PyList_Check(object.ptr()) != 0 || PyTuple_Check(object.ptr()) != 0) return nb::borrow(object);
    if (!is_column(object)) return {};
    return nb::hasattr(object, "to_list") ? object.attr("to_list")() : object.attr("tolist")();
  }

  const char* name_;
  std::optional<Array<Number>> whole_;
  std::deque<std::string> names_;  // the arrays look at them
  std::deque<Array<Number>> rows_;
};

/// A NumPy array that takes over the numbers.
template <typename Number>
nb::object array_of(std::vector<Number> numbers, std::vector<std::size_t> shape = {}) {
  auto* kept = new std::vector<Number>(std::move(numbers));
  const nb::capsule owner(kept, [](void* pointer) noexcept { delete static_cast<std::vector<Number>*>(pointer); });
  if (shape.empty()) shape = {kept->size()};
  return nb::cast(nb::ndarray<nb::numpy, Number>(kept->data(), shape.size(), shape.data(), owner));
}

/// The same of things that have something for each row.
template <typename Number, typename Rows, typename Value>
nb::object column_of(const Rows& rows, Value value) {
  std::vector<Number> numbers;
  numbers.reserve(rows.size());
  for (const auto& row : rows) numbers.push_back(static_cast<Number>(value(row)));
  return array_of(std::move(numbers));
}

}  // namespace goblin::python
