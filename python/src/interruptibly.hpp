#pragma once

#include <atomic>
#include <chrono>
#include <future>
#include <nanobind/nanobind.h>
#include <optional>
#include <utility>

namespace goblin::python {

namespace nb = nanobind;

/// Does long work on a thread of its own while this one looks out for signals: a keyboard interrupt sets the flag that
/// the work looks at, and is raised when it has stopped.
template <typename Result, typename Work>
Result interruptibly(Work work) {
  std::atomic<bool> stop = false;
  bool raised = false;
  std::optional<Result> result;
  {
    const nb::gil_scoped_release released;
    auto done = std::async(std::launch::async, [&] { return work(stop); });
    while (!raised && done.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready) {
      const nb::gil_scoped_acquire acquired;
      raised = PyErr_CheckSignals() != 0;
      stop = raised;
    }
    result.emplace(done.get());
  }
  if (raised) throw nb::python_error();
  return *std::move(result);
}

}  // namespace goblin::python
