// A model that is trained in the page: a worker does the training, this shows how far it is.
import { button, choice, controlRow, slider } from "./runtime/controls.js";
import { html, setText } from "./runtime/elements.js";
import { FigureError, need } from "./runtime/errors.js";
import { defineFigure } from "./runtime/frame.js";
import { lossChart } from "./runtime/loss_chart.js";
import { Matrix } from "./runtime/matrix.js";
import { grouped, number } from "./runtime/numbers.js";
import { PLAY_EXCERPT } from "./runtime/play_excerpt.js";
import { visible } from "./runtime/symbols.js";
import { TRAINING_WORKER } from "./runtime/training_worker_text.js";

const MODELS = ["bigram", "one head", "four heads", "one block", "four blocks"];
const RATES = [0.0001, 0.0003, 0.001, 0.002, 0.003, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.3, 1];
const BATCHES = [1, 4, 16, 32, 64, 128, 256];
const CONTEXTS = [2, 4, 8, 16, 32];
const PUBLISHED = { bigram: 2.5, "one head": 2.409, "four heads": 2.239, "four blocks": 2.009 };
const LEAST_SYMBOLS = 2000;
const MOST_SYMBOLS = 5000000;
const MOST_DIFFERENT = 256;
// At once, where the reader wants nothing to move.
const CALM_STEPS = 100;
const MOST_POINTS = 600;
const MOST_HEADS = 4;
// Pixels that the maps have, where there is room.
const SIDE = 290;
// Pixels of the chart's height where what the model writes stands beside the maps, too.
const BESIDE = 225;

const isShakespeare = (text, symbols) =>
  text.length === 1115394 && symbols.length === 65 && text.startsWith("First Citizen:\n");

const WALK = [
  {
    set: { model: "bigram" },
    press: ["Start over", "Train"],
    say: "The table of pairs starts as a guess. Its loss falls towards that of counted pairs, the best a table can do.",
  },
  {
    set: { model: "one head" },
    press: ["Start over", "Train"],
    say: "One head reads more than the last symbol, so its loss can fall below that of the counted pairs.",
  },
  {
    set: { rate: 0.0001 },
    say: "With a small learning rate the curve hardly falls any more. You can change it while the model learns.",
  },
  {
    set: { model: "four heads", rate: 0.01 },
    press: ["Start over", "Train"],
    say: "Four heads look in four ways, one map each. Watch which of them become different.",
  },
];

export default defineFigure(["model", "rate", "batch", "context", "seed", "text"], (figure) => {
  figure.title("A model that learns");
  let worker = null;
  // Messages for a worker that does not listen yet; null when it does.
  let waiting = [];
  // What the worker knows, by name.
  let sent = {};
  // The text that it has: { symbols, counted, length }.
  let about = null;
  // Its last report.
  let latest = null;
  // Its last report with a sample.
  let seen = null;
  // Where the loss became no number.
  let broke = null;
  let batches = [];
  let validation = [];
  // What the reader wants.
  let running = false;
  let inSight = false;
  // The map that the reader pointed at last.
  let pointed = 0;

  // ---- the worker ----------------------------------------------------------------------------

  const post = (message) => {
    if (waiting) waiting.push(message);
    else worker.postMessage(message);
  };

  const stop = () => {
    running = false;
    if (worker) post({ run: false });
    figure.later();
  };

  const hear = ({ listening, text, report, broke: broken, fault }) => {
    if (listening) {
      for (const message of waiting) worker.postMessage(message);
      waiting = null;
    }
    if (fault)
      throw new FigureError(
        `The training could not go on (${fault}).`,
        "Reload the page; an up-to-date browser can do this.",
      );
    if (text) about = text;
    if (broken) {
      broke = broken;
      running = false;
    }
    if (report) {
      latest = report;
      if (report.loss !== null) batches.push([report.step, report.loss]);
      if (report.validation !== undefined) {
        validation.push([report.step, report.validation]);
        seen = report;
      }
      if (batches.length > MOST_POINTS) batches = batches.filter((_, i) => i % 2 === 1);
      if (validation.length > MOST_POINTS) validation = validation.filter((_, i) => i % 2 === 1);
      if (!report.running && figure.calm) running = false;
      if (!report.running) figure.say(summary());
    }
    if (!figure.calm || !latest?.running) figure.later();
  };

  const start = () => {
    const address = URL.createObjectURL(new Blob([TRAINING_WORKER], { type: "text/javascript" }));
    worker = new Worker(address);
    worker.onmessage = ({ data }) => {
      URL.revokeObjectURL(address);
      figure.guard(() => hear(data));
    };
    worker.onerror = (event) =>
      figure.guard(() => hear({ fault: event.message || "no worker could be started" }));
  };

  /** Tell the worker what has changed; true if there was anything. */
  const send = () => {
    if (!worker) start();
    const [text, model, seed] = ["text", "model", "seed"].map(figure.get, figure);
    const change = Object.fromEntries(
      ["rate", "batch", "context"].map((name) => [name, figure.get(name)]),
    );
    const message = {};
    if (sent.text !== text) {
      if (text) message.text = text;
      else message.packed = PLAY_EXCERPT.packed;
      about = null;
    }
    if (sent.text !== text || sent.model !== model || sent.seed !== seed) {
      message.begin = { model, seed };
      [batches, validation, latest, seen, broke] = [[], [], null, null, null];
      running = false;
    }
    if (JSON.stringify(sent.change) !== JSON.stringify(change)) message.change = change;
    sent = { text, model, seed, change };
    if (Object.keys(message).length) post(message);
  };

  /** Begin again from the first weights. */
  const reset = (changes = {}) => {
    stop();
    sent.model = null;
    figure.set(changes);
  };

  const watch = new IntersectionObserver((changes) => {
    inSight = changes.at(-1).isIntersecting;
    if (running) post({ run: inSight && !document.hidden });
    figure.later();
  });
  watch.observe(figure.root);
  figure.listen(document, "visibilitychange", () => {
    if (running) post({ run: inSight && !document.hidden });
  });
  figure.closing.signal.addEventListener("abort", () => {
    watch.disconnect();
    worker?.terminate();
  });

  // ---- what the reader holds -----------------------------------------------------------------

  figure.body.classList.add("training_run");
  choice(figure, "model", {
    label: "model",
    options: MODELS.map((name) => [name, name]),
  });
  const buttons = controlRow(figure);
  const train = button(
    figure,
    figure.calm ? `Train ${CALM_STEPS} steps` : "Train",
    () => {
      if (running) return stop();
      if (broke) return undefined;
      send();
      running = true;
      post(figure.calm ? { steps: CALM_STEPS } : { run: true });
      return figure.later();
    },
    { parent: buttons, main: true },
  );
  const one = button(
    figure,
    "One step",
    () => {
      send();
      post({ steps: 1 });
    },
    { parent: buttons },
  );
  button(figure, "Start over", () => reset(), { parent: buttons });
  button(figure, "Another seed", () => reset({ seed: (figure.get("seed") % 9999) + 1 }), {
    parent: buttons,
  });
  const plain = (value) => String(value);
  slider(figure, "rate", { label: "learning rate", values: RATES, show: plain });
  slider(figure, "batch", { label: "batch", values: BATCHES, show: plain });
  slider(figure, "context", { label: "context", values: CONTEXTS, show: plain });
  const texts = controlRow(figure, "The text");
  const file = html("input", { type: "file", accept: ".txt,text/plain" });
  const take = async (chosen) => {
    const content = chosen ? await chosen.text() : "";
    figure.guard(() => {
      if (content) reset({ text: content });
      file.value = "";
    });
  };
  texts.append(html("label", { class: "cf-button cf-file" }, "Another text …", file));
  figure.listen(file, "change", () => take(file.files[0]));
  const back = button(figure, "Back to the play", () => reset({ text: "" }), { parent: texts });
  figure.listen(figure.root, "dragover", (event) => event.preventDefault());
  figure.listen(figure.root, "drop", (event) => {
    event.preventDefault();
    take(event.dataTransfer.files[0]);
  });

  // ---- what the reader sees ------------------------------------------------------------------

  const chart = html("canvas", {
    class: "training_run-chart",
    role: "img",
    "aria-label": "losses",
  });
  const head = html("p", { class: "live_model-head" });
  const grid = html("div", { class: "training_run-maps" });
  const place = (matrix, t, s) => {
    const { labels, weights } = latest.maps;
    const T = labels.length;
    const weight = number(weights[(matrix * T + t) * T + s]);
    return figure.get("model") === "bigram"
      ? `after “${visible(labels[t])}”, “${visible(labels[s])}” has probability ${weight}`
      : `head ${matrix + 1}: from “${visible(labels[t])}” at ${t} to “${visible(labels[s])}” at ${s}, weight ${weight}`;
  };
  const where = html("p", { class: "training_run-place" });
  const matrices = Array.from({ length: MOST_HEADS }, (_, matrix) => {
    const parent = html("div");
    grid.append(parent);
    const map = new Matrix(figure, {
      parent,
      label: `map of head ${matrix + 1}`,
      point: () => {
        pointed = matrix;
      },
      spoken: (t, s) => (latest ? place(matrix, t, s) : ""),
    });
    return { parent, map };
  });
  const left = html("section", null, html("p", { class: "live_model-head" }, "Loss"), chart);
  const right = html("section", { class: "training_run-where" }, head, grid, where);
  const written = html("div", { class: "training_run-sample cf-mono" });
  const below = html(
    "section",
    { class: "training_run-writes" },
    html("p", { class: "live_model-head" }, "What it writes now"),
    written,
  );
  figure.stage.append(html("div", { class: "training_run-columns" }, left, right, below));
  figure.hint(
    "Thick line: loss on text that it does not learn from; thin line: on the batches. Turn rate, " +
      "batch and context while it runs. A text file, chosen or dropped here, stays on this machine.",
  );
  figure.walk(WALK);

  const linesOf = (text, model) => {
    const lines = [
      {
        loss: Math.log(about.symbols.length),
        label: `guess ${number(Math.log(about.symbols.length))}`,
      },
      { loss: about.counted, label: `pairs counted ${number(about.counted, 3)}` },
    ];
    const line = (loss, label) => lines.push({ loss, label: `${label} ${number(loss, 3)}` });
    if (!text) {
      line(PLAY_EXCERPT.reached[model], `${model}, in torch`);
      line(PLAY_EXCERPT.floor, "no model below");
    } else if (isShakespeare(text, about.symbols) && model in PUBLISHED)
      line(PUBLISHED[model], `${model}, published`);
    return lines;
  };

  const summary = () => {
    const parts = [`Step ${grouped(latest.step)}.`];
    const losses = [];
    if (batches.length) losses.push(`on the batches ${number(batches.at(-1)[1], 3)}`);
    if (seen)
      losses.push(
        `on the validation text ${number(seen.validation, 3)}${seen.exact ? "" : " (estimated)"}`,
      );
    if (losses.length) parts.push(`Loss ${losses.join(", ")}.`);
    if (latest.speed && !seen?.exact) parts.push(`${number(latest.speed, 0)} steps a second.`);
    parts.push(`Seed ${figure.get("seed")}.`);
    return parts.join(" ");
  };

  const check = (text) => {
    if (!text) return;
    need(
      text.length >= LEAST_SYMBOLS && text.length <= MOST_SYMBOLS,
      `The text has ${grouped(text.length)} symbols.`,
      `Choose one with ${grouped(LEAST_SYMBOLS)} to ${grouped(MOST_SYMBOLS)}.`,
    );
    if (sent.text === text) return;
    const different = new Set(text).size;
    need(
      different <= MOST_DIFFERENT,
      `The text has ${different} different symbols.`,
      `Choose one with at most ${MOST_DIFFERENT}.`,
    );
  };

  figure.draw(function* draw() {
    const [text, model] = [figure.get("text"), figure.get("model")];
    check(text);
    setText(train, running ? "Pause" : figure.calm ? `Train ${CALM_STEPS} steps` : "Train");
    train.dataset.label = train.textContent;
    train.disabled = broke !== null;
    one.disabled = running || broke !== null;
    back.disabled = !text;
    if (inSight) send();
    need(
      broke === null,
      broke &&
        `At step ${broke.step} the loss is no number any more: a learning rate of ${broke.rate} is too high.`,
      "Turn it down, and press Start over.",
    );
    const room = figure.room(left);
    const high = figure.wide ? BESIDE : undefined;
    const across = Math.min(SIDE, figure.room(right));
    const heads = latest?.maps.H ?? (MODELS.indexOf(model) < MODELS.indexOf("four heads") ? 1 : 4);
    const looks = model === "four blocks" ? "Where its first block looks" : "Where it looks";
    setText(head, model === "bigram" ? "What it expects after each symbol" : looks);
    grid.style.height = `${across + 20}px`;
    yield;
    if (about)
      lossChart(figure, chart, { room, high, batches, validation, lines: linesOf(text, model) });
    else
      lossChart(figure, chart, {
        room,
        high,
        batches,
        validation,
        lines: [{ loss: 4, label: "" }],
      });
    yield;
    matrices.forEach(({ parent, map }, matrix) => {
      parent.hidden = matrix >= heads;
      if (parent.hidden || !latest) return;
      const { labels, weights } = latest.maps;
      const T = labels.length;
      const width = heads === 1 ? across : across / 2 - 4;
      const named = labels.map(visible);
      // The last symbol has the most to look at; from there on the cursor is the reader's.
      if (map.data?.rows !== T) [map.row, map.column] = [T - 1, Math.max(0, T - 2)];
      map.update({
        rows: T,
        columns: T,
        value: (t, s) => weights[(matrix * T + t) * T + s],
        rowLabels: named,
        columnLabels: named,
        color: model === "bigram" ? "probability" : "weight",
        most: (width - 20) / T,
        least: Math.min(4, (width - 20) / T),
        width,
      });
    });
    if (latest)
      setText(where, place(pointed, matrices[pointed].map.row, matrices[pointed].map.column));
    setText(written, seen?.sample ?? "");
    const told = latest ? summary() : "The training begins when you press the button.";
    setText(figure.readout, told);
    chart.setAttribute("aria-label", `losses over steps. ${told}`);
    if (!running)
      figure.describe(
        `Training of ${model}, learning rate ${figure.get("rate")}, batches of ` +
          `${figure.get("batch")} windows of ${figure.get("context")} symbols. ${told}`,
      );
    figure.reveal({
      step: [latest?.step ?? -1],
      validation: validation.map(([, loss]) => loss),
      batches: batches.map(([, loss]) => loss),
      counted: [about?.counted ?? NaN],
      exact: [seen?.exact ? 1 : 0],
      weights: latest?.maps.weights ?? [],
    });
  });
});
