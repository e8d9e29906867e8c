// A small model taken apart: heads can be switched off, and what that changes is drawn beside it.
import { loadStep } from "./runtime/checkpoint.js";
import { button, controlRow, field } from "./runtime/controls.js";
import { html, setText } from "./runtime/elements.js";
import { Engine } from "./runtime/engine.js";
import { need } from "./runtime/errors.js";
import { defineFigure } from "./runtime/frame.js";
import { headPicker } from "./runtime/head_picker.js";
import { LIVE_WEIGHTS } from "./runtime/live_weights.js";
import { Matrix } from "./runtime/matrix.js";
import { number, percent } from "./runtime/numbers.js";
import { NEXT_FRAME } from "./runtime/schedule.js";
import { softmax } from "./runtime/softmax.js";
import { spoken, visible } from "./runtime/symbols.js";

/** What must follow each symbol if the text repeats itself: what followed its last place. */
const exactAnswers = (symbols) =>
  symbols.map((symbol, t) => {
    const before = t > 0 ? symbols.lastIndexOf(symbol, t - 1) : -1;
    return before >= 0 ? symbols[before + 1] : "";
  });

// Pixels of the map where it stands beside the controls.
const HIGHEST = 430;

const WALK = [
  {
    set: { off: [] },
    say: "All heads are on. Each row of the map says where one position looks in the chosen head.",
  },
  {
    set: (figure) => ({ position: [...figure.get("text")].length - 2 }),
    say: "The table reads the model after each layer as if it ended there: see after which one the prediction is settled.",
  },
  {
    set: { off: ["1.1"] },
    say: "A head of the first layer is off and finds zeros. Compare the loss and the first choices with those before.",
  },
  {
    set: { off: [] },
    say: "On again. Switch off others, one or several at a time, to find those that this text needs.",
  },
];

export default defineFigure(["text", "off", "layer", "head", "position", "weights"], (figure) => {
  figure.title("Looking inside");
  let engine = null;
  let from = null;
  let names = [];
  let tokenOf = new Map();
  let read = null; // what was read, and from which text and heads

  const load = () => {
    const packed = figure.get("weights") || LIVE_WEIGHTS;
    if (from === packed) return true;
    const loaded = loadStep(packed);
    if (loaded === null) return false;
    engine = new Engine(loaded);
    engine.streams = new Float64Array((engine.L + 1) * engine.B * engine.C);
    names = [...loaded.facts.vocabulary];
    tokenOf = new Map(names.map((symbol, token) => [symbol, token]));
    from = packed;
    return true;
  };

  figure.beside();
  figure.body.classList.add("looking_inside");
  field(figure, "text", { label: "text", size: 26 });
  const heads = controlRow(figure, "heads that are on");
  heads.classList.add("looking_inside-heads");
  const above = html("div", { class: "cf-row" }, html("span", null, "heads on:"));
  const all = button(figure, "All heads on", () => figure.set({ off: [] }), { parent: above });
  const switches = [];
  const buildSwitches = () => {
    if (switches.length === engine.L * engine.H) return;
    heads.style.setProperty("--cf-heads", engine.H);
    heads.replaceChildren(above);
    switches.length = 0;
    for (let layer = 0; layer < engine.L; layer++)
      for (let head = 0; head < engine.H; head++) {
        const name = `${layer + 1}.${head + 1}`;
        const input = html("input", { type: "checkbox" });
        figure.listen(input, "change", () => {
          const off = figure.get("off").filter((other) => other !== name);
          figure.set({ off: input.checked ? off : [...off, name].sort() });
        });
        heads.append(html("label", { class: "cf-toggle" }, input, html("span", null, name)));
        switches.push({ name, input });
      }
  };

  const picker = headPicker(figure, { parent: figure.controls });
  const place = html("div");
  figure.stage.append(place);
  const weight = (layer, head, t, s) =>
    engine.weights[((layer * engine.H + head) * engine.B + t) * engine.B + s];
  const shown = (t, s) => (s > t ? 0 : weight(figure.get("layer"), figure.get("head"), t, s));
  const matrix = new Matrix(figure, {
    parent: place,
    label: "attention of the chosen head: rows look at columns",
    point: (row) => figure.set({ position: row }),
    pick: (row) => figure.set({ position: row }),
    spoken: (t, s) =>
      `${spoken(read.symbols[t])} at ${t} looks at ${spoken(read.symbols[s])} at ${s} with ${number(shown(t, s), 3)}`,
  });
  const sums = html("p", { class: "looking_inside-sums" });
  const table = html("table", { class: "cf-table" });
  figure.stage.append(sums);
  figure.readout.append(table);
  figure.hint(
    "Rows look at columns. Point at a row, or move with the arrow keys, to see what is " +
      "predicted from there after each layer. A head that is off finds zeros.",
  );
  figure.walk(WALK);

  /** Losses (T − 1,), and at each depth the probabilities at every position. */
  const readText = (tokens, off) => {
    engine.clear();
    engine.off = off;
    engine.follow(tokens, false);
    const losses = [];
    const lenses = tokens.map((_token, t) =>
      Array.from({ length: engine.L + 1 }, (_, depth) => {
        const shares = engine.lens(depth, t);
        softmax(shares, 0, shares.length);
        return shares;
      }),
    );
    for (let t = 0; t + 1 < tokens.length; t++)
      losses.push(-Math.log(lenses[t][engine.L][tokens[t + 1]]));
    return { losses, lenses };
  };
  const mean = (values) => values.reduce((sum, one) => sum + one, 0) / values.length;

  const readAll = () => {
    const symbols = [...figure.get("text")];
    const off = figure.get("off");
    const key = `${symbols.join("")} ${off.join()}`;
    if (read?.key === key && read.from === from) return;
    need(
      symbols.length >= 2 && symbols.length <= engine.B,
      `The text has ${symbols.length} symbols, and the model reads 2 to ${engine.B}.`,
      "Type another text.",
    );
    const strange = symbols.find((symbol) => !tokenOf.has(symbol));
    need(
      strange === undefined,
      `The model does not know “${visible(strange ?? "")}”.`,
      `It knows ${names.map(visible).join("")}`,
    );
    const tokens = symbols.map((symbol) => tokenOf.get(symbol));
    const numbers = off.map((name) => {
      const [layer, head] = name.split(".").map((part) => Number(part) - 1);
      return layer * engine.H + head;
    });
    const whole = readText(tokens, new Set());
    const broken = off.length ? readText(tokens, new Set(numbers)) : whole;
    read = { key, from, symbols, tokens, whole, broken, exact: exactAnswers(symbols) };
  };

  const best = (shares) => {
    const token = shares.indexOf(Math.max(...shares));
    return `“${visible(names[token])}” ${percent(shares[token])}`;
  };

  const tell = () => {
    const { symbols, whole, broken, exact } = read;
    const t = Math.min(figure.get("position"), symbols.length - 1);
    const known = exact[t] !== "";
    const off = figure.get("off");
    const rise = mean(broken.losses) - mean(whole.losses);
    const told = symbols
      .map((_, s) => s)
      .filter((s) => s + 1 < symbols.length && exact[s] !== "" && exact[s] === symbols[s + 1]);
    const part = (losses) => number(mean(told.map((s) => losses[s])), 3);
    const repeated = told.length
      ? ` Where the text repeats itself, the exact answer costs 0 nats, the model ${part(whole.losses)}${off.length ? `, broken ${part(broken.losses)}` : ""}.`
      : " The text does not repeat itself, so nothing says exactly what follows.";
    setText(
      sums,
      `Mean loss ${number(mean(whole.losses), 3)} nats with all heads` +
        (off.length
          ? `, ${number(mean(broken.losses), 3)} without ${off.join(", ")} (${rise < 0 ? "−" : "+"}${number(Math.abs(rise), 3)}).`
          : ".") +
        repeated,
    );
    const row = (head, ...cells) =>
      html(
        "tr",
        null,
        html("th", { scope: "row" }, head),
        ...cells.map((cell) => html("td", null, cell)),
      );
    const asked = known ? tokenOf.get(exact[t]) : undefined;
    const share = (shares) => (asked === undefined ? "" : percent(shares[asked]));
    table.replaceChildren(
      html(
        "caption",
        null,
        `After “${visible(symbols[t])}” at position ${t}; exact answer: ${known ? `“${visible(exact[t])}”` : "not determined"}`,
      ),
      html(
        "tr",
        null,
        ...["read after", "all on", "exact", "as set", "exact"].map((name) =>
          html("th", { scope: "col" }, name),
        ),
      ),
      ...whole.lenses[t].map((shares, depth) =>
        row(
          depth === 0 ? "start" : `layer ${depth}`,
          best(shares),
          share(shares),
          best(broken.lenses[t][depth]),
          share(broken.lenses[t][depth]),
        ),
      ),
    );
    figure.describe(
      `${sums.textContent} At position ${t}, ${spoken(symbols[t])}, the first choice is ${best(broken.lenses[t][engine.L])}; the exact answer is ${known ? spoken(exact[t]) : "not determined"}.`,
    );
    figure.reveal({
      whole: whole.losses,
      broken: broken.losses,
      lens: broken.lenses[t].map((shares) => Array.from(shares)),
    });
  };

  figure.draw(function* draw() {
    while (!load()) yield;
    buildSwitches();
    const off = figure.get("off");
    for (const { name, input } of switches) input.checked = !off.includes(name);
    all.disabled = off.length === 0;
    need(
      figure.get("layer") < engine.L && figure.get("head") < engine.H,
      `There is no layer ${figure.get("layer") + 1}, head ${figure.get("head") + 1}.`,
      `Choose among ${engine.L} layers of ${engine.H} heads.`,
    );
    readAll();
    yield NEXT_FRAME;
    const T = read.symbols.length;
    matrix.row = Math.min(figure.get("position"), T - 1);
    picker.update({
      L: engine.L,
      H: engine.H,
      T,
      weight: (layer, head, t, s) => (s > t ? 0 : weight(layer, head, t, s)),
    });
    yield NEXT_FRAME;
    matrix.update({
      rows: T,
      columns: T,
      value: shown,
      rowLabels: read.symbols.map(visible),
      columnLabels: read.symbols.map(visible),
      color: "weight",
      most: 22,
      height: figure.wide ? HIGHEST : undefined,
      least: 4,
    });
    tell();
  });
});
