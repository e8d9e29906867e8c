/** The course's live model as something that writes: it goes on from a beginning, letter by letter. */
import { loadStep } from "./checkpoint.js";
import { Engine } from "./engine.js";
import { LIVE_WEIGHTS } from "./live_weights.js";
import { drawSymbol, random } from "./random.js";
import { nextProbabilities } from "./sampling_rules.js";

const TEMPERATURE = 0.8;

export class Writer {
  engine = null;
  facts = null;
  symbols = [];
  text = "";

  /** One step of reading the weights, short enough for a frame; true when nothing is left. */
  load() {
    if (this.engine) return true;
    const read = loadStep(LIVE_WEIGHTS);
    if (read === null) return false;
    this.engine = new Engine(read);
    this.facts = read.facts;
    this.symbols = [...read.facts.vocabulary];
    this.tokenOf = new Map(this.symbols.map((symbol, token) => [symbol, token]));
    return true;
  }

  /** The symbols of a text that the model does not know, each once. */
  unknown(text) {
    return [...new Set(text)].filter((symbol) => !this.tokenOf.has(symbol));
  }

  /** Take a beginning; the seed fixes what follows. */
  begin(text, seed) {
    this.text = text;
    this.uniform = random(seed);
    // Without a beginning, the model begins as after the vocabulary's first symbol.
    this.tokens = [...text].map((symbol) => this.tokenOf.get(symbol));
    if (!this.tokens.length) this.tokens = [0];
    this.tokens = this.tokens.slice(-this.engine.B);
  }

  /** One letter more. */
  write() {
    // A full context drops its older half, so that it is read anew once in a while and not always.
    if (this.tokens.length === this.engine.B) this.tokens = this.tokens.slice(this.engine.B / 2);
    const logits = this.engine.follow(this.tokens, false);
    const { probabilities } = nextProbabilities(logits, { temperature: TEMPERATURE });
    const token = drawSymbol(probabilities, this.uniform());
    this.tokens.push(token);
    this.text += this.symbols[token];
  }

  /**
   * Where the heads of the last layer look, over the last `most` letters that were read:
   * { labels, H, weights }, the weights flat (H, T, T).
   */
  maps(most) {
    const { B, H, L, length, weights, context } = this.engine;
    const T = Math.min(most, length);
    const from = length - T;
    const cut = new Float64Array(H * T * T);
    for (let h = 0; h < H; h += 1)
      for (let t = 0; t < T; t += 1)
        for (let s = 0; s <= t; s += 1)
          cut[(h * T + t) * T + s] = weights[(((L - 1) * H + h) * B + from + t) * B + from + s];
    return { labels: context.slice(from).map((token) => this.symbols[token]), H, weights: cut };
  }
}
