// The rounds that goblin and its peers play, and what goblin does in them.
//
//     goblin_peers --out FOLDER [--cliques 4] [--size 25] [--dimension 25] [--arms 10] [--rounds 2000] [--alpha 0.1]
//
// writes edges.tsv (user <tab> user), rounds.bin (for each round the user, the contexts of the candidates and their
// payoffs, all of them doubles) and goblin.json: the sizes, and for each policy its choices, time and memory.

#include "goblin/goblin.hpp"
#include "json.hpp"
#include "meters.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace goblin::bench {
namespace {

struct Request {
  std::filesystem::path folder;
  world::CliquesOptions world = {.graph_noise = 100.0, .payoff_noise = 0.25};
  std::size_t rounds = 2000;
  double alpha = 0.1;
};

void write_world(const Request& request, const world::World& world, const std::vector<world::Round>& rounds) {
  std::ofstream edges(request.folder / "edges.tsv");
  const Graph& graph = world.graph();
  for (std::size_t node = 0; node < graph.node_count(); ++node) {
    for (const NodeId other : graph.neighbours(node)) {
      if (other > node) edges << node << '\t' << other << '\n';
    }
  }
  std::ofstream out(request.folder / "rounds.bin", std::ios::binary);
  const auto write = [&](const std::vector<double>& values) {
    out.write(reinterpret_cast<const char*>(values.data()),  // NOLINT
              static_cast<std::streamsize>(values.size() * sizeof(double)));
  };
  for (const world::Round& round : rounds) {
    write({static_cast<double>(round.user)});
    write(round.contexts);
    write(round.payoffs);
  }
}

app::Json played(const Request& request, const world::World& world, const std::vector<world::Round>& rounds,
                 Policy policy) {
  const std::size_t dimension = world.dimension();
  auto bandit = Bandit::make(policy, world.graph(), {}, {.dimension = dimension, .alpha = request.alpha});
  std::vector<std::size_t> choices;
  choices.reserve(rounds.size());
  Decision decision;
  double reward = 0.0;
  const double begin = thread_seconds();
  for (const world::Round& round : rounds) {
    bandit.select(round.user, {round.contexts, dimension}, {}, decision);
    bandit.update(round.user, round.context(decision.arm), round.payoffs[decision.arm]);
    choices.push_back(decision.arm);
    reward += round.payoffs[decision.arm];
  }
  const double seconds = thread_seconds() - begin;
  const auto summary = bandit.summary();
  return {{"policy", name_of(policy)},
          {"engine", name_of(summary.components.front().engine)},
          {"seconds", seconds / static_cast<double>(rounds.size())},
          {"reward", reward},
          {"megabytes", static_cast<double>(summary.bytes) / 1e6},
          {"choices", choices}};
}

void run(const Request& request) {
  std::filesystem::create_directories(request.folder);
  const world::Cliques world(request.world);
  std::vector<world::Round> rounds(request.rounds);
  for (std::size_t t = 0; t < request.rounds; ++t) world.round(t, rounds[t]);
  write_world(request, world, rounds);
  app::Json policies = app::Json::array();
  for (const Policy policy : {Policy::linucb_sin, Policy::linucb_ind, Policy::gob_lin}) {
    policies.push_back(played(request, world, rounds, policy));
  }
  std::ofstream(request.folder / "goblin.json") << app::json_line({{"users", world.graph().node_count()},
                                                                   {"edges", world.graph().edge_count()},
                                                                   {"dimension", world.dimension()},
                                                                   {"arms", request.world.arms},
                                                                   {"rounds", request.rounds},
                                                                   {"alpha", request.alpha},
                                                                   {"policies", std::move(policies)}})
                                                << '\n';
}

}  // namespace
}  // namespace goblin::bench

int main(int argc, char** argv) {
  goblin::bench::Request request;
  CLI::App app("Writes the rounds that the peers play, and what goblin does in them");
  app.add_option("--out", request.folder, "The folder")->required();
  app.add_option("--cliques", request.world.cliques)->capture_default_str();
  app.add_option("--size", request.world.size)->capture_default_str();
  app.add_option("--dimension", request.world.dimension)->capture_default_str();
  app.add_option("--arms", request.world.arms)->capture_default_str();
  app.add_option("--graph-noise", request.world.graph_noise)->capture_default_str();
  app.add_option("--rounds", request.rounds)->capture_default_str();
  app.add_option("--alpha", request.alpha)->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  goblin::bench::run(request);
  return 0;
}
