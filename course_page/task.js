/** One task of an assignment: its cells to write, Check and Reset, the verdict, a cell of one's own. */
import { html } from "../course_figures/runtime/elements.js";
import { Field } from "./field.js";
import { inert } from "./inert.js";
import { Printed, showResult } from "./outputs.js";
import { standing } from "./marks.js";
import { button, Progress, keyHint } from "./controls.js";
import { Defense } from "./defend.js";

export class Task {
  /**
   * `about` is what the build says of the task: { task, title, section, check, call, cells, answer,
   * outOf, leftOut, starts, trains }; `desk` is the assignment that it belongs to.
   */
  constructor(about, desk) {
    this.about = about;
    this.desk = desk;
    this.name = about.task;
    this.fields = new Map();
    this.job = null;
    this.build();
  }

  build() {
    const { about } = this;
    const cells = about.cells.map((id) => document.getElementById(`cell-${id}`));
    const check = document.getElementById(`cell-${about.check}`);
    this.element = html("div", { class: "cp-task", "data-task": this.name });
    this.element.setAttribute("role", "group");
    this.element.setAttribute("aria-label", about.title);
    cells.at(-1).before(this.element);
    this.section = this.element.closest("section[id]")?.id;
    for (const [i, cell] of cells.entries()) this.writeIn(cell, about.cells[i]);
    this.bar = html("div", { class: "cp-bar" });
    this.verdict = html("div", { class: "cp-verdict", "data-verdict": "", "aria-live": "polite" });
    this.printed = new Printed();
    this.element.append(this.bar);
    if (about.leftOut) this.leaveOut();
    else this.offerCheck();
    this.element.append(this.verdict, this.printed.element);
    check.classList.add("cp-paper"); // on paper a task is what it is in the notebook
    this.element.append(check);
    if (!about.leftOut) this.element.append(this.ownCell());
    this.showKept();
  }

  showKept() {
    const verdict = this.desk.answers.verdict(this.name);
    this.checked = verdict?.checked;
    this.show(verdict);
    this.stale();
  }

  /** Put a field in the place of a cell: in the task if it is the last, else where it stood. */
  writeIn(cell, id) {
    const { desk, about } = this;
    const still = cell.querySelector("pre");
    const field = new Field({
      source: desk.released(id),
      label: `${about.title}: ${id === about.answer ? "your answer" : `your ${id.replace("answer-", "")}`}`,
      still: still.cloneNode(true),
      names: desk.names,
      changed: (text) => this.typed(id, text),
      run: () => this.press(),
    });
    field.value = desk.source(id);
    this.fields.set(id, field);
    if (cell.previousElementSibling === this.element || id === about.cells.at(-1)) {
      this.element.append(field.element);
      cell.remove();
    } else {
      cell.replaceWith(field.element);
    }
    if (desk.source(id) !== desk.released(id)) desk.later(() => field.upgrade());
  }

  leaveOut() {
    this.bar.append(
      html(
        "p",
        { class: "cp-left-out" },
        `${this.about.leftOut} Your answer is kept here all the same: download your notebook at the top of this page, and check it in JupyterLab, which `,
        html("code", null, "make lab"),
        " opens.",
      ),
    );
  }

  offerCheck() {
    this.check = button("Check", () => this.press(), {
      main: true,
      title: `Check this answer (${keyHint})`,
    });
    this.check.dataset.check = "";
    this.reset = button("Reset", () => this.takeBack(), { title: "Put the released cell back" });
    this.progress = new Progress(() => this.cancel());
    this.bar.append(this.check, this.reset, this.progress.element);
  }

  typed(id, text) {
    this.desk.keep(id, text);
    this.stale();
  }

  /** A verdict is about the answer that was checked: after a change it is about an earlier one. */
  stale() {
    const now = this.sources();
    const { checked } = this;
    this.verdict.classList.toggle("cp-stale", checked !== undefined && checked !== now);
  }

  sources() {
    return JSON.stringify([...this.fields.values()].map((field) => field.value));
  }

  /** Give a cell a text, as if it had been typed. */
  set(source, id = this.about.answer) {
    const field = this.fields.get(id);
    if (!field)
      throw new Error(`${this.name} has no cell ${id}, only ${[...this.fields.keys()].join(", ")}`);
    field.value = source;
    this.typed(id, source);
  }

  get(id = this.about.answer) {
    return this.fields.get(id).value;
  }

  /** Show what is kept now: another tab, or another notebook, has changed it. */
  reread() {
    for (const [id, field] of this.fields) {
      field.value = this.desk.source(id);
      if (field.value !== this.desk.released(id)) field.upgrade();
    }
    this.showKept();
  }

  takeBack() {
    const before = new Map([...this.fields].map(([id, field]) => [id, field.value]));
    const verdict = this.desk.answers.verdict(this.name);
    for (const [id, field] of this.fields) {
      field.value = this.desk.released(id);
      this.desk.keep(id, null);
    }
    this.desk.judge(this.name, null);
    this.printed.clear();
    this.show(null);
    const undo = button("Undo the reset", () => {
      for (const [id, text] of before) this.set(text, id);
      if (verdict) this.desk.judge(this.name, verdict);
      this.show(verdict);
    });
    this.verdict.replaceChildren(
      html("p", { class: "cp-note" }, "The cell is as it was released. ", undo),
    );
    undo.focus();
  }

  press() {
    if (this.about.leftOut) return;
    this.ask().catch(() => {}); // what went wrong stands in the page
  }

  /** Check the answer; a promise of { points, outOf, text, html }. */
  async ask() {
    if (this.about.leftOut)
      throw new Error(`${this.name} is not checked in the page. ${this.about.leftOut}`);
    if (this.job) this.desk.python.cancel(this.job);
    const checked = this.sources();
    this.printed.clear();
    const request = { ...this.desk.request(this.about.answer), call: this.about.call };
    const asked = this.desk.python.ask("check", this.name, request, (text, stream) =>
      this.printed.add(text, stream),
    );
    const job = this.desk.python.jobs.at(-1);
    this.job = job;
    this.follow();
    try {
      const { points, outOf, text, html: markup, state } = await asked;
      const verdict = { points, outOf, text, html: markup, state, checked };
      this.checked = checked;
      this.desk.judge(this.name, verdict);
      this.show(verdict);
      return { points, outOf, text, html: markup };
    } catch (error) {
      if (this.job === job) this.complain(error);
      throw error;
    } finally {
      if (this.job === job) this.job = null;
      this.follow();
    }
  }

  complain(error) {
    const seconds = error.seconds;
    const words = seconds
      ? `Stopped: it had been running for ${seconds} seconds. If it should have returned by now, look for a loop that never ends.`
      : error.seconds === 0
        ? "Stopped."
        : error.message;
    this.verdict.classList.remove("cp-stale");
    this.verdict.replaceChildren(html("p", { class: "cp-note" }, words));
  }

  cancel() {
    if (this.job) this.desk.python.cancel(this.job);
  }

  follow() {
    if (this.progress) this.progress.show(this.desk.python, this.job);
    this.trial?.follow();
    this.defense?.follow();
    this.training?.follow();
  }

  show(verdict) {
    this.verdict.classList.remove("cp-stale");
    this.verdict.replaceChildren(...(verdict ? [inert(verdict.html)] : []));
    const state = standing(verdict);
    this.desk.mark(this, state);
    this.offerQuestions(state === "done");
  }

  /** Below an answer that has all its points: questions about its own lines. */
  offerQuestions(passed) {
    if (passed) {
      this.defense ??= new Defense(this);
      this.verdict.after(this.defense.element);
    } else {
      this.defense?.element.remove();
    }
  }

  ownCell() {
    this.trial = new Trial(this);
    return this.trial.element;
  }
}

/** A cell of one's own below a task: runs with the answers so far, and counts for nothing. */
class Trial {
  constructor(task) {
    this.task = task;
    this.id = `try-${task.about.check}`;
    this.element = html(
      "details",
      { class: "cp-trial" },
      html("summary", null, "Try something of your own"),
    );
    this.element.addEventListener("toggle", () => this.build(), { once: true });
    this.element.open = Boolean(task.desk.source(this.id));
    if (this.element.open) this.build();
  }

  build() {
    if (this.field) return;
    const { desk, about } = this.task;
    this.field = new Field({
      source: "",
      label: `${about.title}: a cell of your own`,
      names: desk.names,
      changed: (text) => desk.keep(this.id, text || null),
      run: () => this.run(),
    });
    this.field.value = desk.source(this.id) ?? "";
    this.progress = new Progress(() => this.job && desk.python.cancel(this.job));
    this.output = html("div", { class: "cp-output", "aria-live": "polite" });
    const go = button("Run", () => this.run(), { title: `Run this cell (${keyHint})` });
    this.element.append(
      html(
        "p",
        { class: "cp-note" },
        "Your answers above are there, and torch, and course_lib. It counts for nothing and is in no notebook.",
      ),
      this.field.element,
      html("div", { class: "cp-bar" }, go, this.progress.element),
      this.output,
    );
  }

  async run() {
    const { desk, about } = this.task;
    if (this.job) desk.python.cancel(this.job);
    const printed = new Printed();
    this.output.replaceChildren(printed.element);
    const request = desk.request(about.answer, this.field.value);
    const asked = desk.python.ask("run", this.task.name, request, (text, stream) =>
      printed.add(text, stream),
    );
    const job = desk.python.jobs.at(-1);
    this.job = job;
    this.follow();
    try {
      showResult(this.output, await asked);
    } catch (error) {
      if (this.job === job) {
        const words = error.seconds ? `Stopped after ${error.seconds} seconds.` : error.message;
        this.output.append(html("p", { class: "cp-note" }, words));
      }
    } finally {
      if (this.job === job) this.job = null;
      this.follow();
    }
  }

  follow() {
    this.progress?.show(this.task.desk.python, this.job);
  }
}
