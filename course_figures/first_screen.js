// The first page: a model learns to write while one watches, and a larger one goes on from there.
import { penOf } from "./runtime/canvas.js";
import { button, controlRow } from "./runtime/controls.js";
import { html, refill, setText } from "./runtime/elements.js";
import { defineFigure } from "./runtime/frame.js";
import { lossChart } from "./runtime/loss_chart.js";
import { grouped, number } from "./runtime/numbers.js";
import { PLAY_EXCERPT } from "./runtime/play_excerpt.js";
import { quoted } from "./runtime/symbols.js";
import { heat } from "./runtime/theme.js";
import { TRAINING_WORKER } from "./runtime/training_worker_text.js";
import { Writer } from "./runtime/writer.js";

const MODEL = "four heads";
const SETTINGS = { batch: 64, context: 8, sample: 240 };
// Learning rate from a step on: smaller ones bring a loss down that swings around its best.
const RATES = [
  [0, 0.01],
  [900, 0.005],
  [1600, 0.002],
];
const SAID = [5, 20]; // seconds of training after which the page says what the model knows
const CAUGHT_UP = 0.1; // nats above the loss that the same model reaches in torch
const LONGEST = 60; // seconds of training; then the larger model goes on all the same
const PACE = 45; // milliseconds between two letters of the larger model
const MOST = 500; // letters that it writes before it rests
const AT_ONCE = 200; // letters that appear together where the reader wants nothing to move
const MAPPED = 16; // letters in a map of the larger model
const LINK = 64; // letters that the figure of the whole model reads
const POINTS = 600;

/** The last whole sentence of a text, or its end where there is none. */
const sentenceOf = (text) => {
  const whole = text.match(/[^\s.!?][^.!?]*[.!?]/gu)?.at(-1) ?? text.trim();
  return [...whole].slice(-LINK).join("");
};

export default defineFigure(["prompt", "seed"], (figure) => {
  figure.title("A model learns to write");
  const writer = new Writer();
  let worker = null;
  let about = null; // the text that is learned from: { symbols, counted, length }
  let latest = null; // the worker's last report
  let seen = null; // its last report with a sample
  let first = null; // its report before the first step
  let batches = [];
  let validation = [];
  let told = []; // what the page has said of the model, oldest first
  let seconds = 0; // of training that was in sight
  let clock = 0; // when they were last counted
  let stage = "before"; // then "learning" and "writing"
  let running = false;
  let inSight = false;
  let pace = 0;
  let written = 0; // letters of the larger model since the reader's last word
  let given = ""; // the beginning that it goes on from

  // ---- the model that learns -------------------------------------------------------------------

  const awake = () => running && inSight && !document.hidden;
  const rateAt = (step) => RATES.filter(([from]) => from <= step).at(-1)[1];
  const words = ({ known, all }) =>
    all ? `; ${known} of its ${all} longer words are words of the play` : "";

  const say = (text) => {
    told.push(text);
    figure.say(text);
    figure.later();
  };

  /** What a report shows: its loss beside that of counted pairs, and the words of its sample. */
  const measured = (report) => {
    const [loss, pairs] = [report.validation, about.counted].map((one) => number(one, 3));
    const beside =
      report.validation < about.counted
        ? `better than counting pairs (${pairs})`
        : `still behind counting pairs (${pairs})`;
    return `loss ${loss}, ${beside}${words(report.words)}.`;
  };

  const learn = (report) => {
    if (first === null) {
      first = report;
      const [loss, guess] = [report.validation, Math.log(about.symbols.length)].map((one) =>
        number(one, 3),
      );
      say(`Untrained: loss ${loss}, where guessing has ${guess}${words(report.words)}.`);
    }
    if (report.loss !== null) batches.push([report.step, report.loss]);
    if (report.validation !== undefined) validation.push([report.step, report.validation]);
    if (batches.length > POINTS) batches = batches.filter((_, i) => i % 2 === 1);
    if (validation.length > POINTS) validation = validation.filter((_, i) => i % 2 === 1);
    if (stage !== "learning" || report.validation === undefined) return;
    worker.postMessage({ change: { ...SETTINGS, rate: rateAt(report.step) } });
    const due = SAID.filter((after) => after <= seconds).length;
    if (due > told.length - 1)
      say(`After ${Math.round(seconds)} s and ${grouped(report.step)} steps: ${measured(report)}`);
    const reached = PLAY_EXCERPT.reached[MODEL];
    const near = report.validation < reached + CAUGHT_UP;
    if (!near && seconds < LONGEST) return;
    const at = `At step ${grouped(report.step)} its loss is ${number(report.validation, 3)}`;
    const there = near ? `near the ${reached} of` : `on its way to the ${reached} of`;
    say(`${at}, ${there} the same model in torch.`);
    handOver();
  };

  /** Count what passed since the last report as training, if somebody could see it. */
  const count = () => {
    const now = performance.now();
    if (stage === "learning" && awake()) seconds += Math.min(2, (now - clock) / 1000);
    clock = now;
  };

  const hear = ({ text, report, fault }) => {
    if (fault) {
      say(`This browser cannot train here (${fault}); the model that comes with the page writes.`);
      handOver();
      return;
    }
    if (text) about = text;
    if (!report) return;
    count();
    latest = report;
    if (report.validation !== undefined) seen = report;
    learn(report);
    if (!figure.calm || stage === "before") figure.later();
  };

  const open = () => {
    const address = URL.createObjectURL(new Blob([TRAINING_WORKER], { type: "text/javascript" }));
    worker = new Worker(address);
    let heard = false;
    worker.onmessage = ({ data }) => {
      if (!heard) {
        heard = true;
        URL.revokeObjectURL(address);
        worker.postMessage({
          packed: PLAY_EXCERPT.packed,
          change: { ...SETTINGS, rate: rateAt(0) },
          begin: { model: MODEL, seed: figure.get("seed") },
        });
        direct();
      }
      if (stage !== "writing") figure.guard(() => hear(data));
    };
    worker.onerror = (event) =>
      figure.guard(() => hear({ fault: event.message || "no worker could be started" }));
  };

  /** Let the worker run or rest, as what the reader wants and sees asks for. */
  const direct = () => {
    if (stage === "learning") worker?.postMessage({ run: awake() });
  };

  const train = () => {
    stage = "learning";
    running = true;
    clock = performance.now();
    direct();
    figure.later();
  };

  // ---- the model that came with the page -------------------------------------------------------

  const loadAll = () => {
    while (!writer.load());
  };

  /** The larger model goes on from a beginning; what was training rests for good. */
  const handOver = (beginning = figure.get("prompt")) => {
    worker?.terminate();
    worker = null;
    loadAll();
    given = beginning;
    stage = "writing";
    running = true;
    written = 0;
    writer.begin(beginning, figure.get("seed"));
    if (figure.calm) {
      while (written < AT_ONCE) writeLetter();
      running = false;
      figure.say(writer.text);
    }
    next();
    figure.later();
  };

  const writeLetter = () => {
    writer.write();
    written += 1;
  };

  /** Where nothing may move: what the larger model writes, beside what is written before learning. */
  const showAfter = () => {
    writer.begin(figure.get("prompt"), figure.get("seed"));
    while (writer.text.length < AT_ONCE) writer.write();
  };

  const next = () => {
    clearTimeout(pace);
    if (stage !== "writing" || !awake()) return;
    pace = setTimeout(() => {
      figure.guard(() => {
        writeLetter();
        if (written >= MOST) running = false;
        figure.later();
        next();
      });
    }, PACE);
  };

  // ---- in sight or not -------------------------------------------------------------------------

  const look = () => {
    count();
    direct();
    next();
  };
  const watch = new IntersectionObserver((changes) => {
    count(); // while it was in sight
    inSight = changes.at(-1).isIntersecting;
    look();
  });
  watch.observe(figure.root);
  figure.listen(document, "visibilitychange", look);
  figure.closing.signal.addEventListener("abort", () => {
    watch.disconnect();
    worker?.terminate();
    clearTimeout(pace);
  });

  // ---- what the reader sees and holds ----------------------------------------------------------

  const who = html("p", { class: "live_model-head" }, "What it writes");
  const before = html("p", { class: "first_screen-before cf-mono", hidden: !figure.calm });
  const shown = html("div");
  const page = html(
    "div",
    { class: "first_screen-text cf-mono", tabindex: 0, role: "region", "aria-label": "the text" },
    shown,
  );
  const typed = html("input", {
    type: "text",
    class: "cf-mono",
    placeholder: "type your own beginning",
    "aria-label": "Type your own beginning",
    maxlength: 60,
    enterkeyhint: "go",
    spellcheck: "false",
    autocomplete: "off",
    autocapitalize: "off",
  });
  const form = html("form", { class: "first_screen-typed", novalidate: true }, typed);
  button(figure, "Write", () => {}, { parent: form }).type = "submit";
  figure.listen(typed, "input", () => typed.setCustomValidity(""));
  figure.listen(form, "submit", (event) => {
    event.preventDefault();
    loadAll();
    const unknown = writer.unknown(typed.value);
    if (unknown.length) {
      typed.setCustomValidity(`The model does not know ${quoted(unknown)}.`);
      typed.reportValidity();
      return;
    }
    figure.set({ prompt: typed.value, seed: (figure.get("seed") % 9999) + 1 });
    handOver(typed.value);
  });
  const list = html("ol", { class: "first_screen-told" });
  const chart = html("canvas", { role: "img", "aria-label": "loss over steps" });
  const where = html("p", { class: "live_model-head" }, "Where its four heads look");
  const maps = html("div", { class: "first_screen-maps" });
  const canvases = Array.from({ length: 4 }, (_, head) => {
    const area = html("canvas", { role: "img", "aria-label": `where head ${head + 1} looks` });
    const name = html("small", { "aria-hidden": "true" }, `head ${head + 1}`);
    maps.append(html("div", null, area, name));
    return area;
  });
  const reading = html(
    "p",
    { class: "first_screen-reading" },
    "A row is a letter, its columns are the letters up to it: the more color, the more it looks there.",
  );
  const losses = html("div", { class: "first_screen-loss" }, chart);
  const left = html("section", null, who, before, page, form);
  const right = html("section", null, losses, where, maps, reading);
  figure.stage.append(html("div", { class: "first_screen-columns" }, left, right));
  const buttons = controlRow(figure);
  figure.readout.append(list, buttons);
  figure.hint(
    "The model learns in your browser from the course's play. A head is the part of it that " +
      "decides for each letter how much to look at the letters before. The loss says how much the " +
      "next letter of other text surprises the model, in nats, the unit of surprise: a letter that " +
      "it gave a chance of 37 % has 1 nat. Longer words have three letters or more.",
  );
  const hold = button(
    figure,
    "Pause",
    () => {
      if (stage === "before") train();
      else {
        count();
        running = !running;
        if (running && written >= MOST) written = 0;
        clock = performance.now();
        look();
        figure.later();
      }
    },
    { parent: buttons },
  );
  button(
    figure,
    "From noise again",
    () => {
      worker?.terminate();
      worker = null;
      clearTimeout(pace);
      [about, latest, seen, first] = [null, null, null, null];
      [batches, validation, told, seconds] = [[], [], [], 0];
      [stage, running] = ["before", false];
      open();
      if (!figure.calm) train();
      figure.later();
    },
    { parent: buttons },
  );

  const lines = () => {
    const line = (loss, label) => ({ loss, label: `${label} ${number(loss, 3)}` });
    return [
      line(Math.log(about.symbols.length), "guessing"),
      line(about.counted, "counting pairs"),
      line(PLAY_EXCERPT.reached[MODEL], "this model, in torch"),
    ];
  };

  /** What stands over the text. */
  const titleOf = () => {
    if (stage === "writing") return "A larger model, trained on Shakespeare";
    if (stage === "before" && figure.calm)
      return "Before it has learned, and what a larger one writes";
    return latest ? `What it writes after ${grouped(seen.step)} steps` : "What it writes";
  };

  const showText = () => {
    const larger = stage === "writing" || (stage === "before" && figure.calm);
    setText(who, titleOf());
    if (!before.hidden && first) setText(before, first.sample);
    const begun = stage === "writing" ? given : "";
    const text = larger ? writer.text.slice(begun.length) : (seen?.sample ?? "");
    refill(shown, [begun, text, running], () =>
      [
        begun && html("b", null, begun),
        text,
        larger && running && html("span", { class: "first_screen-caret", "aria-hidden": "true" }),
      ].filter(Boolean),
    );
    const link = document.querySelector("a.look-inside");
    const sentence = sentenceOf(begun + text);
    if (!link || !sentence || (writer.engine && writer.unknown(sentence).length)) return;
    const state = { text: sentence, position: [...sentence].length - 1, place: 0 };
    const address = new URL(link.href);
    address.search = new URLSearchParams(
      Object.entries(state).map(([name, value]) => [`follow_letter.${name}`, value]),
    );
    link.href = address.href;
  };

  const showMaps = (across) => {
    const found = stage === "writing" ? writer.maps(MAPPED) : latest?.maps;
    if (!found) return;
    const T = found.labels.length;
    setText(
      where,
      stage === "writing" ? "Where its last layer looks" : "Where its four heads look",
    );
    const wide = (across - 3 * 6) / 4;
    const size = wide / T;
    canvases.forEach((area, head) => {
      const pen = penOf(area, wide, wide);
      for (let t = 0; t < T; t += 1)
        for (let s = 0; s <= t; s += 1) {
          pen.fillStyle = heat(figure.theme, found.weights[(head * T + t) * T + s], "weight").fill;
          pen.fillRect(s * size, t * size, Math.ceil(size), Math.ceil(size));
        }
      pen.strokeStyle = figure.theme.line;
      pen.strokeRect(0.5, 0.5, wide - 1, wide - 1);
    });
  };

  figure.draw(function* draw() {
    if (figure.calm && stage === "before" && !writer.text) {
      while (!writer.load()) yield;
      showAfter();
      yield;
    }
    if (!worker && stage === "before") {
      open();
      if (!figure.calm) figure.afterDrawing(train);
    }
    showText();
    refill(list, told, () => told.map((text) => html("li", null, text)));
    const idle = stage === "before" ? "Train it" : "Go on";
    setText(hold, running ? "Pause" : idle);
    hold.dataset.label = hold.textContent;
    yield;
    const across = figure.room(losses);
    const high = figure.room(figure.stage) < 560 ? 170 : 222;
    if (about)
      lossChart(figure, chart, { room: across, high, batches, validation, lines: lines() });
    yield;
    showMaps(across);
    chart.setAttribute("aria-label", `loss over steps. ${told.at(-1) ?? ""}`);
    if (!running)
      figure.describe(
        `A model of four heads learns from a play. ${told.join(" ")} ${who.textContent}: ` +
          `“${shown.textContent}”`,
      );
    figure.reveal({
      step: [latest?.step ?? -1],
      seconds: [seconds],
      validation: validation.map(([, loss]) => loss),
      counted: [about?.counted ?? NaN],
      words: [seen?.words.known ?? 0, seen?.words.all ?? 0],
      letters: [written],
    });
  });
});
