// The newest records of the log as a table of sentences.

import {make} from "./elements.js";
import {clock, percent, short, userAddress, withSign} from "./format.js";

const link = (user) => make("a", {href: userAddress(user)}, user);

/** What was chosen: an item, or which of the candidates. */
function choice(record) {
  if (record.item) return make("strong", {}, record.item);
  return record.arm === undefined ? "something" : `candidate ${record.arm}`;
}

function why(record) {
  if (!record.item) return null;
  return make(
    "a",
    {class: "why", href: userAddress(record.user, record.item), "aria-label": `Why ${record.item}?`},
    "why?",
  );
}

// For each kind of record: its word, what happened, and what stands at the right.
const kinds = {
  decision: (record) => [
    "decision",
    [choice(record), " for ", link(record.user), " ", why(record)],
    typeof record.probability === "number"
      ? [make("span", {class: "word"}, "chance "), percent(record.probability)]
      : [],
  ],
  reward: (record) => [
    "reward",
    [link(record.user), record.item ? [" for ", make("strong", {}, record.item)] : ""],
    [make("span", {class: record.reward < 0 ? "negative" : "positive"}, withSign(record.reward))],
  ],
  expired: (record) => ["no reward", [link(record.user), " gave none in time; learned as ", short(record.reward)], []],
  user: (record) => ["new user", [link(record.user), " joined"], []],
  edge: (record) => [
    "friends",
    [link(record.user), record.other_user ? [" and ", link(record.other_user)] : " and a friend"],
    [],
  ],
  no_edge: (record) => [
    "not friends",
    [link(record.user), record.other_user ? [" and ", link(record.other_user), " no more"] : ""],
    [],
  ],
  item: (record) => ["item", [make("strong", {}, record.item ?? ""), " is in the catalogue"], []],
  no_item: (record) => ["item", [make("strong", {}, record.item ?? ""), " left the catalogue"], []],
};

function row(record) {
  const [word, what, value] = (kinds[record.kind] ?? (() => [record.kind, [record.user ?? ""], []]))(record);
  return make(
    "tr",
    {class: record.kind},
    make("td", {class: "time"}, make("time", {datetime: new Date(record.time).toISOString()}, clock(record.time))),
    make("td", {class: "kind"}, make("span", {}, word)),
    make("td", {class: "what"}, what.flat()),
    make("td", {class: "amount"}, value),
  );
}

/** A list of records that stands still while somebody points at it or has the keyboard's focus in it. */
export class Events {
  #body = make("tbody");
  #paused = make("p", {class: "when", hidden: true}, "stands still while you are here");

  constructor(title, note) {
    this.root = make(
      "section",
      {class: "card events", id: "events", "aria-labelledby": "events-title"},
      make("header", {}, make("h2", {id: "events-title"}, title), this.#paused),
      make(
        "table",
        {},
        make(
          "thead",
          {class: "unseen"},
          make(
            "tr",
            {},
            ["Time", "Kind", "What", "Amount"].map((head) => make("th", {scope: "col"}, head)),
          ),
        ),
        this.#body,
      ),
      make("p", {class: "note"}, note),
    );
  }

  get isHeld() {
    return this.#body.matches(":hover") || this.#body.contains(document.activeElement);
  }

  /** Records, the newest first, and what to say if there are none. */
  show(records, empty) {
    this.#paused.hidden = !this.isHeld;
    if (this.isHeld && this.#body.childElementCount > 0) return;
    if (records.length > 0) this.#body.replaceChildren(...records.map(row));
    else this.#body.replaceChildren(make("tr", {}, make("td", {class: "what"}, empty)));
  }
}
