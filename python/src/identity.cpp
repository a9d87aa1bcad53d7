#include "identity.hpp"

#include "arguments.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace goblin::python {
namespace {

/// Texts are bytes in a model file. Python keeps bytes that are no UTF-8 as lone surrogates ("surrogateescape"), which
/// become those bytes again; other lone surrogates cannot be written.
constexpr const char* on_bad_bytes = "surrogateescape";

nb::object encoded(nb::handle text) { return nb::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", on_bad_bytes)); }

std::string utf8(nb::handle text) {
  const nb::object bytes = encoded(text);
  if (!bytes.is_valid()) throw nb::python_error();
  return {PyBytes_AS_STRING(bytes.ptr()), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.ptr()))};
}

bool has_surrogates(PyObject* text) {
  if (PyUnicode_KIND(text) == PyUnicode_1BYTE_KIND) return false;
  for (Py_ssize_t k = 0; k < PyUnicode_GET_LENGTH(text); ++k) {
    const Py_UCS4 letter = PyUnicode_READ_CHAR(text, k);
    if (letter >= 0xD800 && letter <= 0xDFFF) return true;
  }
  return false;
}

/// Whether the text comes back from a file as it was.
bool can_be_written(nb::handle text) {
  if (!has_surrogates(text.ptr())) return true;
  const nb::object bytes = encoded(text);
  if (!bytes.is_valid()) {
    PyErr_Clear();
    return false;
  }
  return decoded({PyBytes_AS_STRING(bytes.ptr()), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.ptr()))}).equal(text);
}

/// Digits as people write whole numbers: "0", "17", "-3"; not "007", "+1" or "-0".
bool are_decimal_digits(std::string_view text) {
  if (text.starts_with('-')) {
    text.remove_prefix(1);
    if (text == "0") return false;
  }
  if (text.empty() || (text[0] == '0' && text.size() > 1)) return false;
  return std::all_of(text.begin(), text.end(), [](char letter) { return letter >= '0' && letter <= '9'; });
}

/// The key of a name of Python's own type str.
nb::object key_of_text(PyObject* text) {
  if (!PyUnicode_IS_COMPACT_ASCII(text)) return nb::borrow(text);
  const std::string_view letters(static_cast<const char*>(PyUnicode_DATA(text)),
                                 static_cast<std::size_t>(PyUnicode_GET_LENGTH(text)));
  if (!are_decimal_digits(letters)) return nb::borrow(text);
  long long short_number = 0;
  const auto [end, error] = std::from_chars(letters.data(), letters.data() + letters.size(), short_number);
  if (error == std::errc() && end == letters.data() + letters.size()) {
    return nb::steal(PyLong_FromLongLong(short_number));
  }
  PyObject* number = PyLong_FromUnicodeObject(text, 10);
  if (number != nullptr) return nb::steal(number);
  PyErr_Clear();  // thousands of digits, which Python does not read: no whole number has them as its text either
  return nb::borrow(text);
}

nb::object plain_number(double number) {
  if (!std::isfinite(number)) return {};
  constexpr double all_whole_below = 9007199254740992.0;  // 2^53
  if (number == std::floor(number) && std::abs(number) < all_whole_below) return nb::steal(PyLong_FromDouble(number));
  return nb::steal(PyFloat_FromDouble(number));
}

nb::object plain_integer(nb::object number) {
  int overflow = 0;
  PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow == 0) return number;
  const nb::object digits = nb::steal(PyObject_Str(number.ptr()));  // Python refuses to write thousands of digits
  if (digits.is_valid()) return number;
  PyErr_Clear();
  return {};
}

nb::object plain_tuple(nb::handle given) {
  if (Py_EnterRecursiveCall(" in the name of a user") != 0) throw nb::python_error();
  nb::list parts;
  bool all = true;
  for (Py_ssize_t k = 0; all && k < PyTuple_GET_SIZE(given.ptr()); ++k) {
    const nb::object part = plain_name(PyTuple_GET_ITEM(given.ptr(), k));
    all = part.is_valid();
    if (all) parts.append(part);
  }
  Py_LeaveRecursiveCall();
  return all ? nb::object(nb::tuple(parts)) : nb::object();
}

/// NumPy's scalars that are no subclasses of Python's types, float32 for one.
nb::object plain_scalar(nb::handle given) {
  if (!nb::hasattr(given, "dtype") || !nb::hasattr(given, "item")) return {};
  if (!nb::make_tuple().equal(given.attr("shape"))) return {};
  const nb::object item = given.attr("item")();
  return Py_TYPE(item.ptr()) == Py_TYPE(given.ptr()) ? nb::object() : plain_name(item);
}

}  // namespace

nb::object decoded(std::string_view text) {
  const nb::object result =
      nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), on_bad_bytes));
  if (!result.is_valid()) throw nb::python_error();
  return result;
}

nb::object plain_name(nb::handle given) {
  PyObject* object = given.ptr();
  if (PyUnicode_Check(object) != 0) {
    if (PyUnicode_GET_LENGTH(object) == 0) return {};  // no edge file, no event and no C++ bandit could name it
    return can_be_written(given) ? nb::steal(PyUnicode_FromObject(object)) : nb::object();
  }
  if (PyLong_CheckExact(object) != 0) return plain_integer(nb::borrow(object));
  if (PyFloat_Check(object) != 0) return plain_number(PyFloat_AS_DOUBLE(object));
  if (PyBytes_Check(object) != 0) {
    return nb::steal(PyBytes_FromStringAndSize(PyBytes_AS_STRING(object), PyBytes_GET_SIZE(object)));
  }
  if (PyTuple_Check(object) != 0) return plain_tuple(given);
  if (is_bool(given)) return {};
  if (PyIndex_Check(object) != 0) {
    nb::object number = nb::steal(PyNumber_Index(object));
    if (number.is_valid()) return plain_integer(std::move(number));
    PyErr_Clear();
  }
  return plain_scalar(given);
}

nb::object key_of(nb::handle given) {
  PyObject* object = given.ptr();
  if (PyLong_CheckExact(object) != 0) return nb::borrow(object);
  if (PyUnicode_CheckExact(object) != 0) return key_of_text(object);
  const nb::object plain = plain_name(given);
  if (!plain.is_valid() || PyUnicode_CheckExact(plain.ptr()) == 0) return plain;
  return key_of_text(plain.ptr());
}

void fail_name(nb::handle given, const std::string& where) {
  const std::string value = where + ": " + shown(given) + " (must be ";
  if (PyUnicode_Check(given.ptr()) != 0) {
    if (PyUnicode_GET_LENGTH(given.ptr()) == 0) throw std::invalid_argument(value + "a text with at least 1 letter)");
    throw std::invalid_argument(value + "a text that UTF-8 can hold; this one has lone surrogates)");
  }
  const bool missing = given.is_none() || PyFloat_Check(given.ptr()) != 0 || PyLong_Check(given.ptr()) != 0;
  const std::string reason = value + "a text, a number, bytes or a tuple of these";
  if (is_bool(given)) throw nb::type_error((reason + "; True and False are none)").c_str());
  if (missing) throw std::invalid_argument(reason + ", and not missing)");
  throw nb::type_error((reason + "; str() makes a text of most things)").c_str());
}

nb::object checked_name(nb::handle given, const std::string& where) {
  nb::object plain = plain_name(given);
  if (!plain.is_valid()) fail_name(given, where);
  return plain;
}

std::string text_of(nb::handle plain) {
  const nb::object key = key_of(plain);
  if (PyUnicode_Check(key.ptr()) != 0 && PyUnicode_GET_LENGTH(key.ptr()) > 0) {
    std::string text = utf8(key);
    if (text[0] != '=' || name_from(text).equal(key)) return text;
  }
  return PyLong_Check(key.ptr()) != 0 ? utf8(nb::str(key)) : "=" + utf8(nb::repr(key));
}

nb::object name_from(std::string_view text) {
  const nb::object whole = decoded(text);
  if (text.empty() || text[0] != '=') return key_of(whole);
  try {
    const nb::object literal = nb::module_::import_("ast").attr("literal_eval")(decoded(text.substr(1)));
    const nb::object plain = plain_name(literal);
    if (plain.is_valid()) return plain;
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_Exception)) throw;
  }
  return whole;  // written by the command line or C++, where an equals sign means nothing
}

}  // namespace goblin::python
