#include "arguments.hpp"

#include <cmath>
#include <limits>
#include <nanobind/stl/string.h>
#include <stdexcept>
#include <string_view>

namespace goblin::python {
namespace {

constexpr Py_ssize_t longest_shown = 200;

std::string message(nb::handle value, const char* name, const std::string& wanted) {
  return std::string(name) + ": " + shown(value) + " (must be " + wanted + ")";
}

[[noreturn]] void fail_type(nb::handle value, const char* name, const char* wanted) {
  throw nb::type_error(message(value, name, wanted).c_str());
}

/// Whether Python takes it for a number: a list, a text, None or an array with several numbers is none.
bool as_double(nb::handle value, double& number) {
  number = PyFloat_AsDouble(value.ptr());
  if (number != -1.0 || PyErr_Occurred() == nullptr) return true;
  if (PyErr_ExceptionMatches(PyExc_OverflowError) != 0) {  // a whole number that no double can hold
    number = std::numeric_limits<double>::infinity();
    PyErr_Clear();
    return true;
  }
  PyErr_Clear();
  return false;
}

}  // namespace

std::string shown(nb::handle object) {
  nb::object text = nb::steal(PyObject_Repr(object.ptr()));
  if (!text.is_valid()) {  // what it is about is wrong enough: say at least its type
    PyErr_Clear();
    return std::string("an object of type ") + Py_TYPE(object.ptr())->tp_name;
  }
  const Py_ssize_t length = PyUnicode_GetLength(text.ptr());
  if (length > longest_shown) text = nb::steal(PyUnicode_Substring(text.ptr(), 0, longest_shown));
  const nb::object bytes = nb::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "backslashreplace"));
  if (!bytes.is_valid()) throw nb::python_error();
  return std::string(PyBytes_AS_STRING(bytes.ptr())) + (length > longest_shown ? "..." : "");
}

std::string missing_advice(const char* of) {
  return nb::cast<std::string>(nb::module_::import_("goblin._missing").attr("advice")(of));
}

double number_argument(nb::handle value, const char* name) {
  double number = 0.0;
  if (!as_double(value, number)) fail_type(value, name, "a number");
  return number;
}

bool is_bool(nb::handle value) {
  if (PyBool_Check(value.ptr()) != 0) return true;
  const std::string_view type = Py_TYPE(value.ptr())->tp_name;
  return type == "numpy.bool" || type == "numpy.bool_";
}

bool bool_argument(nb::handle value, const char* name) {
  if (!is_bool(value)) fail_type(value, name, "True or False");
  return PyObject_IsTrue(value.ptr()) == 1;
}

std::size_t whole_argument(nb::handle value, const char* name, std::int64_t least) {
  if (is_bool(value)) fail_type(value, name, "a whole number");
  nb::object integer = nb::steal(PyIndex_Check(value.ptr()) != 0 ? PyNumber_Index(value.ptr()) : nullptr);
  if (!integer.is_valid()) {
    PyErr_Clear();
    double number = 0.0;
    if (!as_double(value, number)) fail_type(value, name, "a whole number");
    if (!std::isfinite(number) || number != std::floor(number)) {
      throw std::invalid_argument(message(value, name, "a whole number"));
    }
    integer = nb::steal(PyLong_FromDouble(number));
  }
  int overflow = 0;
  const long long whole = PyLong_AsLongLongAndOverflow(integer.ptr(), &overflow);
  if (overflow > 0) {
    throw std::invalid_argument(
        message(value, name, "at most " + std::to_string(std::numeric_limits<std::int64_t>::max())));
  }
  if (overflow < 0 || whole < least) {
    throw std::invalid_argument(message(value, name, "at least " + std::to_string(least)));
  }
  return static_cast<std::size_t>(whole);
}

std::string text_argument(nb::handle value, const char* name) {
  if (PyUnicode_Check(value.ptr()) == 0) fail_type(value, name, "a text");
  Py_ssize_t size = 0;
  const char* bytes = PyUnicode_AsUTF8AndSize(value.ptr(), &size);
  if (bytes == nullptr) throw nb::python_error();
  return {bytes, static_cast<std::size_t>(size)};
}

}  // namespace goblin::python
