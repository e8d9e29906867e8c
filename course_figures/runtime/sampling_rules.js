/** The rules of `course_lib.sampling` in JavaScript, rounded to float32 where torch rounds. */
import { need } from "./errors.js";
import { number } from "./numbers.js";
import { softmax } from "./softmax.js";

const SMALLEST = 2 ** -126; // the smallest normal float32: below it, a temperature counts as 0

/**
 * What the next symbol is drawn from: temperature, then top-k, then top-p on what top-k left.
 *
 * @param {ArrayLike<number>} logits (V,)
 * @param {{temperature: number, topK: ?number, topP: ?number}} settings null switches one off
 * @returns {{probabilities: Float32Array, order: number[], cut: string[]}} (V,) each: what may be
 *   drawn; symbols from the most to the least likely; what cut a symbol, "" for those that stay.
 */
export const nextProbabilities = (logits, { temperature = 1, topK = null, topP = null } = {}) => {
  const { fround } = Math;
  const V = logits.length;
  let best = -Infinity;
  for (const logit of logits) best = Number.isNaN(logit) ? NaN : Math.max(best, logit);
  need(
    Number.isFinite(best),
    `The model's logits hold ${number(best)} as their largest value: no distribution follows from them.`,
    "Look whether training ended in a loss of NaN, and train again with a smaller learning rate.",
  );
  // A stable sort: of equals, the smaller index comes first.
  const order = Array.from({ length: V }, (_, v) => v).sort((a, b) => logits[b] - logits[a]);
  const probabilities = new Float32Array(V);
  const cut = new Array(V).fill("");
  if (temperature < SMALLEST) {
    probabilities[order[0]] = 1;
    for (const v of order.slice(1)) cut[v] = "temperature";
    return { probabilities, order, cut };
  }
  const scaled = new Float64Array(V).fill(-Infinity);
  order.forEach((v, rank) => {
    if (topK !== null && rank >= topK) cut[v] = "top-k";
    else scaled[v] = fround(fround(logits[v] - best) / fround(temperature));
  });
  softmax(scaled, 0, V);
  probabilities.set(scaled); // rounded once, at the end, as torch does
  if (topP === null || topP >= 1) return { probabilities, order, cut };
  let total = 0;
  let kept = 0;
  order.forEach((v, rank) => {
    total += probabilities[v];
    const before = fround(fround(total) - probabilities[v]);
    if (rank === 0 || before < fround(topP)) kept += probabilities[v];
    else {
      cut[v] ||= "top-p";
      probabilities[v] = 0;
    }
  });
  for (let v = 0; v < V; v += 1) probabilities[v] /= kept;
  return { probabilities, order, cut };
};
