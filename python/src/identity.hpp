#pragma once

#include <nanobind/nanobind.h>
#include <string>
#include <string_view>

/// Who is who. A user (or an item) is known by a text, a number, bytes, or a tuple of these: values that a model file
/// can keep and that C++ and the command line can name too. One rule holds everywhere in goblin: a whole number and its
/// decimal digits are the same user, so 10, "10", numpy.int64(10) and 10.0 are one.
///
/// All functions want the GIL.
namespace goblin::python {

namespace nb = nanobind;

/// The name as an object of Python's own types: NumPy's texts and numbers become Python's, whole numbers ints. An
/// invalid object where the given one can be no name: None, NaN, True, an empty text, a list, an object of
/// some other class.
nb::object plain_name(nb::handle given);

/// What the name is found by in a dict: the number where the name is a whole number or its digits, else the plain name.
/// Invalid where plain_name is. Only objects of Python's own types come out: to hash and to compare them runs no code
/// of anybody else.
nb::object key_of(nb::handle given);

/// plain_name, or the error that says why it is none: "users[3]: None (must be a text, ...)". A wrong type is a
/// TypeError, a missing value a ValueError.
nb::object checked_name(nb::handle given, const std::string& where);
[[noreturn]] void fail_name(nb::handle given, const std::string& where);

/// A plain name in a model file: whole numbers by their digits, texts as they are, everything else as Python writes it,
/// after an equals sign. In UTF-8.
std::string text_of(nb::handle plain);
/// The name that such a text stands for.
nb::object name_from(std::string_view text);

/// A text of C++ as Python's.
nb::object decoded(std::string_view text);

}  // namespace goblin::python
