/** Keys: which of them a figure takes, and where the arrow keys lead. */
import { clamp } from "./numbers.js";

/** Of each arrow key, how far it goes across and down. */
export const ARROWS = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/**
 * Answer the keys that are pressed on an element.
 *
 * `answer(key, event)` returns false for a key that it does not take; that one stays the
 * browser's, as does every key that is pressed with Ctrl, Alt or the command key.
 */
export const onKeys = (figure, element, answer) => {
  figure.listen(element, "keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (answer(event.key, event) !== false) event.preventDefault();
  });
};

/**
 * Where a key leads from a cell of a table: arrows to the next one, Home and End to the ends of
 * the row, Page up and Page down (if `page` says so) many rows on. Null if it leads nowhere.
 */
export const moveInTable = (key, { row, column }, { rows, columns, page = 0 }) => {
  const to = (r, c) => ({ row: clamp(r, 0, rows - 1), column: clamp(c, 0, columns - 1) });
  if (key in ARROWS) {
    const [across, down] = ARROWS[key];
    return to(row + down, column + across);
  }
  if (key === "Home") return to(row, 0);
  if (key === "End") return to(row, columns - 1);
  if (page && key === "PageUp") return to(row - page, column);
  if (page && key === "PageDown") return to(row + page, column);
  return null;
};

/**
 * Where a key leads from a value, as on a slider: → and ↑ a step on, ← and ↓ a step back, Page up
 * and Page down ten, Home and End to the ends. Null if it leads nowhere.
 */
export const moveOnLine = (key, value, { least, most, step = 1 }) => {
  if (key === "Home") return least;
  if (key === "End") return most;
  const [across, down] = ARROWS[key] ?? [0, 0];
  const steps = { PageUp: 10, PageDown: -10 }[key] ?? across - down;
  return steps === 0 ? null : clamp(value + steps * step, least, most);
};
