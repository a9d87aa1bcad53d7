// A line over the last minutes: a title, what it is now in large figures, and a drawing as plain SVG.

import {draw, make, say} from "./elements.js";
import {span, unknown} from "./format.js";
import {kept} from "./history.js";

const height = 150;
const margin = {left: 44, right: 12, top: 10, bottom: 22};
const spans = [60, 120, 300, kept]; // seconds that the drawing may show: the shortest that has everything

/** About `count` round numbers from the lowest to the highest, or a little beyond. */
function ticks(low, high, count) {
  const raw = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= raw * 0.999);
  const first = Math.floor(low / step + 1e-9);
  const last = Math.ceil(high / step - 1e-9);
  return {step, marks: Array.from({length: last - first + 1}, (_, k) => (first + k) * step)};
}

const isKnown = (value) => typeof value === "number" && Number.isFinite(value);

/** The path through points, which begins anew after a gap. */
function linePath(points, x, y, key) {
  let path = "";
  let pen = "M";
  for (const point of points) {
    if (isKnown(point[key])) {
      path += `${pen}${x(point.time).toFixed(1)},${y(point[key]).toFixed(1)}`;
      pen = "L";
    } else {
      pen = "M";
    }
  }
  return path;
}

/** The outlines between two keys, one for each stretch without a gap. `low` may also be a number. */
function areaPath(points, x, y, low, high) {
  const lowOf = (point) => (isKnown(low) ? low : point[low]);
  let path = "";
  let stretch = [];
  const close = () => {
    if (stretch.length > 1) {
      const there = stretch.map((point) => `${x(point.time).toFixed(1)},${y(point[high]).toFixed(1)}`);
      const back = stretch.map((point) => `${x(point.time).toFixed(1)},${y(lowOf(point)).toFixed(1)}`).reverse();
      path += `M${there.join("L")}L${back.join("L")}Z`;
    }
    stretch = [];
  };
  for (const point of points) {
    if (isKnown(point[high]) && isKnown(lowOf(point))) stretch.push(point);
    else close();
  }
  close();
  return path;
}

/**
 * title, note: texts.
 * series: [{key, label, kind, format, more?}], for each line: which number of a point it is, what it is called, the class
 *   that has its colour, how it is written, and what is written behind it.
 * band: [low, high], the keys of an interval.
 * axis(number, step, highest): how the numbers at the side are written.
 * least: the axis is at least so long; fromZero: it begins at 0.
 */
export class Chart {
  constructor({id, title, note, series, band = null, axis, least = 0, fromZero = true, wide = false}) {
    this.series = series;
    this.band = band;
    this.axis = axis;
    this.least = least;
    this.fromZero = fromZero;
    this.title = title;
    this.points = [];
    this.cursor = null; // the time that somebody points at
    this.figures = series.map(({label, kind}) => {
      const value = make("span", {class: "value"}, unknown);
      const more = make("span", {class: "more"});
      const root = make(
        "div",
        {class: `figure ${kind}`},
        make("p", {class: "number"}, value, more),
        make("p", {class: "label"}, label),
      );
      return {root, value, more};
    });
    this.when = make("p", {class: "when"});
    this.drawing = draw("svg", {
      class: "lines",
      role: "img",
      tabindex: 0,
      height,
      pointermove: (event) => this.#pointAt(event.clientX),
      pointerdown: (event) => this.#pointAt(event.clientX),
      pointerleave: () => this.#moveTo(null),
      blur: () => this.#moveTo(null),
      keydown: (event) => this.#step(event),
    });
    this.readout = make(
      "div",
      {class: "figures"},
      this.figures.map(({root}) => root),
    );
    this.root = make(
      "section",
      {class: `card chart${wide ? " wide" : ""}`, id, "aria-labelledby": `${id}-title`},
      make("header", {}, make("h2", {id: `${id}-title`}, title), this.when),
      this.readout,
      this.drawing,
      make("p", {class: "note"}, note),
    );
    new ResizeObserver(() => this.#redraw()).observe(this.drawing);
  }

  /** The points of History, and what time it is, in seconds. */
  update(points, now) {
    this.points = points;
    this.now = now;
    this.#redraw();
  }

  /** What the server said last. */
  get #latest() {
    return this.points.findLast((point) => !point.isGap) ?? this.points[0];
  }

  get #shown() {
    if (this.cursor === null) return this.#latest;
    return this.points.reduce(
      (best, point) => (Math.abs(point.time - this.cursor) < Math.abs(best.time - this.cursor) ? point : best),
      this.points[0],
    );
  }

  #pointAt(clientX) {
    if (this.scale) this.#moveTo(this.scale.timeAt(clientX - this.drawing.getBoundingClientRect().left));
  }

  #step(event) {
    const steps = {ArrowLeft: -1, ArrowRight: 1, PageUp: -30, PageDown: 30, Home: -Infinity, End: Infinity}[event.key];
    if (event.key === "Escape") this.#moveTo(null);
    if (steps === undefined || this.points.length === 0) return;
    event.preventDefault();
    const here = this.points.indexOf(this.#shown);
    const next = Math.min(this.points.length - 1, Math.max(0, here + steps));
    this.readout.setAttribute("aria-live", "polite");
    this.#moveTo(this.points[next].time);
  }

  #moveTo(time) {
    if (time === null) this.readout.removeAttribute("aria-live");
    if (time === this.cursor) return;
    this.cursor = time;
    this.#redraw();
  }

  #redraw() {
    const width = this.drawing.clientWidth;
    if (this.points.length === 0 || width === 0) return;
    const shown = this.#shown;
    this.#write(shown);
    const length = spans.find((seconds) => this.points[0].time >= this.now - seconds) ?? kept;
    const {low, high, step, marks} = this.#range();
    const inner = width - margin.left - margin.right;
    const x = (time) => margin.left + inner * (1 - (this.now - time) / length);
    const y = (value) =>
      height - margin.bottom - ((height - margin.top - margin.bottom) * (value - low)) / (high - low);
    this.scale = {timeAt: (offset) => this.now - length * (1 - (offset - margin.left) / inner)};

    const parts = [];
    for (const mark of marks) {
      parts.push(draw("line", {class: "grid", x1: margin.left, x2: width - margin.right, y1: y(mark), y2: y(mark)}));
      parts.push(
        draw(
          "text",
          {class: "tick", x: margin.left - 8, y: y(mark) + 4, "text-anchor": "end"},
          this.axis(mark, step, high),
        ),
      );
    }
    for (const [share, anchor] of [
      [0, "start"],
      [0.5, "middle"],
      [1, "end"],
    ]) {
      const ago = length * (1 - share);
      parts.push(
        draw(
          "text",
          {class: "tick", x: margin.left + inner * share, y: height - 5, "text-anchor": anchor},
          ago === 0 ? "now" : `${span(ago)} ago`,
        ),
      );
    }
    if (this.band) {
      const [bandLow, bandHigh] = this.band;
      parts.push(
        draw("path", {class: `area ${this.series[0].kind}`, d: areaPath(this.points, x, y, bandLow, bandHigh)}),
      );
    } else if (this.fromZero) {
      const first = this.series[0];
      parts.push(draw("path", {class: `area ${first.kind}`, d: areaPath(this.points, x, y, 0, first.key)}));
    }
    for (const {key, kind} of this.series) {
      parts.push(draw("path", {class: `line ${kind}`, d: linePath(this.points, x, y, key)}));
    }
    if (this.cursor !== null) {
      const at = x(shown.time);
      parts.push(draw("line", {class: "cursor", x1: at, x2: at, y1: margin.top, y2: height - margin.bottom}));
    }
    for (const {key, kind} of this.series) {
      if (isKnown(shown[key]))
        parts.push(draw("circle", {class: `dot ${kind}`, cx: x(shown.time), cy: y(shown[key]), r: 3.5}));
    }
    this.drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.drawing.replaceChildren(...parts);
    this.drawing.setAttribute(
      "aria-label",
      `${this.title}, the last ${span(length)}. Now: ${this.#summary(this.#latest)}. ` + "Arrow keys go back in time.",
    );
  }

  /** What the axis goes from and to, and where its lines are. */
  #range() {
    const keys = [...this.series.map(({key}) => key), ...(this.band ?? [])];
    const values = this.points.flatMap((point) => keys.map((key) => point[key])).filter(isKnown);
    let low = this.fromZero ? 0 : Math.min(...values);
    let high = Math.max(...values);
    if (values.length === 0) [low, high] = [0, this.least];
    if (this.fromZero) high = Math.max(high, this.least);
    if (high - low < this.least) [low, high] = [(low + high - this.least) / 2, (low + high + this.least) / 2];
    const {step, marks} = ticks(low, high, 3);
    return {low: marks[0], high: marks.at(-1), step, marks};
  }

  #write(point) {
    this.series.forEach(({key, format, more}, k) => {
      say(this.figures[k].value, format(point[key]));
      say(this.figures[k].more, more && isKnown(point[key]) ? more(point) : "");
    });
    say(this.when, this.cursor === null ? "" : `${span(this.now - point.time)} ago`);
  }

  #summary(point) {
    return this.series.map(({key, label, format}) => `${label} ${format(point[key])}`).join(", ");
  }
}
