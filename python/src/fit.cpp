#include "fit.hpp"

#include "bindings.hpp"
#include "goblin/data/own_files.hpp"
#include "interruptibly.hpp"

#include <atomic>
#include <cstddef>
#include <memory>
#include <nanobind/stl/string.h>
#include <string>

/// `goblin fit` from Python: the same logs, the same belief.
namespace goblin::python {
namespace {

/// A model file with what part `shard` of `shards` of a log taught the bandit of another one, both as bytes. Where
/// items are in the log, `items` is the file that says what they are.
nb::bytes fit_log(const nb::bytes& model, const std::string& log, const std::string& items, std::size_t shard,
                  std::size_t shards, std::size_t batch, std::size_t threads) {
  const std::string bytes = interruptibly<std::string>([&](const std::atomic<bool>& stop) {
    Bandit bandit = Bandit::from_bytes({model.c_str(), model.size()});
    bandit.set_threads(threads);
    const auto known = items.empty() ? nullptr : std::make_shared<const data::Items>(data::read_items(items));
    app::FitSummary summary;
    app::fit(bandit, app::format_of(app::open_bytes(log), bandit.options().dimension, log, known), log,
             {.batch = batch,
              .threads = threads,
              .shard = {.index = shard, .count = shards},
              .keep_going = [&stop] { return !stop; }},
             summary);
    return stop ? std::string() : bandit.to_bytes();
  });
  return nb::bytes(bytes.data(), bytes.size());
}

}  // namespace

void bind_fit(nb::module_& module) {
  module.def("fit_log", &fit_log, nb::arg("model"), nb::arg("log"), nb::arg("items"), nb::arg("shard"),
             nb::arg("shards"), nb::arg("batch"), nb::arg("threads"),
             nb::sig("def fit_log(model: bytes, log: str, items: str, shard: int, shards: int, batch: int, "
                     "threads: int) -> bytes"));
}

}  // namespace goblin::python
