/** A row, a column or a cell lights up in a figure while words of the page speak of it. */
import { html } from "./elements.js";
import { cornerIn } from "./pointer.js";

/** What `mount.js` tells a figure: { row, column } of what to light up, or null. */
export const HIGHLIGHT = "course-figure-highlight";

/** The place in a list: a number, from the end if negative, or the first label that it is. */
const placeOf = (wanted, count, labels) => {
  const place = /^-?\d+$/.test(wanted) ? Number(wanted) : (labels?.indexOf(wanted) ?? -1);
  const found = /^-\d+$/.test(wanted) ? count + place : place;
  return found >= 0 && found < count ? found : null;
};

/**
 * What some words speak of, in a matrix of square cells whose corner is at x and y of an element.
 *
 * Gives { element, x, y, width, height, row, column }, where row or column is undefined if the
 * words leave it open; null if the matrix has no such place.
 */
export const partOfMatrix = (
  { row, column },
  { element, x, y, size, rows, columns, rowLabels, columnLabels },
) => {
  const down = row === undefined ? undefined : placeOf(row, rows, rowLabels);
  const across = column === undefined ? undefined : placeOf(column, columns, columnLabels);
  if (down === null || across === null || (down ?? across) === undefined) return null;
  return {
    element,
    x: x + (across ?? 0) * size,
    y: y + (down ?? 0) * size,
    width: across === undefined ? columns * size : size,
    height: down === undefined ? rows * size : size,
    row: down,
    column: across,
  };
};

/**
 * The frame that is laid around what is lit; its corners and its pointer are seen without color.
 */
export class Highlight {
  /** @param {import("./frame.js").Frame} figure It may have `locate`, which finds what is meant. */
  constructor(figure) {
    this.figure = figure;
    this.wanted = null;
    this.ring = html("div", { class: "cf-highlight", "aria-hidden": "true", hidden: true });
    figure.root.append(this.ring);
    figure.listen(figure.root, HIGHLIGHT, ({ detail }) => this.light(detail));
  }

  /** Light something up, or with null nothing any more. */
  light(wanted) {
    this.wanted = wanted;
    const found = this.place();
    if (found?.words) this.figure.say(found.words);
  }

  /** Lay the frame where what is wanted is drawn now. */
  place() {
    const { figure, ring, wanted } = this;
    const found = wanted ? figure.locate?.(wanted) : null;
    ring.hidden = !found;
    if (!found) return null;
    const corner = cornerIn(figure.root, found.element);
    Object.assign(ring.style, {
      left: `${corner.x + found.x}px`,
      top: `${corner.y + found.y}px`,
      width: `${found.width}px`,
      height: `${found.height}px`,
    });
    return found;
  }
}
