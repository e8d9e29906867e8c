/**
 * What stands for a query, a key, a value, a score and a weight, in every figure and diagram.
 *
 * Each has a color, `--cf-NAME` in figures.css, and a mark, because color is never the only sign.
 * The residual stream is a thick line; `tests/figures/test_visual_language.py` holds them together.
 */
export const MARKS = { query: "●", key: "■", value: "▲", score: "◇", weight: "◆" };

/** The name of a role behind its mark: "● query". */
export const marked = (role, name = role) => `${MARKS[role]} ${name}`;
