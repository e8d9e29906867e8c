/** The released notebook with a reader's answers in its cells, and the way back. */

const textOf = ({ source }) => (Array.isArray(source) ? source.join("") : String(source ?? ""));

const idOf = (cell) => cell.metadata?.nbgrader?.grade_id;

/** Whether a cell is a student's to write: an answer, or a question that a person grades. */
const ownCell = (cell) => cell.metadata?.nbgrader?.solution === true && idOf(cell);

/** Cells that a reader writes, as [id, released text]. */
export const ownCells = (notebook) =>
  notebook.cells.filter(ownCell).map((cell) => [idOf(cell), textOf(cell)]);

/** A text as notebooks keep it: a list of lines. */
const asLines = (text) => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

/** A copy of the released notebook with these texts, by cell, in it. */
export const filled = (notebook, texts) => {
  const copy = structuredClone(notebook);
  for (const cell of copy.cells) {
    const text = ownCell(cell) && texts[idOf(cell)];
    if (typeof text === "string") cell.source = asLines(text);
  }
  return copy;
};

/**
 * The texts of a notebook that somebody chose, by cell, of the cells that the released one has.
 *
 * It is data: nothing of it is run before a button is pressed. Throws an Error that says what is
 * wrong with it, in words for its reader.
 */
export const answersOf = (released, text, name) => {
  let given = null;
  try {
    given = JSON.parse(text);
  } catch {
    throw new Error(`${name} is not a notebook: it is not JSON.`);
  }
  if (!Array.isArray(given?.cells)) throw new Error(`${name} is not a notebook: it has no cells.`);
  const known = new Map(ownCells(released));
  const found = {};
  for (const cell of given.cells) {
    const id = cell && typeof cell === "object" ? idOf(cell) : null;
    if (known.has(id) && ownCell(cell)) found[id] = textOf(cell);
  }
  if (Object.keys(found).length === 0)
    throw new Error(
      `${name} is a notebook of something else: none of this assignment's cells is in it.`,
    );
  return found;
};

/** Give the reader a file. */
export const download = (name, value, type = "application/x-ipynb+json") => {
  const text = `${JSON.stringify(value, null, 1)}\n`;
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = Object.assign(document.createElement("a"), { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
};
