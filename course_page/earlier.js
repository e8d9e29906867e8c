/** "Start from my answers": what passed in earlier exercises goes into a cell of the project. */
import { html } from "../course_figures/runtime/elements.js";
import { entries } from "./answers.js";
import { button } from "./controls.js";
import { standing } from "./marks.js";

/** What was checked when a verdict was given: the texts of a task's cells, as one. */
const sourceOf = (verdict) => {
  if (standing(verdict) !== "done" || typeof verdict.checked !== "string") return null;
  const texts = JSON.parse(verdict.checked);
  return texts.map((text) => text.trim()).join("\n\n\n");
};

/** The answer to an earlier task that passed last, under any version of the course, or null. */
const passed = ({ assignment, task }) => {
  const kept = entries()
    .filter((one) => one.assignment === assignment)
    .sort((a, b) => (b.entry.at ?? 0) - (a.entry.at ?? 0));
  for (const { entry } of kept) {
    try {
      const source = sourceOf(entry.verdicts?.[task]);
      if (source) return source;
    } catch {
      // somebody else wrote it: no answer
    }
  }
  return null;
};

const comment = ({ task, title }) => `# ${task}, ${title}`;

/** Links to the exercises of some tasks, with the tasks in brackets. */
const listed = (starts, book) => {
  const pages = [...new Set(starts.map(({ page }) => page))];
  const links = pages.map((page) => {
    const some = starts.filter((one) => one.page === page);
    return [
      html("a", { href: `${book}/${page}` }, `exercises ${some[0].assignment.slice(0, 2)}`),
      ` (${some.map(({ task }) => task.split("/")[1]).join(", ")})`,
    ];
  });
  return links.flatMap((link, i) => (i ? [", ", ...link] : link));
};

/** The button, and the line below that says what it did. */
export const startFromAnswers = (task) => {
  const { starts } = task.about;
  const { book } = task.desk.about;
  const note = html("p", { class: "cp-note", role: "status", hidden: true });
  const say = (...words) => {
    note.hidden = words.length === 0;
    note.replaceChildren(...words);
  };

  const start = () => {
    const before = task.get();
    const found = starts
      .map((one) => ({ ...one, source: passed(one) }))
      .filter(({ source }) => source);
    const missing = starts.filter((one) => !found.some(({ task: name }) => name === one.task));
    const fresh = found.filter((one) => !before.includes(`${comment(one)}\n`));
    if (!found.length) {
      say(
        "None of your answers that could help here has passed in this browser. Pass some of these first: ",
        ...listed(missing, book),
        ".",
      );
      return;
    }
    const others = missing.length ? [" Not passed here yet: ", ...listed(missing, book), "."] : [];
    if (!fresh.length) {
      say("Your answers are in the cell already.", ...others);
      return;
    }
    const pieces = fresh.map((one) => `${comment(one)}\n${one.source}`);
    task.set([...pieces, before].join("\n\n\n"));
    const undo = button("Undo", () => {
      task.set(before);
      say();
    });
    say(
      fresh.length === 1
        ? "One answer is at the beginning of the cell, under a comment that names its task. It was written for another question: change it and join it by hand."
        : `${fresh.length} answers are at the beginning of the cell, each under a comment that names its task. They were written for other questions: change them and join them by hand.`,
      ...others,
      " ",
      undo,
    );
  };

  const title = "Put your answers of earlier exercises that passed into this cell";
  return { offer: button("Start from my answers", start, { title }), note };
};
