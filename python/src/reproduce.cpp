#include "reproduce.hpp"

#include "bindings.hpp"
#include "goblin/experiment/cell_runner.hpp"
#include "interruptibly.hpp"
#include "signals.hpp"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <memory>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

/// `goblin reproduce` from Python: the same options, the same simulations, the same report.
namespace goblin::python {
namespace {

/// The options as the command line reads them.
class Request {
 public:
  explicit Request(std::vector<std::string> arguments) : request_(app::add_reproduce_options(command_)) {
    std::reverse(arguments.begin(), arguments.end());  // CLI11 takes the last one first
    try {
      command_.parse(arguments);
    } catch (const CLI::ParseError& error) {
      throw std::invalid_argument(without_dashes(error.what()));
    }
  }
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  [[nodiscard]] app::ReproduceRequest& get() { return *request_; }

  /// "--seeds: ..." is "seeds: ..." in Python.
  [[nodiscard]] static std::string without_dashes(const std::string& message) {
    return message.starts_with("--") ? message.substr(2) : message;
  }

 private:
  CLI::App command_;
  std::shared_ptr<app::ReproduceRequest> request_;  ///< refers to the options of the command
};

/// The exit code of the command as an exception. It has said what was kept.
[[noreturn]] void raise_exit(const CLI::RuntimeError& error) {
  if (error.get_exit_code() == app::exit_code_of(SIGINT)) {
    PyErr_SetNone(PyExc_KeyboardInterrupt);
  } else {
    PyErr_SetObject(PyExc_SystemExit, nb::int_(error.get_exit_code()).ptr());
  }
  throw nb::python_error();
}

/// Runs what is missing, writes the report, and gives what --json prints. With `elsewhere`, cells are run by it:
/// elsewhere(cells, done) gets them as bytes and calls done(k, outcome) with the bytes that came back.
std::string reproduce(const std::vector<std::string>& arguments, const nb::object& elsewhere) {
  Request parsed(arguments);
  app::ReproduceRequest& request = parsed.get();
  std::string found;
  request.json = true;
  request.take_json = [&found](const std::string& text) { found = text; };
  if (!elsewhere.is_none()) {
    request.elsewhere = [&elsewhere](std::span<const experiment::Cell> cells,
                                     const experiment::RunOptions::Done& done) {
      const nb::gil_scoped_acquire acquired;
      nb::list sent;
      for (const experiment::Cell& cell : cells) {
        const std::string bytes = packed(cell);
        sent.append(nb::bytes(bytes.data(), bytes.size()));
      }
      elsewhere(sent, nb::cpp_function([&cells, &done](std::size_t k, const nb::bytes& outcome) {
                  if (k >= cells.size()) throw std::out_of_range("done: no such cell");
                  done(k, experiment::unpacked_outcome({outcome.c_str(), outcome.size()}, cells[k]));
                }));
      return true;
    };
  }
  try {
    const nb::gil_scoped_release released;
    app::reproduce(request);
  } catch (const CLI::RuntimeError& error) {
    raise_exit(error);
  } catch (const CLI::ParseError& error) {
    throw std::invalid_argument(Request::without_dashes(error.what()));
  }
  return found;
}

/// What runs cells in another process: it reads the data once.
struct PythonCellRunner {
  explicit PythonCellRunner(const std::vector<std::string>& arguments) : runner({}) {
    Request request(arguments);
    const nb::gil_scoped_release released;
    try {
      runner = experiment::CellRunner(app::conditions_of(request.get()));
    } catch (const CLI::ParseError& error) {
      throw std::invalid_argument(Request::without_dashes(error.what()));
    }
  }

  experiment::CellRunner runner;
};

nb::bytes run_cell(const PythonCellRunner& self, const nb::bytes& cell) {
  const std::string bytes(cell.c_str(), cell.size());
  const auto outcome = interruptibly<std::optional<std::string>>([&](const std::atomic<bool>& stop) {
    return self.runner.run(bytes, {.clock = app::processor_seconds, .keep_going = [&stop] { return !stop; }});
  });
  return nb::bytes(outcome.value().data(), outcome.value().size());
}

}  // namespace

void bind_reproduce(nb::module_& module) {
  module.def("reproduce", &reproduce, nb::arg("arguments"), nb::arg("elsewhere").none(),
             nb::sig("def reproduce(arguments: list[str], elsewhere: collections.abc.Callable[[list[bytes], "
                     "collections.abc.Callable[[int, bytes], None]], None] | None) -> str"));
  nb::class_<PythonCellRunner>(module, "CellRunner", "Runs simulations of goblin.reproduce, which come as bytes.")
      .def(nb::init<const std::vector<std::string>&>(), nb::arg("arguments"),
           nb::sig("def __init__(self, arguments: list[str]) -> None"))
      .def("run", &run_cell, nb::arg("cell"), nb::sig("def run(self, cell: bytes) -> bytes"),
           "What the simulation found, as bytes.");
}

}  // namespace goblin::python
