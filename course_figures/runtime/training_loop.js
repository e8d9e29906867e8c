/** A training that goes on step by step: batches, AdamW, validation, samples. No page, no clock. */
import { AdamW } from "./adamw.js";
import { drawSymbol, random } from "./random.js";
import { softmax } from "./softmax.js";
import { SIZES, Trainable } from "./trainable_models.js";

// As in course_lib.data: the beginning is for training.
const TRAIN_SHARE = 0.9;
// Tokens of the validation split that are read now and then.
const ESTIMATE = 8192;
// Tokens in one forward pass of a validation.
const AT_ONCE = 2048;

// What a word is here: of fewer letters, too many are found by chance.
const WORD = /\p{L}{3,}/gu;

/** The longest context; positions beyond the one that is trained keep their first weights. */
export const LONGEST = 32;

/** A text as tokens: its symbols in the order of their code points, and two splits. */
export class Corpus {
  constructor(text) {
    this.symbols = [...new Set(text)].sort((a, b) => a.codePointAt(0) - b.codePointAt(0));
    const tokenOf = new Map(this.symbols.map((symbol, token) => [symbol, token]));
    const tokens = Uint8Array.from(text, (symbol) => tokenOf.get(symbol));
    this.cut = Math.floor(TRAIN_SHARE * tokens.length);
    this.train = tokens.subarray(0, this.cut);
    this.validation = tokens.subarray(this.cut);
    this.text = text;
    this.words = null; // the different ones, when they are first asked for
  }

  /** How many words of a sample, of three letters or more, are words of this text: { known, all }. */
  known(sample) {
    this.words ??= new Set(this.text.match(WORD));
    // The last one may be cut off.
    const all = sample.slice(0, sample.search(/\p{L}*$/u)).match(WORD) ?? [];
    return { known: all.filter((word) => this.words.has(word)).length, all: all.length };
  }

  /** Loss on the validation split of a table of pairs, counted on the other one, one added each. */
  get counted() {
    const V = this.symbols.length;
    const pairs = new Float64Array(V * V).fill(1);
    const rows = new Float64Array(V).fill(V);
    for (let i = 1; i < this.train.length; i++) {
      pairs[this.train[i - 1] * V + this.train[i]] += 1;
      rows[this.train[i - 1]] += 1;
    }
    let total = 0;
    for (let i = 1; i < this.validation.length; i++) {
      const before = this.validation[i - 1];
      total -= Math.log(pairs[before * V + this.validation[i]] / rows[before]);
    }
    return total / (this.validation.length - 1);
  }
}

export class TrainingLoop {
  /** @param {{corpus: Corpus, model: string, seed: number}} what `model` is a name in `SIZES`. */
  constructor({ corpus, model, seed }) {
    this.corpus = corpus;
    this.trainable = new Trainable({ V: corpus.symbols.length, B: LONGEST, ...SIZES[model] }, seed);
    this.optimizer = new AdamW(this.trainable.parameters);
    this.uniform = random(seed + 1); // decides which windows are read
    this.steps = 0;
  }

  /** One step over `batch` random windows of `context` tokens; their mean loss in nats. */
  step({ rate, batch, context: T }) {
    const { train } = this.corpus;
    const n = batch * T;
    if (this.tokens?.length !== n) {
      this.tokens = new Uint8Array(n);
      this.targets = new Uint8Array(n);
    }
    for (let b = 0; b < batch; b++) {
      const start = Math.floor(this.uniform() * (train.length - T));
      this.tokens.set(train.subarray(start, start + T), b * T);
      this.targets.set(train.subarray(start + 1, start + T + 1), b * T);
    }
    const loss = this.trainable.learn(this.tokens, this.targets, T);
    this.optimizer.step(rate);
    this.steps += 1;
    return loss;
  }

  /**
   * Mean loss on windows of the validation split that stand one behind the other: on all of them,
   * or on some, evenly spread and always the same.
   */
  validate(T, all = false) {
    const { validation } = this.corpus;
    const windows = Math.floor((validation.length - 1) / T);
    const count = all ? windows : Math.min(windows, Math.ceil(ESTIMATE / T));
    const several = Math.max(1, Math.floor(AT_ONCE / T));
    let total = 0;
    for (let first = 0; first < count; first += several) {
      const many = Math.min(several, count - first);
      const tokens = new Uint8Array(many * T);
      const targets = new Uint8Array(many * T);
      for (let w = 0; w < many; w++) {
        const start = Math.floor(((first + w) * windows) / count) * T;
        tokens.set(validation.subarray(start, start + T), w * T);
        targets.set(validation.subarray(start + 1, start + T + 1), w * T);
      }
      total += many * this.trainable.loss(tokens, targets, T);
    }
    return total / count;
  }

  /** Text that the model writes now, `count` symbols of it; the same seed draws alike. */
  write(count, T, seed) {
    const { symbols } = this.corpus;
    const V = symbols.length;
    const uniform = random(seed);
    const tokens = [0]; // as after a line break, which is the first symbol of the course's texts
    let text = "";
    for (let i = 0; i < count; i++) {
      const context = Uint8Array.from(tokens.slice(-T));
      const logits = this.trainable.logits(context, context.length);
      const last = logits.subarray((context.length - 1) * V, context.length * V);
      softmax(last, 0, V);
      const token = drawSymbol(last, uniform());
      tokens.push(token);
      text += symbols[token];
    }
    return text;
  }

  /**
   * What the model looks at: of a model with heads, their weights (H, T, T) over the first T
   * symbols of the validation split; of a bigram, what it holds likely after each symbol,
   * (1, V, V).
   */
  maps(T) {
    const { symbols, validation } = this.corpus;
    const V = symbols.length;
    const heads = this.trainable.attention;
    const tokens = heads ? validation.slice(0, T) : Uint8Array.from(symbols, (_, v) => v);
    const n = tokens.length;
    const logits = this.trainable.logits(tokens, n);
    const labels = Array.from(tokens, (token) => symbols[token]);
    if (heads) return { labels, H: heads.H, weights: heads.weights.slice(0, heads.H * n * n) };
    for (let v = 0; v < V; v++) softmax(logits, v * V, V);
    return { labels, H: 1, weights: logits.slice(0, V * V) };
  }
}
