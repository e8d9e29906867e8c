/** What begins in the page of a project: an assignment, and what only a project has. */
import { startFromAnswers } from "./earlier.js";
import { begin as beginPage } from "./page.js";
import { Training } from "./training.js";

const equip = (task) => {
  const { offer, note } = startFromAnswers(task);
  const added = [offer];
  if (task.about.trains) {
    task.training = new Training(task);
    added.unshift(task.training.offer);
    task.verdict.after(task.training.element);
  }
  task.reset.before(...added);
  task.bar.after(note);
};

/** Begin, once the page is there; what `window.coursePage` gets. */
export const begin = () => beginPage((desk) => desk.tasks.forEach(equip));
