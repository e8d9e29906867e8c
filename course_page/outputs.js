/** What cells print and return. */
import { html } from "../course_figures/runtime/elements.js";
import { inert, picture, picturesIn } from "./inert.js";

/** What is printed, as it comes; long outputs scroll within themselves. */
export class Printed {
  constructor() {
    this.element = html("pre", {
      class: "cp-printed",
      hidden: true,
      tabindex: "0",
      "aria-label": "What was printed",
    });
    this.waiting = [];
  }

  clear() {
    this.waiting = [];
    this.element.replaceChildren();
    this.element.hidden = true;
  }

  /** A loop may print thousands of times between two frames: the page takes them together. */
  add(text, stream) {
    this.waiting.push([text, stream]);
    if (this.waiting.length === 1) requestAnimationFrame(() => this.flush());
  }

  flush() {
    for (const [text, stream] of this.waiting)
      this.element.append(stream === "stderr" ? html("span", { class: "cp-error" }, text) : text);
    this.waiting = [];
    this.element.hidden = this.element.textContent === "";
  }
}

const framed = (image) => html("p", { class: "cp-picture" }, image);

/** What a cell of one's own gave: its value, a verdict, pictures, or what went wrong. */
export const showResult = (place, { result, html: markup, pictures, error }) => {
  const inside = markup ? picturesIn(markup) : [];
  const drawn = (pictures ?? []).map((text, i) => picture(text, `Picture ${i + 1} of the cell`));
  place.append(...[...drawn, ...inside].map(framed));
  if (markup && inside.length === 0) place.append(inert(markup));
  else if (inside.length === 0 && result !== null && result !== undefined)
    place.append(
      html(
        "pre",
        { class: "cp-printed", tabindex: "0", "aria-label": "The value of the last line" },
        result,
      ),
    );
  if (error?.type === "ModuleNotFoundError" && /matplotlib|PIL/.test(error.message)) {
    const lab = html("code", null, "make lab");
    const words = [
      "Pictures are not drawn in this page. They are in JupyterLab, which ",
      lab,
      " opens.",
    ];
    place.append(html("p", { class: "cp-note" }, words));
  } else if (error) {
    if (error.html) place.append(inert(error.html));
    else
      place.append(
        html("pre", { class: "cp-printed cp-error" }, `${error.type}: ${error.message}`),
      );
  }
};
