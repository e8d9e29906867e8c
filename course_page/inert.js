/**
 * Feedback as elements: a fragment of HTML is read without being run, and only what feedback is
 * made of gets into the page. What an answer, a stored verdict or somebody's notebook brings along
 * stays text.
 */

const ALLOWED = new Set(
  "BR CODE DIV EM LI P PRE SPAN STRONG TABLE TBODY TD TH TR UL OL".split(" "),
);
// With everything in it: it is no text.
const DROPPED = new Set("SCRIPT STYLE TEMPLATE IFRAME OBJECT EMBED SVG MATH NOSCRIPT".split(" "));
const CLASS = /^course-[\w-]+$/;
// Colors, margins and borders, as `Verdict.to_html` has them: nothing that loads or covers.
const PROPERTIES =
  /^(color|opacity|margin|padding|border-left|line-height|overflow-wrap|list-style|padding-left|text-decoration|white-space|text-align)$/;

const calm = (style) =>
  style
    .split(";")
    .map((one) => one.split(":").map((part) => part.trim()))
    .filter(([name, value]) => PROPERTIES.test(name) && value && !/[(\\]/.test(value))
    .map(([name, value]) => [name, value]);

const attributesOf = (from, to) => {
  for (const name of (from.getAttribute("class") ?? "").split(/\s+/))
    if (CLASS.test(name)) to.classList.add(name);
  for (const [name, value] of calm(from.getAttribute("style") ?? ""))
    to.style.setProperty(name, value);
  if (from.getAttribute("aria-hidden") === "true") to.setAttribute("aria-hidden", "true");
};

/** A link within the book stays one; any other is its words. */
const link = (from) => {
  const address = new URL(from.getAttribute("href") ?? "", location.href);
  const here = new URL(document.documentElement.dataset.content_root ?? "./", location.href);
  if (!address.href.startsWith(here.href)) return document.createElement("span");
  const made = document.createElement("a");
  made.href = address.href;
  return made;
};

const copy = (from, into) => {
  for (const node of from.childNodes) {
    if (node.nodeType === Node.TEXT_NODE) into.append(node.data);
    if (node.nodeType !== Node.ELEMENT_NODE || DROPPED.has(node.tagName.toUpperCase())) continue;
    if (node.tagName === "A") {
      const made = link(node);
      copy(node, made);
      into.append(made);
    } else if (ALLOWED.has(node.tagName)) {
      const made = document.createElement(node.tagName);
      attributesOf(node, made);
      copy(node, made);
      into.append(made);
    } else {
      copy(node, into);
    }
  }
};

/** What a fragment of feedback shows, as nodes of the page. */
export const inert = (markup) => {
  const read = new DOMParser().parseFromString(String(markup), "text/html");
  const made = document.createDocumentFragment();
  copy(read.body, made);
  return made;
};

/** A picture of a cell: shown as an image, which runs nothing, in the color of the page's text. */
export const picture = (text, alt) => {
  const color = getComputedStyle(document.documentElement).getPropertyValue(
    "--pst-color-text-base",
  );
  const drawn = text.replaceAll("currentColor", color.trim() || "#555");
  const image = document.createElement("img");
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(drawn)}`;
  image.alt = alt;
  return image;
};

/** The pictures in what a cell gave as HTML: drawings, and images that bring their pixels along. */
export const picturesIn = (markup) => {
  const read = new DOMParser().parseFromString(String(markup), "text/html");
  const alt = read.querySelector("[aria-label], img[alt]");
  const said = alt?.getAttribute("aria-label") ?? alt?.getAttribute("alt") ?? "A picture";
  const drawn = [...read.querySelectorAll("svg")].map((one) =>
    picture(new XMLSerializer().serializeToString(one), said),
  );
  const pixels = [...read.querySelectorAll('img[src^="data:image/png;base64,"]')].map((one) => {
    const image = document.createElement("img");
    image.src = one.src;
    image.alt = said;
    return image;
  });
  return [...drawn, ...pixels];
};
