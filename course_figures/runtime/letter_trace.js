/**
 * The way of one letter through a GPT: every vector on it, and where each number comes from.
 *
 * A stage is { id, name, says, chapter, values, labels?, explain(i) }. `explain` gives the number
 * in words and the terms that it is the sum of, the largest first:
 * { words, terms: [{ label, value, from?, place? }] }, where `from` and `place` name the stage and
 * the number that a term comes from.
 */
import { layerNorm, linear, relu } from "./layers.js";
import { number } from "./numbers.js";
import { softmax } from "./softmax.js";
import { visible } from "./symbols.js";

const MOST_TERMS = 7; // the others are added up

const largestFirst = (terms) => {
  const sorted = [...terms].sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  const rest = sorted.slice(MOST_TERMS);
  if (rest.length < 2) return sorted;
  const value = rest.reduce((sum, term) => sum + term.value, 0);
  return [...sorted.slice(0, MOST_TERMS), { label: `${rest.length} smaller ones`, value }];
};

const of = (value) => number(value, 3);

/** What a matrix makes of a vector, number by number: Σ w x, and a bias if there is one. */
const products = (matrix, bias, x, from) => (i) => {
  const terms = Array.from(x, (value, j) => ({
    label: `weight ${of(matrix[i * x.length + j])} × ${of(value)}`,
    value: matrix[i * x.length + j] * value,
    from,
    place: j,
  }));
  if (bias) terms.push({ label: "bias", value: bias[i] });
  return largestFirst(terms);
};

const total = (terms) => terms.reduce((sum, { value }) => sum + value, 0);

/**
 * All stages for token t of a text, in the order in which they are computed.
 *
 * @param {import("./engine.js").Engine} engine
 * @param {number[]} tokens at most as many as the engine takes
 * @param {number} t
 * @param {string[]} symbols of the vocabulary
 */
export function trace(engine, tokens, t, symbols) {
  const { C, H, D, V, B, L } = engine;
  engine.follow(tokens, false);
  const stages = [];
  const add = (stage) => stages.push(stage);
  const letter = visible(symbols[tokens[t]]);
  const row = (table, place) => Float64Array.from(table.subarray(place * C, (place + 1) * C));
  const sum = (id, name, says, one, other) => {
    const values = one.values.map((value, i) => value + other.values[i]);
    const explain = (i) => ({
      words: `${of(one.values[i])} + ${of(other.values[i])} = ${of(values[i])}`,
      terms: [one, other].map((part) => ({
        label: part.name,
        value: part.values[i],
        from: part.id,
        place: i,
      })),
    });
    const stage = { id, name, says, chapter: "07", values, explain };
    add(stage);
    return stage;
  };
  const norm = (id, name, chapter, source, [weight, bias]) => {
    const x = source.values;
    const values = new Float64Array(C);
    layerNorm(x, values, 0, 1, C, [weight, bias]);
    const mean = total(Array.from(x, (value) => ({ value }))) / C;
    const deviation = Math.sqrt(x.reduce((all, value) => all + (value - mean) ** 2, 0) / C);
    const explain = (i) => ({
      words:
        `(${of(x[i])} − mean ${of(mean)}) / standard deviation ${of(deviation)}, ` +
        `times ${of(weight[i])}, plus ${of(bias[i])}, is ${of(values[i])}`,
      terms: [{ label: source.name, value: x[i], from: source.id, place: i }],
    });
    const says =
      "The stream with mean 0 and standard deviation 1, then scaled: what the next part reads.";
    const stage = { id, name, says, chapter, values, explain };
    add(stage);
    return stage;
  };

  const from = (table, id, name, says, place, what) => {
    const values = row(table, place);
    const explain = (i) => ({
      words: `${of(values[i])} is in row ${place} (${what}), column ${i} of a table that was learned.`,
      terms: [],
    });
    const stage = { id, name, says, chapter: "05", values, explain };
    add(stage);
    return stage;
  };
  const embedding = from(
    engine.embedding,
    "embedding",
    `embedding of “${letter}”`,
    "The vector of the symbol, whatever is around it.",
    tokens[t],
    `“${letter}”`,
  );
  const position = from(
    engine.positions,
    "position",
    `position ${t}`,
    "The vector of the place, whatever symbol is there.",
    t,
    `position ${t}`,
  );
  let stream = sum(
    "stream 0",
    "residual stream",
    "Symbol and position in one vector. From here on, every part reads the stream and adds to it.",
    embedding,
    position,
  );

  for (let layer = 0; layer < L; layer += 1) {
    const block = engine.blocks[layer];
    const called = `block ${layer + 1}`;
    const normed = norm(`norm ${layer}`, "norm", "07", stream, block.attentionNorm);
    const query = new Float64Array(C);
    linear(normed.values, 1, C, block.query, null, query, C, false);
    const found = new Float64Array(C);
    for (let head = 0; head < H; head += 1) {
      const key = (s, d) => block.keys[s * C + head * D + d];
      const at = ((layer * H + head) * B + t) * B;
      const values = engine.weights.slice(at, at + t + 1);
      const scores = Array.from(values, (_, s) => {
        let dot = 0;
        for (let d = 0; d < D; d += 1) dot += query[head * D + d] * key(s, d);
        return dot / Math.sqrt(D);
      });
      const explain = (s) => ({
        words:
          `Query of “${letter}” times key of “${visible(symbols[tokens[s]])}” at ${s}, divided by ` +
          `√${D}: a score of ${of(scores[s])}. Its softmax among ${t + 1} scores is ${of(values[s])}.`,
        terms: largestFirst(
          Array.from({ length: D }, (_, d) => ({
            label: `channel ${d}: ${of(query[head * D + d])} × ${of(key(s, d))} / √${D}`,
            value: (query[head * D + d] * key(s, d)) / Math.sqrt(D),
          })),
        ),
      });
      add({
        id: `head ${layer} ${head}`,
        name: `head ${head + 1}`,
        says: `How much of each symbol so far head ${head + 1} of ${called} takes; the weights sum to 1.`,
        chapter: "05",
        values,
        labels: Array.from(values, (_, s) => visible(symbols[tokens[s]])),
        explain,
      });
      for (let d = 0; d < D; d += 1)
        for (let s = 0; s <= t; s += 1)
          found[head * D + d] += values[s] * block.values[s * C + head * D + d];
    }
    const heads = {
      id: `found ${layer}`,
      name: "heads side by side",
      says: `What the ${H} heads found, ${D} numbers each: means of the values, by the weights above.`,
      chapter: "06",
      values: found,
      explain: (i) => {
        const head = Math.floor(i / D);
        const weights = engine.weights.subarray(((layer * H + head) * B + t) * B);
        const terms = Array.from({ length: t + 1 }, (_, s) => ({
          label: `“${visible(symbols[tokens[s]])}” at ${s}: ${of(weights[s])} × ${of(block.values[s * C + i])}`,
          value: weights[s] * block.values[s * C + i],
          from: `head ${layer} ${head}`,
          place: s,
        }));
        return {
          words: `Head ${head + 1}, channel ${i % D}: ${t + 1} weights times values, added up: ${of(found[i])}.`,
          terms: largestFirst(terms),
        };
      },
    };
    add(heads);
    const part = (id, name, says, chapter, [matrix, bias], input, O, active = false) => {
      const values = new Float64Array(O);
      linear(input.values, 1, input.values.length, matrix, bias, values, O, false);
      const before = Float64Array.from(values);
      if (active) relu(values, O);
      const terms = products(matrix, bias, input.values, input.id);
      const cut = (i) => (before[i] < 0 ? ", which ReLU makes 0" : ", which ReLU keeps");
      const explain = (i) => ({
        words: `A sum of ${input.values.length} products and a bias: ${of(before[i])}${active ? cut(i) : ""}.`,
        terms: terms(i),
      });
      const stage = { id, name, says, chapter, values, explain };
      add(stage);
      return stage;
    };
    const attention = part(
      `attention ${layer}`,
      "projection",
      "What the heads found, mixed: this is added to the stream.",
      "06",
      block.projection,
      heads,
      C,
    );
    const middle = sum(
      `middle ${layer}`,
      "residual stream",
      `The stream with what attention of ${called} adds.`,
      stream,
      attention,
    );
    const again = norm(`forward norm ${layer}`, "norm", "07", middle, block.forwardNorm);
    const hidden = part(
      `hidden ${layer}`,
      "hidden layer",
      `${4 * C} numbers, each a question about the stream; ReLU keeps those that are positive.`,
      "07",
      block.widen,
      again,
      4 * C,
      true,
    );
    const forward = part(
      `forward ${layer}`,
      "feed-forward",
      "What follows from the hidden numbers: this is added to the stream.",
      "07",
      block.narrow,
      hidden,
      C,
    );
    stream = sum(
      `stream ${layer + 1}`,
      "residual stream",
      `The stream behind ${called}.`,
      middle,
      forward,
    );
  }

  const last = norm("norm", "last norm", "08", stream, engine.norm);
  const logits = new Float64Array(V);
  linear(last.values, 1, C, engine.output, null, logits, V, false);
  const shown = symbols.map(visible);
  const terms = products(engine.output, null, last.values, "norm");
  add({
    id: "logits",
    name: "logits",
    says: "A number for every symbol: the larger, the likelier it comes next.",
    chapter: "08",
    values: logits,
    labels: shown,
    explain: (v) => ({
      words: `For “${shown[v]}”, a sum of ${C} products: ${of(logits[v])}.`,
      terms: terms(v),
    }),
  });
  const probabilities = Float64Array.from(logits);
  softmax(probabilities, 0, V);
  add({
    id: "probabilities",
    name: "probabilities",
    says: "The softmax of the logits: what the next letter is drawn from.",
    chapter: "08",
    values: probabilities,
    labels: shown,
    explain: (v) => ({
      words: `“${shown[v]}” comes next with ${of(100 * probabilities[v])} percent.`,
      terms: [{ label: `logit of “${shown[v]}”`, value: logits[v], from: "logits", place: v }],
    }),
  });
  return stages;
}
