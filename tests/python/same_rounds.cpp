// Plays rounds with a policy and writes into a folder what the command line and Python need to play the same:
// edges.tsv, labels.tsv, events.jsonl; and decisions.jsonl, what came of it here.
// Usage: goblin_same_rounds FOLDER POLICY ENGINE

#include <goblin/goblin.hpp>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace {

constexpr std::size_t dimension = 7;
constexpr std::size_t arms = 9;

/// A number with 17 digits, which are enough to tell it from every other.
std::string text(double number) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.17g", number);
  return buffer;
}

std::string list(std::span<const double> numbers) {
  std::string result = "[";
  for (const double number : numbers) result += (result.size() > 1 ? ", " : "") + text(number);
  return result + "]";
}

std::vector<double> random_numbers(goblin::Random& random, std::size_t count) {
  std::vector<double> numbers(count);
  for (double& number : numbers) number = random.uniform(-1.0, 1.0);
  return numbers;
}

void write_graph(const std::filesystem::path& folder) {
  const auto graph =
      goblin::generate::random({.nodes = 40, .edges = 70, .lowest_weight = 0.1, .highest_weight = 2.0, .seed = 3});
  std::ofstream edges(folder / "edges.tsv");
  for (const auto& edge : graph.edges()) edges << 'u' << edge.a << "\tu" << edge.b << '\t' << text(edge.weight) << '\n';
}

void write_labels(const std::filesystem::path& folder) {
  const auto graph = goblin::read_edge_file(folder / "edges.tsv");
  std::ofstream labels(folder / "labels.tsv");
  for (std::size_t k = 0; k < graph.node_count(); ++k) labels << graph.names()[k] << "\tc" << k * 7 % 6 << '\n';
}

goblin::Bandit make_bandit(const std::filesystem::path& folder, const std::string& policy, const std::string& engine) {
  goblin::Graph graph = goblin::read_edge_file(folder / "edges.tsv");
  goblin::Labels labels;
  if (goblin::uses_clusters(goblin::policy_named(policy))) {
    std::tie(graph, labels) = goblin::read_label_file(folder / "labels.tsv", graph);
  }
  return goblin::Bandit::make(
      goblin::policy_named(policy), graph, labels.of,
      {.dimension = dimension, .alpha = 0.3, .hash = {.buckets = 96}, .engine = {.kind = goblin::engine_kind(engine)}});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const std::filesystem::path folder = argv[1];
  write_graph(folder);
  write_labels(folder);
  auto bandit = make_bandit(folder, argv[2], argv[3]);
  std::ofstream events(folder / "events.jsonl");
  std::ofstream decisions(folder / "decisions.jsonl");
  for (std::uint64_t t = 0; t < 300; ++t) {
    goblin::Random random(5, 0, t);
    // Every twentieth round somebody comes who is not in the graph.
    std::string user = t % 20 == 19 ? "new" : "u";
    user += std::to_string(t % 20 == 19 ? t / 100 : random.below(40));
    if (!bandit.has_user(user)) bandit.add_user(user);
    const auto contexts = random_numbers(random, t % 7 == 6 ? dimension : arms * dimension);
    const auto rewards = random_numbers(random, contexts.size() / dimension);
    events << R"({"user": ")" << user << '"';
    if (t % 7 == 6) {  // only learn
      events << R"(, "context": )" << list(contexts) << R"(, "reward": )" << text(rewards[0]) << "}\n";
      bandit.update(user, contexts, rewards[0]);
      continue;
    }
    events << R"(, "contexts": [)";
    for (std::size_t arm = 0; arm < arms; ++arm) {
      events << (arm > 0 ? ", " : "") << list(std::span(contexts).subspan(arm * dimension, dimension));
    }
    const auto decision = bandit.select(user, {contexts, dimension});
    if (t % 7 == 5) {  // only decide
      events << "]}\n";
    } else {
      events << R"(], "rewards": )" << list(rewards) << "}\n";
      bandit.update(user, std::span(contexts).subspan(decision.arm * dimension, dimension), rewards[decision.arm]);
    }
    decisions << R"({"arm": )" << decision.arm << R"(, "scores": )" << list(decision.scores) << R"(, "means": )"
              << list(decision.means) << R"(, "widths": )" << list(decision.widths);
    if (decision.engine == goblin::EngineKind::local) decisions << R"(, "bounds": )" << list(decision.bounds);
    decisions << "}\n";
  }
  return 0;
}
