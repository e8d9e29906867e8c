/** An assignment in the page: its tasks, what is kept of them, and the panel that says how far one is. */
import { html, setText } from "../course_figures/runtime/elements.js";
import { Answers } from "./answers.js";
import { button } from "./controls.js";
import { page } from "./files.js";
import { markBook, markSection, standing } from "./marks.js";
import { answersOf, download, filled, ownCells } from "./notebook.js";
import { Python } from "./python.js";
import { Task } from "./task.js";
import { Written } from "./written.js";

const PRIVATE =
  "Your answers are kept in this browser, on this machine, and are sent nowhere. Download your notebook to keep them elsewhere, or to hand them in. ";

export class Desk {
  constructor(about) {
    this.about = about;
    this.texts = new Map(ownCells(about.notebook));
    this.names = about.names;
    this.answers = new Answers(page().version, about.assignment, (why) => this.warn(why));
    this.answers.changedElsewhere = () => this.reread();
    this.python = new Python(about.chapter, () => this.follow());
    this.upgrades = [];
    this.panel = this.buildPanel();
    this.tasks = about.tasks.map((one) => new Task(one, this));
    this.written = about.written.map((one) => new Written(one, this));
    this.explainExperiment();
    this.count();
    // With answers of an earlier visit, the editor is wanted at once; the page comes first.
    setTimeout(() => this.upgrades.splice(0).map((one) => one()), 200);
  }

  released(cell) {
    return this.texts.get(cell);
  }

  /** What stands in a cell now: the reader's text, or the released one. */
  source(cell) {
    return this.answers.source(cell) ?? this.released(cell);
  }

  keep(cell, text) {
    this.answers.keep(cell, text === this.released(cell) ? null : text);
  }

  judge(task, verdict) {
    this.answers.judge(task, verdict);
    this.count();
  }

  later(action) {
    this.upgrades.push(action);
  }

  /** What is run for an answer: the cells above it, and it, or another text in its place. */
  request(answer, own) {
    const { order, setup } = this.about;
    const at = order.indexOf(answer);
    const above = order.slice(0, own === undefined ? at : at + 1).map((id) => this.source(id));
    return {
      before: [...setup, ...above],
      source: own ?? this.source(answer),
      book: this.about.book,
    };
  }

  task(name) {
    const found = this.tasks?.find((one) => one.name === name);
    if (!found) {
      const names = this.tasks.map((one) => one.name).join(", ");
      throw new Error(`this page has no task ${name}: it has ${names}`);
    }
    return found;
  }

  follow() {
    for (const task of this.tasks ?? []) task.follow();
  }

  mark(task, state) {
    if (task.section) markSection(task.section, state);
  }

  /** The one cell of an assignment that is run and not checked: it trains, or reads a whole text. */
  explainExperiment() {
    document
      .getElementById("cell-experiment")
      ?.after(
        html(
          "p",
          { class: "cp-left-out cp-lab" },
          "This run takes more than a page should: run it in JupyterLab, which ",
          html("code", null, "make lab"),
          " opens, with your notebook from the top of this page. The numbers that you see there go into the cell below, and can be checked here.",
        ),
      );
  }

  // ---- the panel ---------------------------------------------------------------------------------

  buildPanel() {
    this.standing = html("p", { class: "cp-standing" });
    this.note = html("p", { class: "cp-note", role: "status", hidden: true });
    const choose = html("input", {
      type: "file",
      accept: ".ipynb,application/json",
      class: "cp-unseen",
      tabindex: "-1",
      "aria-hidden": "true",
    });
    choose.addEventListener("change", () => this.takeOver(choose));
    this.actions = html(
      "div",
      { class: "cp-bar" },
      button("Download my notebook", () => this.download()),
      button("Continue from a notebook", () => choose.click()),
      button("Forget my answers", () => this.forget()),
      choose,
    );
    const panel = html(
      "div",
      { class: "cp-panel", role: "region", "aria-label": "Your work" },
      this.standing,
      html("p", { class: "cp-private" }, PRIVATE, this.link()),
      this.actions,
      this.note,
    );
    const buttons = document.querySelector(".bd-article .notebook-buttons");
    if (buttons) buttons.after(panel);
    else document.querySelector(".bd-article h1").after(panel);
    return panel;
  }

  /** The one place for what is kept of all assignments. */
  link() {
    const href = `${this.about.book}/book/python-in-the-page.html#your-answers`;
    return html("a", { href }, "All that is kept");
  }

  count() {
    const { tasks, outOf } = this.about.tasks.reduce(
      (sum, one) => ({ tasks: sum.tasks + 1, outOf: sum.outOf + one.outOf }),
      { tasks: 0, outOf: 0 },
    );
    const verdicts = this.about.tasks.map(({ task }) => this.answers.verdict(task));
    const done = verdicts.filter((one) => standing(one) === "done").length;
    const points = verdicts.reduce((sum, one) => sum + (one?.points ?? 0), 0);
    setText(
      this.standing,
      verdicts.some(Boolean)
        ? `${done} of ${tasks} tasks done · ${points} of ${outOf} points that a check awards`
        : "Write your answers here and press Check: nothing has to be installed.",
    );
    markBook(page().version, page().assignments);
  }

  say(...words) {
    this.note.hidden = words.length === 0;
    this.note.replaceChildren(...words);
  }

  warn(why) {
    queueMicrotask(() =>
      this.say(
        `This browser keeps nothing for this page (${why}): download your notebook before you leave it.`,
      ),
    );
  }

  notebook() {
    const cells = this.about.notebook.cells.map((cell) => cell.metadata.nbgrader?.grade_id);
    const texts = cells.filter((id) => this.texts.has(id)).map((id) => [id, this.source(id)]);
    return filled(this.about.notebook, Object.fromEntries(texts));
  }

  download() {
    const file = `${this.about.assignment}.ipynb`;
    download(file, this.notebook());
    this.say(`${file} is in your downloads: it opens in JupyterLab, and it is what you hand in.`);
  }

  async takeOver(input) {
    const [file] = input.files;
    input.value = "";
    if (!file) return;
    try {
      const found = answersOf(this.about.notebook, await file.text(), file.name);
      const before = structuredClone(this.answers.entry);
      this.replace({ cells: found, verdicts: {} });
      this.say(
        `The answers of ${file.name} are in their places; none of them has been run or checked. `,
        button("Undo", () => {
          this.replace(before);
          this.say();
        }),
      );
    } catch (error) {
      this.say(error.message);
    }
  }

  forget() {
    const before = structuredClone(this.answers.entry);
    this.answers.forget();
    this.replace(this.answers.entry, false);
    this.say(
      "Your answers and verdicts of this page are forgotten. ",
      button("Undo", () => {
        this.replace(before);
        this.say();
      }),
    );
    this.note.querySelector("button").focus();
  }

  /** Put other answers in the place of those here. */
  replace({ cells, verdicts }, keep = true) {
    const own = Object.entries(cells).filter(([id, text]) => this.released(id) !== text);
    this.answers.entry = { cells: Object.fromEntries(own), verdicts: { ...verdicts } };
    if (keep) this.answers.write();
    this.reread();
  }

  reread() {
    for (const one of [...this.tasks, ...this.written]) one.reread();
    this.count();
  }
}
