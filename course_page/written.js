/** A question that a person grades: a field for the answer, which goes into the notebook. */
import { html } from "../course_figures/runtime/elements.js";

export class Written {
  /** `about` is { cell, title }. */
  constructor({ cell, title }, desk) {
    this.cell = cell;
    this.desk = desk;
    const place = document.getElementById(`cell-${cell}`);
    const label = `${title}: your answer`;
    this.area = html("textarea", {
      class: "cp-written",
      rows: 6,
      "aria-label": label,
      placeholder: "Your answer, in words. It goes into your notebook; a person reads it.",
    });
    this.area.addEventListener("input", () => desk.keep(cell, this.area.value || null));
    this.element = html("div", { class: "cp-task", "data-written": cell }, this.area);
    this.reread();
    place.replaceWith(this.element);
  }

  reread() {
    this.area.value = this.desk.answers.source(this.cell) ?? "";
  }
}
