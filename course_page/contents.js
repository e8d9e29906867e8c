/** What begins in a page without tasks: the marks in the book's contents, and what is kept. */
import { page } from "./files.js";
import { askForGuesses } from "./guess.js";
import { showKept } from "./kept.js";
import { markBook } from "./marks.js";

/** Begin, once the page is there; what `window.coursePage` gets. */
export const begin = () => {
  markBook(page().version, page().assignments);
  showKept();
  askForGuesses();
  return {};
};
