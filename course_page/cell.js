/** Run below a chapter's own cell: what it prints and draws here, below what the chapter shows. */
import { html } from "../course_figures/runtime/elements.js";
import { button, Progress } from "./controls.js";
import { Printed, showResult } from "./outputs.js";

// Seconds: the cells of a chapter end, and a slow machine may take its time.
const PATIENCE = 60;

const PLAY =
  "A page fetches no text, so this ran on the built-in play: numbers differ from those of the chapter.";

// A cell with two ids has the second one on an element within it.
const placeOf = ({ cell }) => document.getElementById(`run-${cell}`)?.closest(".cell");

export class ChapterCell {
  /** `about` is what the build says: { cell, before, source, loads }. */
  constructor(about, chapter) {
    this.about = about;
    this.chapter = chapter;
    this.bar = html(
      "div",
      { class: "cp-run", "data-run": about.cell },
      button("Run", () => this.run(), {
        title: "Run this cell here, with what it needs of the cells above",
      }),
    );
    placeOf(about).append(this.bar);
  }

  /** Nothing is made for a cell that nobody runs. */
  build() {
    this.progress = new Progress(() => this.job && this.chapter.python.cancel(this.job));
    this.output = html("div", { class: "cp-output", "aria-live": "polite" });
    this.bar.append(this.progress.element);
    this.bar.after(this.output);
  }

  async run() {
    const { python } = this.chapter;
    if (!this.output) this.build();
    if (this.job) python.cancel(this.job);
    const printed = new Printed();
    this.output.replaceChildren(printed.element);
    const { before, source, loads } = this.about;
    const request = { before, source, quiet: true, book: ".." };
    const asked = python.ask(
      "run",
      "",
      request,
      (text, stream) => printed.add(text, stream),
      PATIENCE,
    );
    const job = python.jobs.at(-1);
    this.job = job;
    this.follow();
    try {
      showResult(this.output, await asked);
      if (loads) this.say(PLAY);
    } catch (error) {
      if (this.job === job)
        this.say(error.seconds ? `Stopped after ${error.seconds} seconds.` : error.message);
    } finally {
      if (this.job === job) this.job = null;
      this.follow();
    }
  }

  say(words) {
    this.output.append(html("p", { class: "cp-note" }, words));
  }

  follow() {
    this.progress?.show(this.chapter.python, this.job);
  }
}

/** The cells of a page that carry Run. */
export const chapterCells = ({ sources, runs }, chapter) =>
  runs
    .map(({ cell, imports, before, source, loads }) => ({
      cell,
      before: [imports, ...before.map((k) => sources[k])],
      source: sources[source],
      loads,
    }))
    .filter((one) => placeOf(one)) // a self-made edition may leave a cell out
    .map((one) => new ChapterCell(one, chapter));
