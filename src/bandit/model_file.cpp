#include "bandit/model_file.hpp"

#include "bandit/state.hpp"
#include "binary.hpp"
#include "checked_file.hpp"
#include "graph/graph_binary.hpp"

#include <cmath>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace goblin {
namespace {

// As in PNG: a byte above 127 and both kinds of line end show a transfer that changed them.
constexpr FileKind model_file = {
    .name = "model file", .magic = {'\x89', 'G', 'O', 'B', '\r', '\n', '\x1a', '\n'}, .version = 1};

}  // namespace

void ModelFile::write(const Bandit& bandit, const std::filesystem::path& path, const Names& names) {
  write_checked_file(path, model_file, [&](BinaryWriter& out) { write_content(bandit, names, out); });
}

std::string ModelFile::bytes(const Bandit& bandit) {
  return checked_bytes(model_file, [&bandit](BinaryWriter& out) { write_content(bandit, {}, out); });
}

Bandit ModelFile::read(const std::filesystem::path& path) {
  const MappedFile file(path);
  return parse(file.bytes(), path.string());
}

Bandit ModelFile::parse(std::span<const char> bytes, const std::string& name) {
  BinaryReader reader(checked_content(bytes, name, model_file), name);
  Bandit bandit = parse_content(reader);
  reader.expect(reader.left() == 0, "bytes after its end");
  return bandit;
}

void ModelFile::write_content(const Bandit& bandit, const Names& names, BinaryWriter& out) {
  const Bandit::State& state = *bandit.state_;
  const BanditOptions& options = state.options;
  out.text(name_of(state.policy));
  out.size(options.dimension);
  out.number(options.alpha);
  out.number(static_cast<std::uint8_t>(options.printed_bound ? 1 : 0));
  const PrintedBound bound = options.printed_bound.value_or(PrintedBound{});
  out.number(bound.noise);
  out.number(bound.delta);
  out.number(bound.norm);
  out.number(options.ridge);
  out.number(options.coupling);
  out.text(name_of(options.engine.kind));
  out.number(options.engine.tolerance);
  out.size(options.engine.max_iterations);
  out.number(options.engine.local.tolerance);
  out.size(options.engine.local.most_nodes);
  out.size(options.engine.local.most_edges);
  const Graph users = state.users.snapshot();
  save_graph(out, names.empty() ? users : Graph(names, users.edges()));
  out.array(state.clusters);
  state.evidence.save(out);
  out.size(state.rewards);
  out.size(state.unconverged_solves);
  out.number(state.log_determinant);
  out.number(state.log_determinant_error);
  out.size(state.components.size());
  for (const Component& component : state.components) {
    out.array(component.nodes);
    save_engine(out, *component.engine);
  }
}

Bandit ModelFile::parse_content(BinaryReader& in) {
  try {
    const Policy policy = policy_named(in.text());
    BanditOptions options;
    options.dimension = in.size();
    options.alpha = in.number<double>();
    const bool printed = in.number<std::uint8_t>() != 0;
    PrintedBound bound;
    bound.noise = in.number<double>();
    bound.delta = in.number<double>();
    bound.norm = in.number<double>();
    if (printed) options.printed_bound = bound;
    options.ridge = in.number<double>();
    options.coupling = in.number<double>();
    options.engine.kind = engine_kind(in.text());
    options.engine.tolerance = in.number<double>();
    options.engine.max_iterations = in.size();
    options.engine.local.tolerance = in.number<double>();
    options.engine.local.most_nodes = in.size();
    options.engine.local.most_edges = in.size();
    check_options(options);

    Graph users = load_graph(in);
    auto clusters = in.array<std::uint32_t>();
    in.expect(clusters.size() == (uses_clusters(policy) ? users.node_count() : 0), "the number of labels");
    Evidence evidence = Evidence::load(in);
    in.expect(evidence.dimension() == options.dimension, "the dimension of the evidence");
    const std::size_t node_count = evidence.node_count();
    if (policy == Policy::linucb_sin) {
      in.expect(node_count == 1, "the number of nodes");
    } else if (policy != Policy::gob_lin_macro) {
      in.expect(node_count == users.node_count(), "the number of nodes");
    }
    for (const NodeId label : clusters) {
      in.expect(label < std::max(node_count, users.node_count()), "a label");
      in.expect(policy != Policy::gob_lin_macro || label < node_count, "a label");
    }

    auto state = std::make_unique<Bandit::State>(policy, options, LiveGraph(std::move(users)), std::move(clusters),
                                                 std::move(evidence));
    state->rewards = in.size();
    state->unconverged_solves = in.size();
    state->log_determinant = in.number<double>();
    state->log_determinant_error = in.number<double>();
    state->places.resize(node_count);
    const std::size_t component_count = in.size(node_count, "the number of components");
    std::vector<bool> seen(node_count, false);
    std::size_t seen_count = 0;
    for (std::size_t k = 0; k < component_count; ++k) {
      auto nodes = in.array<std::uint32_t>();
      for (const NodeId node : nodes) {
        in.expect(node < node_count && !seen[node], "a node of a component");
        seen[node] = true;
        ++seen_count;
      }
      auto engine = load_engine(in, options.dimension, state->prior(), options.engine);
      in.expect(engine->node_count() == nodes.size(), "the size of a component");
      state->add_component(std::move(nodes), std::move(engine));
    }
    in.expect(seen_count == node_count, "a node without a component");
    return Bandit(std::move(state));
  } catch (const std::invalid_argument& error) {
    in.fail(std::string("its content is inconsistent: ") + error.what());
  }
}

void Bandit::save(const std::filesystem::path& path, const Names& names) const {
  if (!names.empty() && names.size() != user_count()) {
    throw std::invalid_argument(
        fmt::format("names: {} (must be none, or one for each of the {} users)", names.size(), user_count()));
  }
  ModelFile::write(*this, path, names);
}

Bandit Bandit::load(const std::filesystem::path& path) { return ModelFile::read(path); }

std::string Bandit::to_bytes() const { return ModelFile::bytes(*this); }

Bandit Bandit::from_bytes(std::span<const char> bytes) { return ModelFile::parse(bytes, "bytes of a bandit"); }

}  // namespace goblin
