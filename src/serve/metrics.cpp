#include "serve/metrics.hpp"

#include "serve/json_text.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace goblin::serve {
namespace {

constexpr std::uint64_t first_bucket = 10'000;  // nanoseconds

std::size_t bucket_of(std::chrono::nanoseconds time) {
  const auto count = static_cast<std::uint64_t>(std::max<std::int64_t>(time.count(), 0));
  if (count <= first_bucket) return 0;
  // The least b with first_bucket * 2^b >= count.
  const auto exponent = static_cast<std::size_t>(std::bit_width((count - 1) / first_bucket));
  return std::min(exponent, CallMetrics::buckets - 1);
}

/// The upper end of a bucket, in seconds.
double end_of(std::size_t bucket) {
  return 1e-9 * static_cast<double>(first_bucket) * static_cast<double>(std::uint64_t{1} << bucket);
}
double begin_of(std::size_t bucket) { return bucket == 0 ? 0.0 : end_of(bucket - 1); }

}  // namespace

void CallMetrics::count(int status, std::chrono::nanoseconds time) {
  times[bucket_of(time)].add();
  nanoseconds.add(static_cast<std::uint64_t>(std::max<std::int64_t>(time.count(), 0)));
  const auto place = static_cast<std::size_t>(std::find(statuses.begin(), statuses.end(), status) - statuses.begin());
  ended[std::min(place, statuses.size() - 1)].add();
}

struct Metrics::Sum {
  std::array<std::uint64_t, CallMetrics::buckets> times = {};
  std::array<std::uint64_t, CallMetrics::statuses.size()> ended = {};
  std::uint64_t count = 0;
  double seconds = 0.0;

  [[nodiscard]] std::uint64_t errors() const {
    std::uint64_t all = 0;
    for (std::size_t status = 0; status < ended.size(); ++status) {
      const int code = CallMetrics::statuses[status];
      if (code == 0 || code >= 400) all += ended[status];
    }
    return all;
  }

  /// The time that a share of the calls did not exceed, in proportion within the bucket.
  [[nodiscard]] double quantile(double share) const {
    const double wanted = share * static_cast<double>(count);
    double before = 0.0;
    for (std::size_t bucket = 0; bucket < times.size(); ++bucket) {
      const auto here = static_cast<double>(times[bucket]);
      if (here > 0.0 && before + here >= wanted) {
        return begin_of(bucket) + (end_of(bucket) - begin_of(bucket)) * (wanted - before) / here;
      }
      before += here;
    }
    return 0.0;
  }
};

Metrics::Metrics(std::vector<std::string> calls, std::size_t threads) : calls_(std::move(calls)) {
  for (std::size_t thread = 0; thread < threads; ++thread) {
    threads_.push_back(std::make_unique<ThreadMetrics>(calls_.size()));
  }
}

Metrics::Sum Metrics::sum_of(std::size_t call) const {
  Sum sum;
  std::uint64_t nanoseconds = 0;
  for (const auto& thread : threads_) {
    const CallMetrics& one = thread->of_call[call];
    for (std::size_t bucket = 0; bucket < sum.times.size(); ++bucket) sum.times[bucket] += one.times[bucket].value();
    for (std::size_t status = 0; status < sum.ended.size(); ++status) sum.ended[status] += one.ended[status].value();
    nanoseconds += one.nanoseconds.value();
  }
  for (const auto here : sum.times) sum.count += here;
  sum.seconds = 1e-9 * static_cast<double>(nanoseconds);
  return sum;
}

void Metrics::append_requests(std::string& out) const {
  out += "\"requests\":{";
  bool first = true;
  for (std::size_t call = 0; call < calls_.size(); ++call) {
    const Sum sum = sum_of(call);
    if (sum.count == 0) continue;
    append(out, "{}\"{}\":{{\"count\":{},\"errors\":{},\"p50\":{},\"p99\":{},\"times\":[", first ? "" : ",",
           calls_[call], sum.count, sum.errors(), sum.quantile(0.5), sum.quantile(0.99));
    bool first_time = true;
    for (std::size_t bucket = 0; bucket < sum.times.size(); ++bucket) {
      if (sum.times[bucket] == 0) continue;
      append(out, "{}[{},{},{}]", first_time ? "" : ",", begin_of(bucket), end_of(bucket), sum.times[bucket]);
      first_time = false;
    }
    out += "]}";
    first = false;
  }
  out += '}';
}

void Metrics::append_prometheus(std::string& out, const Status& status, double uptime) const {
  const auto metric = [&](std::string_view name, std::string_view type, std::string_view help, auto value) {
    append(out, "# HELP goblin_{} {}\n# TYPE goblin_{} {}\ngoblin_{} {}\n", name, help, name, type, name, value);
  };
  out += "# HELP goblin_requests_total Requests by call and HTTP status.\n# TYPE goblin_requests_total counter\n";
  for (std::size_t call = 0; call < calls_.size(); ++call) {
    const Sum sum = sum_of(call);
    for (std::size_t place = 0; place < sum.ended.size(); ++place) {
      if (sum.ended[place] == 0) continue;
      const int code = CallMetrics::statuses[place];
      append(out, "goblin_requests_total{{call=\"{}\",status=\"{}\"}} {}\n", calls_[call],
             code == 0 ? "other" : std::to_string(code), sum.ended[place]);
    }
  }
  out +=
      "# HELP goblin_request_seconds From the last byte of a request to its answer.\n"
      "# TYPE goblin_request_seconds histogram\n";
  for (std::size_t call = 0; call < calls_.size(); ++call) {
    const Sum sum = sum_of(call);
    if (sum.count == 0) continue;
    std::uint64_t count = 0;
    for (std::size_t bucket = 0; bucket + 1 < sum.times.size(); ++bucket) {
      count += sum.times[bucket];
      append(out, "goblin_request_seconds_bucket{{call=\"{}\",le=\"{}\"}} {}\n", calls_[call], end_of(bucket), count);
    }
    append(out,
           "goblin_request_seconds_bucket{{call=\"{0}\",le=\"+Inf\"}} {1}\n"
           "goblin_request_seconds_sum{{call=\"{0}\"}} {2}\ngoblin_request_seconds_count{{call=\"{0}\"}} {1}\n",
           calls_[call], sum.count, sum.seconds);
  }
  const auto total = [&](Counter ThreadMetrics::*counter) {
    std::uint64_t all = 0;
    for (const auto& thread : threads_) all += ((*thread).*counter).value();
    return all;
  };
  const std::uint64_t closed = total(&ThreadMetrics::connections_closed);
  const std::uint64_t opened = total(&ThreadMetrics::connections_opened);
  metric("connections", "gauge", "Connections that are open.", opened > closed ? opened - closed : 0);
  metric("connections_total", "counter", "Connections that were taken.", opened);
  metric("connections_refused_total", "counter", "Connections beyond the limit.",
         total(&ThreadMetrics::connections_refused));
  metric("timeouts_total", "counter", "Connections that were closed because nothing came, or nothing was read.",
         total(&ThreadMetrics::timeouts));
  metric("read_bytes_total", "counter", "Bytes of requests.", total(&ThreadMetrics::bytes_read));
  metric("written_bytes_total", "counter", "Bytes of answers.", total(&ThreadMetrics::bytes_written));
  metric("uptime_seconds", "gauge", "Since the server was started.", uptime);

  append(out,
         "# HELP goblin_info What decides.\n# TYPE goblin_info gauge\n"
         "goblin_info{{policy=\"{}\",exploration=\"{}\",engines=\"{}\",dimension=\"{}\"}} 1\n",
         status.policy, status.exploration, status.engines, status.dimension);
  metric("ready", "gauge", "1 if it is ready, 0 while it catches up or something is wrong.", status.ready ? 1 : 0);
  metric("evidence_comparisons_total", "counter", "Comparisons of the evidence with that of other processes.",
         status.comparisons);
  metric("evidence_disagrees", "gauge", "1 if another process that learns from the same log has other evidence.",
         status.disagrees ? 1 : 0);
  metric("trouble", "gauge", "1 if something is wrong: /v1/status says what.", status.trouble.empty() ? 0 : 1);
  metric("users", "gauge", "Users.", status.users);
  metric("edges", "gauge", "Edges of the graph.", status.edges);
  metric("items", "gauge", "Items of the catalogue.", status.items);
  metric("bandit_bytes", "gauge", "Memory of the bandit.", status.bytes);
  metric("rewards_learned", "gauge", "Rewards that the belief has in it.", status.rewards);
  metric("log_end", "gauge", "Offset that the next record of the log will have.", status.end);
  metric("log_durable", "gauge", "Offset of the last record on disk.", status.durable);
  metric("log_learned", "gauge", "Offset of the last record that the belief has in it.", status.learned);
  metric("backlog", "gauge", "Rewards that are on disk and not learned yet.", status.backlog);
  metric("backlog_limit", "gauge", "Backlog at which rewards are refused.", status.backlog_limit);
  metric("snapshot", "gauge", "Offset of the newest snapshot.", status.snapshot);
  metric("decisions_total", "counter", "Decisions.", status.decisions);
  metric("explored_total", "counter", "Decisions for an arm that is not the one with the highest mean.",
         status.explored);
  metric("rewards_total", "counter", "Rewards that were accepted.", status.rewards_accepted);
  metric("rewards_repeated_total", "counter", "Rewards that had been there already.", status.rewards_repeated);
  metric("rewards_expired_total", "counter", "Decisions whose reward did not come in time.", status.rewards_expired);
  metric("reward_sum", "gauge", "Sum of the rewards that were accepted.", status.reward_sum);
  metric("squared_reward_sum", "gauge", "Sum of their squares.", status.squared_reward_sum);
  metric("commits_total", "counter", "Commits: one sync of the disk each.", status.commits);
  metric("snapshots_total", "counter", "Snapshots that were taken.", status.snapshots);
}

}  // namespace goblin::serve
