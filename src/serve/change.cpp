// What changes users, edges and items.
#include "serve/refusals.hpp"
#include "serve/service_state.hpp"

#include <cmath>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace goblin::serve {
namespace {

// Weights are compared with each other and with the ridge; what is beyond these is a mistake.
constexpr double smallest_weight = 1e-6;
constexpr double largest_weight = 1e6;

std::optional<Problem> check_weight(std::string_view field, double weight) {
  if (weight >= smallest_weight && weight <= largest_weight) return std::nullopt;
  return refusals::invalid(
      fmt::format("{}: {} (must be between {:g} and {:g})", field, weight, smallest_weight, largest_weight));
}

std::optional<Problem> check_ends(const Service::State& state, const std::string& a, const std::string& b) {
  for (const std::string* user : {&a, &b}) {
    if (auto problem = state.check_name("user", *user)) return problem;
    if (!state.bandit.has_user(*user)) {
      return refusals::unknown_user(fmt::format("user: \"{}\" (must be there; PUT /v1/users makes one)", *user));
    }
  }
  if (a == b) return refusals::invalid(fmt::format("edge: joins user \"{}\" to itself (must join two users)", a));
  return std::nullopt;
}

Record edge_record(std::string a, std::string b, double weight) {
  return {.kind = RecordKind::edge, .user = std::move(a), .other_user = std::move(b), .weight = weight};
}

/// Somebody new, for whom others wait.
class JoinWrite final : public Write {
 public:
  JoinWrite(Joins& joins, std::string user) : joins_(joins), user_(std::move(user)) {}

  void write(Transaction& transaction) override {
    joins_.write(user_);
    transaction.put_to_learn({.kind = RecordKind::user, .user = user_});
  }
  void done(const Problem* problem) override {
    if (problem != nullptr) joins_.tell(user_, *problem);  // else the learner tells
  }

 private:
  Joins& joins_;
  std::string user_;
};

/// An item that comes, changes or goes.
class ItemWrite final : public Write {
 public:
  ItemWrite(Service::State& state, Mailbox& its_mailbox, Record record, std::function<void(Result<Accepted>)> done)
      : state_(state), record_(std::move(record)), done_(std::move(done)) {
    mailbox = &its_mailbox;
  }

  void write(Transaction& transaction) override {
    repeated_ = false;
    problem_.reset();
    const auto there = state_.catalogue.find(record_.item);
    if (record_.kind == RecordKind::item && there && *there == record_.context) {
      repeated_ = true;
    } else if (record_.kind == RecordKind::item && !there && state_.catalogue.size() >= state_.options.most_items) {
      problem_ = refusals::full(fmt::format("item: \"{}\" would be one more than {} (the most there may be)",
                                            record_.item, state_.options.most_items));
    } else if (record_.kind == RecordKind::no_item && !there) {
      problem_ = refusals::unknown_item(fmt::format("item: \"{}\" (must be an item of the catalogue)", record_.item));
    } else {
      transaction.put(record_);
    }
  }
  void written() override {
    learned_ = state_.learner.learned();
    if (repeated_ || problem_) return;
    if (record_.kind == RecordKind::item) {
      state_.catalogue.put(record_.item, record_.context);
    } else {
      state_.catalogue.remove(record_.item);
    }
  }
  void done(const Problem* problem) override {
    if (problem != nullptr) return done_(*problem);
    if (problem_) return done_(*problem_);
    done_(Accepted{.offset = repeated_ ? learned_ : record_.offset, .learned = learned_, .repeated = repeated_});
  }
  [[nodiscard]] std::size_t bytes() const override { return 512 + 8 * record_.context.size(); }

 private:
  Service::State& state_;
  Record record_;
  std::function<void(Result<Accepted>)> done_;
  bool repeated_ = false;
  Offset learned_ = 0;
  std::optional<Problem> problem_;
};

}  // namespace

void Service::State::join(const std::string& user, Mailbox& mailbox, Joins::Then then) {
  const auto refuse = [&](Problem problem) {
    mailbox.post({[its_then = std::move(then), its_problem = std::move(problem)] { its_then(its_problem); }});
  };
  const bool is_expected = joins.expects(user);
  if (options.refuse_unknown_users && !is_expected && !bandit.has_user(user)) {
    return refuse(refusals::unknown_user(fmt::format("user: \"{}\" (must be there; PUT /v1/users makes one)", user)));
  }
  if (!has_names) {
    return refuse(refusals::unknown_user(
        fmt::format("user: \"{}\" (must be a number below {}: the users of this bandit have no names)", user,
                    bandit.user_count())));
  }
  if (bandit.user_count() + joins.size() >= options.most_users) {
    return refuse(refusals::full(
        fmt::format("user: \"{}\" would be one more than {} (the most there may be)", user, options.most_users)));
  }
  if (!joins.wait_for(user, mailbox, std::move(then))) return;
  // It may have come between the question who is there and this one.
  if (bandit.has_user(user)) return joins.tell(user);
  if (!is_expected) submit(std::make_unique<JoinWrite>(joins, user));
}

void Service::put_user(UserRequest request, Mailbox& mailbox, std::function<void(Result<Accepted>)> done) {
  State& state = *state_;
  const std::string user = request.user;
  const auto prepare = [&state, request = std::move(request)]() -> Result<std::vector<Record>> {
    if (auto problem = state.check_name("user", request.user)) return *problem;
    std::vector<Record> records;
    const bool is_new = !state.bandit.has_user(request.user);
    if (is_new) {
      if (!state.has_names) {
        return refusals::invalid(
            fmt::format("user: \"{}\" (must be a number below {}: the users of this bandit have no "
                        "names, and nobody can join)",
                        request.user, state.bandit.user_count()));
      }
      if (state.bandit.user_count() >= state.options.most_users) {
        return refusals::full(fmt::format("user: \"{}\" would be one more than {} (the most there may be)",
                                          request.user, state.options.most_users));
      }
      const Policy policy = state.bandit.policy();
      if (request.cluster && !uses_clusters(policy)) {
        return refusals::invalid(
            fmt::format("cluster: {} (must be none with {})", *request.cluster, goblin::name_of(policy)));
      }
      const std::size_t clusters = uses_clusters(policy) ? state.bandit.summary().clusters : 0;
      if (request.cluster && *request.cluster > clusters) {
        return refusals::invalid(
            fmt::format("cluster: {} (must be at most {}, which is a new one)", *request.cluster, clusters));
      }
      records.push_back({.kind = RecordKind::user, .user = request.user, .cluster = request.cluster});
    } else if (request.cluster && state.bandit.cluster(request.user) != request.cluster) {
      return refusals::invalid(
          fmt::format("cluster: {} (user \"{}\" is there already and cannot move)", *request.cluster, request.user));
    }
    for (const auto& [other, weight] : request.friends) {
      if (other == request.user) {
        return refusals::invalid(fmt::format("friends: \"{}\" (must be somebody else)", other));
      }
      if (auto problem = check_weight("friends", weight)) return *problem;
      if (!state.bandit.has_user(other)) {
        return refusals::unknown_user(fmt::format("friends: \"{}\" (must be there; PUT /v1/users makes one)", other));
      }
      if (is_new || state.bandit.weight(request.user, other) != weight) {
        records.push_back(edge_record(request.user, other, weight));
      }
    }
    return records;
  };
  // Somebody who joined for a decision meanwhile has a cluster already.
  const auto check = [&state](std::span<const Record> records) -> std::optional<Problem> {
    const Record& first = records.front();
    if (first.kind != RecordKind::user || !first.cluster) return std::nullopt;
    if (!state.joins.is_written(first.user) && !state.bandit.has_user(first.user)) return std::nullopt;
    return refusals::user_joined(
        fmt::format("cluster: {} (user \"{}\" joined at the same time and cannot move)", *first.cluster, first.user));
  };
  // Whoever is answered may ask for a decision before the learner comes to it.
  const auto written = [&state, user] {
    if (!state.bandit.has_user(user)) state.joins.expect(user);
  };
  state.edits.submit(
      {.prepare = prepare, .mailbox = &mailbox, .done = std::move(done), .check = check, .written = written});
}

void Service::put_edge(std::string a, std::string b, double weight, Mailbox& mailbox,
                       std::function<void(Result<Accepted>)> done) {
  State& state = *state_;
  const auto prepare = [&state, a = std::move(a), b = std::move(b), weight]() -> Result<std::vector<Record>> {
    if (auto problem = check_weight("weight", weight)) return *problem;
    if (auto problem = check_ends(state, a, b)) return *problem;
    if (state.bandit.weight(a, b) == weight) return std::vector<Record>{};
    return std::vector<Record>{edge_record(a, b, weight)};
  };
  state.edits.submit({.prepare = prepare, .mailbox = &mailbox, .done = std::move(done)});
}

void Service::delete_edge(std::string a, std::string b, Mailbox& mailbox, std::function<void(Result<Accepted>)> done) {
  State& state = *state_;
  const auto prepare = [&state, a = std::move(a), b = std::move(b)]() -> Result<std::vector<Record>> {
    if (auto problem = check_ends(state, a, b)) return *problem;
    if (state.bandit.weight(a, b) == 0.0) {
      return refusals::unknown_edge(fmt::format("edge: \"{}\" to \"{}\" (must be in the graph)", a, b));
    }
    return std::vector<Record>{{.kind = RecordKind::no_edge, .user = a, .other_user = b}};
  };
  state.edits.submit({.prepare = prepare, .mailbox = &mailbox, .done = std::move(done)});
}

void Service::put_item(ItemView item, Mailbox& mailbox, std::function<void(Result<Accepted>)> done) {
  State& state = *state_;
  if (auto problem = state.check_name("item", item.item)) return done(*problem);
  try {
    state.bandit.check_new_user(item.context);
  } catch (const std::invalid_argument& error) {
    return done(refusals::invalid(error.what()));
  }
  Record record{.kind = RecordKind::item, .item = std::move(item.item), .context = std::move(item.context)};
  state.submit(std::make_unique<ItemWrite>(state, mailbox, std::move(record), std::move(done)));
}

void Service::delete_item(std::string item, Mailbox& mailbox, std::function<void(Result<Accepted>)> done) {
  State& state = *state_;
  if (auto problem = state.check_name("item", item)) return done(*problem);
  Record record{.kind = RecordKind::no_item, .item = std::move(item)};
  state.submit(std::make_unique<ItemWrite>(state, mailbox, std::move(record), std::move(done)));
}

}  // namespace goblin::serve
