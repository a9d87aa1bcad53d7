// "Why this item?": whose rewards an estimate came from, and where its doubt comes from.

import {make} from "./elements.js";
import {alike, counted, percent, short, userAddress, withSign} from "./format.js";
import {legend, Picture} from "./picture.js";

const listed = 10;

/** The numbers of "0.1, 0.2" or "[0.1, 0.2]"; nothing if it is another text. */
export function numbersOf(text) {
  const parts = text
    .trim()
    .replace(/^\[|\]$/g, "")
    .split(/[\s,]+/)
    .filter((part) => part !== "");
  const numbers = parts.map(Number);
  const isList = text.includes(",") || text.trim().startsWith("[");
  return isList && parts.length > 0 && numbers.every(Number.isFinite) ? numbers : null;
}

const shares = [
  ["own", "noise in own rewards", "first"],
  ["others", "noise in rewards of others", "second"],
  ["prior", "nobody has told yet", "third"],
  ["unexplained", "too far away to look at", "fourth"],
];

function doubt(explanation) {
  const parts = shares
    .map(([key, text, kind]) => ({text, kind, share: explanation.width_shares[key] ?? 0}))
    .filter(({share}) => share > 0.0005);
  const bar = make(
    "div",
    {class: "stack", "aria-hidden": "true"},
    parts.map(({share, kind}) => {
      const part = make("div", {class: kind});
      part.style.flexGrow = share;
      return part;
    }),
  );
  return make(
    "div",
    {class: "doubt"},
    make("h3", {}, "Where the doubt comes from"),
    bar,
    make(
      "ul",
      {},
      parts.map(({text, kind, share}) => make("li", {class: kind}, make("strong", {}, percent(share)), ` ${text}`)),
    ),
  );
}

function contributions(explanation) {
  const rows = explanation.contributions.map(({user, value, rewards}) => ({
    name: make("a", {href: userAddress(user)}, user),
    value,
    note: counted(rewards, "reward"),
  }));
  if (explanation.rest_count > 0) {
    rows.push({name: counted(explanation.rest_count, "other"), value: explanation.rest, note: "together"});
  }
  const largest = Math.max(1e-300, ...rows.map(({value}) => Math.abs(value)));
  const format = alike(largest);
  return make(
    "table",
    {class: "contributions"},
    make(
      "thead",
      {class: "unseen"},
      make(
        "tr",
        {},
        ["User", "Size", "Contribution", "Rewards"].map((head) => make("th", {scope: "col"}, head)),
      ),
    ),
    make(
      "tbody",
      {},
      rows.map(({name, value, note}) => {
        const bar = make("div", {class: value < 0 ? "bar negative" : "bar positive"});
        bar.style.setProperty("--length", `${((100 * Math.abs(value)) / largest).toFixed(1)}%`);
        return make(
          "tr",
          {},
          make("th", {scope: "row"}, name),
          make("td", {class: "track"}, bar),
          make("td", {class: "amount"}, withSign(value, format)),
          make("td", {class: "soft"}, note),
        );
      }),
    ),
  );
}

export class Why {
  /** onItem(item): called with {name, context} when one is explained, with nothing when none is. */
  constructor(server, user, onItem) {
    this.server = server;
    this.user = user;
    this.onItem = onItem;
    this.input = make("input", {
      id: "item",
      name: "item",
      autocomplete: "off",
      spellcheck: "false",
      placeholder: "an item, or 0.1, 0.2, \u2026",
    });
    this.chips = make("div", {class: "chips"});
    this.result = make("div", {class: "result", "aria-live": "polite"});
    this.root = make(
      "section",
      {class: "card why-card", id: "why", "aria-labelledby": "why-title"},
      make("header", {}, make("h2", {id: "why-title"}, "Why this item?")),
      make(
        "form",
        {submit: (event) => this.#submit(event)},
        make("label", {for: "item"}, "Item"),
        this.input,
        make("button", {}, "Explain"),
      ),
      this.chips,
      this.result,
    );
    this.#introduce();
  }

  /** Items that were chosen for this user lately, to be explained at a press. */
  suggest(items) {
    const shown = items.slice(0, 6);
    if (shown.join("\n") === this.suggested) return;
    this.suggested = shown.join("\n");
    this.chips.replaceChildren(
      ...(shown.length === 0 ? [] : [make("span", {class: "soft"}, "Chosen lately:")]),
      ...shown.map((item) => make("a", {class: "chip", href: userAddress(this.user, item)}, item)),
    );
  }

  #introduce() {
    this.result.replaceChildren(
      make(
        "p",
        {class: "soft"},
        "An estimate is a sum over users: so much of it came from their own rewards, so much from each friend\u2019s. " +
          "Name an item, or the numbers of its context.",
      ),
    );
  }

  #submit(event) {
    event.preventDefault();
    const item = this.input.value.trim();
    const address = userAddress(this.user, item);
    if (location.hash === address) this.explain(item);
    else location.hash = address;
  }

  /** Explains an item, or a context written as numbers; nothing clears it. */
  async explain(item) {
    this.asked = item;
    this.input.value = item ?? "";
    if (!item) {
      this.#introduce();
      this.onItem(null);
      return;
    }
    const numbers = numbersOf(item);
    const what = numbers ? {context: numbers} : {item};
    try {
      const [explanation, context] = await Promise.all([
        this.server.post("v1/explain", {user: this.user, ...what, k: listed}),
        numbers ?? this.server.get(`v1/items/${encodeURIComponent(item)}`).then((answer) => answer.context),
      ]);
      if (this.asked !== item) return;
      const name = numbers ? "this context" : item;
      this.#show(name, explanation);
      this.onItem({name, context});
    } catch (error) {
      if (this.asked !== item) return;
      this.result.replaceChildren(make("p", {class: "problem", role: "alert"}, error.message));
      this.onItem(null);
    }
  }

  #show(name, explanation) {
    const picture = new Picture(`Whose rewards count for ${name}`);
    const largest = Math.max(1e-300, ...explanation.places.map(({value}) => Math.abs(value)));
    const format = alike(largest);
    const byName = new Map(explanation.places.map((place) => [place.user, place]));
    const nobody = explanation.contributions.length === 0;
    this.result.replaceChildren(
      make(
        "div",
        {},
        make(
          "p",
          {class: "estimate"},
          make("strong", {}, name),
          " is expected to bring ",
          make("strong", {class: "number"}, short(explanation.mean)),
          " from ",
          make("strong", {}, this.user),
          ". Its score is raised by ",
          make("strong", {class: "number"}, short(explanation.width)),
          " because of what is not known yet.",
        ),
        nobody
          ? make("p", {}, "Nobody\u2019s rewards count for this: the estimate is what is believed of a stranger.")
          : [
              make("h3", {}, "Whose rewards it came from"),
              contributions(explanation),
              picture.drawing,
              legend(withSign(-largest, format), "0", withSign(largest, format)),
              make(
                "p",
                {class: "note"},
                "Coloured by contribution. A small circle contributes nothing: it is on the way to somebody who does.",
              ),
            ],
        doubt(explanation),
      ),
    );
    if (!nobody) {
      picture.show(explanation.places, explanation.edges, (user) => {
        const {value, contributes} = byName.get(user);
        const small = !contributes && user !== explanation.user;
        return {
          value: value / largest,
          small,
          text: contributes ? `contributes ${withSign(value, format)}` : "contributes nothing",
          written: contributes ? withSign(value, format) : "",
        };
      });
    }
  }
}
