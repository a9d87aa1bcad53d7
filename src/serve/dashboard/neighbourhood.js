// A user and friends, coloured by what is believed of them.

import {make, say} from "./elements.js";
import {counted, short, userAddress, whole, withSign} from "./format.js";
import {legend, Picture, rings} from "./picture.js";

const mostDrawn = 30; // friends; each is asked for
const atOnce = 4; // questions to the server at the same time

const product = (a, b) => a.reduce((sum, value, k) => sum + value * b[k], 0);

/** How alike two tastes point: 1 the same way, -1 opposite ways; nothing where one of them is not known at all. */
function likeness(a, b) {
  const length = Math.sqrt(product(a, a) * product(b, b));
  return length > 0 ? product(a, b) / length : null;
}

export class Neighbourhood {
  constructor(server, view) {
    this.server = server;
    this.view = view;
    this.others = new Map(); // what is believed of friends, by name, as it comes in
    this.item = null; // {name, context} to colour by, or none
    this.friends = view.friends.slice(0, mostDrawn);
    this.places = rings(
      view.user,
      this.friends.map(({user}) => user),
    );
    this.picture = new Picture(`${view.user} and friends`);
    this.caption = make("p", {class: "note"});
    this.legend = make("div");
    this.rows = new Map(view.friends.map((friend) => [friend.user, make("td")]));
    this.root = make(
      "section",
      {class: "card neighbourhood", id: "neighbourhood", "aria-labelledby": "neighbourhood-title"},
      make("header", {}, make("h2", {id: "neighbourhood-title"}, "Neighbourhood")),
      view.friends.length === 0
        ? make(
            "p",
            {},
            "No friends yet, so only own rewards count. ",
            make("code", {}, `PUT /v1/edges/${view.user}/SOMEBODY`),
            " makes one.",
          )
        : [this.picture.drawing, this.legend, this.caption, this.#table()],
    );
    this.#draw();
  }

  /** Asks what is believed of each friend, and colours them as the answers come. */
  async load(isCurrent) {
    const waiting = this.friends.map(({user}) => user);
    const ask = async () => {
      while (waiting.length > 0 && isCurrent()) {
        const user = waiting.shift();
        this.others.set(user, await this.server.get(`v1/users/${encodeURIComponent(user)}`).catch(() => null));
        if (isCurrent()) this.#draw();
      }
    };
    await Promise.all(Array.from({length: atOnce}, ask));
  }

  /** From now on the colours are what this item is expected to bring from each; without one, how alike tastes are. */
  colourBy(item) {
    this.item = item;
    this.#draw();
  }

  #value(user) {
    const belief = user === this.view.user ? this.view : this.others.get(user);
    if (!belief) return null;
    return this.item ? product(belief.mean, this.item.context) : likeness(belief.mean, this.view.mean);
  }

  #draw() {
    if (this.friends.length === 0) return;
    const values = new Map(this.places.map(({user}) => [user, this.#value(user)]));
    const largest = this.item ? Math.max(1e-300, ...[...values.values()].map((value) => Math.abs(value ?? 0))) : 1;
    const rewards = new Map(this.friends.map((friend) => [friend.user, friend.rewards]));
    this.picture.show(this.places, this.#edges(), (user) => {
      const value = values.get(user);
      const isOwn = user === this.view.user;
      const known = value !== null;
      const learned = counted(isOwn ? this.view.rewards : rewards.get(user), "reward");
      const said = !known
        ? "not known"
        : this.item
          ? `expected reward ${short(value)}`
          : `taste alike ${withSign(value)}`;
      return {value: known ? value / largest : null, text: `${said}, ${learned}`};
    });
    for (const [user, cell] of this.rows) {
      const value = values.get(user);
      say(cell, value === null || value === undefined ? "" : this.item ? short(value) : withSign(value));
    }
    this.legend.replaceChildren(
      this.item
        ? legend(short(-largest), "0", short(largest))
        : legend("opposite taste", "nothing in common", "same taste"),
    );
    say(this.head, this.item ? "Expected" : "Alike");
    const more = this.view.friend_count - this.friends.length;
    say(
      this.caption,
      (this.item
        ? `Coloured by the reward that ${this.item.name} is expected to bring from each. `
        : "Coloured by how alike the tastes are believed to be. ") +
        "A thicker line is a stronger friendship." +
        (more > 0 ? ` ${whole(more)} more friends are not drawn.` : ""),
    );
  }

  /** To each friend, and among friends as far as the friends' own lists have come. */
  #edges() {
    const drawn = new Set(this.places.map(({user}) => user));
    const edges = this.friends.map(({user, weight}) => [this.view.user, user, weight]);
    for (const [user, belief] of this.others) {
      for (const friend of belief?.friends ?? []) {
        const isNew = friend.user > user || !this.others.get(friend.user);
        if (friend.user !== this.view.user && drawn.has(friend.user) && isNew)
          edges.unshift([user, friend.user, friend.weight]);
      }
    }
    return edges;
  }

  #table() {
    this.head = make("th", {scope: "col"}, "Alike");
    return make(
      "details",
      {},
      make("summary", {}, `Friends as a list (${whole(this.view.friends.length)})`),
      make(
        "table",
        {class: "list"},
        make(
          "thead",
          {},
          make(
            "tr",
            {},
            make("th", {scope: "col"}, "Friend"),
            make("th", {scope: "col"}, "Weight"),
            make("th", {scope: "col"}, "Rewards"),
            this.head,
          ),
        ),
        make(
          "tbody",
          {},
          this.view.friends.map(({user, weight, rewards}) =>
            make(
              "tr",
              {},
              make("td", {}, make("a", {href: userAddress(user)}, user)),
              make("td", {}, short(weight)),
              make("td", {}, whole(rewards)),
              this.rows.get(user),
            ),
          ),
        ),
      ),
    );
  }
}
