#include "bandit/model_file.hpp"

#include "bandit/capacity.hpp"
#include "bandit/checks.hpp"
#include "bandit/node_priors.hpp"
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
    .name = "model file", .magic = {'\x89', 'G', 'O', 'B', '\r', '\n', '\x1a', '\n'}, .version = 5, .oldest = 2};

/// Before version 3 there were two rules: alpha, and a printed bound that may take its place.
Exploration read_old_exploration(BinaryReader& in) {
  const auto alpha = in.number<double>();
  const bool printed = in.number<std::uint8_t>() != 0;
  PrintedBound bound;
  bound.noise = in.number<double>();
  bound.delta = in.number<double>();
  bound.norm = in.number<double>();
  return printed ? Exploration::printed_bound(bound) : Exploration::ucb(alpha);
}

/// What one policy has that the others have not; since version 4.
void write_policy_options(const BanditOptions& options, BinaryWriter& out) {
  out.text(name_of(options.laplacian));
  out.number(options.hub.weight);
  out.number(options.hub.ridge);
  out.size(options.hash.buckets);
  out.number(options.hash.seed);
  out.text(name_of(options.club.graph));
  out.number(options.club.separation);
  out.number(options.club.seed);
  out.size(options.dynucb.clusters);
  out.number(options.dynucb.seed);
  out.size(options.forgetting.window);
  out.number(options.forgetting.discount);
}

void read_policy_options(BinaryReader& in, BanditOptions& options) {
  options.laplacian = laplacian_named(in.text());
  options.hub.weight = in.number<double>();
  options.hub.ridge = in.number<double>();
  options.hash.buckets = in.size();
  options.hash.seed = in.number<std::uint64_t>();
  options.club.graph = club_graph_named(in.text());
  options.club.separation = in.number<double>();
  options.club.seed = in.number<std::uint64_t>();
  options.dynucb.clusters = in.size();
  options.dynucb.seed = in.number<std::uint64_t>();
  options.forgetting.window = in.size();
  options.forgetting.discount = in.number<double>();
}

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
  const CheckedContent content = checked_content(bytes, name, model_file);
  BinaryReader reader(content.bytes, name);
  Bandit bandit = parse_content(reader, content.version);
  reader.expect(reader.left() == 0, "bytes after its end");
  return bandit;
}

void ModelFile::write_content(const Bandit& bandit, const Names& names, BinaryWriter& out) {
  const Bandit::State& state = bandit.state();
  const BanditOptions& options = state.options;
  out.text(name_of(state.users.policy()));
  out.size(options.dimension);
  out.text(name_of(*options.exploration));
  out.number(*options.ridge);
  out.number(options.coupling);
  out.array(options.node_ridges);
  out.number(static_cast<std::uint8_t>(options.evidence_per_node ? 1 : 0));
  out.text(name_of(options.engine.kind));
  out.number(options.engine.tolerance);
  out.size(options.engine.max_iterations);
  out.number(options.engine.local.tolerance);
  out.size(options.engine.local.most_nodes);
  out.size(options.engine.local.most_edges);
  write_policy_options(options, out);
  out.number(static_cast<std::uint8_t>(options.intercept ? 1 : 0));
  const Graph users = state.users.graph();
  out.array(state.users.removed());
  if (names.empty()) {
    save_graph(out, users);
  } else {
    Names present = names;
    present.remove(state.users.removed());
    save_graph(out, Graph(std::move(present), users.edges()));
  }
  out.array(state.users.clusters());
  out.size(state.users.cluster_count());
  state.belief.save(out);
  if (state.online_clusters) state.online_clusters->save(out);
  if (state.window) state.window->save(out);
}

Bandit ModelFile::parse_content(BinaryReader& in, std::uint32_t version) {
  try {
    const Policy policy = policy_named(in.text());
    BanditOptions options;
    options.dimension = in.size();
    options.exploration = version < 3 ? read_old_exploration(in) : exploration_named(in.text());
    options.ridge = in.number<double>();
    options.coupling = in.number<double>();
    options.node_ridges = in.array<double>();
    options.evidence_per_node = in.number<std::uint8_t>() != 0;
    options.engine.kind = engine_kind(in.text());
    options.engine.tolerance = in.number<double>();
    options.engine.max_iterations = in.size();
    options.engine.local.tolerance = in.number<double>();
    options.engine.local.most_nodes = in.size();
    options.engine.local.most_edges = in.size();
    if (version >= 4) read_policy_options(in, options);
    if (version >= 5) options.intercept = in.number<std::uint8_t>() != 0;
    check_options(options);
    check_policy(policy, options);
    check_forgetting(policy, options);

    const auto removed = version < 5 ? std::vector<std::uint32_t>() : in.array<std::uint32_t>();
    const Graph graph = load_graph(in);
    for (std::size_t k = 0; k < removed.size(); ++k) {
      in.expect(removed[k] < graph.node_count() && (k == 0 || removed[k - 1] < removed[k]), "a user who was removed");
      in.expect(graph.neighbours(removed[k]).empty(), "a friend of a user who was removed");
    }
    const auto clusters = in.array<std::uint32_t>();
    in.expect(clusters.size() == (has_clusters(policy) ? graph.node_count() : 0), "the number of labels");
    check_online_clusters(policy, options, 0);  // users who came later do not make a complete graph larger
    // With gob.lin.macro, club and dynucb every cluster is a node, which takes some bytes; with gob.lin.block they may
    // be empty.
    constexpr std::size_t many = 1'000'000;
    const std::size_t cluster_count = in.size(std::max(in.left(), many), "the number of clusters");
    for (const NodeId label : clusters) in.expect(label < cluster_count, "a label");
    in.expect(has_clusters(policy) || cluster_count == 0, "the number of clusters");
    UserMap users(policy, graph, clusters, options, cluster_count, removed);
    // The factors of nodes, where there are any, are in the file.
    Belief belief(in, node_coupling(policy, options), lenses_for(policy, options, Graph()), options.engine,
                  taken_from(policy, options));
    in.expect(belief.node_count() == users.node_count(), "the number of nodes");
    in.expect(options.node_ridges.size() <= belief.node_count(), "the number of ridges");
    in.expect(belief.has_user_evidence() == keeps_user_evidence(policy, options), "whose evidence is kept");
    in.expect(belief.user_evidence_count() == (belief.has_user_evidence() ? users.user_count() : 0),
              "the number of users with evidence");
    for (const NodeId user : removed) {
      const bool has_own = belief.has_user_evidence() || has_node_per_user(policy);
      in.expect(has_own && belief.evidence(user, users.node_of(user)).count == 0, "what a user said who was removed");
    }
    auto online_clusters = load_online_clusters(in, policy, options, users, belief);
    auto state =
        std::make_unique<Bandit::State>(options, std::move(users), std::move(belief), std::move(online_clusters));
    if (state->window) {
      *state->window = RewardWindow::load(in, options.weight_count(), options.forgetting.window);
      in.expect(state->window_is_what_was_observed(), "the rewards in the window");
      state->belief.set_bytes_beside(state->window->bytes());
    }
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
