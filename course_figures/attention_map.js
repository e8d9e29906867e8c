// Attention of every head, from queries and keys; each pair's weight written out.
import { finite } from "./runtime/arrays.js";
import { button, field, toggle } from "./runtime/controls.js";
import { html, setText, svg, svgText } from "./runtime/elements.js";
import { need } from "./runtime/errors.js";
import { defineFigure } from "./runtime/frame.js";
import { headPicker } from "./runtime/head_picker.js";
import { Matrix } from "./runtime/matrix.js";
import { number } from "./runtime/numbers.js";
import { marked } from "./runtime/roles.js";
import { softmax } from "./runtime/softmax.js";
import { spoken, visible } from "./runtime/symbols.js";

// Pixels of a window that the page's header, controls, sentence and bars take where they stand
// above and below the map, and what is left of them where they stand beside it.
const AROUND = 380;
const ABOVE = 360;
// Pixels of a map that can still be pointed at, however low the window is.
const LOWEST = 300;

const computeAttention = (figure, before) => {
  const problem = figure.get("problem");
  need(!problem, `${problem}.`.replace(/\.\.$/, "."), "Type another text.");
  const suffix = figure.get("positioned") ? "" : "_without";
  const queries = figure.get(`query_vectors${suffix}`);
  const keys = figure.get(`key_vectors${suffix}`);
  const [L, H, T, D] = queries.shape;
  const symbols = figure.get("symbols");
  need(
    `${keys.shape}` === `${queries.shape}`,
    `The queries have shape (${queries.shape.join(", ")}), the keys (${keys.shape.join(", ")}).`,
    "Give both with one shape, (L, H, T, D).",
  );
  need(
    symbols.length === T,
    `There are ${symbols.length} symbols for ${T} queries.`,
    "Give one symbol for each position.",
  );
  const masked = figure.get("masked");
  const scale = figure.get("scaled") ? 1 / Math.sqrt(D) : 1;
  const from = [queries, keys, symbols, masked, scale];
  if (before && from.every((one, i) => one === before.from[i])) return before;
  finite("The array of queries", queries);
  finite("The array of keys", keys);
  const weights = new Float64Array(L * H * T * T);
  const dots = new Float64Array(L * H * T * T);
  for (let row = 0; row < L * H * T; row += 1) {
    const t = row % T;
    const head = row - t; // the first row of the same head
    const end = masked ? t + 1 : T;
    for (let s = 0; s < T; s += 1) {
      let dot = 0;
      for (let d = 0; d < D; d += 1)
        dot += queries.data[row * D + d] * keys.data[(head + s) * D + d];
      dots[row * T + s] = dot;
      weights[row * T + s] = s < end ? dot * scale : 0;
    }
    softmax(weights, row * T, end);
  }
  return {
    L,
    H,
    T,
    D,
    symbols,
    weights,
    dots,
    queries: queries.data,
    keys: keys.data,
    masked,
    scale,
    from,
  };
};

const WALK = [
  {
    set: (figure) => ({
      masked: true,
      scaled: true,
      positioned: true,
      query: figure.get("symbols").length - 1,
    }),
    say: "Each row says where one symbol looks. The last row may look at the whole text, and its weights add up to 1.",
  },
  {
    set: { masked: false },
    say: "Without the mask, weight appears above the diagonal: symbols look at what comes after them.",
  },
  {
    set: { masked: true, scaled: false },
    say: "With the mask, but without the division by √D, scores are larger and rows put more of their weight on fewer symbols.",
  },
  {
    set: { scaled: true, positioned: false },
    say: "Without position embeddings, the model is no longer told where a symbol is, and the map changes.",
  },
  {
    set: { positioned: true },
    say: "This is the model as it was trained. Choose another head to see what else is looked for.",
  },
];

export default defineFigure(
  [
    "text",
    "symbols",
    "query_vectors",
    "key_vectors",
    "query_vectors_without",
    "key_vectors_without",
    "layer",
    "head",
    "query",
    "key",
    "masked",
    "scaled",
    "positioned",
    "problem",
  ],
  (figure) => {
    figure.title("Attention map");
    const live = !("initial" in figure.model); // a kernel can compute another text, a page cannot
    let state = null;
    let painted = null;
    let paper = "";

    figure.beside();
    if (live) field(figure, "text", { label: "text", size: 40 });
    toggle(figure, "masked", { label: "mask" });
    toggle(figure, "scaled", { label: "scale by 1/√D" });
    toggle(figure, "positioned", { label: "positions" });

    const main = html("div");
    figure.stage.append(main);
    const picker = headPicker(figure, { parent: figure.controls });
    const weight = (t, s) =>
      state.weights[
        ((figure.get("layer") * state.H + figure.get("head")) * state.T + t) * state.T + s
      ];
    const name = (t) => `“${visible(state.symbols[t])}” (${t})`;
    const aloud = (t, s) =>
      `query ${t}, ${spoken(state.symbols[t])}, key ${s}, ` +
      `${spoken(state.symbols[s])}: ${state.masked && s > t ? "masked" : number(weight(t, s), 3)}`;
    const point = (query, key) => figure.set({ query, key });
    const matrix = new Matrix(figure, {
      parent: main,
      label: "attention: rows are queries, columns are keys",
      point,
      pick: point,
      spoken: aloud,
    });
    const vectors = svg("svg", { class: "attention_map-vectors", "aria-hidden": "true" });
    const products = html("p", { class: "cf-mono attention_map-terms", hidden: true });
    const sentence = html("p", { class: "attention_map-sum" });
    figure.readout.append(sentence, vectors);
    const unfold = button(
      figure,
      "The products, one by one",
      () => {
        products.hidden = !products.hidden;
        unfold.setAttribute("aria-expanded", String(!products.hidden));
      },
      { parent: figure.readout },
    );
    unfold.setAttribute("aria-expanded", "false");
    figure.readout.append(products);
    figure.hint(
      "Rows are queries (●), columns are keys (■), cells are weights (◆). Point at a cell, tap it, or move with the arrow " +
        "keys; Home and End go to the ends of a row. Mask and scale change the map that you see; " +
        "without positions the whole model runs without them.",
    );
    figure.walk(WALK);

    /** Query, key and their products as bars above and below a line, a column for each channel. */
    const columns = ({ D }, q, k) => {
      const width = Math.min(figure.room(figure.readout), 640);
      const left = 72;
      const step = (width - left - 4) / D;
      const height = 40;
      const rows = [
        [marked("query"), q, "query"],
        [marked("key"), k, "key"],
        [marked("score", "product"), q.map((value, d) => value * k[d]), "score"],
      ];
      const parts = [];
      rows.forEach(([label, values, color], i) => {
        const middle = i * (height + 8) + height / 2 + 2;
        const most = Math.max(1e-9, ...values.map(Math.abs));
        parts.push(
          svgText(0, middle, label),
          svg("line", { x1: left, x2: width, y1: middle, y2: middle, stroke: figure.theme.line }),
        );
        values.forEach((value, d) => {
          const long = (Math.abs(value) / most) * (height / 2);
          parts.push(
            svg("rect", {
              x: left + d * step + step * 0.15,
              width: step * 0.7,
              y: value < 0 ? middle : middle - long,
              height: Math.max(0.8, long),
              rx: 1.5,
              fill: figure.theme[color],
              "fill-opacity": value < 0 ? 0.35 : 0.85,
              stroke: figure.theme[color],
              "stroke-width": 1,
            }),
          );
        });
      });
      vectors.setAttribute("width", width);
      vectors.setAttribute("height", 3 * (height + 8));
      vectors.replaceChildren(...parts);
    };

    const written = (t, s) => {
      const { D, H, T, queries, keys, dots, scale, masked, symbols } = state;
      const head = (figure.get("layer") * H + figure.get("head")) * T;
      const q = Array.from(queries.subarray((head + t) * D, (head + t + 1) * D));
      const k = Array.from(keys.subarray((head + s) * D, (head + s + 1) * D));
      const dot = dots[(head + t) * T + s];
      columns(state, q, k);
      const bracket = (value) => (value < 0 ? `(${number(value)})` : number(value));
      setText(
        products,
        `q · k = ${q.map((value, d) => `${bracket(value)}·${bracket(k[d])}`).join(" + ")}` +
          ` = ${number(dot)}`,
      );
      const scaled = scale === 1 ? "" : `, divided by √${D}: ${number(dot * scale)}`;
      const count = masked ? t + 1 : T;
      const end =
        masked && s > t
          ? "The key lies in the future: the mask puts −∞ in place of the score, and the weight is 0."
          : `Softmax over ${count} ${count === 1 ? "key" : "keys"}: weight ${number(weight(t, s), 3)}.`;
      sentence.replaceChildren(
        html("b", null, `${name(t)} asks ${name(s)}`),
        `   q · k = ${number(dot)}${scaled}. ${end}`,
      );
      return (
        `Query ${t}, ${spoken(symbols[t])}, key ${s}, ${spoken(symbols[s])}: q · k = ${number(dot)}` +
        `${scaled}. ${end}`
      );
    };

    figure.draw(function* draw() {
      state = computeAttention(figure, state);
      yield;
      const { L, H, T, symbols } = state;
      const layer = figure.get("layer");
      const head = figure.get("head");
      need(
        layer < L && head < H,
        `There is no layer ${layer + 1}, head ${head + 1}.`,
        `Choose among ${L} layers of ${H} heads.`,
      );
      if (painted === state && paper === figure.theme.paper) picker.choose();
      else
        picker.update({
          L,
          H,
          T,
          weight: (l, h, t, s) => state.weights[((l * H + h) * T + t) * T + s],
        });
      painted = state;
      paper = figure.theme.paper;
      yield;
      matrix.row = Math.min(figure.get("query"), T - 1);
      matrix.column = Math.min(figure.get("key"), T - 1);
      const labels = symbols.map(visible);
      matrix.update({
        rows: T,
        columns: T,
        value: weight,
        rowLabels: labels,
        columnLabels: labels,
        most: figure.wide ? 44 : 30,
        color: "weight",
        width: figure.room(main),
        // Whoever moves along a row reads its numbers: both fit into a laptop's window.
        height: Math.max(LOWEST, globalThis.innerHeight - (figure.wide ? ABOVE : AROUND)),
        text: (t, s) => (weight(t, s) < 0.095 ? "" : number(weight(t, s), 1).replace("0.", ".")),
      });
      yield;
      const said = written(matrix.row, matrix.column);
      figure.describe(
        `Attention of layer ${layer + 1}, head ${head + 1} over the text ` +
          `“${symbols.map(spoken).join(" ")}”. ${said}`,
      );
      figure.reveal({ weights: state.weights });
    });
  },
);
