/**
 * The models of chapters 04 to 08 with their gradients, written by hand.
 *
 * Names and shapes of the parameters are those of the fused models of `course_lib.model`, so that
 * weights can go from torch to the page and back. Each model turns B windows of T tokens into
 * logits (B · T, V) by `forward`, and the gradient of these logits into gradients by `backward`.
 */
import { relu } from "./layers.js";
import { Parameters, START } from "./parameters.js";
import { Attention, Buffers, crossEntropy, Linear, Norm } from "./trainable_layers.js";

/** Sizes of each model, as in the book's table of published losses; B is the longest context. */
export const SIZES = {
  bigram: {},
  "one head": { C: 24, H: 1, D: 16 },
  "four heads": { C: 32, H: 4, D: 8 },
  "one block": { C: 32, H: 4, D: 8, L: 1 },
  "four blocks": { C: 32, H: 4, D: 8, L: 4 },
};

/** A table with the logits of the symbol that follows each symbol (chapter 04). */
class Bigram {
  constructor(parameters, V) {
    this.V = V;
    this.table = parameters.add("table.weight", [V, V], START.normal(1));
  }

  forward(tokens, n, logits) {
    const { V, table } = this;
    for (let i = 0; i < n; i++)
      logits.set(table.weights.subarray(tokens[i] * V, (tokens[i] + 1) * V), i * V);
  }

  backward(tokens, n, dLogits) {
    const { V, table } = this;
    for (let i = 0; i < n; i++)
      for (let v = 0, row = tokens[i] * V; v < V; v++)
        table.gradients[row + v] += dLogits[i * V + v];
  }
}

/** The embedding of a symbol plus that of its position (chapter 05). */
class Embedding {
  constructor(parameters, V, B, C, deviation) {
    this.C = C;
    const start = START.normal(deviation);
    this.tokens = parameters.add("embedding.tokens.weight", [V, C], start);
    this.positions = parameters.add("embedding.positions.weight", [B, C], start);
  }

  forward(tokens, n, T, x) {
    const { C } = this;
    for (let i = 0; i < n; i++) {
      const token = tokens[i] * C;
      const position = (i % T) * C;
      for (let c = 0; c < C; c++)
        x[i * C + c] = this.tokens.weights[token + c] + this.positions.weights[position + c];
    }
  }

  backward(tokens, n, T, dx) {
    const { C } = this;
    for (let i = 0; i < n; i++) {
      const token = tokens[i] * C;
      const position = (i % T) * C;
      for (let c = 0; c < C; c++) {
        this.tokens.gradients[token + c] += dx[i * C + c];
        this.positions.gradients[position + c] += dx[i * C + c];
      }
    }
  }
}

/** Heads between an embedding and the logits, with a projection if there are several (05, 06). */
class Heads {
  constructor(parameters, V, { B, C, H, D }) {
    Object.assign(this, { C, E: H * D, buffers: new Buffers() });
    this.embedding = new Embedding(parameters, V, B, C, 1);
    const name = H === 1 ? "head.query_key_value" : "attention.query_key_value";
    this.joined = new Linear(parameters, name, C, 3 * H * D, { bias: false });
    this.attention = new Attention(H, D);
    this.projection = H === 1 ? null : new Linear(parameters, "attention.projection", C, C);
    this.output = new Linear(parameters, "output", H === 1 ? D : C, V);
  }

  forward(tokens, n, logits, T) {
    const { C, E, buffers } = this;
    const x = buffers.of("x", n * C);
    const joined = buffers.of("joined", n * 3 * E);
    const found = buffers.of("found", n * E);
    this.embedding.forward(tokens, n, T, x);
    this.joined.forward(x, n, joined);
    this.attention.forward(joined, found, n / T, T);
    if (this.projection === null) {
      this.output.forward(found, n, logits);
      return;
    }
    const mixed = buffers.of("mixed", n * C);
    this.projection.forward(found, n, mixed);
    this.output.forward(mixed, n, logits);
  }

  backward(tokens, n, dLogits, T) {
    const { C, E, buffers } = this;
    const [x, joined, found] = ["x", "joined", "found"].map((name) => buffers.of(name, 0));
    const dFound = buffers.of("dFound", n * E);
    const dJoined = buffers.of("dJoined", n * 3 * E);
    const dx = buffers.of("dx", n * C);
    if (this.projection === null) this.output.backward(found, dLogits, n, dFound);
    else {
      const dMixed = buffers.of("dMixed", n * C);
      this.output.backward(buffers.of("mixed", 0), dLogits, n, dMixed);
      this.projection.backward(found, dMixed, n, dFound);
    }
    this.attention.backward(joined, dFound, dJoined, n / T, T);
    this.joined.backward(x, dJoined, n, dx);
    this.embedding.backward(tokens, n, T, dx);
  }
}

/** x ← x + attention(norm(x)), then x ← x + feedForward(norm(x)) (chapter 07). */
class Block {
  constructor(parameters, name, { C, H, D, L }) {
    Object.assign(this, { C, buffers: new Buffers() });
    const [start, end] = [0.02, 0.02 / Math.sqrt(2 * L)].map((deviation) =>
      Object.assign(START.normal(deviation), { bias: START.zeros() }),
    );
    this.attentionNorm = new Norm(parameters, `${name}.attention_norm`, C);
    this.joined = new Linear(parameters, `${name}.attention.query_key_value`, C, 3 * C, {
      bias: false,
      start,
    });
    this.attention = new Attention(H, D);
    this.projection = new Linear(parameters, `${name}.attention.projection`, C, C, { start: end });
    this.forwardNorm = new Norm(parameters, `${name}.feed_forward_norm`, C);
    this.widen = new Linear(parameters, `${name}.feed_forward.layers.0`, C, 4 * C, { start });
    this.narrow = new Linear(parameters, `${name}.feed_forward.layers.2`, 4 * C, C, { start: end });
  }

  /** x (n, C), which stays as it is, → a stream of the block's own. */
  forward(x, n, T) {
    const { C, buffers } = this;
    const normed = buffers.of("normed", n * C);
    const joined = buffers.of("joined", n * 3 * C);
    const found = buffers.of("found", n * C);
    const middle = buffers.of("middle", n * C);
    const normedMiddle = buffers.of("normedMiddle", n * C);
    const hidden = buffers.of("hidden", n * 4 * C);
    const end = buffers.of("end", n * C);
    this.attentionNorm.forward(x, n, normed);
    this.joined.forward(normed, n, joined);
    this.attention.forward(joined, found, n / T, T);
    middle.set(x.subarray(0, n * C));
    this.projection.forward(found, n, middle, true);
    this.forwardNorm.forward(middle, n, normedMiddle);
    this.widen.forward(normedMiddle, n, hidden);
    relu(hidden, n * 4 * C);
    end.set(middle.subarray(0, n * C));
    this.narrow.forward(hidden, n, end, true);
    return end;
  }

  /** dx (n, C), the gradient of the stream behind the block, becomes that of the one before it. */
  backward(x, dx, n, T) {
    const { C, buffers } = this;
    const of = (name) => buffers.of(name, 0);
    const hidden = of("hidden");
    const dHidden = buffers.of("dHidden", n * 4 * C);
    const dNormed = buffers.of("dNormed", n * C);
    const dFound = buffers.of("dFound", n * C);
    const dJoined = buffers.of("dJoined", n * 3 * C);
    this.narrow.backward(hidden, dx, n, dHidden);
    for (let i = 0; i < n * 4 * C; i++) if (hidden[i] === 0) dHidden[i] = 0;
    this.widen.backward(of("normedMiddle"), dHidden, n, dNormed);
    this.forwardNorm.backward(of("middle"), dNormed, n, dx);
    this.projection.backward(of("found"), dx, n, dFound);
    this.attention.backward(of("joined"), dFound, dJoined, n / T, T);
    this.joined.backward(of("normed"), dJoined, n, dNormed);
    this.attentionNorm.backward(x, dNormed, n, dx);
  }
}

/** Blocks on a residual stream, a last norm, logits (chapter 08). */
class Blocks {
  constructor(parameters, V, { B, C, H, D, L }) {
    Object.assign(this, { C, buffers: new Buffers() });
    this.embedding = new Embedding(parameters, V, B, C, 0.02);
    this.blocks = Array.from(
      { length: L },
      (_, layer) => new Block(parameters, `blocks.${layer}`, { C, H, D, L }),
    );
    this.norm = new Norm(parameters, "norm", C);
    this.output = new Linear(parameters, "output", C, V, {
      bias: false,
      start: START.normal(0.02),
    });
    this.attention = this.blocks[0].attention;
  }

  forward(tokens, n, logits, T) {
    const { C, buffers } = this;
    const normed = buffers.of("normed", n * C);
    let x = buffers.of("x", n * C);
    this.embedding.forward(tokens, n, T, x);
    this.streams = [x];
    for (const block of this.blocks) {
      x = block.forward(x, n, T);
      this.streams.push(x);
    }
    this.norm.forward(x, n, normed);
    this.output.forward(normed, n, logits);
  }

  backward(tokens, n, dLogits, T) {
    const { C, buffers } = this;
    const dNormed = buffers.of("dNormed", n * C);
    const dx = buffers.of("dx", n * C);
    this.output.backward(buffers.of("normed", 0), dLogits, n, dNormed);
    dx.fill(0, 0, n * C);
    this.norm.backward(this.streams.at(-1), dNormed, n, dx);
    for (let layer = this.blocks.length - 1; layer >= 0; layer--)
      this.blocks[layer].backward(this.streams[layer], dx, n, T);
    this.embedding.backward(tokens, n, T, dx);
  }
}

/** A model with its parameters: { parameters, V, logits(…), loss(…), learn(…), attention }. */
export class Trainable {
  /**
   * @param {object} sizes V symbols, B the longest context, and what `SIZES` has for the model.
   * @param {number} seed of the first weights.
   */
  constructor({ V, ...sizes }, seed) {
    this.V = V;
    this.parameters = new Parameters();
    if (sizes.L) this.model = new Blocks(this.parameters, V, sizes);
    else if (sizes.H) this.model = new Heads(this.parameters, V, sizes);
    else this.model = new Bigram(this.parameters, V);
    this.parameters.allot(seed);
    this.buffers = new Buffers();
  }

  /** The attention of the last forward pass: { H, weights (B, H, T, T) }; null for a bigram. */
  get attention() {
    return this.model.attention ?? null;
  }

  /** Logits (n, V) of the symbols that follow n = B · T tokens, in windows of T. */
  logits(tokens, T) {
    const logits = this.buffers.of("logits", tokens.length * this.V);
    this.model.forward(tokens, tokens.length, logits, T);
    return logits;
  }

  /** Mean loss in nats of n tokens against their targets. */
  loss(tokens, targets, T) {
    return crossEntropy(this.logits(tokens, T), targets, tokens.length, this.V, false);
  }

  /** The same, with all gradients: `parameters.gradients` hold those of this batch alone. */
  learn(tokens, targets, T) {
    this.parameters.gradients.fill(0);
    const logits = this.logits(tokens, T);
    const loss = crossEntropy(logits, targets, tokens.length, this.V, true);
    this.model.backward(tokens, tokens.length, logits, T);
    return loss;
  }
}
