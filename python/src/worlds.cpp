#include "arguments.hpp"
#include "arrays.hpp"
#include "bindings.hpp"
#include "goblin/data/hetrec.hpp"
#include "goblin/data/own_files.hpp"
#include "goblin/data/reading.hpp"
#include "goblin/world/catalogue.hpp"
#include "goblin/world/cliques.hpp"
#include "goblin/world/linear.hpp"

#include <cmath>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace goblin::python {
namespace {

PythonWorld wrapped(std::shared_ptr<const world::World> world, const PythonNames& users) {
  return {std::move(world), users, PythonNames(std::size_t{0})};
}

PythonWorld cliques(nb::handle cliques, nb::handle size, nb::handle dimension, nb::handle arms, nb::handle graph_noise,
                    nb::handle payoff_noise, nb::handle drift_after, nb::handle seed, nb::handle repetition) {
  std::optional<std::uint64_t> change;
  if (!drift_after.is_none()) change = whole_argument(drift_after, "drift_after", 1);
  auto made = std::make_shared<world::Cliques>(
      world::CliquesOptions{.cliques = whole_argument(cliques, "cliques", 1),
                            .size = whole_argument(size, "size", 1),
                            .dimension = whole_argument(dimension, "dimension", 1),
                            .arms = whole_argument(arms, "arms", 1),
                            .graph_noise = number_argument(graph_noise, "graph_noise"),
                            .payoff_noise = number_argument(payoff_noise, "payoff_noise"),
                            .drift_after = change,
                            .seed = whole_argument(seed, "seed"),
                            .repetition = whole_argument(repetition, "repetition")});
  const std::size_t users = made->graph().node_count();
  return wrapped(std::move(made), PythonNames(users));
}

PythonWorld linear(const PythonGraph& graph, nb::handle user_vectors, nb::handle dimension, nb::handle arms,
                   nb::handle payoff_noise, nb::handle smoothing, nb::handle seed, nb::handle repetition) {
  const world::LinearOptions options{.dimension = whole_argument(dimension, "dimension", 1),
                                     .arms = whole_argument(arms, "arms", 1),
                                     .payoff_noise = number_argument(payoff_noise, "payoff_noise"),
                                     .smoothing = number_argument(smoothing, "smoothing"),
                                     .seed = whole_argument(seed, "seed"),
                                     .repetition = whole_argument(repetition, "repetition")};
  if (user_vectors.is_none()) return wrapped(std::make_shared<world::Linear>(graph.graph, options), graph.users);
  const Array<double> vectors(user_vectors, "user_vectors");
  vectors.expect(
      vectors.dimensions() == 2 && vectors.size(0) == graph.users.size() && vectors.size(1) == options.dimension,
      "(" + std::to_string(graph.users.size()) + ", " + std::to_string(options.dimension) + ")");
  const auto all = vectors.all();
  return wrapped(std::make_shared<world::Linear>(graph.graph, std::vector<double>(all.begin(), all.end()), options),
                 graph.users);
}

PythonWorld catalogue(const PythonDataset& data, nb::handle arms, nb::handle seed, nb::handle repetition) {
  auto made = std::make_shared<world::Catalogue>(
      data.data, world::CatalogueOptions{.arms = whole_argument(arms, "arms", 1),
                                         .seed = whole_argument(seed, "seed"),
                                         .repetition = whole_argument(repetition, "repetition")});
  return {std::move(made), data.users, data.items};
}

nb::object round_of(const PythonWorld& self, nb::handle t) {
  const std::size_t number = whole_argument(t, "t");
  world::Round round;
  {
    const nb::gil_scoped_release released;
    self.world->round(number, round);
  }
  const std::size_t arms = round.payoffs.size();
  nb::object items = nb::none();
  if (!round.items.empty()) {
    nb::list chosen;
    for (const NodeId item : round.items) chosen.append(self.items.name(item));
    items = chosen;
  }
  nb::object expected = nb::none();
  if (!round.expected.empty()) expected = array_of(std::move(round.expected));
  return nb::module_::import_("goblin._types")
      .attr("Round")(self.users.name(round.user), array_of(std::move(round.contexts), {arms, self.world->dimension()}),
                     array_of(std::move(round.payoffs)), expected, items);
}

PythonDataset wrapped(data::Dataset data) {
  const PythonNames users = PythonNames::of_texts(data.graph.names(), data.graph.node_count());
  const PythonNames items = PythonNames::of_texts(data.items, data.items.size());
  return {std::make_shared<const data::Dataset>(std::move(data)), users, items};
}

/// What is not given, or None, is as in the reading.
data::ContextOptions context_options(const nb::dict& given) {
  data::ContextOptions options;
  std::vector<std::string> listed;
  const auto is_given = [&](const char* name) {
    if (!given.contains(name) || given[name].is_none()) return false;
    listed.emplace_back(name);
    return true;
  };
  const auto flag = [&](const char* name, bool& value) {
    if (is_given(name)) value = bool_argument(nb::object(given[name]), name);
  };
  flag("split_tags", options.split_tags);
  flag("lower_case", options.lower_case);
  flag("keep_untagged", options.keep_untagged);
  flag("inverse_document_frequency", options.inverse_document_frequency);
  flag("smooth_idf", options.smooth_idf);
  flag("centre", options.centre);
  flag("count_untagged", options.count_untagged);
  flag("zero_untagged", options.zero_untagged);
  flag("unit_contexts", options.unit_contexts);
  if (is_given("term_frequency")) {
    options.term_frequency =
        data::term_frequency_named(text_argument(nb::object(given["term_frequency"]), "term_frequency"));
  }
  if (is_given("minimum_count")) {
    options.minimum_count = whole_argument(nb::object(given["minimum_count"]), "minimum_count");
  }
  if (is_given("dimension")) options.dimension = whole_argument(nb::object(given["dimension"]), "dimension", 1);
  if (is_given("mean_length")) {
    options.mean_length = number_argument(nb::object(given["mean_length"]), "mean_length");
  }
  const std::string reading =
      given["reading"].is_none()
          ? ""
          : std::string(data::reading_named(text_argument(nb::object(given["reading"]), "reading")).name);
  return data::choose_contexts(reading, options, listed);
}

data::OwnFilesOptions own_files_options(const nb::dict& given) {
  data::OwnFilesOptions options{.items = data::ItemFields::automatic, .contexts = context_options(given)};
  options.edges.drop_self_loops = bool_argument(nb::object(given["drop_self_loops"]), "drop_self_loops");
  options.repeated_payoffs =
      data::repeated_payoffs_named(text_argument(nb::object(given["repeated_payoffs"]), "repeated_payoffs"));
  return options;
}

PythonDataset read_own_files(const std::string& folder, const nb::dict& options) {
  data::OwnFilesOptions own = own_files_options(options);
  std::vector<std::string> warnings;
  own.edges.warn = [&warnings](const std::string& sentence) { warnings.push_back(sentence); };
  data::Dataset data = without_gil([&] { return data::read_own_files(folder, own); });
  for (const std::string& sentence : warnings) nb::module_::import_("goblin._graph").attr("warn")(decoded(sentence));
  return wrapped(std::move(data));
}

PythonDataset read(const std::string& kind, const std::string& folder, const nb::dict& options,
                   const std::string& cache) {
  if (kind == "files") return read_own_files(folder, options);
  const data::ContextOptions contexts = context_options(options);
  std::optional<data::Dataset> data;
  {
    const nb::gil_scoped_release released;
    const data::ReadOptions read_options{.contexts = contexts, .cache = cache};
    data = kind == "lastfm" ? data::read_lastfm(folder, read_options) : data::read_delicious(folder, read_options);
  }
  return wrapped(*std::move(data));
}

/// The payoffs' users and items are indices here, which Python has checked.
void make_dataset(PythonDataset* self, const PythonGraph& graph, nb::handle items, nb::handle contexts,
                  nb::handle payoff_users, nb::handle payoff_items, nb::handle payoffs, const std::string& name) {
  const PythonNames item_names(items, "item");
  const Array<double> numbers(contexts, "contexts");
  numbers.expect(numbers.dimensions() == 2 && numbers.size(0) == item_names.size() && numbers.size(1) > 0,
                 "(" + std::to_string(item_names.size()) + ", dimension), one row an item");
  for (const double number : numbers.all()) {
    if (!std::isfinite(number)) {
      throw std::invalid_argument(numbers.described() + ": " + std::to_string(number) + " (must be finite)");
    }
  }
  const Array<std::int64_t> rows(payoff_users, "payoff_users");
  const Array<std::int64_t> columns(payoff_items, "payoff_items");
  const Array<double> values(payoffs, "payoffs");
  const std::size_t count = rows.all().size();
  values.expect(values.all().size() == count && columns.all().size() == count, "one number for each user and item");
  std::vector<data::Entry> entries;
  for (std::size_t k = 0; k < count; ++k) {
    const double value = values.all()[k];
    if (!std::isfinite(value)) {
      throw std::invalid_argument("payoffs[" + std::to_string(k) + "]: payoff " + std::to_string(value) +
                                  " (must be finite)");
    }
    if (value == 0.0) continue;
    entries.push_back({static_cast<NodeId>(rows.all()[k]), static_cast<NodeId>(columns.all()[k]), value});
  }
  data::Dataset data;
  data.name = name;
  data.graph = graph.graph;
  for (std::size_t item = 0; item < item_names.size(); ++item) data.items.insert(std::to_string(item));
  data.contexts.dimension = numbers.size(1);
  data.contexts.numbers.assign(numbers.all().begin(), numbers.all().end());
  data.payoffs = data::SparseRows(graph.users.size(), item_names.size(), entries);
  new (self) PythonDataset{std::make_shared<const data::Dataset>(std::move(data)), graph.users, item_names};
}

nb::object contexts_of(const PythonDataset& self) {
  const data::ItemContexts& contexts = self.data->contexts;
  return array_of(contexts.numbers, {self.items.size(), contexts.dimension});
}

/// Indices of users and items, and payoffs.
nb::tuple payoffs_of(const PythonDataset& self) {
  const auto entries = self.data->payoffs.entries();
  return nb::make_tuple(column_of<std::int64_t>(entries, [](const auto& entry) { return entry.row; }),
                        column_of<std::int64_t>(entries, [](const auto& entry) { return entry.column; }),
                        column_of<double>(entries, [](const auto& entry) { return entry.value; }));
}

}  // namespace

void bind_worlds(nb::module_& module) {
  nb::class_<PythonDataset>(module, "Dataset",
                            "Users, friends, items and payoffs; made by goblin.Dataset and goblin.datasets.")
      .def("__init__", &make_dataset, nb::arg("graph"), nb::arg("items"), nb::arg("contexts"), nb::arg("payoff_users"),
           nb::arg("payoff_items"), nb::arg("payoffs"), nb::arg("name"),
           nb::sig("def __init__(self, graph: Graph, items: collections.abc.Iterable[typing.Any], "
                   "contexts: numpy.typing.ArrayLike, payoff_users: numpy.typing.NDArray[numpy.int64], "
                   "payoff_items: numpy.typing.NDArray[numpy.int64], payoffs: numpy.typing.ArrayLike, "
                   "name: str) -> None"))
      .def(
          "__init__", [](PythonDataset* self, const PythonDataset& other) { new (self) PythonDataset(other); },
          nb::arg("other"), nb::sig("def __init__(self, other: Dataset) -> None"))
      .def_prop_ro(
          "name", [](const PythonDataset& self) { return self.data->name; }, "What the data is called.")
      .def_prop_ro(
          "graph",
          [](const PythonDataset& self) {
            return PythonGraph{self.data->graph, self.users};
          },
          "The users and their friends.")
      .def_prop_ro(
          "users", [](const PythonDataset& self) { return self.users.list(); },
          nb::sig("def users(self) -> list[typing.Any]"), "The users' names.")
      .def_prop_ro(
          "items", [](const PythonDataset& self) { return self.items.list(); },
          nb::sig("def items(self) -> list[typing.Any]"), "The items' names.")
      .def_prop_ro(
          "dimension", [](const PythonDataset& self) { return self.data->contexts.dimension; },
          "How many numbers a context has.")
      .def_prop_ro("contexts", &contexts_of, nb::sig("def contexts(self) -> numpy.typing.NDArray[numpy.float64]"),
                   "The items' contexts, shape (items, dimension).")
      .def("_payoffs", &payoffs_of,
           nb::sig("def _payoffs(self) -> tuple[numpy.typing.NDArray[numpy.int64], "
                   "numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.float64]]"));

  nb::class_<PythonWorld>(module, "World", "What a bandit plays in: round t is the same for everybody who asks.")
      .def(
          "__init__", [](PythonWorld* self, const PythonWorld& other) { new (self) PythonWorld(other); },
          nb::arg("other"), nb::sig("def __init__(self, other: World) -> None"))
      .def_prop_ro(
          "name", [](const PythonWorld& self) { return std::string(self.world->name()); }, "What the world is called.")
      .def_prop_ro(
          "dimension", [](const PythonWorld& self) { return self.world->dimension(); },
          "How many numbers a context has.")
      .def_prop_ro(
          "seed", [](const PythonWorld& self) { return self.world->seed(); },
          "What every random number of the world comes from.")
      .def_prop_ro(
          "repetition", [](const PythonWorld& self) { return self.world->repetition(); },
          "Other rounds from the same seed.")
      .def_prop_ro(
          "users", [](const PythonWorld& self) { return self.users.list(); },
          nb::sig("def users(self) -> list[typing.Any]"), "The users' names.")
      .def_prop_ro(
          "items", [](const PythonWorld& self) { return self.items.list(); },
          nb::sig("def items(self) -> list[typing.Any]"), "The items' names; empty where there are no items.")
      .def_prop_ro(
          "graph",
          [](const PythonWorld& self) {
            return PythonGraph{self.world->graph(), self.users};
          },
          "What the bandits get to see of who is a friend of whom.")
      .def("round", &round_of, nb::arg("t").none(), nb::sig("def round(self, t: int) -> goblin._types.Round"),
           "Round t = 0, 1, ...: the user, the candidates' contexts (arms, dimension) and what each would pay.");

  const auto none = [](const char* name) {
    return nb::arg(name).none();
  };  // refused by name, like all that is no number
  module.def("cliques", &cliques, none("cliques"), none("size"), none("dimension"), none("arms"), none("graph_noise"),
             none("payoff_noise"), none("drift_after"), none("seed"), none("repetition"),
             nb::sig("def cliques(cliques: int, size: int, dimension: int, arms: int, graph_noise: float, "
                     "payoff_noise: float, drift_after: int | None, seed: int, repetition: int) -> World"));
  module.def("linear", &linear, nb::arg("graph"), none("user_vectors"), none("dimension"), none("arms"),
             none("payoff_noise"), none("smoothing"), none("seed"), none("repetition"),
             nb::sig("def linear(graph: Graph, user_vectors: numpy.typing.ArrayLike | None, dimension: int, arms: int, "
                     "payoff_noise: float, smoothing: float, seed: int, repetition: int) -> World"));
  module.def("catalogue", &catalogue, nb::arg("data"), none("arms"), none("seed"), none("repetition"),
             nb::sig("def catalogue(data: Dataset, arms: int, seed: int, repetition: int) -> World"));
  module.def("read", &read, nb::arg("kind"), nb::arg("folder"), nb::arg("options"), nb::arg("cache"),
             nb::sig("def read(kind: str, folder: str, options: dict[str, typing.Any], cache: str) -> Dataset"));
}

}  // namespace goblin::python
