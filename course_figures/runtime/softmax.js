/**
 * Softmax of `count` scores from place `from` on: weights that are positive and add up to 1.
 *
 * They are written into `weights` from place `to` on, or over the scores where that is left out. A
 * score of −∞ gets the weight 0. The largest score is taken off first, which changes no weight and
 * keeps every exponential at most 1.
 */
export const softmax = (scores, from, count, weights = scores, to = from) => {
  let most = -Infinity;
  for (let i = 0; i < count; i += 1) most = Math.max(most, scores[from + i]);
  let sum = 0;
  for (let i = 0; i < count; i += 1) {
    const raised = Math.exp(scores[from + i] - most);
    weights[to + i] = raised;
    sum += raised;
  }
  for (let i = 0; i < count; i += 1) weights[to + i] /= sum;
};
