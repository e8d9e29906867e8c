import { penOf } from "./canvas.js";
import { html } from "./elements.js";
import { ARROWS, onKeys } from "./keys.js";
import { pointIn } from "./pointer.js";
import { visible } from "./symbols.js";
import { heat } from "./theme.js";

const WIDE = 17; // of a symbol, with its distance to the next
const HIGH = 34; // of a line
const MOST_COLUMNS = 32;

/**
 * A text whose symbols each show the weight that one query gives them.
 *
 * The query is the newest symbol, or the one that the reader points at. Returns { area, query,
 * update({ symbols, weight(query, key), room, most }) }, where query is null for the newest symbol,
 * room is the width in pixels, and most the number of symbols that there may come to be.
 */
export const attentionStrip = (figure, { parent, label, spoken }) => {
  const area = html("canvas", {
    class: "live_model-context",
    tabindex: 0,
    role: "application",
    "aria-roledescription": "text with weights",
    "aria-label": label,
  });
  parent.append(area);
  const self = { area, query: null, symbols: [], columns: 1 };
  const newest = () => self.symbols.length - 1;
  const go = (query) => {
    self.query = query >= newest() ? null : Math.max(0, query);
    figure.later();
  };
  const goTo = (event) => {
    const { x, y } = pointIn(area, event);
    const column = Math.min(self.columns - 1, Math.floor(x / WIDE));
    const place = Math.floor(y / HIGH) * self.columns + column;
    if (place < self.symbols.length) go(place);
  };
  figure.listen(area, "pointermove", (event) => {
    if (event.pointerType !== "touch") goTo(event);
  });
  figure.listen(area, "click", goTo);
  figure.listen(area, "pointerleave", () => go(Infinity));
  onKeys(figure, area, (key) => {
    if (key === "Home") go(0);
    else if (key === "End") go(Infinity);
    else if (key in ARROWS) {
      const [across, down] = ARROWS[key];
      go((self.query ?? newest()) + across + down * self.columns);
    } else return false;
    figure.afterDrawing(() => figure.say(spoken()));
    return true;
  });
  figure.listen(area, "focus", () => figure.say(spoken()));

  self.update = ({ symbols, weight, room, most }) => {
    self.symbols = symbols;
    if (self.query !== null && self.query >= symbols.length) self.query = null;
    const query = self.query ?? newest();
    self.columns = Math.max(1, Math.min(Math.floor(Math.max(WIDE, room) / WIDE), MOST_COLUMNS));
    const rows = Math.ceil(symbols.length / self.columns);
    parent.style.minHeight = `${Math.ceil(most / self.columns) * HIGH}px`; // nothing below moves
    const pen = penOf(area, self.columns * WIDE, rows * HIGH);
    const { theme } = figure;
    symbols.forEach((symbol, s) => {
      const x = (s % self.columns) * WIDE;
      const y = Math.floor(s / self.columns) * HIGH;
      const strength = s <= query ? weight(query, s) : 0;
      const shade = heat(theme, strength, "weight");
      pen.fillStyle = shade.fill;
      pen.fillRect(x, y, WIDE - 1, 22);
      pen.fillStyle = s > query ? theme.line : shade.ink;
      pen.font = `${s === query ? "bold " : ""}14px ui-monospace, Menlo, Consolas, monospace`;
      pen.fillText(visible(symbol), x + (WIDE - 1) / 2, y + 12);
      // The height says the same as the shade.
      pen.fillStyle = theme.weight;
      pen.fillRect(x + 2, y + 23, WIDE - 5, Math.max(strength > 0.01 ? 1 : 0, 8 * strength));
      if (s !== query) return;
      pen.strokeStyle = theme.ink;
      pen.lineWidth = 2;
      pen.strokeRect(x + 1, y + 1, WIDE - 3, 20);
    });
  };
  return self;
};
