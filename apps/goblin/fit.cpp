#include "fit.hpp"

#include "goblin/error.hpp"
#include "new_users.hpp"
#include "reward_batch.hpp"

#include <algorithm>
#include <deque>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

namespace goblin::app {
namespace {

/// The rewards that were read and wait to be learned.
class WaitingRewards {
 public:
  WaitingRewards(Bandit& bandit, const RewardFormat& format, std::string name, Shard shard, FitSummary& summary)
      : bandit_(bandit), users_(bandit), format_(format), name_(std::move(name)), shard_(shard), summary_(summary) {}

  [[nodiscard]] std::size_t size() const { return waiting_; }
  /// Of the log, that were learned.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  void take(RewardBlock block) {
    waiting_ += block.size();
    blocks_.push_back(std::move(block));
  }

  /// Learns so many of them, or fewer. Throws DataError of the first that is bad, after it has learned those before it.
  void learn(std::size_t count) {
    // Where clusters depend on the order, a user must not join before the rewards of earlier lines are learned.
    const std::size_t most = finds_clusters(bandit_.policy()) ? 1 : count;
    batch_.clear();
    std::size_t end = summary_.count;  // of the log, that is learned with the batch
    std::optional<std::size_t> bad_place;
    std::string reason;
    while (batch_.size() < most && !bad_place && drop_finished_blocks()) {
      const std::size_t place = start_ + blocks_.front().places[row_];
      try {
        accept(blocks_.front(), row_, place + 1);
        end = place + 1;
      } catch (const std::invalid_argument& error) {
        bad_place = place;
        reason = error.what();
      }
      ++row_;
      --waiting_;
    }
    batch_.learn(bandit_, [this](std::size_t learned, std::size_t its_end) {
      summary_.learned += learned;
      summary_.count = its_end;
    });
    summary_.count = end;
    if (bad_place) {
      summary_.count = *bad_place;
      throw failure(*bad_place, reason, true);
    }
  }

  /// What follows the last reward, when all have been learned. Throws DataError if the log cannot be read on.
  void finish() {
    drop_finished_blocks();
    summary_.count = start_;
    if (blocks_.empty()) return;
    const BadPlace& bad = *blocks_.front().bad;
    summary_.count += bad.at;
    throw failure(summary_.count, bad.reason, bad.of_one);
  }

 private:
  /// Whether there is a reward left, in the first block, at row_.
  bool drop_finished_blocks() {
    while (!blocks_.empty() && row_ == blocks_.front().size() && !blocks_.front().bad) {
      start_ += blocks_.front().length;
      bytes_ += blocks_.front().bytes;
      summary_.passed_over += blocks_.front().passed_over;
      row_ = 0;
      blocks_.pop_front();
    }
    return !blocks_.empty() && row_ < blocks_.front().size();
  }

  /// Adds a reward, with which the log is learned up to `end`, to the batch, and its user, if new, to the bandit. One
  /// of another shard is only looked at.
  void accept(const RewardBlock& block, std::size_t row, std::size_t end) {
    const std::size_t d = bandit_.options().dimension;
    const auto context = std::span(block.contexts).subspan(row * d, d);
    const NodeId user = block.numbers.empty() ? user_named(block.name(row), context, block.rewards[row])
                                              : user_numbered(block.numbers[row], context, block.rewards[row]);
    bandit_.check(user, context, block.rewards[row]);
    if (!is_own(user)) {
      ++summary_.others;
      return;
    }
    batch_.add(user, context, block.rewards[row], end);
  }

  [[nodiscard]] bool is_own(NodeId user) const {
    return shard_.count == 1 || bandit_.cluster(user).value_or(user) % shard_.count == shard_.index;
  }

  NodeId user_named(std::string_view name, std::span<const double> context, double reward) {
    if (users_.is_new(name)) {
      bandit_.check_new_user(context, reward);
      users_.add(name);
      ++summary_.new_users;
    }
    return bandit_.user(name);
  }

  NodeId user_numbered(std::uint32_t number, std::span<const double> context, double reward) {
    const auto known = by_number_.find(number);
    if (known != by_number_.end()) return known->second;
    const NodeId user = user_named(format_.user_name(number), context, reward);
    by_number_.emplace(number, user);
    return user;
  }

  [[nodiscard]] DataError failure(std::size_t place, const std::string& reason, bool of_one) const {
    const std::string unit = format_.unit();
    if (of_one && unit == "line") return {name_, place + 1, reason};
    if (of_one) return {name_, 0, fmt::format("{} {}: {}", unit, place + 1, reason)};
    return {name_, 0, fmt::format("{} (after {} {})", reason, unit, place)};
  }

  Bandit& bandit_;
  NewUsers users_;
  const RewardFormat& format_;
  std::string name_;
  Shard shard_;
  FitSummary& summary_;
  std::deque<RewardBlock> blocks_;
  std::size_t waiting_ = 0;  // rewards in the blocks that are not in a batch yet
  std::size_t row_ = 0;      // the next of the first block
  std::size_t start_ = 0;    // where the first block begins in the log
  std::size_t bytes_ = 0;    // of the blocks before it
  std::unordered_map<std::uint32_t, NodeId> by_number_;
  RewardBatch batch_;
};

/// The batch that was asked for, or what fits of the usual one.
std::size_t batch_size(const Bandit& bandit, const FitOptions& options) {
  const std::size_t d = bandit.options().dimension;
  const double of_a_reward =
      25.0 * static_cast<double>(d) + 100.0;  // read ahead, in the batch, and while it is learned
  const std::size_t available = bandit.free_bytes();
  const auto fitting = static_cast<std::size_t>(std::max(1.0, static_cast<double>(available) / of_a_reward));
  if (options.batch == 0) return std::min(default_batch(d), fitting);
  // A number in a log takes two bytes at the least.
  const std::size_t most = options.log_bytes > 0 ? options.log_bytes / (2 * d) + 1 : options.batch;
  const std::size_t batch = std::min(options.batch, most);
  if (batch <= fitting) return batch;
  const double needed = of_a_reward * static_cast<double>(batch);
  throw CapacityError(fmt::format("--batch: {} rewards of dimension {} take {:.3g} GB, more than the {:.3g} GB there "
                                  "are; what would fit: --batch {}",
                                  batch, d, 1e-9 * needed, 1e-9 * static_cast<double>(available), fitting),
                      static_cast<std::size_t>(std::min(needed, 1e18)), available);
}

}  // namespace

void check_shard(const Bandit& bandit, const Shard& shard) {
  const std::string which = fmt::format("shard: {}/{}", shard.index + 1, shard.count);
  if (shard.index >= shard.count) throw std::invalid_argument(which + " (there is no such part)");
  if (shard.count == 1) return;
  if (finds_clusters(bandit.policy())) {
    throw std::invalid_argument(
        fmt::format("{} of a log for {} (must be 1/1: its clusters depend on the order of all rewards)", which,
                    name_of(bandit.policy())));
  }
  if (bandit.options().forgetting != Forgetting{}) {
    throw std::invalid_argument(fmt::format(
        "{} of a log for a bandit with a window or a discount (must be 1/1: such bandits cannot be merged)", which));
  }
  if (bandit.rewards() > 0) {
    throw std::invalid_argument(fmt::format(
        "{} of a log for a bandit that has learned {} rewards already (must be one that has learned none: merging "
        "would count them {} times; merge the saved bandit with the parts instead)",
        which, bandit.rewards(), shard.count));
  }
}

void fit(Bandit& bandit, std::unique_ptr<RewardFormat> log, const std::string& name, const FitOptions& options,
         FitSummary& summary) {
  check_shard(bandit, options.shard);
  const std::size_t batch = batch_size(bandit, options);
  const std::size_t threads = options.threads > 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency());
  summary.unit = log->unit();
  RewardLog reader(std::move(log), threads, batch);
  WaitingRewards waiting(bandit, reader.format(), name, options.shard, summary);
  const auto goes_on = [&options] { return !options.keep_going || options.keep_going(); };
  std::exception_ptr failure;
  for (bool more = true; more && goes_on();) {
    bool pauses = false;
    try {
      RewardLog::Next next = reader.next();
      pauses = !next.block && !next.ended;
      more = !next.ended && !(next.block && next.block->bad);
      if (next.block) waiting.take(*std::move(next.block));
    } catch (const std::exception&) {
      failure = std::current_exception();
      more = false;
    }
    // Whole batches, and what there is where nothing follows, or nothing for now.
    const std::size_t enough = pauses || !more ? 1 : batch;
    while (waiting.size() >= enough && goes_on()) {
      waiting.learn(batch);
      if (options.progress) options.progress(waiting.bytes());
    }
  }
  if (!goes_on()) return;
  waiting.finish();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace goblin::app
