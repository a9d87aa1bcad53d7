#pragma once

#include <cstddef>
#include <cstdint>
#include <nanobind/nanobind.h>
#include <string>

/// Plain numbers and texts among the arguments of a call. nanobind could convert them too, but what it says of a wrong
/// one is a list of C++ signatures; these say the argument's name, its value and what it must be.
namespace goblin::python {

namespace nb = nanobind;

/// The object as Python shows it, cut off where it is long: for messages.
std::string shown(nb::handle object);

/// What to do about a missing number, "number" or "reward": goes after "nan (must be finite)".
std::string missing_advice(const char* of);

/// A finite or infinite number; TypeError where the value is none. Bounds are checked by the library.
double number_argument(nb::handle value, const char* name);

/// Whether it is True or False, of Python or of NumPy. Both count as the numbers 1 and 0 there; as a user or as a
/// number of things they are a mistake.
bool is_bool(nb::handle value);

/// True or False; TypeError where the value is something else.
bool bool_argument(nb::handle value, const char* name);

/// A whole number, which 2.0 is too and True is not. TypeError where the value is no number, ValueError where it is not
/// whole or below `least`.
std::size_t whole_argument(nb::handle value, const char* name, std::int64_t least = 0);

/// A text; TypeError where the value is none.
std::string text_argument(nb::handle value, const char* name);

}  // namespace goblin::python
