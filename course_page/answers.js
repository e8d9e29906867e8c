/**
 * Answers and verdicts in this browser: one entry of localStorage for each assignment and version
 * of the course. Nothing of it is ever sent anywhere.
 *
 * An entry is { cells: { "answer-scores": "def …" }, verdicts: { "05/scores": { … } }, at: time }.
 * A later version of the course takes over the answers of the one before, not its verdicts.
 */

const PREFIX = "course-page";

const keyOf = (version, assignment) => `${PREFIX} ${version} ${assignment}`;

const parsed = (text) => {
  try {
    const value = JSON.parse(text);
    return value && typeof value === "object" ? value : null;
  } catch {
    return null; // somebody else wrote it
  }
};

/** All entries of this browser, whatever their version: [{ key, version, assignment, entry }]. */
export const entries = () => {
  const found = [];
  for (let i = 0; i < localStorage.length; i += 1) {
    const key = localStorage.key(i);
    const [prefix, version, assignment] = key.split(" ");
    const entry = prefix === PREFIX && assignment ? parsed(localStorage.getItem(key)) : null;
    if (entry) found.push({ key, version, assignment, entry });
  }
  return found;
};

const empty = () => ({ cells: {}, verdicts: {} });

/** Texts by name: whatever else an entry holds is left out. */
const texts = (cells) =>
  Object.fromEntries(Object.entries(cells ?? {}).filter(([, text]) => typeof text === "string"));

export class Answers {
  /** `refused` is called once, with the reason, if this browser keeps nothing. */
  constructor(version, assignment, refused = () => {}) {
    this.key = keyOf(version, assignment);
    this.refused = refused;
    this.assignment = assignment;
    this.entry = this.read();
    // The same assignment in another tab: what was written last counts.
    addEventListener("storage", ({ key }) => {
      if (key === this.key || key === null) {
        this.entry = this.read();
        this.changedElsewhere?.();
      }
    });
  }

  read() {
    try {
      const own = parsed(localStorage.getItem(this.key));
      if (own) return { cells: texts(own.cells), verdicts: own.verdicts ?? {}, at: own.at };
      const earlier = entries()
        .filter(({ assignment }) => assignment === this.assignment)
        .sort((a, b) => (b.entry.at ?? 0) - (a.entry.at ?? 0))[0];
      return earlier ? { ...empty(), cells: texts(earlier.entry.cells) } : empty();
    } catch (error) {
      this.refused(error.message);
      return empty();
    }
  }

  write() {
    this.entry.at = Date.now();
    try {
      localStorage.setItem(this.key, JSON.stringify(this.entry));
    } catch (error) {
      this.refused(error.message);
    }
  }

  source(cell) {
    return this.entry.cells[cell];
  }

  /** Keep what a cell holds; null forgets it. */
  keep(cell, source) {
    if (source === null) delete this.entry.cells[cell];
    else this.entry.cells[cell] = source;
    this.write();
  }

  verdict(task) {
    return this.entry.verdicts[task];
  }

  judge(task, verdict) {
    if (verdict === null) delete this.entry.verdicts[task];
    else this.entry.verdicts[task] = verdict;
    this.write();
  }

  /** Forget this assignment, in all versions. */
  forget() {
    this.entry = empty();
    for (const { key, assignment } of entries())
      if (assignment === this.assignment) localStorage.removeItem(key);
  }
}

/** All that this browser keeps of the course, as one object; `restore` reads it. */
export const everything = () => ({
  what: PREFIX,
  entries: entries().map(({ version, assignment, entry }) => ({ version, assignment, entry })),
});

/** Forget all of it. */
export const forgetEverything = () => {
  for (const { key } of entries()) localStorage.removeItem(key);
};

const isName = (text) => typeof text === "string" && /^[\w.+-]+$/.test(text);
const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

/**
 * Put what `everything` gave, as a text, in the place of what is kept of the same assignments; how
 * many they are. It is data: only texts and verdicts are taken, and nothing of it runs.
 *
 * Throws an Error that says what is wrong with it.
 */
export const restore = (text, name) => {
  const given = parsed(text);
  const found = given?.what === PREFIX && Array.isArray(given.entries) ? given.entries : null;
  if (!found) throw new Error(`${name} is no file of exported answers.`);
  const whole = found.filter(
    (one) => isObject(one) && isName(one.version) && isName(one.assignment) && isObject(one.entry),
  );
  for (const { version, assignment, entry } of whole) {
    const verdicts = isObject(entry.verdicts) ? entry.verdicts : {};
    const kept = { cells: texts(entry.cells), verdicts, at: Number(entry.at) || Date.now() };
    localStorage.setItem(keyOf(version, assignment), JSON.stringify(kept));
  }
  return whole.length;
};

/** How far an assignment is: { done, begun }, of the tasks that have a verdict. */
export const progress = (version, assignment) => {
  let entry = null;
  try {
    entry = parsed(localStorage.getItem(keyOf(version, assignment)));
  } catch {
    // a browser that keeps nothing has nothing to show
  }
  const verdicts = Object.values(entry?.verdicts ?? {});
  const done = verdicts.filter(({ points, outOf }) => outOf > 0 && points >= outOf).length;
  return { done, begun: verdicts.length - done };
};
