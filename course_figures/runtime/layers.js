/**
 * The layers of a GPT over flat, row-major arrays of any kind of numbers.
 *
 * Sizes are named as in the book: n rows (positions), C channels, H heads of D channels.
 */
import { softmax } from "./softmax.js";

/** What nn.LayerNorm adds to the variance, so that it divides by no 0. */
export const EPSILON = 1e-5;

/**
 * Attention of query t over keys 0 … t: the weights of each head, and the mean of the values by
 * them.
 *
 * `parts` are queries, keys and values, (T, H, D) each. What the heads found, (H, D), is written
 * into `found` from place `at` on. Weights of head h stand in `weights` from place `to + h · apart`
 * on; where they are wanted no longer, every head may write over the one before it.
 */
export function attend(t, { H, D }, parts, found, at, weights, to = 0, apart = 0) {
  const { queries, keys, values } = parts;
  const C = H * D;
  const scale = 1 / Math.sqrt(D);
  for (let head = 0; head < H; head++) {
    const row = to + head * apart;
    const q = t * C + head * D;
    for (let s = 0; s <= t; s++) {
      const k = s * C + head * D;
      let dot = 0;
      for (let d = 0; d < D; d++) dot += queries[q + d] * keys[k + d];
      weights[row + s] = dot * scale;
    }
    softmax(weights, row, t + 1);
    const out = at + head * D;
    for (let d = 0; d < D; d++) found[out + d] = 0;
    for (let s = 0; s <= t; s++) {
      const weight = weights[row + s];
      const v = s * C + head * D;
      for (let d = 0; d < D; d++) found[out + d] += weight * values[v + d];
    }
  }
}

/** y = LayerNorm(x), for rows first … end − 1 of (n, C). */
export function layerNorm(x, y, first, end, C, [weight, bias]) {
  for (let t = first; t < end; t++) {
    const at = t * C;
    let mean = 0;
    for (let c = 0; c < C; c++) mean += x[at + c];
    mean /= C;
    let variance = 0;
    for (let c = 0; c < C; c++) variance += (x[at + c] - mean) ** 2;
    const scale = 1 / Math.sqrt(variance / C + EPSILON);
    for (let c = 0; c < C; c++) y[at + c] = (x[at + c] - mean) * scale * weight[c] + bias[c];
  }
}

/** x = max(0, x), for the first n numbers. */
export function relu(x, n) {
  for (let i = 0; i < n; i++) if (x[i] < 0) x[i] = 0;
}

/**
 * x = GELU(x), for the first n numbers.
 *
 * The error function is that of Abramowitz and Stegun (1964), 7.1.26, which is off by at most
 * 1.5e-7.
 */
export function gelu(x, n) {
  for (let i = 0; i < n; i++) {
    const z = Math.abs(x[i]) * Math.SQRT1_2;
    const t = 1 / (1 + 0.3275911 * z);
    const poly = ((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736;
    const erf = 1 - (poly * t + 0.254829592) * t * Math.exp(-z * z);
    x[i] *= 0.5 * (1 + Math.sign(x[i]) * erf);
  }
}

/**
 * y = x Wᵀ + b, or y += …: x (n, I), W (O, I), b (O,) or null, y (n, O).
 *
 * Four rows and two columns at a time: eight sums for six loads, where one sum alone costs two.
 */
export function linear(x, n, I, w, bias, y, O, add) {
  let t = 0;
  for (; t + 4 <= n; t += 4) {
    const x0 = t * I;
    const x1 = x0 + I;
    const x2 = x1 + I;
    const x3 = x2 + I;
    let o = 0;
    for (; o + 2 <= O; o += 2) {
      const w0 = o * I;
      const w1 = w0 + I;
      let a0 = 0,
        a1 = 0,
        a2 = 0,
        a3 = 0,
        b0 = 0,
        b1 = 0,
        b2 = 0,
        b3 = 0;
      for (let i = 0; i < I; i++) {
        const u = w[w0 + i];
        const v = w[w1 + i];
        const p = x[x0 + i];
        const q = x[x1 + i];
        const r = x[x2 + i];
        const s = x[x3 + i];
        a0 += u * p;
        a1 += u * q;
        a2 += u * r;
        a3 += u * s;
        b0 += v * p;
        b1 += v * q;
        b2 += v * r;
        b3 += v * s;
      }
      const c = bias === null ? 0 : bias[o];
      const d = bias === null ? 0 : bias[o + 1];
      const at = t * O + o;
      put(y, at, a0 + c, b0 + d, add);
      put(y, at + O, a1 + c, b1 + d, add);
      put(y, at + 2 * O, a2 + c, b2 + d, add);
      put(y, at + 3 * O, a3 + c, b3 + d, add);
    }
    for (; o < O; o++) for (let k = 0; k < 4; k++) one(x, t + k, I, w, bias, y, O, o, add);
  }
  for (; t < n; t++) {
    let o = 0;
    for (; o + 4 <= O; o += 4) {
      const w0 = o * I;
      const w1 = w0 + I;
      const w2 = w1 + I;
      const w3 = w2 + I;
      let a = 0,
        b = 0,
        c = 0,
        d = 0;
      for (let i = 0; i < I; i++) {
        const p = x[t * I + i];
        a += w[w0 + i] * p;
        b += w[w1 + i] * p;
        c += w[w2 + i] * p;
        d += w[w3 + i] * p;
      }
      const at = t * O + o;
      if (bias === null) {
        put(y, at, a, b, add);
        put(y, at + 2, c, d, add);
      } else {
        put(y, at, a + bias[o], b + bias[o + 1], add);
        put(y, at + 2, c + bias[o + 2], d + bias[o + 3], add);
      }
    }
    for (; o < O; o++) one(x, t, I, w, bias, y, O, o, add);
  }
}

function put(y, at, a, b, add) {
  y[at] = add ? y[at] + a : a;
  y[at + 1] = add ? y[at + 1] + b : b;
}

function one(x, t, I, w, bias, y, O, o, add) {
  let sum = bias === null ? 0 : bias[o];
  for (let i = 0; i < I; i++) sum += x[t * I + i] * w[o * I + i];
  const at = t * O + o;
  y[at] = add ? y[at] + sum : sum;
}
