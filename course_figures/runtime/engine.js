/**
 * A GPT of the course in plain typed arrays: what `course_lib.model.GPT` computes, or with a GELU
 * and a bias on the output what `course_lib.role_map.gpt_of` makes of a reader's program.
 *
 * Sizes are named as in the book: T tokens, C channels, H heads of D channels, V symbols, B the
 * longest context (block_size). All arrays are flat and row-major; shapes stand in the comments.
 */
import { attend, gelu, layerNorm, linear, relu } from "./layers.js";

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
export class Engine {
  constructor({ config, facts, tensors }) {
    const { vocab_size: V, block_size: B, n_layer: L, n_head: H, n_embd: C } = config;
    this.V = V;
    this.B = B;
    this.L = L;
    this.H = H;
    this.C = C;
    this.D = C / H;
    this.clear();
    this.off = new Set(); // heads that find nothing, as layer · H + head; clear() after a change
    this.streams = null; // (L + 1, B, C), if wanted: the residual stream before and after each block
    this.logits = new Float64Array(B * V);
    this.weights = new Float64Array(L * H * B * B);
    this.residual = new Float64Array(B * C);
    this.normed = new Float64Array(B * C);
    this.found = new Float64Array(B * C);
    this.hidden = new Float64Array(B * 4 * C);
    this.embedding = tensors.get("embedding.tokens.weight");
    this.positions = tensors.get("embedding.positions.weight");
    this.norm = [tensors.get("norm.weight"), tensors.get("norm.bias")];
    this.output = tensors.get("output.weight");
    this.outputBias = tensors.get("output.bias") ?? null;
    this.activate = facts?.model?.gelu ? gelu : relu;
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
    this.keepStream(0, start, n);
    for (let layer = 0; layer < L; layer++) {
      this.block(layer, start, n, lastOnly && layer === L - 1);
      this.keepStream(layer + 1, start, n);
    }
    const first = lastOnly ? n - 1 : 0;
    layerNorm(this.residual, this.normed, first, n, C, this.norm);
    const logits = this.logits.subarray((start + first) * this.V);
    linear(
      this.normed.subarray(first * C),
      n - first,
      C,
      this.output,
      this.outputBias,
      logits,
      this.V,
      false,
    );
  }

  keepStream(depth, start, n) {
    if (!this.streams) return;
    const at = (depth * this.B + start) * this.C;
    this.streams.set(this.residual.subarray(0, n * this.C), at);
  }

  /** Logits (V,) as if the model ended after `depth` blocks, at position t: the logit lens. */
  lens(depth, t) {
    const { B, C, V } = this;
    const stream = this.streams.subarray((depth * B + t) * C, (depth * B + t + 1) * C);
    const normed = new Float64Array(C);
    const logits = new Float64Array(V);
    layerNorm(stream, normed, 0, 1, C, this.norm);
    linear(normed, 1, C, this.output, this.outputBias, logits, V, false);
    return logits;
  }

  /** x ← x + attention(norm(x)), then x ← x + feedForward(norm(x)), for rows 0 … n − 1. */
  block(layer, start, n, lastOnly) {
    const { B, C, H } = this;
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
    for (let t = first; t < n; t++) {
      const row = (layer * H * B + start + t) * B;
      attend(start + t, this, block, this.found, t * C, this.weights, row, B * B);
    }
    for (let head = 0; head < H && this.off.size; head++)
      if (this.off.has(layer * H + head))
        for (let t = first; t < n; t++)
          this.found.fill(0, t * C + head * this.D, t * C + (head + 1) * this.D);
    linear(this.found.subarray(from), rows, C, ...block.projection, residual, C, true);
    layerNorm(this.residual, this.normed, first, n, C, block.forwardNorm);
    linear(normed, rows, C, ...block.widen, this.hidden, 4 * C, false);
    this.activate(this.hidden, rows * 4 * C);
    linear(this.hidden, rows, 4 * C, ...block.narrow, residual, C, true);
  }
}
