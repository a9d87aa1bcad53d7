#include "replay.hpp"

#include "events.hpp"
#include "goblin/error.hpp"
#include "json.hpp"
#include "new_users.hpp"
#include "oracle/printed_algorithm.hpp"
#include "reward_batch.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <exception>
#include <istream>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

namespace goblin::app {
namespace {

constexpr const char* input_name = "standard input";
constexpr std::size_t most_waiting = 100'000;  // rewards

/// Follows a bandit with the algorithm as the paper prints it, over the same nodes.
class Check {
 public:
  explicit Check(const Bandit& bandit)
      : printed_(printed_for(checked(bandit))),
        dimension_(bandit.options().dimension),
        intercept_(bandit.options().intercept) {}

  /// Throws std::invalid_argument if the paper has another way to choose.
  static void check_exploration(const Exploration& exploration) {
    const bool printed = exploration.alpha() || std::holds_alternative<PrintedBound>(exploration.rule);
    if (printed && !exploration.is_random()) return;
    throw std::invalid_argument(fmt::format(
        "--check: the bandit explores with {} (must be ucb or printed_bound, without epsilon)", name_of(exploration)));
  }

  /// Throws std::invalid_argument if the paper's algorithm has nothing like it: users who change their nodes, and nodes
  /// that learn other contexts than users see.
  static void check_policy(const Bandit& bandit) {
    const auto refuse = [&](const char* bound) {
      throw std::invalid_argument(
          fmt::format("--check: the policy is {} (must be {})", name_of(bandit.policy()), bound));
    };
    if (finds_clusters(bandit.policy())) refuse("one whose clusters do not move");
    if (bandit.policy() == Policy::linucb_hash) refuse("one that does not hash contexts");
    if (bandit.options().laplacian == Laplacian::combinatorial) return;
    throw std::invalid_argument(fmt::format("--check: the laplacian is {} (must be {})",
                                            name_of(bandit.options().laplacian), name_of(Laplacian::combinatorial)));
  }

  void add_nodes(const Bandit& bandit) {
    if (has_hub(checked(bandit).policy())) {
      // A new node comes with an edge, which the paper has no step for: everything is learned again.
      printed_ = printed_for(bandit);
      for (const Lesson& lesson : lessons_) printed_.update(lesson.node, lesson.context, lesson.reward);
      return;
    }
    while (printed_.rows() < rows_of(bandit)) printed_.add_node();
  }

  void compare(std::size_t node, const Event& event, const Decision& decision, std::size_t line) {
    constexpr double tolerance = 1e-6;
    const Decision expected = printed_.select(node, completed(event.contexts));
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
    lessons_.push_back({node, completed(context), reward});
    printed_.update(node, lessons_.back().context, reward);
  }

  [[nodiscard]] double largest_difference() const { return largest_difference_; }

 private:
  struct Lesson {
    std::size_t node;
    std::vector<double> context;
    double reward;
  };

  /// The paper has no intercept: its contexts have the constant.
  [[nodiscard]] std::vector<double> completed(std::span<const double> contexts) const {
    std::vector<double> result;
    for (std::size_t k = 0; k < contexts.size(); ++k) {
      result.push_back(contexts[k]);
      if (intercept_ && (k + 1) % dimension_ == 0) result.push_back(1.0);
    }
    return result;
  }

  /// Over the nodes as the paper describes them, from the users' graph: not from what the bandit made of it.
  static oracle::PrintedAlgorithm printed_for(const Bandit& bandit) {
    BanditOptions options = bandit.options();
    options.dimension = options.weight_count();
    if (!has_hub(bandit.policy())) return {printed_graph(bandit), options};
    std::vector<Edge> edges;
    for (const Edge& edge : bandit.graph().edges()) {
      edges.push_back({bandit.node(edge.a), bandit.node(edge.b), options.coupling * edge.weight});
    }
    if (options.coupling == 0.0) edges.clear();
    for (NodeId user = 0; user < bandit.user_count(); ++user) {
      if (bandit.has_user(user)) edges.push_back({0, bandit.node(user), options.hub.weight});
    }
    options.coupling = 1.0;
    options.node_ridges.resize(bandit.user_count(), *options.ridge);
    options.node_ridges.insert(options.node_ridges.begin(), options.hub.ridge);
    return {Graph(bandit.node_count(), edges), options};
  }
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
  static std::size_t rows_of(const Bandit& bandit) { return bandit.node_count() * bandit.weight_count(); }
  static const Bandit& checked(const Bandit& bandit) {
    constexpr std::size_t most_rows = 3000;
    if (rows_of(bandit) > most_rows) {
      throw std::invalid_argument(fmt::format("--check: dn is {} (must be at most {})", rows_of(bandit), most_rows));
    }
    if (bandit.options().forgetting != Forgetting{}) {
      throw std::invalid_argument(
          "--check: the bandit forgets (must be one that does not: neither does the printed "
          "algorithm)");
    }
    return bandit;
  }

  oracle::PrintedAlgorithm printed_;
  std::size_t dimension_;
  bool intercept_;
  std::vector<Lesson> lessons_;
  double largest_difference_ = 0.0;
};

/// Throws what a new user's event would throw once the user has joined: one whose event is bad does not join.
void check_new_user(const Bandit& bandit, const Event& event) {
  const std::size_t d = bandit.options().dimension;
  for (std::size_t arm = 0; arm * d < event.contexts.size(); ++arm) {
    double reward = 0.0;
    if (event.kind == Event::Kind::decide_and_learn) {
      reward = event.rewards[arm];
    } else if (event.kind != Event::Kind::decide && arm == event.action) {
      reward = event.rewards[0];
    }
    try {
      bandit.check_new_user(event.context(arm, d), reward);
    } catch (const std::invalid_argument& error) {
      if (event.kind == Event::Kind::learn) throw;
      throw std::invalid_argument(fmt::format("candidate {}: {}", arm, error.what()));
    }
  }
}

void write_decision(std::ostream& out, const Exploration& exploration, const Event& event, const Decision& decision) {
  Json json = {{"arm", decision.arm}};
  if (!event.items.empty()) json["item"] = event.items[decision.arm];
  json["scores"] = decision.scores;
  json["means"] = decision.means;
  json["widths"] = decision.widths;
  if (decision.engine == EngineKind::local) json["bounds"] = decision.bounds;
  if (exploration.is_random()) json["probability"] = decision.probability;
  if (std::holds_alternative<Thompson>(exploration.rule)) json["probability_error"] = decision.probability_error;
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
  if (options.check) Check::check_policy(bandit);
  if (options.check) Check::check_exploration(bandit.exploration());
  EventReader reader(d, options.items);
  NewUsers users(bandit);
  std::unique_ptr<Check> checker = options.check ? std::make_unique<Check>(bandit) : nullptr;
  Decision decision;
  // Nobody sees what a learn event changes before the next decision, so all of them up to there are learned at once;
  // but while nothing comes in there is time, and the next decision should not have to wait.
  // Where clusters depend on the order, nothing waits: a user must not join before earlier rewards are learned.
  const std::size_t most = finds_clusters(bandit.policy()) ? 1 : most_waiting;
  RewardBatch waiting;
  std::size_t lines = 0;  // that were read, those of waiting events among them
  const auto learn_waiting = [&] {
    waiting.learn(bandit, [&summary](std::size_t learned, std::size_t line) {
      summary.learned += learned;
      summary.events += learned;
      summary.lines = line;
    });
    waiting.clear();
    summary.lines = lines;
  };
  const auto goes_on = [&options] { return !options.keep_going || options.keep_going(); };
  // Asked after the line was read as well: one that was cut off by a stop is no event.
  for (std::string line; goes_on() && std::getline(events, line) && goes_on();) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) {
      ++lines;
      continue;
    }
    const Event* event = nullptr;
    try {
      event = &reader.read(line);
      if (users.is_new(event->user)) {
        check_new_user(bandit, *event);
        if (has_hub(bandit.policy())) learn_waiting();  // whoever joins the hub changes what is believed of others
        users.add(event->user);
        ++summary.new_users;
        if (checker) checker->add_nodes(bandit);
      }
      const NodeId user = bandit.user(event->user);
      if (event->kind == Event::Kind::learn) {
        bandit.check(user, event->contexts, event->rewards[0]);
        waiting.add(user, event->contexts, event->rewards[0], lines + 1);
        if (checker) checker->learn(bandit.node(user), event->contexts, event->rewards[0]);
      }
    } catch (const std::invalid_argument& error) {
      learn_waiting();
      throw DataError(input_name, lines + 1, error.what());
    }
    if (event->kind == Event::Kind::learn) {
      ++lines;
      if (waiting.size() >= most || events.rdbuf()->in_avail() <= 0) learn_waiting();
      continue;
    }
    learn_waiting();
    try {
      const NodeId user = bandit.user(event->user);
      const NodeId node = bandit.node(user);
      bandit.select(user, {event->contexts, d}, {}, decision,
                    Draw{.seed = options.seed, .decision = options.first_decision + summary.decisions});
      if (checker) checker->compare(node, *event, decision, lines + 1);
      if (event->kind != Event::Kind::decide) {
        const bool logged = event->kind == Event::Kind::logged;
        const double reward = event->rewards[logged ? 0 : decision.arm];
        const auto context = event->context(logged ? event->action : decision.arm, d);
        bandit.update(user, context, reward);
        if (checker) checker->learn(node, context, reward);
        ++summary.learned;
        if (!logged) summary.reward += reward;
      }
    } catch (const std::invalid_argument& error) {
      throw DataError(input_name, lines + 1, error.what());
    }
    summary.lines = ++lines;
    ++summary.events;
    if (checker) summary.largest_difference = checker->largest_difference();
    write_decision(decisions, bandit.exploration(), *event, decision);
    ++summary.decisions;
  }
  learn_waiting();
  if (events.bad()) throw DataError(input_name, lines + 1, "cannot be read");
  if (checker) summary.largest_difference = checker->largest_difference();
}

}  // namespace goblin::app
