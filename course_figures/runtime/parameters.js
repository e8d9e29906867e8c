/** The numbers that a training changes: one flat array, and a name and a shape for each part. */
import { random } from "./random.js";

/** Normal numbers with mean 0 and standard deviation 1. Source: Box and Muller (1958). */
const normal = (uniform) => {
  const radius = Math.sqrt(-2 * Math.log(1 - uniform())); // of 1 − u, which is never 0
  return radius * Math.cos(2 * Math.PI * uniform());
};

/** How the numbers of a part begin: each takes a source of uniform numbers and gives a number. */
export const START = {
  zeros: () => () => 0,
  ones: () => () => 1,
  normal: (deviation) => (uniform) => deviation * normal(uniform),
  uniform: (bound) => (uniform) => bound * (2 * uniform() - 1),
};

/**
 * Parameters in the order in which they are added; names and shapes are those of torch.
 *
 * - parts: [{ name, shape, at, size, decays }]; `decays` for matrices, as in course_lib.optimizers.
 * - weights, gradients: Float32Array, after `allot`.
 */
export class Parameters {
  constructor() {
    this.parts = [];
    this.size = 0;
  }

  /** Add a part; what comes back gives its pieces of both arrays once they are allotted. */
  add(name, shape, start) {
    const size = shape.reduce((product, length) => product * length, 1);
    const part = { name, shape, start, at: this.size, size, decays: shape.length > 1 };
    this.parts.push(part);
    this.size += size;
    return part;
  }

  /** Make the arrays, give every part its views of them, and draw the first weights. */
  allot(seed) {
    this.weights = new Float32Array(this.size);
    this.gradients = new Float32Array(this.size);
    const uniform = random(seed);
    for (const part of this.parts) {
      const end = part.at + part.size;
      part.weights = this.weights.subarray(part.at, end);
      part.gradients = this.gradients.subarray(part.at, end);
      for (let i = 0; i < part.size; i += 1) part.weights[i] = part.start(uniform);
    }
  }
}
