// Making elements of the page. Texts are always set as texts, so that a name can never become markup.

const svgNamespace = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

/** make("a", {href: "#", click: go}, "text", child): an element of HTML. A function is a listener for that event. */
export function make(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** The same for SVG. */
export function draw(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(svgNamespace, tag), attributes, children);
}

/** Sets the text of an element if it is another one, so that what somebody has selected stays selected. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
