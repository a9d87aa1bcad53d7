// What the server said in the last ten minutes. It counts since its start; the page takes differences.

export const kept = 600; // seconds

const rateWindow = 5; // seconds over which events a second are counted
const meanWindow = 30; // seconds over which averages are taken: longer, as they are noisier
const normalQuantile = 1.96; // for an interval that holds the truth 95 times of 100

export class History {
  #samples = [];
  /** One for each sample, the oldest first: {time, decisions, rewards, mean, low, high, explored, backlog, p50, p99}.
   *  What nobody knows is missing or null: just after a start, or where nothing happened. */
  points = [];

  /** Takes in what /v1/status said; time in seconds. */
  add(time, status) {
    // Counters begin again when the server does: nothing before that can be compared.
    if (this.#samples.length > 0 && this.#samples.at(-1).status.started !== status.started) this.#samples = [];
    this.#samples.push({time, status});
    this.points.push(this.#point(time, status));
    while (this.#samples[0].time < time - kept) this.#samples.shift();
    while (this.points[0].time < time - kept) this.points.shift();
  }

  /** The server did not answer: a gap. */
  miss(time) {
    this.points.push({time, isGap: true});
    while (this.points[0].time < time - kept) this.points.shift();
  }

  /** The difference of counters to the oldest sample within the window. */
  #since(time, status, window) {
    const before = this.#samples.find((sample) => sample.time >= time - window - 0.5);
    if (!before || before.time >= time) return null;
    const difference = (name) => status[name] - before.status[name];
    return {seconds: time - before.time, before: before.status, difference};
  }

  #point(time, status) {
    const point = {time, backlog: status.backlog};
    const short = this.#since(time, status, rateWindow);
    if (short) {
      point.decisions = short.difference("decisions") / short.seconds;
      point.rewards = short.difference("rewards_accepted") / short.seconds;
    }
    const long = this.#since(time, status, meanWindow);
    if (long) {
      const decisions = long.difference("decisions");
      if (decisions > 0) point.explored = long.difference("explored") / decisions;
      const times = timesSince(long.before.requests?.select?.times, status.requests?.select?.times);
      point.p50 = quantile(times, 0.5);
      point.p99 = quantile(times, 0.99);
      Object.assign(
        point,
        meanWithInterval(
          long.difference("rewards_accepted"),
          long.difference("reward_sum"),
          long.difference("squared_reward_sum"),
        ),
      );
    }
    return point;
  }
}

/** The mean of so many numbers, and an interval that holds what it would be in the long run 95 times of 100. */
export function meanWithInterval(count, sum, squaredSum) {
  if (!(count > 0)) return {};
  const mean = sum / count;
  if (count < 2) return {mean};
  const variance = Math.max(0, (squaredSum - sum * mean) / (count - 1));
  const reach = normalQuantile * Math.sqrt(variance / count);
  return {mean, low: mean - reach, high: mean + reach};
}

/** How many calls took how long since then: [[from, to, count], ...] in seconds, in ascending order. */
function timesSince(before = [], now = []) {
  const then = new Map(before.map(([from, , count]) => [from, count]));
  return now.map(([from, to, count]) => [from, to, count - (then.get(from) ?? 0)]);
}

/** The time that a share of calls did not exceed, in proportion where it falls between two bounds. */
export function quantile(times, share) {
  let left = share * times.reduce((sum, [, , count]) => sum + count, 0);
  for (const [from, to, count] of times) {
    if (count > 0 && count >= left) return from + ((to - from) * left) / count;
    left -= count;
  }
  return null;
}
