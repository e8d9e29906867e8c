/** Questions about an answer that has passed: made of its own lines, answered at once, counted nowhere. */
import { html } from "../course_figures/runtime/elements.js";
import { button, Progress } from "./controls.js";
import { inert } from "./inert.js";

const QUESTIONS = 3;
// Seconds: some dozen versions of the answer run, each on some dozens of inputs.
const PATIENCE = 90;

/** So many of them, of as many kinds as they come in. */
const some = (all, count) => {
  const step = Math.max(1, all.length / count);
  return [...Array(Math.min(count, all.length)).keys()].map((n) => all[Math.floor(n * step)]);
};

export class Defense {
  /** `task` is a Task whose answer has all its points now. */
  constructor(task) {
    this.task = task;
    this.job = null;
    this.element = html(
      "details",
      { class: "cp-trial cp-defense" },
      html("summary", null, "Three questions about your code"),
    );
    this.progress = new Progress(() => this.job && task.desk.python.cancel(this.job));
    this.output = html("div", { "aria-live": "polite" });
    this.go = button("Ask me", () => this.ask(), {
      title: "Make questions of your own lines; they count for nothing",
    });
    this.element.append(
      html(
        "p",
        { class: "cp-note" },
        "Your answer is run with small numbers, and with one change at a time. What does each line leave, and what would a change do? It counts for nothing.",
      ),
      html("div", { class: "cp-bar" }, this.go, this.progress.element),
      this.output,
    );
  }

  async ask() {
    const { desk, about, name } = this.task;
    const request = {
      ...desk.request(about.answer),
      call: about.call,
      own: [...this.task.fields.values()].map((field) => field.value),
      seed: Math.floor(Math.random() * 2 ** 31),
    };
    const asked = desk.python.ask("defend", name, request, () => {}, PATIENCE);
    const job = desk.python.jobs.at(-1);
    this.job = job;
    this.task.follow();
    try {
      this.show(await asked);
    } catch (error) {
      const words = error.seconds ? `Stopped after ${error.seconds} seconds.` : error.message;
      this.output.replaceChildren(html("p", { class: "cp-note" }, words));
    } finally {
      if (this.job === job) this.job = null;
      this.task.follow();
    }
  }

  show({ says, code, given, questions }) {
    if (says) {
      this.output.replaceChildren(html("p", { class: "cp-note" }, says));
      return;
    }
    const lines = code.map(([number, text]) => `${String(number).padStart(3)}  ${text}`);
    this.output.replaceChildren(
      html("pre", { tabindex: "0", "aria-label": "Your code" }, lines.join("\n")),
      html("pre", { tabindex: "0", "aria-label": "The input" }, given.join("\n")),
      ...some(questions, QUESTIONS).map((one, at) => this.question(one, at + 1)),
    );
  }

  question({ text, options }, number) {
    const said = html("div", { role: "status" });
    const choices = options.map((option) => {
      const choice = html("button", {
        type: "button",
        class: "cp-button",
        "aria-pressed": "false",
      });
      choice.append(inert(option.text));
      choice.addEventListener("click", () => {
        for (const one of choices) one.setAttribute("aria-pressed", String(one === choice));
        const sign = option.right ? "✓" : "✗";
        said.replaceChildren(
          html("p", { class: "cp-note" }, `${sign} `, inert(`<span>${option.reason}</span>`)),
        );
      });
      return choice;
    });
    return html(
      "div",
      { role: "group", "aria-label": `Question ${number}`, class: "cp-question" },
      html("p", null, `${number}. `, inert(`<span>${text}</span>`)),
      html("ul", null, ...choices.map((choice) => html("li", null, choice))),
      said,
    );
  }

  follow() {
    this.progress.show(this.task.desk.python, this.job);
  }
}
