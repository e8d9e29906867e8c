import { penOf } from "./canvas.js";
import { html } from "./elements.js";
import { visible } from "./symbols.js";

const WIDE = 18; // of a symbol
const ARCS = 62; // pixels that the arcs have above the symbols
const HIGH = ARCS + 44;
const FAINTEST = 0.01; // of the weights that have an arc

/**
 * The end of a text in one line, with an arc from its newest symbol to each that a head looks at.
 *
 * An arc is as thick and as strong as its weight is large, and a bar under the symbol says the
 * same. Returns { update({ symbols, weight(key), coming }) }, where coming is the symbol that is
 * about to be written, or null. What it shows must be said elsewhere: it is hidden from screen
 * readers.
 */
export const attentionArcs = (figure, { parent }) => {
  const area = html("canvas", { class: "live_model-arcs", "aria-hidden": "true" });
  parent.append(area);
  parent.style.minHeight = `${HIGH}px`;

  const update = ({ symbols, weight, coming }) => {
    const room = figure.room(parent);
    const columns = Math.max(4, Math.floor(room / WIDE));
    const shown = Math.min(symbols.length, columns - 1); // the last place is that of what comes
    const first = symbols.length - shown;
    const query = symbols.length - 1;
    const { theme } = figure;
    const pen = penOf(area, columns * WIDE, HIGH);
    const center = (s) => (s - first + 0.5) * WIDE;
    pen.strokeStyle = theme.weight;
    for (let s = first; s < query; s += 1) {
      const share = weight(s);
      if (share < FAINTEST) continue;
      const [from, to] = [center(query), center(s)];
      // Wide arcs are flat: the farthest reaches the top, the nearest a third of it.
      const top = ARCS * (1 - (0.35 + (0.6 * (query - s)) / Math.max(1, columns)));
      pen.globalAlpha = Math.min(1, 0.3 + share);
      pen.lineWidth = 1 + 7 * share;
      pen.beginPath();
      pen.moveTo(from, ARCS);
      pen.bezierCurveTo(from, top, to, top, to, ARCS);
      pen.stroke();
    }
    pen.globalAlpha = 1;
    const tile = (x, symbol, color, bold) => {
      pen.fillStyle = color;
      pen.font = `${bold ? "bold " : ""}17px ui-monospace, Menlo, Consolas, monospace`;
      pen.fillText(symbol, x, ARCS + 16);
    };
    for (let s = first; s <= query; s += 1) {
      tile(center(s), visible(symbols[s]), theme.ink, s === query);
      pen.fillStyle = theme.weight;
      const share = weight(s);
      pen.fillRect(center(s) - 7, ARCS + 31, 14, share < FAINTEST ? 0 : 1 + 9 * share);
    }
    const next = center(query + 1);
    pen.lineWidth = 2;
    pen.strokeStyle = coming === null ? theme.line : theme.probability;
    if (coming === null) pen.setLineDash([3, 3]);
    pen.strokeRect(next - WIDE / 2 + 2, ARCS + 3, WIDE - 4, 26);
    if (coming !== null) tile(next, visible(coming), theme.ink, true);
  };
  return { update };
};
