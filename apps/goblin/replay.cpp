#include "replay.hpp"

#include "commands.hpp"
#include "data_options.hpp"
#include "events.hpp"
#include "goblin/error.hpp"
#include "goblin/graph/edge_file.hpp"
#include "goblin/graph/label_file.hpp"
#include "goblin/graph/names.hpp"
#include "json.hpp"
#include "oracle/printed_algorithm.hpp"
#include "report.hpp"
#include "signals.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <exception>
#include <fcntl.h>
#include <filesystem>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

namespace goblin::app {
namespace {

constexpr const char* input_name = "standard input";

/// Follows a bandit with the algorithm as the paper prints it, over the same nodes.
class Check {
 public:
  explicit Check(const Bandit& bandit) : printed_(printed_graph(checked(bandit)), bandit.options()) {}

  void add_nodes(const Bandit& bandit) {
    while (printed_.rows() < rows_of(checked(bandit))) printed_.add_node();
  }

  void compare(std::size_t node, const Event& event, const Decision& decision, std::size_t line) {
    constexpr double tolerance = 1e-6;
    const Decision expected = printed_.select(node, event.contexts);
    for (std::size_t arm = 0; arm < expected.scores.size(); ++arm) {
      const double scale = std::max(1.0, std::abs(expected.scores[arm]));
      // Within the bound that comes with a score, it is as exact as it claims to be.
      const double beyond = std::abs(decision.scores[arm] - expected.scores[arm]) - decision.bounds[arm];
      const double difference = std::max(0.0, beyond) / scale;
      largest_difference_ = std::max(largest_difference_, difference);
      if (!(difference <= tolerance)) {
        throw std::runtime_error(fmt::format("{}:{}: candidate {} has score {:.17g}, the printed algorithm {:.17g}",
                                             input_name, line, arm, decision.scores[arm], expected.scores[arm]));
      }
    }
    // Scores that differ by less than the tolerance may change places; nothing else may.
    const double bounds = decision.bounds[expected.arm] + decision.bounds[decision.arm];
    if (expected.scores[expected.arm] - expected.scores[decision.arm] > 2.0 * tolerance + bounds) {
      throw std::runtime_error(fmt::format("{}:{}: candidate {} was chosen, the printed algorithm chooses {}",
                                           input_name, line, decision.arm, expected.arm));
    }
  }

  void learn(std::size_t node, std::span<const double> context, double reward) {
    printed_.update(node, context, reward);
  }

  [[nodiscard]] double largest_difference() const { return largest_difference_; }

 private:
  /// The graph over the nodes as the paper describes it, from the users' graph: not from what the bandit made of it.
  static Graph printed_graph(const Bandit& bandit) {
    std::vector<Edge> edges;
    for (const Edge& edge : bandit.graph().edges()) {
      const bool inside = bandit.cluster(edge.a) == bandit.cluster(edge.b);
      if (bandit.policy() == Policy::gob_lin || (bandit.policy() == Policy::gob_lin_block && inside)) {
        edges.push_back(edge);
      } else if (bandit.policy() == Policy::gob_lin_macro && !inside) {
        edges.push_back({*bandit.cluster(edge.a), *bandit.cluster(edge.b), edge.weight});
      }
    }
    return {bandit.node_count(), edges};
  }
  static std::size_t rows_of(const Bandit& bandit) { return bandit.node_count() * bandit.options().dimension; }
  static const Bandit& checked(const Bandit& bandit) {
    constexpr std::size_t most_rows = 3000;
    if (rows_of(bandit) > most_rows) {
      throw std::invalid_argument(fmt::format("--check: dn is {} (must be at most {})", rows_of(bandit), most_rows));
    }
    return bandit;
  }

  oracle::PrintedAlgorithm printed_;
  double largest_difference_ = 0.0;
};

/// The users of events, who join the bandit if nobody has heard of them.
class Users {
 public:
  explicit Users(Bandit& bandit) : bandit_(bandit), named_(bandit.user_count() == 0 || bandit.graph().has_names()) {}

  /// Whether the user of an event would be new. In a bandit without names a user is an index, and a new one can only be
  /// the one after the last.
  [[nodiscard]] bool is_new(const std::string& name) const {
    if (bandit_.has_user(name)) return false;
    const std::size_t count = bandit_.user_count();
    if (!named_ && number_named(name) != count) {
      throw std::invalid_argument(
          fmt::format("'user' is '{}' (must be a whole number, at most {}: this bandit's users have no names, and {} "
                      "would be the next new one)",
                      name, count, count));
    }
    return true;
  }

  void add(const std::string& name) { bandit_.add_user(named_ ? name : std::string()); }

 private:
  Bandit& bandit_;
  bool named_;
};

/// Throws what a new user's event would throw once the user has joined: one whose event is bad does not join.
void check_new_user(const Bandit& bandit, const Event& event) {
  const std::size_t d = bandit.options().dimension;
  for (std::size_t arm = 0; arm * d < event.contexts.size(); ++arm) {
    try {
      bandit.check_new_user(std::span(event.contexts).subspan(arm * d, d),
                            event.rewards.empty() ? 0.0 : event.rewards[arm]);
    } catch (const std::invalid_argument& error) {
      if (event.kind == Event::Kind::learn) throw;
      throw std::invalid_argument(fmt::format("candidate {}: {}", arm, error.what()));
    }
  }
}

void write_decision(std::ostream& out, const Decision& decision) {
  Json json = {
      {"arm", decision.arm}, {"scores", decision.scores}, {"means", decision.means}, {"widths", decision.widths}};
  if (decision.engine == EngineKind::local) json["bounds"] = decision.bounds;
  errno = 0;
  out << json_line(json) << '\n' << std::flush;  // whoever waits for the decision before sending the next event gets it
  if (!out) throw std::system_error(errno, std::generic_category(), "the decisions cannot be written");
}

}  // namespace

void replay(Bandit& bandit, std::istream& events, std::ostream& decisions, const ReplayOptions& options,
            ReplaySummary& summary) {
  const std::size_t d = bandit.options().dimension;
  if (options.check && bandit.rewards() > 0) {
    throw std::invalid_argument(
        fmt::format("--check: the bandit has learned {} rewards (must be 0)", bandit.rewards()));
  }
  EventReader reader(d);
  Users users(bandit);
  std::unique_ptr<Check> checker = options.check ? std::make_unique<Check>(bandit) : nullptr;
  Decision decision;
  const auto goes_on = [&options] { return !options.keep_going || options.keep_going(); };
  // Asked after the line was read as well: one that was cut off by a stop is no event.
  for (std::string line; goes_on() && std::getline(events, line) && goes_on();) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) {
      ++summary.lines;
      continue;
    }
    try {
      const Event& event = reader.read(line);
      if (users.is_new(event.user)) {
        check_new_user(bandit, event);
        users.add(event.user);
        ++summary.new_users;
        if (checker) checker->add_nodes(bandit);
      }
      const NodeId user = bandit.user(event.user);
      const NodeId node = bandit.node(user);
      std::size_t arm = 0;
      if (event.kind != Event::Kind::learn) {
        bandit.select(user, {event.contexts, d}, {}, decision);
        if (checker) checker->compare(node, event, decision, summary.lines + 1);
        arm = decision.arm;
      }
      if (event.kind != Event::Kind::decide) {
        const auto context = std::span(event.contexts).subspan(arm * d, d);
        bandit.update(user, context, event.rewards[arm]);
        if (checker) checker->learn(node, context, event.rewards[arm]);
        ++summary.learned;
        if (event.kind == Event::Kind::decide_and_learn) summary.reward += event.rewards[arm];
      }
      ++summary.lines;
      ++summary.events;
      if (checker) summary.largest_difference = checker->largest_difference();
      if (event.kind == Event::Kind::learn) continue;
      write_decision(decisions, decision);
      ++summary.decisions;
    } catch (const std::invalid_argument& error) {
      throw DataError(input_name, summary.lines + 1, error.what());
    }
  }
  if (events.bad()) throw DataError(input_name, summary.lines + 1, "cannot be read");
  if (checker) summary.largest_difference = checker->largest_difference();
}

namespace {

struct Request {
  std::string graph;
  EdgeFileOptions edges;
  std::string labels;
  std::string load;
  std::string save;
  std::string policy = "gob.lin";
  std::string engine = "automatic";
  std::vector<double> printed_bound;
  BanditOptions bandit;
  bool check = false;
  bool json = false;
};

Bandit make_bandit(const Request& options) {
  if (!options.load.empty()) return Bandit::load(options.load);
  BanditOptions bandit = options.bandit;
  bandit.engine.kind = engine_kind(options.engine);
  if (!options.printed_bound.empty()) {
    bandit.printed_bound = PrintedBound{
        .noise = options.printed_bound[0], .delta = options.printed_bound[1], .norm = options.printed_bound[2]};
  }
  const Policy policy = policy_named(options.policy);
  Graph graph = read_edge_file(options.graph, options.edges);
  if (uses_clusters(policy) != !options.labels.empty()) {
    throw std::invalid_argument(
        fmt::format("--labels: must {}be given for {}", uses_clusters(policy) ? "" : "not ", options.policy));
  }
  Labels labels;
  if (!options.labels.empty()) std::tie(graph, labels) = read_label_file(options.labels, graph);
  return Bandit::make(policy, graph, labels.of, bandit);
}

void print_summary(const Bandit& bandit, const ReplaySummary& replayed, bool json) {
  const BanditSummary summary = bandit.summary();
  const auto count_of = [&summary](EngineKind kind) {
    return std::count_if(summary.components.begin(), summary.components.end(),
                         [kind](const auto& component) { return component.engine == kind; });
  };
  const auto dense = count_of(EngineKind::dense);
  const auto local = count_of(EngineKind::local);
  const auto sparse = count_of(EngineKind::sparse);
  if (json) {
    const Json object = {{"policy", name_of(summary.policy)},
                         {"lines", replayed.lines},
                         {"decisions", replayed.decisions},
                         {"learned", replayed.learned},
                         {"reward", replayed.reward},
                         {"users", summary.users},
                         {"new_users", replayed.new_users},
                         {"nodes", summary.nodes},
                         {"dense_components", dense},
                         {"sparse_components", sparse},
                         {"local_components", local},
                         {"bytes", summary.bytes},
                         {"unconverged_solves", summary.unconverged_solves},
                         {"largest_difference", json_number(replayed.largest_difference)}};
    report(json_line(object) + "\n");
    return;
  }
  report(fmt::format("{}: {} decisions, {} rewards learned, reward {:g}\n", name_of(summary.policy), replayed.decisions,
                     replayed.learned, replayed.reward));
  report(fmt::format("{} users ({} new), {} nodes in {} dense and {} sparse{} components, {:.1f} MB\n", summary.users,
                     replayed.new_users, summary.nodes, dense, sparse,
                     local > 0 ? fmt::format(" and {} local", local) : "", static_cast<double>(summary.bytes) / 1e6));
  if (summary.unconverged_solves > 0) {
    report(fmt::format("warning: {} solves did not reach the tolerance\n", summary.unconverged_solves));
  }
  if (replayed.largest_difference) {
    report(fmt::format("check: every decision is the printed algorithm's, scores within {}{:.1e}\n",
                       local > 0 ? "their bounds and " : "", *replayed.largest_difference));
  }
}

/// Throws std::system_error if no file can be written there: it is better to hear of it before the log is replayed. A
/// file of the kind that Bandit::save makes first, beside the one that is there, is made and removed.
void check_can_be_saved(const std::string& path) {
  const auto fail = [&path](int error) {
    throw std::system_error(error, std::generic_category(), fmt::format("{}: cannot be written", path));
  };
  struct stat existing {};
  const bool exists = ::stat(path.c_str(), &existing) == 0;
  if (path.ends_with('/') || (exists && S_ISDIR(existing.st_mode))) fail(EISDIR);
  if (exists && !S_ISREG(existing.st_mode)) fail(EINVAL);  // a device or a pipe would be replaced by a file
  const std::string temporary = fmt::format("{}.{}-0", path, ::getpid());
  const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0 && errno == EEXIST) return;  // what is left of another process; save takes another name
  if (descriptor < 0) fail(errno);
  ::close(descriptor);
  ::unlink(temporary.c_str());
}

/// Saves what was learned before something other than the end of the log ended the replay, and gives a line that says
/// so. If there was no event, the file stays as it is: it may be a good model, and the bandit may have learned nothing.
std::string save_early(const Bandit& bandit, const std::string& path, const ReplaySummary& summary) {
  if (summary.events == 0) return fmt::format("goblin: {}: not saved, because no event was read\n", path);
  bandit.save(path);
  return fmt::format("goblin: {}: saved, with everything up to line {}\n", path, summary.lines);
}

/// Replays standard input. Whatever ends it (the end of the log, a bad line, a signal, a closed pipe), what was learned
/// up to there is saved, and only then reported: standard error may be closed as well.
void run(const Request& request) {
  if (!request.save.empty()) check_can_be_saved(request.save);
  Bandit bandit = make_bandit(request);
  const StopOnSignal stop;
  const SurviveClosedPipe survive;
  InterruptibleInput input;
  std::istream events(&input);
  ReplaySummary summary;
  try {
    replay(bandit, events, std::cout, {.check = request.check, .keep_going = [] { return !interrupted(); }}, summary);
  } catch (const std::exception& error) {
    const std::exception_ptr failure = std::current_exception();
    const auto* system = dynamic_cast<const std::system_error*>(&error);
    const bool closed = system != nullptr && system->code() == std::errc::broken_pipe;
    std::string saved;
    try {
      if (!request.save.empty()) saved = save_early(bandit, request.save, summary);
    } catch (const std::exception& not_saved) {
      saved = fmt::format("goblin: {}\n", not_saved.what());
    }
    if (closed) report(fmt::format("goblin: {}\n", error.what()));
    report(saved);
    if (closed) throw CLI::RuntimeError(exit_code_of(SIGPIPE));
    std::rethrow_exception(failure);
  }
  if (interrupted()) {
    const std::string saved = request.save.empty() ? "" : save_early(bandit, request.save, summary);
    report(fmt::format("goblin: {} after line {}\n", name_of_signal(noted_signal()), summary.lines));
    report(saved);
  } else if (!request.save.empty()) {
    bandit.save(request.save);
  }
  print_summary(bandit, summary, request.json);
  if (interrupted()) throw CLI::RuntimeError(exit_code_of(noted_signal()));
}

}  // namespace

void add_replay(CLI::App& app) {
  auto options = std::make_shared<Request>();
  auto* command = app.add_subcommand("replay", "Replay a recorded log, decision by decision");
  command->footer(
      "Events come on standard input and decisions go to standard output, one JSON object a line; a summary goes to\n"
      "standard error.\n"
      "  {\"user\": \"u1\", \"contexts\": [[..], ..], \"rewards\": [..]}  decide, learn the chosen candidate's reward\n"
      "  {\"user\": \"u1\", \"contexts\": [[..], ..]}                   only decide\n"
      "  {\"user\": \"u1\", \"context\": [..], \"reward\": r}             only learn\n"
      "  -> {\"arm\": k, \"scores\": [..], \"means\": [..], \"widths\": [..]}, local also \"bounds\": [..]\n"
      "A user is a text or a whole number, which is the same as its digits. A user who is not in the graph joins "
      "without\n"
      "friends.\n\n"
      "Example:\n"
      "  goblin replay --graph edges.tsv --dimension 2 --policy gob.lin --alpha 0.1 < events.jsonl > decisions.jsonl");
  auto* graph = command->add_option("--graph", options->graph, "Edges: user <tab> user [<tab> weight]");
  auto* self_loops = add_drop_self_loops(*command, options->edges);
  auto* dimension = command->add_option("--dimension", options->bandit.dimension, "Numbers in a context")
                        ->check(positive_whole_number());
  auto* policy = command->add_option("--policy", options->policy, policy_names());
  auto* alpha = command->add_option("--alpha", options->bandit.alpha, "How much uncertainty attracts");
  auto* labels = command->add_option("--labels", options->labels,
                                     fmt::format("Clusters: user <tab> cluster; for {}", clustered_policy_names()));
  auto* ridge = command->add_option("--ridge", options->bandit.ridge, "A = ridge I + coupling L");
  auto* coupling = command->add_option("--coupling", options->bandit.coupling, "A = ridge I + coupling L");
  auto* per_node = command->add_flag("--evidence-per-node", options->bandit.evidence_per_node,
                                     "Where users share nodes, keep evidence for the nodes only: less memory");
  auto* bound = command->add_option("--printed-bound", options->printed_bound,
                                    "NOISE DELTA NORM: the widths of the paper's Figures 1 and 2 instead of alpha");
  bound->expected(3);
  auto* engine = command->add_option("--engine", options->engine, "automatic, dense, sparse or local");
  auto* tolerance = command->add_option("--tolerance", options->bandit.engine.tolerance,
                                        "Relative residual of the sparse engine's solves");
  auto* local_tolerance = command->add_option("--local-tolerance", options->bandit.engine.local.tolerance,
                                              "How far scores of the local engine may be off");
  command->add_option("--load", options->load, "Go on with a saved bandit, which has its own policy and options");
  command
      ->add_option("--save", options->save,
                   "Save the bandit at the end, which may be a bad line, a signal or a closed pipe")
      ->check([](const std::string& path) { return path.empty() ? "'' (must be the name of a file)" : ""; });
  command->add_flag("--check", options->check, "Compare every decision with the printed algorithm (dn <= 3000)");
  command->add_flag("--json", options->json, "The summary as one JSON object");
  for (auto* option : {policy, alpha, ridge, coupling, engine, tolerance, local_tolerance})
    option->capture_default_str();
  const std::vector<CLI::Option*> of_a_new_bandit = {graph,  self_loops, dimension,      policy,   alpha,
                                                     labels, ridge,      coupling,       per_node, bound,
                                                     engine, tolerance,  local_tolerance};
  command->callback([options, of_a_new_bandit] {
    if (options->load.empty() && options->graph.empty()) throw CLI::RequiredError("--graph or --load");
    if (options->load.empty() && options->bandit.dimension == 0) throw CLI::RequiredError("--dimension");
    for (const auto* option : of_a_new_bandit) {
      if (!options->load.empty() && option->count() > 0) throw CLI::ExcludesError("--load", option->get_name());
    }
    std::ios::sync_with_stdio(false);
    run(*options);
  });
}

}  // namespace goblin::app
