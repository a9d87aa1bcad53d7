#include "serve/fold.hpp"

#include "goblin/error.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace goblin::serve {
namespace {

bool is_reward(RecordKind kind) { return kind == RecordKind::reward || kind == RecordKind::expired; }
bool is_edge(RecordKind kind) { return kind == RecordKind::edge || kind == RecordKind::no_edge; }

/// Calls learn() with a record. If the bandit refuses it, that is told.
template <typename Learn>
void learn_one(const Record& record, const std::function<void(std::string)>& warn, Learn learn) {
  try {
    learn(std::span(&record, 1));
  } catch (const CapacityError&) {
    throw;
  } catch (const std::invalid_argument& error) {
    if (warn) warn(fmt::format("record {} of the log cannot be learned: {}", record.offset, error.what()));
  }
}

/// Calls learn() with all records, or with each of them if the bandit refuses one; then `learned` goes along, because
/// memory may run out half way, and what was learned by then must not be learned again.
template <typename Learn>
void all_or_each(std::span<const Record> records, Offset& learned, const std::function<void(std::string)>& warn,
                 Learn learn) {
  try {
    return learn(records);
  } catch (const CapacityError&) {
    throw;
  } catch (const std::invalid_argument&) {
    // Which one it is will be seen.
  }
  for (const Record& record : records) {
    learn_one(record, warn, learn);
    learned = record.offset;
  }
}

}  // namespace

bool is_learned(RecordKind kind) { return is_reward(kind) || is_edge(kind) || kind == RecordKind::user; }

Fold::Fold(SharedBandit& bandit, Offset learned, std::function<void(std::string)> warn)
    : bandit_(bandit), learned_(learned), warn_(std::move(warn)) {}

void Fold::learn(std::span<const Record> records) {
  while (!records.empty()) {
    const RecordKind kind = records.front().kind;
    std::size_t count = 1;
    if (records.front().offset <= learned_ || !is_learned(kind)) {
      // Nothing to do.
    } else if (kind == RecordKind::user) {
      join(records.front());
    } else {
      const auto alike = [&](RecordKind other) { return is_reward(kind) ? is_reward(other) : is_edge(other); };
      while (count < records.size() && alike(records[count].kind)) ++count;
      is_reward(kind) ? learn_rewards(records.first(count)) : learn_edges(records.first(count));
    }
    learned_ = std::max(learned_, records[count - 1].offset);
    records = records.subspan(count);
  }
}

void Fold::join(const Record& record) {
  if (bandit_.has_user(record.user)) return;
  learn_one(record, warn_,
            [&](std::span<const Record> one) { bandit_.add_user(one.front().user, one.front().cluster); });
}

void Fold::learn_rewards(std::span<const Record> records) {
  all_or_each(records, learned_, warn_, [&](std::span<const Record> some) {
    std::vector<Observation> batch;
    batch.reserve(some.size());
    for (const Record& record : some) {
      batch.push_back({.user = record.user, .context = record.context, .reward = record.reward});
    }
    bandit_.update(batch);
  });
}

void Fold::learn_edges(std::span<const Record> records) {
  all_or_each(records, learned_, warn_, [&](std::span<const Record> some) {
    std::map<std::pair<NodeId, NodeId>, double> weights;  // as they are after the records so far
    std::vector<EdgeChange> changes;
    for (const Record& record : some) {
      const NodeId a = bandit_.user(record.user);
      const NodeId b = bandit_.user(record.other_user);
      const auto [place, is_new] = weights.try_emplace(std::minmax(a, b));
      if (is_new) place->second = bandit_.weight(a, b);
      const double weight = record.kind == RecordKind::edge ? record.weight : 0.0;
      if (place->second == weight) continue;
      // A change adds to what there is; a record says what there is.
      if (place->second != 0.0) changes.push_back({.a = a, .b = b, .weight = 0.0});
      if (weight != 0.0) changes.push_back({.a = a, .b = b, .weight = weight});
      place->second = weight;
    }
    if (!changes.empty()) bandit_.update_edges(changes);
  });
}

}  // namespace goblin::serve
