// The whole model in one drawing: a letter's way through it, every stage and number of which opens.
import { penOf } from "./runtime/canvas.js";
import { loadStep } from "./runtime/checkpoint.js";
import { button, controlRow, field } from "./runtime/controls.js";
import { html, refill, setText, uniqueId } from "./runtime/elements.js";
import { Engine } from "./runtime/engine.js";
import { FigureError, need } from "./runtime/errors.js";
import { defineFigure } from "./runtime/frame.js";
import { trace } from "./runtime/letter_trace.js";
import { LIVE_WEIGHTS } from "./runtime/live_weights.js";
import { Matrix } from "./runtime/matrix.js";
import { number, percent } from "./runtime/numbers.js";
import { drawSymbol, random } from "./runtime/random.js";
import { visible } from "./runtime/symbols.js";
import { heat } from "./runtime/theme.js";

const CHAPTERS = { "05": "05-head", "06": "06-heads", "07": "07-block", "08": "08-gpt" };
const [STRIP_WIDE, STRIP_HIGH] = [48, 8]; // pixels of the small picture of a stage
const LEGIBLE = 20; // pixels of a cell in which a matrix writes
const COLUMNS = { 64: 16, 256: 32, 65: 13 }; // in which a stage's numbers stand when it is open

/** The chapter's address, where this page has a link to it: in the book, not in JupyterLab. */
const addressOf = (chapter) =>
  document.querySelector(`nav a[href*="${CHAPTERS[chapter]}.html"]`)?.href ?? null;

const largest = (values) => values.reduce((most, value) => Math.max(most, Math.abs(value)), 1e-9);

const WALK = [
  {
    set: { stage: "embedding", place: 0 },
    say: "The letter becomes a row of numbers from a table, the same wherever the letter is.",
  },
  {
    set: { stage: "head 0 0", place: 0 },
    say: "The first head of the first block gives each letter up to here a weight, and the weights add up to 1.",
  },
  {
    set: { stage: "stream 1", place: 0 },
    say: "After the block, the stream holds the letter's own numbers plus what attention and the network added.",
  },
  {
    set: { stage: "probabilities", place: 0 },
    say: "At the end, each symbol has a probability to come next, and one of them is drawn.",
  },
];

export default defineFigure(["text", "position", "stage", "place", "seed"], (figure) => {
  figure.title("Follow one letter");
  let engine = null;
  let symbols = [];
  let tokenOf = new Map();
  let stages = [];
  let traced = "";
  let shownPlace = "";
  const buttonsOf = new Map();

  const load = () => {
    if (engine) return true;
    const read = loadStep(LIVE_WEIGHTS);
    if (read === null) return false;
    engine = new Engine(read);
    symbols = [...read.facts.vocabulary];
    tokenOf = new Map(symbols.map((symbol, token) => [symbol, token]));
    return true;
  };

  const stageOf = (id) => stages.find((stage) => stage.id === id);
  const opened = () => stageOf(figure.get("stage")); // undefined where the state names none
  const newText = (text) => {
    const last = Math.max(0, [...text].length - 1);
    figure.set({
      text,
      position: last,
      ...(figure.get("stage").startsWith("head")
        ? { place: Math.min(figure.get("place"), last) }
        : {}),
    });
  };
  const open = (stage, place) => figure.set({ stage, place });

  // ---- what the reader holds -------------------------------------------------------------------

  const typed = field(
    figure,
    { read: () => figure.get("text"), write: newText },
    { label: "Text", most: 64 },
  );
  typed.classList.add("follow_letter-field");
  const row = controlRow(figure);
  const takeLetter = button(
    figure,
    "Take the letter",
    () => opened() && newText(figure.get("text") + next()),
    {
      parent: row,
    },
  );
  button(figure, "Draw another", () => figure.set({ seed: (figure.get("seed") % 9999) + 1 }), {
    parent: row,
  });

  // ---- the whole -------------------------------------------------------------------------------

  const letters = html("fieldset", { class: "follow_letter-text cf-mono" });
  const whole = html("fieldset", { class: "follow_letter-whole" });
  const group = uniqueId();
  const outcome = html("p", { class: "follow_letter-outcome" });
  row.append(outcome);
  const panel = html("section", { class: "follow_letter-stage" });
  const heading = html("p", { class: "live_model-head" });
  const says = html("p");
  const parent = html("div", { class: "follow_letter-numbers" });
  const words = html("p", { class: "follow_letter-words" });
  const terms = html("ol", { class: "follow_letter-terms" });
  const told = (i) => {
    const { labels, values } = opened();
    return `${labels ? `“${labels[i]}”` : `number ${i}`}: ${number(values[i], 3)}`;
  };
  const columnsOf = ({ values, labels }) => {
    const rows = Math.ceil(values.length / 16);
    const most = COLUMNS[values.length] ?? Math.ceil(values.length / rows);
    // A letter is written into a cell that has room for it.
    return labels ? Math.min(most, Math.floor((figure.room(parent) - 4) / LEGIBLE)) : most;
  };
  const indexOf = (r, c) => (opened() ? r * columnsOf(opened()) + c : -1);
  const inside = (i) => i >= 0 && i < opened().values.length;
  const matrix = new Matrix(figure, {
    parent,
    label: "the numbers of this stage",
    pick: (r, c) => {
      if (inside(indexOf(r, c))) figure.set({ place: indexOf(r, c) });
    },
    spoken: (r, c) => (inside(indexOf(r, c)) ? told(indexOf(r, c)) : "nothing"),
  });
  panel.append(heading, says, parent, words, terms);
  figure.stage.append(letters, html("div", { class: "follow_letter-columns" }, whole, panel));
  figure.hint(
    "Choose a letter of the text, a stage of its way, and a number of the stage. A term that " +
      "comes from another stage is a button: it leads one step back.",
  );
  figure.walk(WALK);

  const buildLetters = (text, position) =>
    refill(letters, [text, position], () => [
      html("legend", { class: "cf-hidden" }, "The letter that is followed"),
      ...text.map((symbol, t) => {
        const input = html("input", {
          type: "radio",
          name: `${group}-letter`,
          "aria-label": `${visible(symbol)} at ${t}`,
        });
        input.checked = t === position;
        figure.listen(input, "change", () => {
          const stage = figure.get("stage");
          const place = stage.startsWith("head")
            ? Math.min(t, figure.get("place"))
            : figure.get("place");
          figure.set({ position: t, place });
          figure.afterDrawing(() => letters.querySelector("input:checked")?.focus());
        });
        const later = t > position ? " follow_letter-later" : "";
        return html(
          "label",
          { class: `follow_letter-letter${later}` },
          input,
          html("span", null, visible(symbol)),
        );
      }),
    ]);

  const buildWhole = () => {
    if (buttonsOf.size) return;
    whole.append(html("legend", { class: "cf-hidden" }, "The stages, from the text to the letter"));
    const rows = new Map();
    const rowOf = (name, title) => {
      if (!rows.has(name)) {
        const boxes = html("div", { class: "follow_letter-boxes" });
        rows.set(name, boxes);
        whole.append(
          html("div", { class: "follow_letter-row" }, html("small", null, title), boxes),
        );
      }
      return rows.get(name);
    };
    for (const stage of stages) {
      const input = html("input", { type: "radio", name: group, value: stage.id });
      const canvas = html("canvas", { "aria-hidden": "true", width: 1, height: 1 });
      const name = html("span");
      figure.listen(input, "change", () => {
        const most = stageOf(stage.id).values.length - 1;
        open(stage.id, Math.min(figure.get("place"), most));
      });
      const layer = /^(?:norm|head|found|attention|middle|forward norm|hidden|forward) (\d)/.exec(
        stage.id,
      )?.[1];
      const behind = /^stream ([1-9])/.exec(stage.id)?.[1];
      const inBlock = layer ?? (behind && String(Number(behind) - 1));
      const half = /^(?:forward norm|hidden|forward|stream)/.test(stage.id) ? "b" : "a";
      const where =
        inBlock === undefined
          ? /^(?:norm|logits|probabilities)$/.test(stage.id)
            ? ["end", "The next letter"]
            : ["start", "Into a vector"]
          : [
              `${inBlock}${half}`,
              `Block ${Number(inBlock) + 1}: ${half === "a" ? "attention" : "feed-forward"}`,
            ];
      const stream = stage.name === "residual stream" ? " follow_letter-stream" : "";
      rowOf(...where).append(
        html("label", { class: `follow_letter-box${stream}` }, input, canvas, name),
      );
      buttonsOf.set(stage.id, { input, canvas, name });
    }
  };

  /** What a stage's numbers are, and which of them is full strength. */
  const scaleOf = ({ id, values }) =>
    id.startsWith("head")
      ? { color: "weight", most: 1 }
      : id === "probabilities"
        ? { color: "probability", most: 1 }
        : { color: "plus", most: largest(values) };

  const paintStrip = (canvas, stage) => {
    const pen = penOf(canvas, STRIP_WIDE, STRIP_HIGH);
    const { values } = stage;
    const { color, most } = scaleOf(stage);
    const wide = STRIP_WIDE / values.length;
    for (let i = 0; i < values.length; i += 1) {
      pen.fillStyle = heat(figure.theme, values[i] / most, color).fill;
      pen.fillRect(i * wide, 0, Math.ceil(wide), STRIP_HIGH);
    }
  };

  const next = () => {
    const { values } = stageOf("probabilities");
    return symbols[drawSymbol(Float32Array.from(values), random(figure.get("seed"))())];
  };

  const termRow = ({ label, value, from, place }) => {
    const text = `${label}: ${number(value, 3)}`;
    if (!from) return html("li", null, text);
    const node = html("button", { type: "button", class: "cf-button" }, `${text} ←`);
    figure.listen(node, "click", () => {
      open(from, place);
      figure.afterDrawing(() => buttonsOf.get(from).input.focus({ preventScroll: true }));
    });
    return html("li", null, node);
  };

  const showStage = (stage, place) => {
    const layer = /\d/.exec(stage.id)?.[0];
    const block =
      layer !== undefined && !/^stream/.test(stage.id) ? `Block ${Number(layer) + 1}: ` : "";
    const address = addressOf(stage.chapter);
    const chapter = `chapter ${stage.chapter}`;
    refill(heading, [stage.id, stage.name, address], () => [
      `${block}${stage.name} (`,
      address ? html("a", { href: address }, chapter) : chapter,
      ")",
    ]);
    setText(says, stage.says);
    const { values, labels } = stage;
    const columns = columnsOf(stage);
    const { color, most } = scaleOf(stage);
    const at = (r, c) => r * columns + c;
    const current = `${stage.id} ${place}`;
    if (shownPlace !== current)
      [matrix.row, matrix.column] = [Math.floor(place / columns), place % columns];
    shownPlace = current; // until another number is opened, the cursor is the reader's
    matrix.update({
      rows: Math.ceil(values.length / columns),
      columns,
      value: (r, c) => values[at(r, c)] ?? 0,
      strength: (value) => value / most,
      color,
      text: (r, c) => labels?.[at(r, c)] ?? "",
      most: 24,
    });
    const { words: inWords, terms: parts } = stage.explain(place);
    setText(words, `${labels ? `“${labels[place]}”` : `Number ${place}`}: ${inWords}`);
    refill(terms, [stage.id, place, parts.map(({ label, value }) => [label, value])], () =>
      parts.map(termRow),
    );
  };

  figure.draw(function* draw() {
    while (!load()) yield;
    const text = [...figure.get("text")];
    const [position, id, place] = ["position", "stage", "place"].map((name) => figure.get(name));
    need(text.length > 0, "There is no letter to follow.", "Write one.");
    need(
      text.length <= engine.B,
      `The text has ${text.length} symbols.`,
      `The model reads ${engine.B}.`,
    );
    need(position < text.length, `There is no position ${position}.`, "Choose a letter.");
    for (const symbol of text)
      if (!tokenOf.has(symbol))
        throw new FigureError(
          `“${visible(symbol)}” is not one of the ${symbols.length} symbols that this model knows.`,
          `Take it out. The model knows: ${symbols.map(visible).join("")}`,
        );
    const now = `${text.join("")} ${position}`;
    if (now !== traced) {
      const tokens = text.map((symbol) => tokenOf.get(symbol));
      stages = trace(engine, tokens, position, symbols);
      traced = now;
    }
    yield;
    const stage = stageOf(id);
    need(stage, `There is no stage “${id}”.`, "Choose one of the drawing.");
    need(
      place < stage.values.length,
      `The stage has no number ${place}.`,
      `It has ${stage.values.length}.`,
    );
    buildLetters(text, position);
    buildWhole();
    yield;
    for (const one of stages) {
      const { input, canvas, name } = buttonsOf.get(one.id);
      input.checked = one.id === id;
      setText(name, one.name);
      paintStrip(canvas, one);
    }
    yield;
    showStage(stage, place);
    takeLetter.disabled = text.length >= engine.B || position !== text.length - 1;
    const shares = stageOf("probabilities").values;
    const drawn = next();
    setText(
      outcome,
      `Drawn: “${visible(drawn)}”, which has ${percent(shares[symbols.indexOf(drawn)])}.`,
    );
    figure.describe(
      `The way of “${visible(text[position])}” at position ${position} through a GPT. ` +
        `${stage.name}: ${stage.says} ${words.textContent} ${outcome.textContent}`,
    );
    figure.reveal({
      values: stage.values,
      terms: stage.explain(place).terms.map(({ value }) => value),
      probabilities: shares,
    });
  });
});
