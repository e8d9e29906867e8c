/** The weights of a GPT as `course_figures.live_weights` stores them: safetensors, in base64. */
import { bytesOf } from "./arrays.js";
import { FigureError, need } from "./errors.js";

/**
 * Weights from the bytes of a checkpoint (safetensors) that `course_figures.live_weights` wrote.
 *
 * Matrices are int8 with one float32 scale a row; both sides multiply once in float32, so that they
 * hold the same numbers to the last bit.
 *
 * @param {Uint8Array} bytes
 * @returns {{config: object, facts: object, tensors: Map<string, Float32Array>}}
 * @throws {FigureError} names what is missing, of another size, or not a number.
 */
function readWeights(bytes) {
  let facts, tensors;
  try {
    [facts, tensors] = unpack(bytes);
  } catch (error) {
    throw new FigureError(`The weights cannot be read (${error.message}).`, "Load the page again.");
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
    need(
      values?.length === size,
      `The weights are not those of this model: ${name} is ${found}, ${size} are expected.`,
      "Give the weights and the Config of one and the same GPT.",
    );
    let sum = 0; // of products with 0: not 0 if any of them is NaN or infinite
    for (let i = 0; i < values.length; i++) sum += values[i] * 0;
    need(
      sum === 0,
      `The weights hold a value that is not a number (in ${name}): nothing follows from them.`,
      "Train again with a smaller learning rate, and look at the loss on the way.",
    );
  }
}

// Weights in base64 → their bytes, and a step later what was read from them; figures share it.
const loaded = new Map();

/** One step of reading weights, short enough for a frame; what was read, or null for now. */
export function loadStep(packed) {
  const known = loaded.get(packed);
  if (known === undefined) {
    loaded.set(packed, bytesOf(packed));
    return null;
  }
  if (known instanceof Uint8Array) {
    loaded.set(packed, readWeights(known));
    return null;
  }
  return known;
}

/** The same at once. */
export const loadWeights = (packed) => loadStep(packed) ?? loadWeights(packed);
