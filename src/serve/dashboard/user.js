// A user's page: what is believed, who is near, and why an item would be chosen.

import {draw, make, say} from "./elements.js";
import {Events} from "./events.js";
import {counted, short} from "./format.js";
import {Neighbourhood} from "./neighbourhood.js";
import {Refused} from "./server.js";
import {Why} from "./why.js";

const looked = 200; // newest records among which those of the user are looked for
const newestShown = 8;

/** The believed taste as bars, one for each number of a context, with a whisker for how sure it is. */
function taste({mean, deviations}) {
  const width = 600;
  const height = 150;
  const middle = height / 2;
  const slot = width / mean.length;
  const thickness = Math.min(26, slot * 0.6);
  const largest = Math.max(1e-300, ...mean.map((value, k) => Math.abs(value) + (deviations[k] ?? 0)));
  const scale = (middle - 8) / largest;
  const parts = mean.map((value, k) => {
    const x = (k + 0.5) * slot;
    const y = middle - scale * value;
    const reach = scale * (deviations[k] ?? 0);
    return draw(
      "g",
      {},
      draw("title", {}, `number ${k}: ${short(value)} \u00b1 ${short(deviations[k])}`),
      draw("rect", {
        class: value < 0 ? "bar negative" : "bar positive",
        x: x - thickness / 2,
        y: Math.min(y, middle),
        width: thickness,
        height: Math.max(0.5, Math.abs(y - middle)),
        rx: Math.min(2, thickness / 4),
      }),
      draw("line", {class: "whisker", x1: x, x2: x, y1: y - reach, y2: y + reach}),
    );
  });
  const label = `Believed taste: ${mean.map((value) => short(value)).join(", ")}`;
  return draw(
    "svg",
    {class: "taste", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label, preserveAspectRatio: "none"},
    draw("line", {class: "grid", x1: 0, x2: width, y1: middle, y2: middle}),
    parts,
  );
}

export class UserPage {
  constructor(server, user) {
    this.server = server;
    this.user = user;
    this.isGone = false;
    this.summary = make("p", {class: "summary"}, "\u2026");
    this.left = make("div", {class: "column"});
    this.right = make("div", {class: "column"});
    this.tasteHolder = make("div");
    this.why = new Why(server, user, (item) => this.neighbourhood?.colourBy(item));
    this.events = new Events("Their newest events", `Among the last ${looked} records of the log.`);
    this.root = make(
      "div",
      {class: "view"},
      make("p", {class: "back"}, make("a", {href: "#/"}, "\u2190 Overview")),
      make("h1", {tabindex: -1}, user),
      this.summary,
      make("div", {class: "grid halves"}, this.left, this.right),
    );
  }

  /** Asks for the user, then colours the neighbourhood and explains the item, if there is one. */
  async load(item) {
    let view;
    try {
      view = await this.server.get(`v1/users/${encodeURIComponent(this.user)}`);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.summary.replaceChildren(make("span", {class: "problem", role: "alert"}, error.message));
      return;
    }
    this.neighbourhood = new Neighbourhood(this.server, view);
    this.left.append(
      this.neighbourhood.root,
      make(
        "section",
        {class: "card", id: "taste", "aria-labelledby": "taste-title"},
        make("header", {}, make("h2", {id: "taste-title"}, "Believed taste")),
        this.tasteHolder,
        make(
          "p",
          {class: "note"},
          "One bar for each number of a context: how much reward it brings. The whisker is one standard deviation.",
        ),
      ),
      this.events.root,
    );
    this.right.append(this.why.root);
    this.#describe(view);
    this.isLoaded = true;
    await Promise.all([this.neighbourhood.load(() => !this.isGone), this.explain(item), this.#newest()]);
  }

  explain(item) {
    return this.why.explain(item);
  }

  /** Called about once a second; what is believed is asked for again when something was learned. */
  async update(status) {
    if (!this.isLoaded || this.learned === status.learned) return;
    this.learned = status.learned;
    const [view] = await Promise.all([this.server.get(`v1/users/${encodeURIComponent(this.user)}`), this.#newest()]);
    this.#describe(view);
  }

  leave() {
    this.isGone = true;
  }

  #describe(view) {
    const cluster = view.cluster === undefined || view.cluster === null ? "" : `, in cluster ${view.cluster}`;
    const rewards = view.rewards === 0 ? "No rewards of their own yet" : `${counted(view.rewards, "reward")} learned`;
    const friends = view.friend_count === 0 ? "no friends" : counted(view.friend_count, "friend");
    say(this.summary, `${rewards}, ${friends}${cluster}.`);
    this.tasteHolder.replaceChildren(taste(view));
  }

  async #newest() {
    const records = (await this.server.get(`v1/newest?count=${looked}`)).filter(({user}) => user === this.user);
    this.events.show(records.slice(0, newestShown), "Nothing lately.");
    this.why.suggest([...new Set(records.filter(({kind, item}) => kind === "decision" && item).map(({item}) => item))]);
  }
}
