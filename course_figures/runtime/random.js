/** Numbers that a seed fixes, and what they decide. `course_figures.sampling` computes the same. */

/** Numbers in [0, 1) that a seed fixes. Source: mulberry32 (public domain). */
export const random = (seed) => {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
};

/**
 * The symbol on whose piece of [0, 1) a number falls; pieces lie in the order of the symbols.
 *
 * Never one of probability 0, even where rounding left the sum a little below 1.
 */
export const drawSymbol = (probabilities, uniform) => {
  let total = 0;
  for (const p of probabilities) total += p;
  const point = uniform * total;
  let edge = 0;
  let last = 0;
  for (let v = 0; v < probabilities.length; v += 1) {
    if (probabilities[v] === 0) continue;
    last = v;
    edge += probabilities[v];
    if (edge > point) break;
  }
  return last;
};
