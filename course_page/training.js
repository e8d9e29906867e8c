/** "Train it": the reader's own GPT learns below its cell, and rests when it is told to. */
import { html, setText } from "../course_figures/runtime/elements.js";
import { lossChart } from "../course_figures/runtime/loss_chart.js";
import { grouped } from "../course_figures/runtime/numbers.js";
import { readTheme, watchTheme } from "../course_figures/runtime/theme.js";
import { button, Progress } from "./controls.js";
import { playText } from "./files.js";
import { inert } from "./inert.js";
import { Printed } from "./outputs.js";
import { framed, pageOf } from "./shown.js";

// Seconds of training that are asked for at a time: between two of them a check has its turn.
const A_WHILE = 0.25;
// Seconds that one request may take: a step of a large model is long.
const PATIENCE = 90;
const TIMES = [
  [60, "1 minute"],
  [300, "5 minutes"],
  [900, "15 minutes"],
];
// Of the models of the book, those whose losses are lines of the chart.
const SHOWN = ["one head", "four heads", "one block"];
const MOST_POINTS = 600;
const HIGH = 260;

const OWN = "own";
const LOOPS = {
  "my-gpt/model": [
    ["one head", "one head, one block, 8 symbols"],
    ["two blocks", "four heads, two blocks, 16 symbols"],
  ],
  "my-gpt/train": [[OWN, "with your train"]],
};
const HOW = {
  "my-gpt/model":
    "The page trains your GPT with AdamW, in batches of 32; once you have written train, that does it below.",
  "my-gpt/train":
    "Your train does it, step by step, and your write writes. The clock that it reads rests with it.",
};

const thinned = (points) =>
  points.length > MOST_POINTS ? points.filter((_, i) => i % 2 === 1) : points;

const select = (label, options) => {
  const field = html(
    "select",
    { class: "cp-select" },
    options.map(([value, shown]) => html("option", { value }, shown)),
  );
  return { field, element: html("label", { class: "cp-choice" }, `${label} `, field) };
};

export class Training {
  constructor(task) {
    this.task = task;
    this.state = "off"; // off, running, resting, done
    this.job = null;
    this.text = null; // of the reader's own, with its name
    this.forget();
    this.offer = button("Train it", () => this.press(), {
      title: "Train your GPT in this page, and watch it learn",
    });
    this.offer.dataset.train = "";
    this.build();
  }

  forget() {
    this.batches = [];
    this.validation = [];
    this.lines = [];
    this.latest = null;
    this.seen = null;
  }

  build() {
    const { name } = this.task;
    this.loop = select("Model", LOOPS[name]);
    this.loop.element.hidden = LOOPS[name].length < 2;
    this.time = select("Time", TIMES);
    const file = html("input", { type: "file", accept: ".txt,text/plain" });
    file.addEventListener("change", () => this.takeText(file));
    this.hold = button("Pause", () => this.toggle(), { main: true });
    this.again = button("From the beginning", () => this.begin(), {
      title: "Train a new model with what is in the cells now",
    });
    this.inside = button("Look inside", () => this.lookInside(), {
      title: "See its attention, let it write, and save it as one file",
    });
    this.model = html("div", { class: "cp-model" });
    this.progress = new Progress(() => this.stop());
    this.chart = html("canvas", { role: "img", "aria-label": "loss over steps" });
    this.room = html("div", { class: "cp-chart" }, this.chart);
    this.facts = html("p", { class: "cp-facts" });
    this.who = html("p", { class: "cp-standing" }, "What it writes");
    this.written = html("div", {
      class: "cp-sample",
      tabindex: "0",
      role: "region",
      "aria-label": "What it writes",
    });
    this.note = html("div", { class: "cp-verdict", role: "status" });
    this.printed = new Printed();
    this.element = html(
      "div",
      {
        class: "cp-training",
        role: "region",
        "aria-label": `Training in the page: ${this.task.about.title}`,
        hidden: true,
      },
      html("p", { class: "cp-note" }, HOW[name]),
      html("div", { class: "cp-bar" }, this.hold, this.again, this.inside, this.progress.element),
      html(
        "div",
        { class: "cp-bar" },
        this.loop.element,
        this.time.element,
        html("label", { class: "cp-choice" }, "Another text ", file),
      ),
      this.note,
      this.room,
      this.facts,
      this.who,
      this.written,
      this.printed.element,
      this.model,
    );
    for (const { field } of [this.loop, this.time])
      field.addEventListener("change", () => this.begin());
  }

  // ---- what the reader does --------------------------------------------------------------------

  press() {
    if (this.element.hidden) {
      this.element.hidden = false;
      watchTheme(new AbortController().signal, () => this.draw());
      new ResizeObserver(() => this.draw()).observe(this.room);
    }
    if (this.state === "off" || this.state === "done") this.begin();
    else if (this.state === "resting") this.toggle();
    this.element.scrollIntoView({ block: "nearest" });
  }

  toggle() {
    if (this.state === "running") {
      this.state = "resting";
    } else if (this.state === "resting") {
      this.state = "running";
      this.goOn();
    } else {
      this.begin();
    }
    this.show();
  }

  async takeText(file) {
    const [chosen] = file.files;
    this.text = chosen ? { name: chosen.name, text: await chosen.text() } : null;
    this.begin();
  }

  stop() {
    this.state = "off";
    if (this.job) this.task.desk.python.cancel(this.job);
  }

  // ---- what Python is asked --------------------------------------------------------------------

  async ask(request) {
    const { desk, name } = this.task;
    const asked = desk.python.ask(
      "train",
      name,
      request,
      (text, stream) => this.printed.add(text, stream),
      PATIENCE,
    );
    const job = desk.python.jobs.at(-1);
    this.job = job;
    try {
      return await asked;
    } finally {
      if (this.job === job) this.job = null;
    }
  }

  /** Train a new model; a promise that is kept when it rests or has ended. */
  async begin() {
    const run = Symbol("a training");
    this.run = run;
    this.state = "running";
    this.forget();
    this.note.replaceChildren();
    this.model.replaceChildren();
    this.printed.clear();
    this.show();
    try {
      const { desk, about, name } = this.task;
      const play = this.text ? null : await playText();
      const { before, source } = desk.request(about.answer);
      const answer = await this.ask({
        begin: {
          before,
          source,
          writes: name === "my-gpt/train" ? desk.source("answer-write") : null,
          loop: this.loop.field.value,
          seconds: Number(this.time.field.value),
          ...(play ? { packed: play.packed, known: play.reached } : { text: this.text.text }),
        },
      });
      if (this.run !== run) return;
      if (this.refused(answer)) return;
      this.lines = answer.lines;
    } catch (error) {
      if (this.run === run) this.complain(error);
      return;
    }
    await this.goOn(run);
  }

  async goOn(run = this.run) {
    try {
      while (this.run === run && this.state === "running") {
        const report = await this.ask({ seconds: A_WHILE });
        if (this.run !== run || this.refused(report)) return;
        this.take(report);
      }
      if (this.run !== run || this.state !== "resting") return;
      const report = await this.ask({ seconds: 0, look: true });
      if (this.run === run && this.state === "resting" && !this.refused(report)) this.take(report);
    } catch (error) {
      if (this.run === run) this.complain(error);
    }
  }

  /** Show the model as figures do, while it rests. */
  async lookInside() {
    const { run } = this;
    this.inside.disabled = true;
    try {
      const answer = await this.ask({ packed: true });
      if (this.run !== run) return;
      if (answer.says) {
        this.model.replaceChildren(html("p", { class: "cp-note" }, answer.says));
        return;
      }
      this.model.replaceChildren(framed(await pageOf(answer, this.program())));
    } catch (error) {
      if (this.run === run) this.complain(error);
    } finally {
      this.inside.disabled = false;
    }
  }

  /** What the reader has written, in the order of the cells. */
  program() {
    const { desk } = this.task;
    const { order, setup } = desk.about;
    const cells = [...setup, ...order.map((id) => desk.source(id))];
    return cells
      .map((cell) => cell.replace(/^from course_tasks import .*$/gm, "").trim())
      .filter((cell) => cell && !cell.includes("raise NotImplementedError"))
      .join("\n\n\n");
  }

  /** Say why it cannot be trained, if it cannot. */
  refused({ html: markup, says }) {
    if (!markup && !says) return false;
    this.state = "off";
    this.note.replaceChildren(markup ? inert(markup) : html("p", { class: "cp-note" }, says));
    this.show();
    return true;
  }

  complain(error) {
    this.state = "off";
    const words = error.seconds
      ? `Stopped: one step had been running for ${error.seconds} seconds.`
      : error.seconds === 0
        ? "Stopped."
        : error.message;
    this.note.replaceChildren(html("p", { class: "cp-note" }, words));
    this.show();
  }

  take(report) {
    this.latest = { ...this.latest, ...report };
    const { step, loss, validation } = report;
    if (loss !== null) this.batches = thinned([...this.batches, [step, loss]]);
    if (validation !== undefined) {
      this.validation = thinned([...this.validation, [step, validation]]);
      this.seen = report;
    }
    if (report.done) this.state = "done";
    if (report.exact) this.note.replaceChildren(html("p", { class: "cp-note" }, this.compared()));
    this.show();
  }

  // ---- what the reader sees --------------------------------------------------------------------

  follow() {
    // What is to rest and does not may be a step that never ends: it can be stopped.
    const { python } = this.task.desk;
    const waits = python.state === "loading" || this.state === "resting";
    this.progress.show(python, waits ? this.job : null);
  }

  show() {
    const words = { running: "Pause", resting: "Go on", off: "Train it", done: "Train it again" };
    setText(this.hold, words[this.state]);
    this.again.hidden = this.state === "off" || this.state === "done";
    this.inside.hidden = !this.seen || (this.state !== "resting" && this.state !== "done");
    this.element.dataset.state = this.state;
    this.element.dataset.step = this.latest?.step ?? 0;
    this.element.dataset.loss = this.seen?.validation ?? "";
    this.element.dataset.exact = this.seen?.exact ?? false;
    setText(this.facts, this.said());
    setText(this.written, this.seen?.sample ?? "");
    this.who.hidden = !this.seen;
    if (this.seen)
      setText(
        this.who,
        `What it writes after ${grouped(this.seen.step)} steps${this.seen.ours ? ` (${this.seen.ours}, so the page writes)` : ""}`,
      );
    this.room.hidden = this.lines.length === 0;
    this.draw();
  }

  said() {
    if (!this.latest) return "";
    const { step, seconds, speed, parameters } = this.latest;
    const held = this.seen ? `, held-out loss ${this.seen.validation.toFixed(3)} nats` : "";
    const exact = this.seen?.exact ? "" : " (estimated)";
    return `Step ${grouped(step)}, ${Math.round(seconds)} s, ${speed.toFixed(speed < 10 ? 1 : 0)} steps a second, ${grouped(parameters)} parameters${held}${this.seen ? exact : ""}.`;
  }

  /** The lines of the chart: what anybody reaches by guessing and counting, and models of the book. */
  compares() {
    return this.lines.filter(({ name }) => SHOWN.includes(name) || /guess|counted/.test(name));
  }

  compared() {
    const loss = this.seen.validation;
    const names = ({ name, loss: theirs }) => `${name} ${theirs.toFixed(2)}`;
    const below = this.compares().filter((line) => loss < line.loss);
    const above = this.compares().filter((line) => loss >= line.loss);
    const { targets, of } = this.seen;
    const where =
      targets < of
        ? `${grouped(targets)} symbols from all over the held-out text`
        : "all of the held-out text";
    const parts = [`On ${where} its loss is ${loss.toFixed(3)} nats.`];
    if (below.length) parts.push(`That is better than ${below.map(names).join(", ")}.`);
    if (above.length) parts.push(`Still before it: ${above.map(names).join(", ")}.`);
    return parts.join(" ");
  }

  draw() {
    if (this.room.hidden || this.element.hidden || !this.lines.length) return;
    const room = this.room.clientWidth;
    if (room < 100) return;
    lossChart({ theme: readTheme(this.element) }, this.chart, {
      room,
      high: HIGH,
      batches: this.batches,
      validation: this.validation,
      lines: this.compares().map(({ name, loss }) => ({
        loss,
        label: `${name} ${loss.toFixed(2)}`,
      })),
    });
    this.chart.setAttribute("aria-label", `loss over steps. ${this.said()}`);
  }
}
