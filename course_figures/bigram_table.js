// Which symbol follows which: a heat map that is searched, looked at row by row, and drawn from.
import { finite } from "./runtime/arrays.js";
import { button, field, slider } from "./runtime/controls.js";
import { html, setText, svg, svgText } from "./runtime/elements.js";
import { need } from "./runtime/errors.js";
import { defineFigure } from "./runtime/frame.js";
import { Matrix } from "./runtime/matrix.js";
import { grouped, number, percent } from "./runtime/numbers.js";
import { drawSymbol, random } from "./runtime/random.js";
import { spoken, visible } from "./runtime/symbols.js";

const SHOWN = 10;
const MOST_WRITTEN = 5000;
// Pixels of the table where the rest stands beside it.
const HIGHEST = 490;

/** Probabilities with k added, and how often each row was seen. */
const table = (figure) => {
  const counts = figure.get("counts");
  const symbols = figure.get("symbols");
  const V = symbols.length;
  need(
    counts.shape.length === 2 && counts.shape.every((size) => size === V),
    `The counts have shape (${counts.shape.join(", ")}) beside ${V} symbols.`,
    `Give (${V}, ${V}).`,
  );
  finite("The table of counts", counts);
  const long = symbols.find((symbol) => [...symbol].length !== 1);
  need(long === undefined, `“${long}” is no single symbol.`, "Give symbols of one character each.");
  const k = figure.get("smoothing");
  const totals = new Float64Array(V);
  const least = counts.data.reduce((a, b) => Math.min(a, b), 0);
  need(least >= 0, `A count is ${number(least)}.`, "Give counts that are not negative.");
  counts.data.forEach((count, i) => {
    totals[Math.floor(i / V)] += count;
  });
  const probability = (i, j) => (counts.data[i * V + j] + k) / (totals[i] + k * V);
  return { V, counts: counts.data, k, symbols, totals, probability };
};

const WALK = [
  {
    set: { smoothing: 0 },
    say: "A row belongs to a symbol and holds how often each symbol came next; the bars show the most frequent ones.",
  },
  {
    set: { smoothing: 10 },
    say: "With 10 added to every count, pairs that never occurred get a share, and the row becomes more even.",
  },
  {
    set: { smoothing: 0 },
    press: ["draw one"],
    say: "One symbol is drawn with the shares of the row, and its own row is the next to draw from.",
  },
  {
    press: ["write 60"],
    say: "Sixty such draws make a text in which each pair of neighbors occurs in the book, and hardly a word does.",
  },
];

export default defineFigure(["counts", "symbols", "smoothing", "row", "text", "seed"], (figure) => {
  figure.title("Table of pairs");
  let now = null;
  let known = null;
  let writing = 0;

  /** The table, computed again only where counts, symbols or k are others. */
  const current = () => {
    const parts = ["counts", "symbols", "smoothing"].map((name) => figure.get(name));
    if (!known || parts.some((part, i) => part !== known.parts[i]))
      known = { parts, table: table(figure) };
    return known.table;
  };

  const layout = html("div", { class: "cf-bigram" });
  const left = html("div");
  const right = html("div", { class: "cf-bigram-side" });
  layout.append(left, right);
  figure.stage.append(layout);

  let search = null;
  search = field(
    figure,
    { read: () => search?.input.value ?? "", write: (text) => find(text) },
    { label: "Find a symbol or a pair", most: 12, size: 6 },
  );
  slider(figure, "smoothing", { label: "k added", values: [0, 0.01, 0.1, 1, 10, 100] });

  const matrix = new Matrix(figure, {
    parent: left,
    label: "Pairs: rows are the current symbol, columns the next",
    point(row) {
      if (row !== figure.get("row")) figure.set({ row });
    },
    pick(row) {
      draw(row, 1);
    },
    spoken(row, column) {
      const { symbols, probability, counts, V } = current();
      return (
        `${spoken(symbols[row])}, then ${spoken(symbols[column])}: ` +
        `${number(100 * probability(row, column), 1)} percent, ${counts[row * V + column]} pairs`
      );
    },
  });

  const pairLine = html("p");
  const chart = svg("svg", { role: "img", "aria-label": "Likeliest next symbols" });
  const actions = html("div", { class: "cf-row" });
  const output = html("output", {
    class: "cf-mono cf-bigram-text",
    tabindex: 0,
    "aria-label": "Written so far",
  });
  right.append(pairLine, actions, chart, output);
  figure.hint(
    "Point at a cell to read it; click, tap or press Enter to draw from its row. " +
      "Keys: arrows move, Page up and down jump ten rows.",
  );
  figure.walk(WALK);

  /** A symbol or a pair; a line break is written \n. */
  const find = (typed) => {
    const wanted = [...typed.replaceAll("\\n", "\n").replaceAll("↵", "\n").replaceAll("␣", " ")];
    if (!wanted.length) return;
    const { symbols } = current();
    const places = wanted.slice(0, 2).map((symbol) => symbols.indexOf(symbol));
    const strange = places.indexOf(-1);
    need(
      strange < 0,
      `“${visible(wanted[strange])}” is none of the ${symbols.length} symbols.`,
      "Type another; \\n stands for the line break.",
    );
    matrix.move(places[0], places[1] ?? matrix.column);
    figure.set({ row: places[0] });
    matrix.speak();
  };

  /** The next symbol after one, drawn from its row. */
  const drawn = (row, u) => {
    const { V, totals, k, probability, symbols } = current();
    need(
      totals[row] + k * V > 0,
      `Nothing was ever seen after “${visible(symbols[row])}”.`,
      "Add something to every count (k), or point at another row.",
    );
    return drawSymbol(
      Array.from({ length: V }, (_, j) => probability(row, j)),
      u,
    );
  };

  const draw = (from, count) => {
    const { symbols } = current();
    const text = [...figure.get("text")];
    if (text.at(-1) !== symbols[from]) text.push(symbols[from]);
    need(
      text.length < MOST_WRITTEN,
      `${grouped(MOST_WRITTEN)} symbols are written.`,
      "Press “clear” to write on.",
    );
    const end = Math.min(text.length + count, MOST_WRITTEN);
    let row = from;
    while (text.length < end) {
      const next = random(figure.get("seed") * 7919 + text.length);
      row = drawn(row, next());
      text.push(symbols[row]);
    }
    matrix.move(row, matrix.column);
    figure.set({ text: text.join(""), row });
    figure.say(`written: ${text.slice(-count).map(spoken).join(" ")}`);
  };

  button(figure, "draw one", () => draw(figure.get("row"), 1), { parent: actions });
  button(
    figure,
    "write 60",
    () => {
      writing += 1;
      const mine = writing;
      if (figure.calm) {
        draw(figure.get("row"), 60);
        return;
      }
      let done = 0;
      figure.animate(1500, (part) => {
        const due = Math.round(part * 60) - done;
        if (mine !== writing || due < 1) return;
        done += due;
        draw(figure.get("row"), due);
      });
    },
    { parent: actions },
  );
  button(
    figure,
    "clear",
    () => {
      writing += 1;
      figure.set({ text: "", seed: figure.get("seed") + 1 });
    },
    { parent: actions },
  );

  const drawChart = (row, width) => {
    const { V, probability, symbols } = now;
    const order = Array.from({ length: V }, (_, j) => j)
      .filter((j) => probability(row, j) > 0)
      .sort((a, b) => probability(row, b) - probability(row, a))
      .slice(0, SHOWN);
    const room = width - 96;
    const most = Math.max(1e-9, ...order.map((j) => probability(row, j)));
    chart.setAttribute("width", width);
    chart.setAttribute("height", SHOWN * 22 + 4);
    chart.replaceChildren(
      ...order.map((j, n) => {
        const y = 2 + n * 22;
        const long = Math.max(1, (probability(row, j) / most) * room);
        return svg(
          "g",
          null,
          svgText(14, y + 10, visible(symbols[j]), {
            "text-anchor": "middle",
            "font-size": 14,
            "font-weight": j === matrix.column ? 700 : 400,
            class: "cf-mono",
          }),
          svg("rect", {
            x: 30,
            y: y + 1,
            width: long,
            height: 18,
            rx: 3,
            fill: figure.theme.probability,
            opacity: j === matrix.column ? 1 : 0.6,
          }),
          svgText(36 + long, y + 10, percent(probability(row, j)), {
            "font-size": 12,
          }),
        );
      }),
    );
    return order;
  };

  /** Where the eye should begin: the likeliest symbol of the row. */
  figure.guard(() => {
    const { V, probability } = current();
    const row = figure.get("row");
    let best = 0;
    for (let j = 1; j < V; j += 1) if (probability(row, j) > probability(row, best)) best = j;
    Object.assign(matrix, { row, column: best });
  });

  figure.draw(function* drawing() {
    now = current();
    yield;
    const { V, symbols, probability, counts, totals } = now;
    const row = Math.min(figure.get("row"), V - 1);
    matrix.row = row;
    const beside = figure.width > 600;
    layout.classList.toggle("cf-bigram-beside", beside);
    const names = symbols.map(visible);
    matrix.update({
      rows: V,
      columns: V,
      value: probability,
      strength: (share) => (share > 0 ? Math.sqrt(share) : 0),
      color: "probability",
      rowLabels: names,
      columnLabels: names,
      most: 22,
      least: 3.5,
      width: beside ? figure.width - 250 : figure.width,
      height: beside ? HIGHEST : undefined,
    });
    yield;
    const order = drawChart(row, beside ? 226 : figure.width);
    const { column } = matrix;
    const shown = (i) => html("code", null, visible(symbols[i]));
    const p = probability(row, column);
    pairLine.replaceChildren(
      "After ",
      shown(row),
      ` (seen ${grouped(totals[row])} times): `,
      shown(column),
      Number.isNaN(p)
        ? " was never asked for."
        : ` ${percent(p, 2)}` + ` (${grouped(counts[row * V + column])} pairs).`,
    );
    const text = figure.get("text");
    setText(output, text ? [...text].slice(-400).join("") : "Nothing is written yet.");
    figure.reveal({
      row: Array.from({ length: V }, (_, j) => probability(row, j)),
      likeliest: order.map((j) => probability(row, j)),
    });
    const likeliest = order
      .slice(0, 3)
      .map((j) => `“${visible(symbols[j])}” ${percent(probability(row, j), 0)}`)
      .join(", ");
    figure.describe(
      `A table of ${V} by ${V} pairs of symbols. After “${visible(symbols[row])}” the ` +
        `likeliest are ${likeliest || "none: it was never seen"}.`,
    );
  });
});
