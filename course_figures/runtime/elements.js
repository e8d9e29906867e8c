/** Elements of the page: how they are made, and changed only where something is another. */

const fill = (node, attributes, children) => {
  for (const [name, value] of Object.entries(attributes ?? {}))
    if (value === true) node.setAttribute(name, "");
    else if (value !== false && value != null) node.setAttribute(name, value);
  node.append(...children.flat().filter((child) => child != null && child !== false));
  return node;
};

/** An HTML element; attributes that are false or null are left out. */
export const html = (tag, attributes, ...children) =>
  fill(document.createElement(tag), attributes, children);

/** An SVG element. */
export const svg = (tag, attributes, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

/** A line of text in an SVG; y is its middle. */
export const svgText = (x, y, text, attributes = {}) =>
  svg("text", { x, y, "dominant-baseline": "central", "font-size": 13, ...attributes }, text);

/** Give an element its text; where that is the same, the page need not be laid out again. */
export const setText = (element, text) => {
  if (element.textContent !== text) element.textContent = text;
};

/** Fill an element with what `build` returns, if what that depends on is another than before. */
export const refill = (parent, reasons, build) => {
  const now = JSON.stringify(reasons);
  if (parent.dataset.drawn === now) return;
  parent.dataset.drawn = now;
  parent.replaceChildren(...build());
};

let ids = 0;
/** An id that no other element of the page has. */
export const uniqueId = () => {
  ids += 1;
  return `cf-${ids}-${Math.random().toString(36).slice(2)}`;
};
