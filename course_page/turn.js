/** *Your turn* inside a chapter: a few lines to write before the chapter's own cell is shown. */
import { html } from "../course_figures/runtime/elements.js";
import { Answers } from "./answers.js";
import { chapterCells } from "./cell.js";
import { button, keyHint, Progress } from "./controls.js";
import { Field } from "./field.js";
import { page } from "./files.js";
import { inert } from "./inert.js";
import { Printed } from "./outputs.js";
import { Python } from "./python.js";

/** Words with code between backticks. */
const words = (text) =>
  text
    .split("`")
    .map((part, i) => (i % 2 ? html("code", { class: "docutils literal" }, part) : part));

const placeOf = ({ name }) => document.getElementById(`turn-${name.replace("/", "-")}`);

class Turn {
  /** `about` is what the build says: { name, asks, start, colored, answer, folds, label }. */
  constructor(about, chapter) {
    this.about = about;
    this.chapter = chapter;
    this.place = placeOf(about);
    const still = html("pre");
    still.innerHTML = about.colored; // of the build, not of a reader
    this.field = new Field({
      source: about.start,
      still,
      label: `Your turn: ${about.label}`,
      changed: (text) => chapter.answers.keep(about.name, text === about.start ? null : text),
      run: () => this.check(),
    });
    this.field.value = chapter.answers.source(about.name) ?? about.start;
    this.verdict = html("div", { class: "cp-verdict", "data-verdict": "", "aria-live": "polite" });
    this.printed = new Printed();
    this.progress = new Progress(() => this.job && chapter.python.cancel(this.job));
    const check = button("Check", () => this.check(), {
      main: true,
      title: `Check these lines (${keyHint})`,
    });
    check.dataset.check = "";
    this.own = this.fold();
    this.element = html(
      "div",
      {
        class: "cp-task cp-turn",
        "data-turn": about.name,
        role: "group",
        "aria-label": "Your turn",
      },
      html("p", { class: "cp-asks" }, html("strong", null, "Your turn. "), words(about.asks)),
      this.field.element,
      html("div", { class: "cp-bar" }, check, this.progress.element),
      this.verdict,
      this.printed.element,
    );
    if (about.folds) this.own.before(this.element);
    else this.place.after(this.element);
    this.element.append(this.own);
    const passed = chapter.answers.verdict(about.name);
    if (passed) this.show(passed);
  }

  /** The chapter's own cell, folded until it is asked for; below a figure, an answer. */
  fold() {
    const { folds, answer } = this.about;
    const own = html(
      "details",
      { class: "cp-own" },
      html("summary", null, folds ? "Show the chapter's own lines" : "Show an answer"),
    );
    if (folds) {
      this.place.before(own);
      own.append(this.place);
    } else {
      own.append(html("pre", { class: "cp-printed" }, answer));
    }
    return own;
  }

  async check() {
    const { python, answers } = this.chapter;
    if (this.job) python.cancel(this.job);
    this.printed.clear();
    const request = { source: this.field.value, before: [] };
    const asked = python.ask("turn", this.about.name, request, (text, stream) =>
      this.printed.add(text, stream),
    );
    const job = python.jobs.at(-1);
    this.job = job;
    this.follow();
    try {
      const verdict = await asked;
      answers.judge(this.about.name, verdict.passed ? verdict : null);
      this.show(verdict);
      return verdict;
    } catch (error) {
      if (this.job === job) {
        const why = error.seconds
          ? `Stopped after ${error.seconds} seconds: look for a loop that never ends.`
          : error.message;
        this.verdict.replaceChildren(html("p", { class: "cp-note" }, why));
      }
      return null;
    } finally {
      if (this.job === job) this.job = null;
      this.follow();
    }
  }

  show(verdict) {
    this.verdict.replaceChildren(inert(verdict.html));
    if (verdict.passed) this.own.open = true;
  }

  follow() {
    this.progress.show(this.chapter.python, this.job);
  }
}

/** A chapter with turns in it, and with cells that run. */
export class Chapter {
  constructor({ name, turns, cells }) {
    this.answers = new Answers(page().version, name);
    this.python = new Python(null, () => {
      for (const one of [...(this.turns ?? []), ...(this.cells ?? [])]) one.follow();
    });
    this.cells = chapterCells(cells, this);
    // A self-made edition may leave a cell out, and with it the turn.
    const here = turns.filter((one) => placeOf(one));
    this.turns = here.map((one) => new Turn(one, this));
  }
}
