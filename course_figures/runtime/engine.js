/**
 * A GPT of the course in plain typed arrays: what `course_lib.model.GPT` computes, and nothing else.
 *
 * Sizes are named as in the book: T tokens, C channels, H heads of D channels, V symbols, B the
 * longest context (block_size). All arrays are flat and row-major; shapes stand in the comments.
 */

const EPSILON = 1e-5; // nn.LayerNorm's

/**
 * Weights from the bytes of a checkpoint (safetensors) that `course_figures.live_weights` wrote.
 *
 * Matrices are int8 with one float32 scale a row; both sides multiply once in float32, so that they
 * hold the same numbers to the last bit.
 *
 * @param {Uint8Array} bytes
 * @returns {{config: object, facts: object, tensors: Map<string, Float32Array>}}
 * @throws {course.FigureError} names what is missing, of another size, or not a number.
 */
function readWeights(bytes) {
  let facts, tensors;
  try {
    [facts, tensors] = unpack(bytes);
  } catch (error) {
    throw new course.FigureError(`The weights cannot be read (${error.message}).`, "Load the page again.");
  }
  checkShapes(facts.model.config, tensors);
  return { config: facts.model.config, facts, tensors };
}

function unpack(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = Number(view.getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length)));
  const facts = JSON.parse(header.__metadata__.facts);
  const raw = new Map();
  for (const [name, entry] of Object.entries(header)) {
    if (name === "__metadata__") continue;
    const [from, to] = entry.data_offsets.map((offset) => offset + 8 + length);
    if (to > bytes.byteLength) throw new Error(`they end at byte ${bytes.byteLength} of ${to}`);
    const own = bytes.slice(from, to); // a copy starts where a Float32Array may start
    raw.set(name, entry.dtype === "I8" ? new Int8Array(own.buffer) : new Float32Array(own.buffer));
  }
  const tensors = new Map();
  for (const [name, values] of raw) {
    if (values instanceof Float32Array) {
      if (!name.endsWith(".scale")) tensors.set(name, values);
      continue;
    }
    const scale = raw.get(`${name}.scale`);
    if (scale === undefined) throw new Error(`${name} has no scale`);
    const columns = values.length / scale.length;
    const matrix = new Float32Array(values.length);
    for (let row = 0, i = 0; row < scale.length; row++)
      for (const end = i + columns; i < end; i++) matrix[i] = values[i] * scale[row];
    tensors.set(name, matrix);
  }
  return [facts, tensors];
}

function checkShapes(config, tensors) {
  const { vocab_size: V, block_size: B, n_layer: L, n_embd: C } = config;
  const expected = [
    ["embedding.tokens.weight", V * C],
    ["embedding.positions.weight", B * C],
    ["norm.weight", C],
    ["norm.bias", C],
    ["output.weight", V * C],
  ];
  for (let layer = 0; layer < L; layer++) {
    expected.push(
      ...[
        ["attention_norm.weight", C],
        ["attention_norm.bias", C],
        ["attention.query_key_value.weight", 3 * C * C],
        ["attention.projection.weight", C * C],
        ["attention.projection.bias", C],
        ["feed_forward_norm.weight", C],
        ["feed_forward_norm.bias", C],
        ["feed_forward.layers.0.weight", 4 * C * C],
        ["feed_forward.layers.0.bias", 4 * C],
        ["feed_forward.layers.2.weight", 4 * C * C],
        ["feed_forward.layers.2.bias", C],
      ].map(([name, size]) => [`blocks.${layer}.${name}`, size]),
    );
  }
  for (const [name, size] of expected) {
    const values = tensors.get(name);
    const found = values === undefined ? "absent" : `${values.length} numbers`;
    course.need(values?.length === size,
      `The weights are not those of this model: ${name} is ${found}, ${size} are expected.`,
      "Give the weights and the Config of one and the same GPT.");
    let sum = 0; // of products with 0: not 0 if any of them is NaN or infinite
    for (let i = 0; i < values.length; i++) sum += values[i] * 0;
    course.need(sum === 0,
      `The weights hold a value that is not a number (in ${name}): nothing follows from them.`,
      "Train again with a smaller learning rate, and look at the loss on the way.");
  }
}

/**
 * Reads tokens and keeps keys and values, so that a token costs one row and not the whole triangle.
 *
 * Weights are float32, what is computed from them is float64, as all numbers of JavaScript are.
 *
 * Attributes
 * - context: the tokens that were read and are kept; length: how many, at most B.
 * - complete: rows from the first on whose logits and weights are all set, in every layer.
 * - logits: (B, V); row t is set if token t was asked for.
 * - weights: (L, H, B, B); attention of query t to key s, 0 for s > t.
 */
class Engine {
  constructor({ config, tensors }) {
    const { vocab_size: V, block_size: B, n_layer: L, n_head: H, n_embd: C } = config;
    this.V = V;
    this.B = B;
    this.L = L;
    this.H = H;
    this.C = C;
    this.D = C / H;
    this.clear();
    this.logits = new Float64Array(B * V);
    this.weights = new Float64Array(L * H * B * B);
    this.residual = new Float64Array(B * C);
    this.normed = new Float64Array(B * C);
    this.found = new Float64Array(B * C);
    this.hidden = new Float64Array(B * 4 * C);
    this.scores = new Float64Array(B);
    this.embedding = tensors.get("embedding.tokens.weight");
    this.positions = tensors.get("embedding.positions.weight");
    this.norm = [tensors.get("norm.weight"), tensors.get("norm.bias")];
    this.output = tensors.get("output.weight");
    this.blocks = Array.from({ length: L }, (_, layer) => {
      const of = (name) => tensors.get(`blocks.${layer}.${name}`);
      const joined = of("attention.query_key_value.weight"); // (3C, C)
      const [query, key, value] = [0, 1, 2].map((i) => joined.subarray(i * C * C, (i + 1) * C * C));
      return {
        attentionNorm: [of("attention_norm.weight"), of("attention_norm.bias")],
        query,
        key,
        value,
        projection: [of("attention.projection.weight"), of("attention.projection.bias")],
        forwardNorm: [of("feed_forward_norm.weight"), of("feed_forward_norm.bias")],
        widen: [of("feed_forward.layers.0.weight"), of("feed_forward.layers.0.bias")],
        narrow: [of("feed_forward.layers.2.weight"), of("feed_forward.layers.2.bias")],
        queries: new Float64Array(B * C), // (B, H, D)
        keys: new Float64Array(B * C),
        values: new Float64Array(B * C),
      };
    });
  }

  /** Forget everything that was read. */
  clear() {
    this.context = [];
    this.length = 0;
    this.complete = 0;
  }

  /**
   * Read a whole text: its last B tokens, of which those already read are not read again.
   *
   * @param {ArrayLike<number>} tokens T ≥ 1 tokens, any number of them.
   * @param {boolean} lastOnly whether only the last token's logits and, in the last layer, weights
   *   are wanted; the rest of that layer is then left out.
   * @returns {Float32Array} (V,) logits of the symbol that follows.
   */
  follow(tokens, lastOnly = true) {
    const context = Array.from(tokens).slice(-this.B);
    const most = Math.min(lastOnly ? this.length : this.complete, context.length - 1);
    let same = 0;
    while (same < most && this.context[same] === context[same]) same++;
    this.length = same;
    this.complete = Math.min(this.complete, same);
    this.read(context.slice(same), lastOnly);
    return this.logits.subarray((this.length - 1) * this.V, this.length * this.V);
  }

  /** Read further tokens, which must fit: length + tokens.length ≤ B. */
  read(tokens, lastOnly = false) {
    const { B, C, L } = this;
    const start = this.length;
    const n = tokens.length;
    if (n === 0 || start + n > B) {
      throw new RangeError(`${start} tokens read and ${n} more: between 1 and ${B} fit`);
    }
    for (let t = 0; t < n; t++) {
      if (!(tokens[t] >= 0 && tokens[t] < this.V)) {
        throw new RangeError(`token ${tokens[t]} stands for no symbol: there are ${this.V}`);
      }
      const token = tokens[t] * C;
      const position = (start + t) * C;
      for (let c = 0; c < C; c++) {
        this.residual[t * C + c] = this.embedding[token + c] + this.positions[position + c];
      }
    }
    this.context = [...this.context.slice(0, start), ...tokens];
    this.length = start + n;
    if (this.complete === start && !(lastOnly && n > 1)) this.complete = this.length;
    for (let layer = 0; layer < L; layer++) this.block(layer, start, n, lastOnly && layer === L - 1);
    const first = lastOnly ? n - 1 : 0;
    layerNorm(this.residual, this.normed, first, n, C, this.norm);
    const logits = this.logits.subarray((start + first) * this.V);
    linear(this.normed.subarray(first * C), n - first, C, this.output, null, logits, this.V, false);
  }

  /** x ← x + attention(norm(x)), then x ← x + feedForward(norm(x)), for rows 0 … n − 1. */
  block(layer, start, n, lastOnly) {
    const { C } = this;
    const block = this.blocks[layer];
    const at = start * C;
    layerNorm(this.residual, this.normed, 0, n, C, block.attentionNorm);
    linear(this.normed, n, C, block.key, null, block.keys.subarray(at), C, false);
    linear(this.normed, n, C, block.value, null, block.values.subarray(at), C, false);
    const first = lastOnly ? n - 1 : 0;
    const rows = n - first;
    const from = first * C;
    const normed = this.normed.subarray(from);
    const residual = this.residual.subarray(from);
    linear(normed, rows, C, block.query, null, block.queries.subarray(at + from), C, false);
    for (let t = first; t < n; t++) this.attend(layer, start + t, t * C);
    linear(this.found.subarray(from), rows, C, ...block.projection, residual, C, true);
    layerNorm(this.residual, this.normed, first, n, C, block.forwardNorm);
    linear(normed, rows, C, ...block.widen, this.hidden, 4 * C, false);
    for (let i = 0; i < rows * 4 * C; i++) if (this.hidden[i] < 0) this.hidden[i] = 0;
    linear(this.hidden, rows, 4 * C, ...block.narrow, residual, C, true);
  }

  /** Weights of query t over keys 0 … t in each head, and the mean of the values by them. */
  attend(layer, t, row) {
    const { B, C, D, H, scores, found } = this;
    const { queries, keys, values } = this.blocks[layer];
    const scale = 1 / Math.sqrt(D);
    for (let head = 0; head < H; head++) {
      const q = t * C + head * D;
      let best = -Infinity;
      for (let s = 0; s <= t; s++) {
        const k = s * C + head * D;
        let dot = 0;
        for (let d = 0; d < D; d++) dot += queries[q + d] * keys[k + d];
        scores[s] = dot * scale;
        if (scores[s] > best) best = scores[s];
      }
      let sum = 0;
      for (let s = 0; s <= t; s++) sum += scores[s] = Math.exp(scores[s] - best);
      const out = row + head * D;
      const at = ((layer * H + head) * B + t) * B;
      for (let d = 0; d < D; d++) found[out + d] = 0;
      for (let s = 0; s <= t; s++) {
        const weight = scores[s] / sum;
        this.weights[at + s] = weight;
        const v = s * C + head * D;
        for (let d = 0; d < D; d++) found[out + d] += weight * values[v + d];
      }
      this.weights.fill(0, at + t + 1, at + B);
    }
  }
}

function layerNorm(x, y, first, end, C, [weight, bias]) {
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

/**
 * y = x Wᵀ + b, or y += …: x (n, I), W (O, I), b (O,) or null, y (n, O).
 *
 * Four rows and two columns at a time: eight sums for six loads, where one sum alone costs two.
 */
function linear(x, n, I, w, bias, y, O, add) {
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
      let a0 = 0, a1 = 0, a2 = 0, a3 = 0, b0 = 0, b1 = 0, b2 = 0, b3 = 0;
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
      let a = 0, b = 0, c = 0, d = 0;
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
