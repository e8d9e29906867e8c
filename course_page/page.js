/** What begins in a page: the assignment that stands in it, its marks, and `window.coursePage`. */
import { Desk } from "./desk.js";
import { page } from "./files.js";
import { askForGuesses } from "./guess.js";
import { markBook } from "./marks.js";
import { Chapter } from "./turn.js";

const interfaceOf = (desk) => ({
  set: (task, source, cell) => desk.task(task).set(source, cell ?? undefined),
  get: (task, cell) => desk.task(task).get(cell ?? undefined),
  check: async (task) => desk.task(task).ask(),
  notebook: (assignment = desk.about.assignment) => {
    if (assignment !== desk.about.assignment)
      throw new Error(`this page holds ${desk.about.assignment}, not ${assignment}`);
    return desk.notebook();
  },
});

/** Begin, once the page is there, and equip the assignment in it; what `window.coursePage` gets. */
export const begin = (equip = () => {}) => {
  const { assignment, chapter } = page();
  if (chapter) new Chapter(chapter);
  askForGuesses();
  markBook(page().version, page().assignments);
  if (!assignment) return {};
  const desk = new Desk(assignment);
  equip(desk);
  return interfaceOf(desk);
};
