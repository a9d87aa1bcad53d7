#include "bindings.hpp"
#include "goblin/error.hpp"

#include <nanobind/nanobind.h>
#include <system_error>

namespace nb = nanobind;

namespace {

/// An instruction set that the code was compiled for and the processor does not have; none if all is well. Itself
/// compiled for any processor.
#if defined(__x86_64__)
__attribute__((target("arch=x86-64")))
#endif
const char*
missing_instructions() {
#if defined(__x86_64__)
  __builtin_cpu_init();
#if defined(__AVX2__)
  if (!__builtin_cpu_supports("avx2")) return "AVX2";
#endif
#if defined(__FMA__)
  if (!__builtin_cpu_supports("fma")) return "FMA";
#endif
#if defined(__AVX512F__)
  if (!__builtin_cpu_supports("avx512f")) return "AVX-512";
#endif
#endif
  return nullptr;
}

}  // namespace

/// The compiled half of the package; python/goblin/ has the other.
NB_MODULE(_core, module) {
  if (const char* missing = missing_instructions()) {
    PyErr_Format(PyExc_ImportError,
                 "goblin was compiled for processors with %s, which this one does not have: compile it here, with pip "
                 "install . --config-settings=cmake.define.GOBLIN_NATIVE=ON in its sources",
                 missing);
    throw nb::python_error();
  }
  module.doc() = "The compiled half of goblin; use the package goblin.";
  nb::exception<goblin::DataError>(module, "DataError", PyExc_ValueError);
  nb::register_exception_translator([](const std::exception_ptr& error, void*) {
    try {
      std::rethrow_exception(error);
    } catch (const goblin::UnknownUser& unknown) {
      PyErr_SetString(nb::module_::import_("goblin._types").attr("UnknownUser").ptr(), unknown.what());
    } catch (const goblin::CapacityError& capacity) {
      PyErr_SetString(PyExc_MemoryError, capacity.what());
    } catch (const std::system_error& system) {
      PyErr_SetObject(PyExc_OSError, nb::make_tuple(system.code().value(), system.what()).ptr());
    }
  });
  goblin::python::bind_graph(module);
  goblin::python::bind_bandit(module);
  goblin::python::bind_worlds(module);
  goblin::python::bind_experiment(module);
}
