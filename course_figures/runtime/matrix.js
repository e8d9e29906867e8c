/** A matrix of colored cells with a cursor that the mouse, a finger and the arrow keys move. */
import { penOf } from "./canvas.js";
import { html } from "./elements.js";
import { partOfMatrix } from "./highlight.js";
import { moveInTable, onKeys } from "./keys.js";
import { clamp } from "./numbers.js";
import { pointIn } from "./pointer.js";
import { heat } from "./theme.js";

const PAGE = 10; // rows that Page up and Page down jump

/**
 * Its `update` is called when the figure is drawn, with { rows, columns, value(row, column),
 * strength?(value) in −1 … 1, text?(row, column), rowLabels?, columnLabels?, most?, least?,
 * width?, height?, color? }, where width and height are the room in pixels and color is what the
 * values are: "weight", "probability", or "plus" for numbers that may be negative.
 */
export class Matrix {
  /**
   * @param {import("./frame.js").Frame} figure
   * @param {object} options `parent`; `label`, its spoken name; `point(row, column)`, called when
   *   the cursor moves; `pick(row, column)`, called on click, tap, Enter or Space;
   *   `spoken(row, column)`, the words for a cell.
   */
  constructor(figure, { parent = figure.stage, label, point, pick, spoken }) {
    Object.assign(this, { figure, point, pick, spoken, row: 0, column: 0, data: null });
    this.area = html("canvas", {
      class: "cf-matrix",
      tabindex: 0,
      role: "application",
      "aria-roledescription": "matrix",
      "aria-label": label,
    });
    parent.append(this.area);
    figure.listen(this.area, "pointermove", (event) => {
      const cell = this.cellAt(event);
      if (cell) this.move(...cell);
    });
    figure.listen(this.area, "click", (event) => {
      const cell = this.cellAt(event);
      if (!cell) return;
      this.move(...cell);
      this.pick?.(...cell);
    });
    onKeys(figure, this.area, (key) => this.key(key));
    figure.listen(this.area, "focus", () => this.speak());
    this.area.style.touchAction = "pan-y pinch-zoom";
    figure.locate = (wanted) => this.locate(wanted);
  }

  /** Row and column of the cell under an event; null beside the cells. */
  cellAt(event) {
    if (!this.data) return null;
    const { x, y } = pointIn(this.area, event);
    const row = Math.floor((y - this.top) / this.size);
    const column = Math.floor((x - this.left) / this.size);
    const inside = row >= 0 && column >= 0 && row < this.data.rows && column < this.data.columns;
    return inside ? [row, column] : null;
  }

  /** Where a row, a column or a cell is drawn, with the words for a cell (see `highlight.js`). */
  locate(wanted) {
    if (!this.data) return null;
    const { left, top, size, area: element } = this;
    const part = partOfMatrix(wanted, { ...this.data, element, x: left, y: top, size });
    const isCell = part?.row !== undefined && part?.column !== undefined;
    return isCell ? { ...part, words: this.spoken?.(part.row, part.column) } : part;
  }

  key(key) {
    if (!this.data) return false;
    if (key === "Enter" || key === " ") {
      this.pick?.(this.row, this.column);
      return true;
    }
    const { rows, columns } = this.data;
    const to = moveInTable(key, this, { rows, columns, page: PAGE });
    if (to === null) return false;
    this.move(to.row, to.column);
    this.speak();
    return true;
  }

  move(row, column) {
    if (row === this.row && column === this.column) return;
    this.row = row;
    this.column = column;
    this.point?.(row, column);
    this.figure.later();
  }

  speak() {
    if (this.spoken && this.data) this.figure.say(this.spoken(this.row, this.column));
  }

  update(data) {
    this.data = data;
    const { rows, columns, rowLabels, columnLabels, most = 40, least = 4 } = data;
    this.row = clamp(this.row, 0, rows - 1);
    this.column = clamp(this.column, 0, columns - 1);
    const longest = (labels) => Math.max(0, ...(labels ?? []).map((text) => text.length));
    this.left = rowLabels ? 10 + Math.min(90, 8 * longest(rowLabels)) : 1;
    this.slanted = longest(columnLabels) > 3;
    this.top = columnLabels
      ? this.slanted
        ? 12 + 6 * Math.min(10, longest(columnLabels))
        : 18
      : 1;
    const room = (data.width ?? this.figure.room(this.area.parentElement)) - this.left - 2;
    const wide = Math.floor((room * 4) / columns) / 4;
    const tall = ((data.height ?? Infinity) - this.top - 2) / rows;
    this.size = clamp(Math.min(wide, tall), least, most);
    if (this.size > 8) this.size = Math.floor(this.size);
    const width = Math.ceil(this.left + columns * this.size + 2);
    const height = Math.ceil(this.top + rows * this.size + 2);
    const pen = penOf(this.area, width, height);
    this.paint(pen);
    this.label(pen);
  }

  paint(pen) {
    const { rows, columns, value, text, strength = (v) => v, color } = this.data;
    const { size, left, top } = this;
    const { theme } = this.figure;
    const gap = size >= 14 ? 1 : 0;
    pen.font = `${clamp(size * 0.34, 9, 13)}px ${theme.font}`;
    for (let r = 0; r < rows; r += 1)
      for (let c = 0; c < columns; c += 1) {
        const shade = heat(theme, strength(value(r, c)), color);
        pen.fillStyle = shade.fill;
        pen.fillRect(left + c * size, top + r * size, size - gap, size - gap);
        if (!text || size < 20) continue;
        pen.fillStyle = shade.ink;
        pen.fillText(text(r, c), left + (c + 0.5) * size, top + (r + 0.5) * size + 0.5);
      }
    pen.strokeStyle = theme.line;
    pen.lineWidth = 1;
    pen.strokeRect(
      left - 0.5,
      top - 0.5,
      columns * size + (gap ? 0 : 1),
      rows * size + (gap ? 0 : 1),
    );
    const outline = (column, wide, weight, tint) => {
      pen.strokeStyle = tint;
      pen.lineWidth = weight;
      const [x, y] = [left + column * size - 0.5, top + this.row * size - 0.5];
      pen.strokeRect(x, y, wide * size, size);
    };
    outline(0, columns, 1.5, theme.soft);
    outline(this.column, 1, 2.5, theme.ink);
  }

  label(pen) {
    const { rows, columns, rowLabels, columnLabels } = this.data;
    const { size, left, top } = this;
    const { theme } = this.figure;
    const every = Math.ceil(10 / size); // letters are at least 10 pixels high
    const write = (labels, count, current, put) => {
      for (let i = 0; labels && i < count; i += 1) {
        if (i % every !== 0 && i !== current) continue;
        if (i !== current && every > 1 && Math.abs(i - current) < every) continue;
        pen.font = `${i === current ? "bold " : ""}${clamp(size * 0.9, 10, 13)}px ${theme.font}`;
        pen.fillStyle = i === current ? theme.ink : theme.soft;
        put(labels[i], (i + 0.5) * size);
      }
    };
    pen.textAlign = "right";
    write(rowLabels, rows, this.row, (text, y) => pen.fillText(text, left - 6, top + y, left - 6));
    pen.textAlign = this.slanted ? "left" : "center";
    write(columnLabels, columns, this.column, (text, x) => {
      pen.save();
      pen.translate(left + x, top - 9);
      if (this.slanted) pen.rotate(-0.9);
      pen.fillText(text, 0, 0, 80);
      pen.restore();
    });
  }
}
