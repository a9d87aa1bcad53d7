// The first page: what the server is doing.

import {Chart} from "./chart.js";
import {make, say} from "./elements.js";
import {Events} from "./events.js";
import {
  bytes,
  counted,
  duration,
  durationAxis,
  numberAxis,
  percent,
  percentAxis,
  short,
  span,
  unknown,
  whole,
} from "./format.js";

const newestShown = 18;

/** The facts of the panel "This server": what it is called, a word on it, and how it reads in a status. */
const facts = [
  ["Policy", "how users learn from each other", (status) => status.policy],
  ["Exploration", "how it tries what it is not sure of", (status) => status.exploration],
  ["Users", (status) => counted(status.edges, "friendship"), (status) => whole(status.users)],
  ["Items", (status) => `contexts of ${counted(status.dimension, "number")}`, (status) => whole(status.items)],
  ["Rewards learned", "ever", (status) => whole(status.rewards)],
  ["Engine", "how the belief is kept", (status) => status.engines || unknown],
  ["Memory", "of the belief", (status) => bytes(status.bytes)],
  ["Log", "records on disk", (status) => whole(status.durable)],
  [
    "Newest snapshot",
    "a restart begins there",
    (status) => (status.snapshot > 0 ? `record ${whole(status.snapshot)}` : "none yet"),
  ],
  ["Expired", "decisions whose reward never came", (status) => whole(status.rewards_expired)],
  ["Sent twice", "rewards, learned once", (status) => whole(status.rewards_repeated)],
  ["Running for", (status) => `version ${status.version}`, (status) => span(status.uptime_seconds)],
];

/** A first call that works here: contexts of this length, at this address. */
function firstCalls(status, usesKey) {
  const key = usesKey ? ' -H "Authorization: Bearer $KEY"' : "";
  const unit = (place) => Array.from({length: status.dimension}, (_, k) => (k === place ? 1 : 0));
  const contexts =
    status.dimension <= 50
      ? JSON.stringify([unit(0), unit(status.dimension > 1 ? 1 : 0)])
      : `[[${status.dimension} numbers], [${status.dimension} numbers]]`;
  const address = new URL("v1/", document.baseURI);
  const event = `first-${status.durable + 1}`; // one that is not in the log yet
  return [
    `curl${key} ${address}select --json '{"user": "ann", "event": "${event}", "contexts": ${contexts}}'`,
    `curl${key} ${address}reward --json '{"event": "${event}", "reward": 1}'`,
  ];
}

function command(text) {
  const button = make(
    "button",
    {
      type: "button",
      class: "copy",
      click: async () => {
        try {
          await navigator.clipboard.writeText(text);
          say(button, "Copied");
        } catch {
          getSelection().selectAllChildren(code); // no clipboard without HTTPS: at least it is marked
          say(button, "Marked");
        }
        setTimeout(() => say(button, "Copy"), 1500);
      },
    },
    "Copy",
  );
  const code = make("code", {}, text);
  return make("div", {class: "command"}, make("pre", {tabindex: 0}, code), button);
}

export class Overview {
  constructor(server) {
    this.server = server;
    this.charts = [
      new Chart({
        id: "traffic",
        title: "Traffic",
        note: "Counted over five seconds. Not every decision gets a reward, and rewards may come much later.",
        wide: true,
        least: 1,
        axis: numberAxis,
        series: [
          {key: "decisions", label: "decisions a second", kind: "first", format: short},
          {key: "rewards", label: "rewards a second", kind: "second", format: short},
        ],
      }),
      new Chart({
        id: "reward",
        title: "Average reward",
        note: "The band holds the true average 95 times out of 100.",
        wide: true,
        fromZero: false,
        least: 0.01,
        axis: numberAxis,
        band: ["low", "high"],
        series: [
          {
            key: "mean",
            label: "in the last 30 seconds",
            kind: "second",
            format: short,
            more: ({mean, high}) => (high === undefined ? "" : `\u00b1\u202f${short(high - mean)}`),
          },
        ],
      }),
      new Chart({
        id: "latency",
        title: "Time to decide",
        note: "From the whole request to the answer on the server, in the last 30 seconds.",
        least: 1e-4,
        axis: durationAxis,
        series: [
          {key: "p50", label: "half are faster", kind: "first", format: duration},
          {key: "p99", label: "99 of 100 are", kind: "third", format: duration},
        ],
      }),
      new Chart({
        id: "exploration",
        title: "Exploration",
        note: "How often something else was tried than what looked best, in the last 30 seconds.",
        least: 0.05,
        axis: percentAxis,
        series: [{key: "explored", label: "of decisions", kind: "first", format: percent}],
      }),
      new Chart({
        id: "backlog",
        title: "Waiting to be learned",
        note: "Rewards that are safe on disk and not yet in the belief. They do not slow decisions.",
        least: 10,
        axis: numberAxis,
        series: [{key: "backlog", label: "rewards", kind: "third", format: whole}],
      }),
    ];
    this.events = new Events(
      "Newest events",
      "A chance is how likely that choice was: 100 % where nothing was left to chance.",
    );
    this.facts = facts.map(([name, hint, value]) => ({
      name,
      hint,
      value,
      definition: make("dd"),
      explanation: make("small"),
    }));
    this.empty = make("section", {class: "card empty", id: "empty", hidden: true});
    this.grid = make(
      "div",
      {class: "grid charts"},
      this.charts.map(({root}) => root),
    );
    this.root = make(
      "div",
      {class: "view"},
      make("h1", {class: "unseen"}, "Overview"),
      this.empty,
      this.grid,
      make(
        "div",
        {class: "grid"},
        this.events.root,
        make(
          "section",
          {class: "card facts", id: "facts", "aria-labelledby": "facts-title"},
          make("header", {}, make("h2", {id: "facts-title"}, "This server")),
          make(
            "dl",
            {},
            this.facts.map(({name, definition, explanation}) =>
              make("div", {}, make("dt", {}, name, explanation), definition),
            ),
          ),
        ),
      ),
    );
  }

  /** Called about once a second with what /v1/status said. */
  async update(status, points, now) {
    const isEmpty = status.decisions + status.rewards_accepted === 0;
    this.#showEmpty(isEmpty ? status : null);
    this.grid.hidden = isEmpty;
    if (!isEmpty) for (const chart of this.charts) chart.update(points, now);
    for (const {hint, value, definition, explanation} of this.facts) {
      say(definition, value(status));
      say(explanation, typeof hint === "string" ? hint : hint(status));
    }
    if (status.durable !== this.shownEvents) {
      this.shownEvents = status.durable;
      this.events.show(await this.server.get(`v1/newest?count=${newestShown}`), "Nothing has happened yet.");
    }
  }

  #showEmpty(status) {
    this.empty.hidden = status === null;
    if (status === null || this.empty.childElementCount > 0) return;
    const [select, reward] = firstCalls(status, this.server.usesKey);
    const before = status.rewards > 0;
    this.empty.append(
      make("h2", {}, before ? "Nothing has been asked since the start" : "Ready for the first decision"),
      make(
        "p",
        {},
        before
          ? `${counted(status.rewards, "reward")} from before ${status.rewards === 1 ? "is" : "are"} learned. `
          : "",
        "Ask which of two candidates is the better one for a user. A candidate is described by its context, ",
        `a list of ${counted(status.dimension, "number")}:`,
      ),
      command(select),
      make(
        "p",
        {},
        "The answer has the chosen candidate as \u201carm\u201d. Then tell how it went, now or much later:",
      ),
      command(reward),
      make(
        "p",
        {class: "note"},
        "Somebody whom the server has not heard of joins without friends. To see this page with traffic ",
        "that is made up: ",
        make("code", {}, "goblin serve --demo"),
        ".",
      ),
    );
  }
}
