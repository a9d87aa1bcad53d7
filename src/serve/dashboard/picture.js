// Drawings of people and their friendships, coloured from orange (less) over nothing to blue (more).

import {draw, make} from "./elements.js";
import {shortened, userAddress} from "./format.js";

const side = 46; // kept free at each edge of the drawing, for names
const letter = 6; // pixels that one takes, about
const longestName = 16; // letters

/** Puts friends on rings around the middle, in their order: [{user, x, y}] in rings, the user first at 0, 0. */
export function rings(user, friends) {
  const places = [{user, x: 0, y: 0}];
  const count = friends.length;
  const inner = count <= 12 ? count : Math.round(count * 0.38);
  const start = count <= 2 ? 0 : -Math.PI / 2; // one or two friends stand beside the user
  friends.forEach((friend, k) => {
    const isInner = k < inner;
    const ring = isInner ? inner : count - inner;
    const place = isInner ? k : k - inner;
    const radius = isInner && inner < count ? 0.56 : 1;
    const angle = (2 * Math.PI * (place + (isInner ? 0 : 0.5))) / ring + start;
    places.push({user: friend, x: radius * Math.cos(angle), y: radius * Math.sin(angle)});
  });
  return places;
}

/** A colour between -1 and 1 as a class and a share, for the style sheet to mix. */
function paint(element, value) {
  const known = typeof value === "number" && Number.isFinite(value);
  element.classList.toggle("less", known && value < 0);
  element.classList.toggle("more", known && value > 0);
  element.classList.toggle("unpainted", !known);
  if (known) element.style.setProperty("--share", `${(100 * Math.min(1, Math.abs(value))).toFixed(0)}%`);
}

/**
 * A drawing. places: [{user, x, y}], the first one is whom it is about. edges: [[a, b, weight]]. shown: by user,
 * {value: between -1 and 1 or nothing, text: said when pointed at, small: is only on the way, written: below the name}.
 */
export class Picture {
  constructor(label) {
    this.drawing = draw("svg", {class: "picture", role: "group", "aria-label": label});
    this.last = null;
    new ResizeObserver(() => this.last && this.#draw()).observe(this.drawing);
  }

  show(places, edges, shown) {
    this.last = {places, edges, shown};
    this.#draw();
  }

  #draw() {
    const {places, edges, shown} = this.last;
    const width = this.drawing.clientWidth;
    if (width === 0) return;
    const reach = (axis) => [
      Math.min(...places.map((place) => place[axis])),
      Math.max(...places.map((place) => place[axis])),
    ];
    const [left, right] = reach("x");
    const [top, bottom] = reach("y");
    const across = Math.max(right - left, 0.1);
    const down = Math.max(bottom - top, 0.1);
    const unit = Math.min((width - 2 * side) / across, 380 / down, 190);
    const height = Math.max(unit * (bottom - top) + 2 * side, 120);
    const at = new Map(
      places.map(({user, x, y}) => [user, [width / 2 + unit * (x - (left + right) / 2), side - 6 + unit * (y - top)]]),
    );
    const space = this.#space([...at.values()]);
    const radius = Math.max(6, Math.min(15, space / 2.6));
    // Names are written where there is room for most of them, or else nowhere: a list has them, too.
    const letters = Math.min(longestName, Math.floor(space / letter));
    const wanted = Math.max(...places.map(({user}) => Math.min([...user].length, 8)));
    const heaviest = Math.max(...edges.map(([, , weight]) => weight), 1e-300);

    const lines = edges
      .filter(([a, b]) => at.has(a) && at.has(b))
      .map(([a, b, weight]) => {
        const touches = a === places[0].user || b === places[0].user;
        const [[x1, y1], [x2, y2]] = [at.get(a), at.get(b)];
        return draw("line", {
          class: touches ? "edge own" : "edge",
          x1,
          y1,
          x2,
          y2,
          "stroke-width": (touches ? 1 : 0.5) * (0.5 + (2 * weight) / heaviest),
        });
      });
    const nodes = places.map(({user}, k) => {
      const [x, y] = at.get(user);
      const {value, text, small, written} = shown(user);
      const r = small ? radius * 0.5 : k === 0 ? radius * 1.25 : radius;
      const circle = draw("circle", {cx: x, cy: y, r});
      paint(circle, value);
      const name = k === 0 ? shortened(user, longestName) : letters >= wanted ? shortened(user, letters) : null;
      const label = name ? draw("text", {x, y: y + r + 13}, name) : null;
      const below = label && written ? draw("text", {class: "written", x, y: y + r + 26}, written) : null;
      return draw(
        "a",
        {class: k === 0 ? "person own" : "person", href: userAddress(user), "aria-label": `${user}: ${text}`},
        draw("title", {}, `${user}: ${text}`),
        circle,
        label,
        below,
      );
    });
    this.drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.drawing.setAttribute("height", height);
    const focused = document.activeElement?.closest?.("a.person")?.getAttribute("href");
    const hadFocus = focused && this.drawing.contains(document.activeElement);
    this.drawing.replaceChildren(...lines, ...nodes);
    if (hadFocus) nodes.find((node) => node.getAttribute("href") === focused)?.focus();
  }

  /** The distance of the two that are nearest to each other. */
  #space(points) {
    let nearest = 120;
    points.forEach(([x, y], k) => {
      for (const [otherX, otherY] of points.slice(0, k))
        nearest = Math.min(nearest, Math.hypot(x - otherX, y - otherY));
    });
    return nearest;
  }
}

/** What the colours mean, from one end to the other. */
export function legend(less, nothing, more) {
  return make(
    "div",
    {class: "legend"},
    make("div", {class: "scale"}),
    make("div", {class: "ends"}, make("span", {}, less), make("span", {}, nothing), make("span", {}, more)),
  );
}
