/**
 * Layers that learn: forward, and backward from the gradient of what came out.
 *
 * Sizes are named as in the book: n rows (B windows of T positions, one after the other), C
 * channels, H heads of D channels. Arrays are flat and row-major; a gradient has the shape of what
 * it is of. `backward` adds to the gradients of the weights, which a step sets to 0 before.
 */
import { EPSILON, layerNorm, linear } from "./layers.js";
import { START } from "./parameters.js";
import { softmax } from "./softmax.js";

/** Arrays that are kept from step to step, and made anew where they have become too short. */
export class Buffers {
  constructor() {
    this.arrays = new Map();
  }

  of(name, size) {
    const known = this.arrays.get(name);
    if (known?.length >= size) return known;
    const made = new Float32Array(size);
    this.arrays.set(name, made);
    return made;
  }
}

/** (rows, columns) → (columns, rows). */
function transpose(from, to, rows, columns) {
  for (let c = 0; c < columns; c++) {
    const row = c * rows;
    for (let r = 0; r < rows; r++) to[row + r] = from[r * columns + c];
  }
}

/** y = x Wᵀ + b: (n, I) → (n, O). */
export class Linear {
  constructor(
    parameters,
    name,
    I,
    O,
    { bias = true, start = START.uniform(1 / Math.sqrt(I)) } = {},
  ) {
    this.I = I;
    this.O = O;
    this.weight = parameters.add(`${name}.weight`, [O, I], start);
    // Where the weights begin normally distributed, biases begin at 0 (chapter 08).
    const first = start.bias ?? start;
    this.bias = bias ? parameters.add(`${name}.bias`, [O], first) : null;
    this.buffers = new Buffers();
  }

  forward(x, n, y, add = false) {
    linear(x, n, this.I, this.weight.weights, this.bias?.weights ?? null, y, this.O, add);
  }

  /** From dy (n, O): gradients of W and b, and dx (n, I), which is added to where `add` says so. */
  backward(x, dy, n, dx, add = false) {
    const { I, O, buffers } = this;
    const dyT = buffers.of("dy", O * n);
    const xT = buffers.of("x", I * n);
    transpose(dy, dyT, n, O);
    transpose(x, xT, n, I);
    linear(dyT, O, n, xT, null, this.weight.gradients, I, true); // dW += dyᵀ x
    if (this.bias !== null)
      for (let o = 0; o < O; o++) {
        let sum = 0;
        for (let i = o * n; i < (o + 1) * n; i++) sum += dyT[i];
        this.bias.gradients[o] += sum;
      }
    if (dx === null) return;
    const wT = buffers.of("w", I * O);
    transpose(this.weight.weights, wT, O, I);
    linear(dy, n, O, wT, null, dx, I, add); // dx = dy W
  }
}

/** y = LayerNorm(x), a row at a time. */
export class Norm {
  constructor(parameters, name, C) {
    this.C = C;
    this.weight = parameters.add(`${name}.weight`, [C], START.ones());
    this.bias = parameters.add(`${name}.bias`, [C], START.zeros());
  }

  forward(x, n, y) {
    layerNorm(x, y, 0, n, this.C, [this.weight.weights, this.bias.weights]);
  }

  /** Adds to dx, (n, C): the way around the norm has been there before. */
  backward(x, dy, n, dx) {
    const { C } = this;
    const weight = this.weight.weights;
    const dWeight = this.weight.gradients;
    const dBias = this.bias.gradients;
    for (let at = 0; at < n * C; at += C) {
      let mean = 0;
      for (let c = at; c < at + C; c++) mean += x[c];
      mean /= C;
      let variance = 0;
      for (let c = at; c < at + C; c++) variance += (x[c] - mean) ** 2;
      const scale = 1 / Math.sqrt(variance / C + EPSILON);
      let sum = 0; // of the gradient of the normalized row, and of that times the row
      let along = 0;
      for (let c = 0; c < C; c++) {
        const row = (x[at + c] - mean) * scale;
        const gradient = dy[at + c];
        dWeight[c] += gradient * row;
        dBias[c] += gradient;
        sum += gradient * weight[c];
        along += gradient * weight[c] * row;
      }
      for (let c = 0; c < C; c++) {
        const row = (x[at + c] - mean) * scale;
        dx[at + c] += scale * (dy[at + c] * weight[c] - (sum + row * along) / C);
      }
    }
  }
}

/**
 * Causal attention of H heads of D channels over queries, keys and values that stand in one row.
 */
export class Attention {
  constructor(H, D) {
    this.H = H;
    this.D = D;
    this.E = H * D;
    this.buffers = new Buffers();
    this.weights = null; // (B, H, T, T) of the last forward pass
  }

  /** (B, T, 3, H, D) → found, (B, T, H, D). */
  forward(joined, found, B, T) {
    const { H, D, E } = this;
    const scale = 1 / Math.sqrt(D);
    const weights = this.buffers.of("weights", B * H * T * T);
    this.weights = weights;
    for (let b = 0; b < B; b++)
      for (let h = 0; h < H; h++)
        for (let t = 0; t < T; t++) {
          const row = ((b * H + h) * T + t) * T;
          const q = (b * T + t) * 3 * E + h * D;
          for (let s = 0; s <= t; s++) {
            const k = (b * T + s) * 3 * E + E + h * D;
            let dot = 0;
            for (let d = 0; d < D; d++) dot += joined[q + d] * joined[k + d];
            weights[row + s] = dot * scale;
          }
          softmax(weights, row, t + 1);
          for (let s = t + 1; s < T; s++) weights[row + s] = 0;
          const out = (b * T + t) * E + h * D;
          for (let d = 0; d < D; d++) found[out + d] = 0;
          for (let s = 0; s <= t; s++) {
            const weight = weights[row + s];
            const v = (b * T + s) * 3 * E + 2 * E + h * D;
            for (let d = 0; d < D; d++) found[out + d] += weight * joined[v + d];
          }
        }
  }

  /** From the gradient of what was found: that of queries, keys and values, which is set. */
  backward(joined, dFound, dJoined, B, T) {
    const { H, D, E, weights } = this;
    const scale = 1 / Math.sqrt(D);
    const dRow = this.buffers.of("row", T);
    dJoined.fill(0, 0, B * T * 3 * E);
    for (let b = 0; b < B; b++)
      for (let h = 0; h < H; h++)
        for (let t = 0; t < T; t++) {
          const row = ((b * H + h) * T + t) * T;
          const q = (b * T + t) * 3 * E + h * D;
          const out = (b * T + t) * E + h * D;
          let mean = 0;
          for (let s = 0; s <= t; s++) {
            const v = (b * T + s) * 3 * E + 2 * E + h * D;
            const weight = weights[row + s];
            let dot = 0;
            for (let d = 0; d < D; d++) {
              dot += dFound[out + d] * joined[v + d];
              dJoined[v + d] += weight * dFound[out + d];
            }
            dRow[s] = dot;
            mean += weight * dot;
          }
          for (let s = 0; s <= t; s++) {
            const k = (b * T + s) * 3 * E + E + h * D;
            const dScore = weights[row + s] * (dRow[s] - mean) * scale;
            for (let d = 0; d < D; d++) {
              dJoined[q + d] += dScore * joined[k + d];
              dJoined[k + d] += dScore * joined[q + d];
            }
          }
        }
  }
}

/**
 * Mean cross-entropy of logits (n, V) against targets (n,), in nats.
 *
 * The logits become probabilities, or, where `gradient` says so, their gradient:
 * (p − [target]) / n.
 */
export function crossEntropy(logits, targets, n, V, gradient) {
  let total = 0;
  for (let i = 0; i < n; i++) {
    const at = i * V;
    softmax(logits, at, V);
    total -= Math.log(logits[at + targets[i]]);
    if (!gradient) continue;
    logits[at + targets[i]] -= 1;
    for (let v = at; v < at + V; v++) logits[v] /= n;
  }
  return total / n;
}
