// Numbers, times and addresses as people read them. What is not known is a dash.

export const unknown = "\u2013";
const minus = "\u2212";

const isNumber = (value) => typeof value === "number" && Number.isFinite(value);
const signed = (text) => text.replace(/^-/, minus);

/** A whole number with thousands set apart: 12,345. */
export function whole(value) {
  return isNumber(value) ? signed(Math.round(value).toLocaleString("en")) : unknown;
}

/** About three digits: 0.0123, 1.23, 123, 12.3k, 4.56M. */
export function short(value) {
  if (!isNumber(value)) return unknown;
  const size = Math.abs(value);
  if (size >= 1e9) return signed(`${(value / 1e9).toPrecision(3)}G`);
  if (size >= 1e6) return signed(`${(value / 1e6).toPrecision(3)}M`);
  if (size >= 1e4) return signed(`${(value / 1e3).toPrecision(3)}k`);
  if (size >= 100) return whole(value);
  if (size >= 10) return signed(value.toFixed(1));
  if (size >= 0.01) return signed(value.toFixed(2));
  if (size < 1e-12) return "0";
  return signed(value.toPrecision(2));
}

/** How to write numbers of which the largest is so large: all with as many decimals, that one with three digits. */
export function alike(largest) {
  if (!(largest >= 1e-12 && largest < 1e4)) return short;
  const decimals = Math.min(12, Math.max(0, 2 - Math.floor(Math.log10(largest) + 1e-9)));
  return (value) => (isNumber(value) ? signed(value.toFixed(decimals)).replace(/^\u2212(0\.?0*)$/, "$1") : unknown);
}

/** The same with its sign: +0.12, \u22120.30. */
export function withSign(value, format = short) {
  const text = format(value);
  return isNumber(value) && value > 0 && /[1-9]/.test(text) ? `+${text}` : text;
}

/** A share as per cent: 4.2 %. */
export function percent(value) {
  if (!isNumber(value)) return unknown;
  const hundredths = 100 * value;
  return `${hundredths.toFixed(Math.abs(hundredths) < 9.95 && hundredths !== 0 ? 1 : 0)}\u202f%`;
}

/** The unit in which so many seconds are written: how many there are in one, and its name. */
function unitOf(seconds) {
  if (seconds < 0.9995e-3) return [1e6, "\u00b5s"];
  return seconds < 0.9995 ? [1e3, "ms"] : [1, "s"];
}

/** Seconds that something took: 310 \u00b5s, 1.8 ms, 2.4 s. */
export function duration(seconds) {
  if (!isNumber(seconds)) return unknown;
  const [factor, unit] = unitOf(seconds);
  const amount = factor * seconds;
  return `${amount >= 100 ? amount.toFixed(0) : amount.toPrecision(amount < 10 ? 2 : 3)}\u202f${unit}`;
}

/** The numbers at the side of a drawing, which are a step apart: with as few digits as tell them apart. */
function stepped(value, step) {
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  return signed((Math.abs(value) < step / 2 ? 0 : value).toFixed(Math.min(12, decimals)));
}
export function numberAxis(value, step) {
  return step >= 1000 ? short(value).replace(/\.0+(?=[kMG])/, "") : stepped(value, step);
}
export function percentAxis(value, step) {
  return `${stepped(100 * value, 100 * step)}\u202f%`;
}
export function durationAxis(value, step, highest) {
  const [factor, unit] = unitOf(highest);
  return value < step / 2 ? "0" : `${stepped(factor * value, factor * step)}\u202f${unit}`;
}

/** Seconds that somebody waited: 12 s, 3 min 20 s, 5 h 10 min, 12 days. */
export function span(seconds) {
  if (!isNumber(seconds)) return unknown;
  const rounded = Math.round(seconds);
  if (rounded < 60) return `${rounded} s`;
  if (rounded < 3600)
    return rounded % 60 === 0 ? `${rounded / 60} min` : `${Math.floor(rounded / 60)} min ${rounded % 60} s`;
  if (rounded < 48 * 3600) return `${Math.floor(rounded / 3600)} h ${Math.floor((rounded % 3600) / 60)} min`;
  return `${Math.floor(rounded / 86400)} days`;
}

/** 12.3 MB, in thousands. */
export function bytes(value) {
  if (!isNumber(value)) return unknown;
  if (value < 1000) return `${value} B`;
  const units = ["kB", "MB", "GB", "TB"];
  let size = value / 1000;
  let unit = 0;
  while (size >= 999.5 && unit + 1 < units.length) {
    size /= 1000;
    ++unit;
  }
  return `${size.toPrecision(3)} ${units[unit]}`;
}

/** The time of day, with seconds. */
export function clock(milliseconds) {
  return isNumber(milliseconds) ? new Date(milliseconds).toLocaleTimeString("en-GB") : unknown;
}

/** "1 reward", "2 rewards". */
export function counted(count, noun) {
  return `${whole(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** A name that is too long for its place, cut in the middle: beginnings and ends are what tells names apart. */
export function shortened(name, length) {
  const letters = [...name];
  if (letters.length <= length) return name;
  const head = Math.ceil((length - 1) / 2);
  return `${letters.slice(0, head).join("")}\u2026${letters.slice(letters.length - (length - 1 - head)).join("")}`;
}

/** Where a user's page is, with an item to explain if one is given. */
export function userAddress(user, item) {
  const address = `#/users/${encodeURIComponent(user)}`;
  return item ? `${address}?item=${encodeURIComponent(item)}` : address;
}
