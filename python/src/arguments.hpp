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

/// A finite or infinite number; TypeError where the value is none. Bounds are checked by the library.
double number_argument(nb::handle value, const char* name);

/// A whole number, which 2.0 is too. TypeError where the value is no number, ValueError where it is not whole or below
/// `least`.
std::size_t whole_argument(nb::handle value, const char* name, std::int64_t least = 0);

/// A text; TypeError where the value is none.
std::string text_argument(nb::handle value, const char* name);

}  // namespace goblin::python
