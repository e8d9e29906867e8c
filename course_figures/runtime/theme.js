/** The page's colors, and what stands for a strength in them. */

const COLORS = [
  ...["ink", "soft", "line", "paper", "focus"],
  ...["query", "key", "value", "score", "weight", "residual"],
  ...["plus", "minus", "probability", "group-1", "group-2", "group-3", "group-4"],
];

/** Steps of a ramp from the page's paper to a color. */
export const RAMP_STEPS = 64;

const onePixel = () => {
  const area = document.createElement("canvas");
  area.width = 1;
  area.height = 1;
  return area.getContext("2d", { willReadFrequently: true });
};
let pixel = null;
const rgb = (color) => {
  // Asking a canvas costs a good part of a millisecond, and most colors are written like this.
  if (/^#[0-9a-f]{6}$/i.test(color))
    return [1, 3, 5].map((i) => parseInt(color.slice(i, i + 2), 16));
  pixel ??= onePixel();
  pixel.clearRect(0, 0, 1, 1);
  pixel.fillStyle = color;
  pixel.fillRect(0, 0, 1, 1);
  return [...pixel.getImageData(0, 0, 1, 1).data].slice(0, 3);
};

/** Relative luminance. Source: WCAG 2.2. */
const luminance = (color) =>
  color
    .map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);

const ramp = (paper, end) =>
  Array.from({ length: RAMP_STEPS + 1 }, (_, i) => {
    const mixed = paper.map((v, k) => Math.round(v + (end[k] - v) * (i / RAMP_STEPS)));
    // Black on anything lighter than this, white on the rest: 4.5 : 1 at the worst.
    return { fill: `rgb(${mixed})`, ink: luminance(mixed) > 0.179 ? "#000" : "#fff" };
  });

/** The colors that hold inside an element, and ramps to them, each made when it is asked for. */
export const readTheme = (element) => {
  const style = getComputedStyle(element);
  const theme = { font: style.fontFamily };
  for (const name of COLORS) theme[name] = style.getPropertyValue(`--cf-${name}`).trim();
  const paper = rgb(theme.paper);
  const ramps = new Map();
  theme.ramp = (name) => {
    if (!ramps.has(name)) ramps.set(name, ramp(paper, rgb(theme[name])));
    return ramps.get(name);
  };
  return theme;
};

/** Tell of every change of theme: of the book, of JupyterLab, of the reader's system. */
export const watchTheme = (signal, changed) => {
  const observer = new MutationObserver(changed);
  observer.observe(document.documentElement, { attributeFilter: ["data-theme", "data-mode"] });
  observer.observe(document.body, { attributeFilter: ["data-jp-theme-light"] });
  signal.addEventListener("abort", () => observer.disconnect());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed, { signal });
};

/** Fill and ink for a strength from −1 to 1; `plus` and `minus` name the colors of its ends. */
export const heat = (theme, strength, plus = "plus", minus = "minus") => {
  const size = Math.min(1, Math.abs(strength));
  const step = Number.isNaN(size) ? 0 : Math.round(size * RAMP_STEPS);
  return theme.ramp(strength < 0 ? minus : plus)[step];
};
