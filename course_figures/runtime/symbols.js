/** Symbols of a text as readers see and hear them. */

const SIGNS = { " ": "␣", "\n": "↵", "\t": "⇥" };
const WORDS = { " ": "space", "\n": "line break", "\t": "tab" };

/** A symbol as a reader sees it: space and line break get a sign of their own. */
export const visible = (symbol) => SIGNS[symbol] ?? symbol;

/** The same for reading aloud. */
export const spoken = (symbol) => WORDS[symbol] ?? symbol;

/** Several of them in quotation marks. */
export const quoted = (symbols) => `“${[...symbols].map(visible).join("")}”`;
