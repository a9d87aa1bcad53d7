#include "bindings.hpp"
#include "goblin/error.hpp"

#include <nanobind/nanobind.h>
#include <system_error>

namespace nb = nanobind;

/// The compiled half of the package; python/goblin/ has the other.
NB_MODULE(_core, module) {
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
  goblin::python::bind_evaluate(module);
  goblin::python::bind_fit(module);
  goblin::python::bind_reproduce(module);
  goblin::python::bind_tune(module);
}
