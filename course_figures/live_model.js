// A GPT that writes in the page: the engine does the reading, this draws what it read.
import { attentionStrip } from "./runtime/attention_strip.js";
import { loadStep } from "./runtime/checkpoint.js";
import { button, controlRow, field, slider, toggle } from "./runtime/controls.js";
import { html, setText } from "./runtime/elements.js";
import { Engine } from "./runtime/engine.js";
import { FigureError, need } from "./runtime/errors.js";
import { defineFigure } from "./runtime/frame.js";
import { headPicker } from "./runtime/head_picker.js";
import { onKeys } from "./runtime/keys.js";
import { LIVE_WEIGHTS } from "./runtime/live_weights.js";
import { grouped, number, percent } from "./runtime/numbers.js";
import { drawSymbol, random } from "./runtime/random.js";
import { nextProbabilities } from "./runtime/sampling_rules.js";
import { NEXT_FRAME } from "./runtime/schedule.js";
import { spoken, visible } from "./runtime/symbols.js";

const MOST_SYMBOLS = 4000;
const CORPORA = { shakespeare: "Tiny Shakespeare", play: "the play" };
const AT_ONCE = 3; // milliseconds of computing between two chances for the page to draw
const BETWEEN_DRAWINGS = 70; // milliseconds, at full speed
const MOST_WHILE_RUNNING = 400; // symbols of the text that are laid out at full speed
const CALM_PACE = 45; // milliseconds between symbols where the reader watches
const CHOICES = 10;
const FIRST = 5; // milliseconds of a frame for the rehearsal, which runs uncompiled
const SINGLE = 8; // tokens of the rehearsal that are read one by one; the others come in fours
const PASSAGE = 200; // symbols that appear at once where the reader wants nothing to move

/** The text as tokens; symbols that the model does not know become a message. */
const tokensOf = (text, tokenOf) => {
  const tokens = [];
  const symbols = [...text];
  symbols.forEach((symbol, place) => {
    const token = tokenOf.get(symbol);
    if (token === undefined) {
      const code = symbol.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
      throw new FigureError(
        `“${visible(symbol)}” (U+${code}) at place ${place} is not one of the ${tokenOf.size} symbols that this model knows.`,
        `Take it out of the prompt. The model knows: ${[...tokenOf.keys()].map(visible).join("")}`,
      );
    }
    tokens.push(token);
  });
  return tokens;
};

const WALK = [
  {
    set: (figure) => ({ text: figure.get("prompt"), temperature: 0.8 }),
    say: "The model has read the text and gives each symbol a probability to come next; the bars show the most likely ones.",
  },
  {
    press: ["One symbol"],
    say: "One symbol is drawn with these probabilities and joins the text, and the model reads the longer text again.",
  },
  {
    set: { temperature: 0 },
    press: ["One symbol"],
    say: "At temperature 0, the most likely symbol is taken every time, and nothing is left to chance.",
  },
  {
    set: { temperature: 0.8 },
    press: ["Write"],
    say: "Now it goes on by itself, symbol by symbol. The map shows where one head looks as it writes.",
  },
];

export default defineFigure(
  ["prompt", "text", "temperature", "seed", "layer", "head", "weights"],
  (figure) => {
    figure.title("Live model");
    const channel = new MessageChannel();
    let engine = null;
    let from = null;
    let facts = null;
    let symbols = [];
    let tokenOf = new Map();
    let uniforms = [];
    let next = null;
    let streamOf = null;
    let running = false;
    let fast = false;
    let pace = 0;
    let mapped = "";
    let rehearsed = null; // the engine that has done all that it will do
    let draft = null; // at full speed, the text that is ahead of what is drawn
    let drawn = 0;
    let passage = 0; // symbols still to be written before any is shown
    let inSight = false;
    let asleep = false; // wants to write, and nobody would see it

    // ---- the model -----------------------------------------------------------------------------

    /** A step of reading the weights; true when nothing is left to read. */
    const load = () => {
      const packed = figure.get("weights") || LIVE_WEIGHTS;
      if (from === packed) return true;
      const read = loadStep(packed);
      if (read === null) return false;
      engine = new Engine(read);
      facts = read.facts;
      symbols = [...facts.vocabulary];
      tokenOf = new Map(symbols.map((symbol, token) => [symbol, token]));
      from = packed;
      return true;
    };
    const loadAll = () => load() || loadAll();

    /** The text as it counts: what was written goes when the prompt is another. */
    const text = () => {
      const prompt = figure.get("prompt");
      const all = draft ?? figure.get("text");
      return all.startsWith(prompt) ? all : prompt;
    };

    /** Without a prompt, the model begins as after the vocabulary's first symbol. */
    const context = () => {
      const tokens = tokensOf(text(), tokenOf);
      return (tokens.length ? tokens : [0]).slice(-engine.B);
    };

    /**
     * Read a whole block and then `tokens`, a few at a time, with a pause where a frame is filled.
     *
     * A browser compiles what runs often. Were many rows first read at once when the text grows
     * longer than the block, that one reading would take a frame's time and more.
     */
    function* rehearse(tokens) {
      let begin = performance.now();
      for (const whole of [new Array(engine.B).fill(0), tokens])
        for (let read = 0; read < whole.length; ) {
          read += read < SINGLE ? 1 : 4;
          engine.follow(whole.slice(0, read), false);
          if (performance.now() - begin < FIRST) continue;
          yield;
          begin = performance.now();
        }
      rehearsed = engine;
    }

    const settings = () => ({ temperature: figure.get("temperature") });

    /** The number that decides symbol n of what is written. */
    const uniform = (n) => {
      if (streamOf !== figure.get("seed")) {
        streamOf = figure.get("seed");
        next = random(streamOf);
        uniforms = [];
      }
      while (uniforms.length <= n) uniforms.push(next());
      return uniforms[n];
    };

    const full = () => [...text()].length - [...figure.get("prompt")].length >= MOST_SYMBOLS;
    const FULL = `${grouped(MOST_SYMBOLS)} symbols are written: start over to go on.`;
    /** Whether there is no room for another symbol; then writing stops, and the reader is told. */
    const refused = () => {
      if (!full()) return false;
      stop();
      figure.say(FULL);
      return true;
    };

    /** `count` symbols more, as long as `go` holds and there is room; returns the text. */
    const write = (count, go = () => true) => {
      loadAll();
      let all = text();
      const start = [...figure.get("prompt")].length;
      const tokens = context();
      const begun = [...all].length;
      let length = begun;
      for (let i = 0; i < count && go(i); i += 1) {
        if (length - start >= MOST_SYMBOLS) break;
        const logits = engine.follow(tokens);
        const token = drawSymbol(
          nextProbabilities(logits, settings()).probabilities,
          uniform(length - start),
        );
        tokens.push(token);
        if (tokens.length > engine.B) tokens.shift();
        all += symbols[token];
        length += 1;
      }
      draft = all;
      if (passage > 0) passage -= length - begun;
      else if (!running) hand();
      refused();
      return all;
    };

    /** Hand what was written to the state, and so to the next drawing. */
    const hand = () => {
      if (draft === null) return;
      const all = text();
      draft = null;
      drawn = performance.now();
      if (all !== figure.get("text")) figure.set({ text: all });
    };

    // ---- writing on ----------------------------------------------------------------------------

    const stop = () => {
      running = false;
      asleep = false;
      passage = 0;
      clearTimeout(pace);
      hand();
      figure.later();
    };
    const soon = () => channel.port2.postMessage(null);
    const again = () => {
      if (!running) return;
      if (passage > 0 || fast) soon();
      else
        pace = setTimeout(() => {
          // not in the task that computed, or a frame would hold both
          hand();
          pace = setTimeout(tick, CALM_PACE);
        });
    };
    const tick = () => {
      if (!running || figure.closing.signal.aborted) return;
      if (!inSight || document.hidden) {
        asleep = true;
        return;
      }
      if (figure.drawingIsDue) {
        // computing and drawing never share a frame's time
        requestAnimationFrame(soon);
        return;
      }
      if (draft !== null && passage === 0 && performance.now() - drawn > BETWEEN_DRAWINGS) {
        engine.follow(context()); // in a task of its own, so that the drawing finds it read
        hand();
        soon();
        return;
      }
      const until = performance.now() + AT_ONCE;
      const count = passage || (fast ? MOST_SYMBOLS : 1);
      let fine = false;
      figure.guard(() => {
        write(count, (i) => i === 0 || performance.now() < until);
        if (!fast && passage === 0) engine.follow(context(), false); // for the drawing
        fine = true;
      });
      if (!fine || (figure.calm && passage === 0)) {
        stop();
        if (fine) figure.say(text().slice(-PASSAGE));
      } else again();
    };
    channel.port1.onmessage = tick;
    const wake = () => {
      if (!asleep || !inSight || document.hidden) return;
      asleep = false;
      tick();
    };
    const watch = new IntersectionObserver((changes) => {
      inSight = changes.at(-1).isIntersecting;
      wake();
    });
    watch.observe(figure.root);
    figure.listen(document, "visibilitychange", wake);
    figure.closing.signal.addEventListener("abort", () => {
      stop();
      watch.disconnect();
      channel.port1.close();
    });

    // ---- what the reader holds -----------------------------------------------------------------

    figure.body.classList.add("live_model");
    const promptField = field(
      figure,
      {
        read: () => figure.get("prompt"),
        write: (prompt) => {
          stop();
          figure.set({ prompt, text: prompt });
        },
      },
      { label: "Prompt", lines: 2, most: 500 },
    );
    promptField.classList.add("live_model-prompt");
    onKeys(figure, promptField.input, (key, { shiftKey, isComposing }) => {
      if (key !== "Enter" || shiftKey || isComposing) return false;
      if (!running) begin();
    });
    const buttons = controlRow(figure);
    const begin = () => {
      if (refused()) return;
      running = true;
      if (figure.calm) passage = PASSAGE; // nothing moves: a passage appears at once
      figure.later();
      tick();
    };
    const start = button(
      figure,
      "Write",
      () => {
        if (running) stop();
        else begin();
      },
      { parent: buttons },
    );
    const one = button(
      figure,
      "One symbol",
      () => {
        stop();
        if (refused()) return;
        const all = write(1);
        figure.say(`wrote ${spoken([...all].at(-1))}`);
      },
      { parent: buttons },
    );
    button(
      figure,
      "Start over",
      () => {
        stop();
        figure.set({ text: figure.get("prompt"), seed: (figure.get("seed") % 9999) + 1 });
      },
      { parent: buttons, title: "Back to the prompt, with another seed" },
    );
    const pacing = controlRow(figure);
    slider(figure, "temperature", {
      label: "temperature",
      min: 0,
      max: 2,
      step: 0.05,
      parent: pacing,
    });
    toggle(
      figure,
      {
        read: () => fast,
        write: (on) => {
          fast = on;
        },
      },
      { label: "full speed", parent: pacing },
    );

    // ---- what the reader sees ------------------------------------------------------------------

    const note = html("p", { class: "live_model-note" });
    const before = html("span", { class: "live_model-before" });
    const seen = html("span", { class: "live_model-seen" });
    const newest = html("mark");
    const page = html(
      "div",
      { class: "live_model-text cf-mono", tabindex: 0, role: "region", "aria-label": "the text" },
      html("div", null, before, seen, newest),
    );
    const list = html("ol", { class: "live_model-choices" });
    const choices = Array.from({ length: CHOICES }, () => {
      const bar = html("i");
      const name = html("b");
      const share = html("span");
      const node = html(
        "button",
        { type: "button" },
        name,
        html("span", { class: "live_model-bar" }, bar),
        share,
      );
      list.append(html("li", null, node));
      return { bar, name, share, node, token: 0 };
    });
    for (const choice of choices)
      figure.listen(choice.node, "click", () => {
        stop();
        if (refused()) return;
        figure.set({ text: text() + symbols[choice.token] });
        figure.say(`wrote ${spoken(symbols[choice.token])}`);
      });
    const looks = html("p", { class: "live_model-looks" });
    const follows = html(
      "section",
      { class: "live_model-follows" },
      html("p", { class: "live_model-head" }, "What follows? Choose, or let it draw."),
      list,
    );
    const maps = html("div", { class: "live_model-maps" });
    const where = html(
      "section",
      { class: "live_model-where" },
      html("p", { class: "live_model-head" }, "Where does it look?"),
      maps,
    );
    const told = html("p", { class: "live_model-about" });
    const beside = html("section", { class: "live_model-told" }, looks, told);
    figure.stage.append(
      note,
      html("div", { class: "live_model-columns" }, page, follows, where, beside),
    );
    const picker = headPicker(figure, { parent: maps });
    const strip = attentionStrip(figure, {
      parent: html("div", { class: "live_model-strip" }),
      label: "what one head looks at",
      spoken: () => looks.textContent,
    });
    maps.append(strip.area.parentElement);
    figure.hint(
      "In the prompt, Enter writes and Shift + Enter breaks the line. The model reads what is " +
        "underlined. Point at a symbol below it, or use the arrow keys, to see where the head looked.",
    );
    figure.walk(WALK);

    const place = (layer, head, t, s) =>
      engine.weights[((layer * engine.H + head) * engine.B + t) * engine.B + s];

    const tell = (tokens) => {
      const query = strip.query ?? tokens.length - 1;
      const [layer, head] = [figure.get("layer"), figure.get("head")];
      const row = Array.from({ length: query + 1 }, (_, s) => [place(layer, head, query, s), s])
        .sort((a, b) => b[0] - a[0])
        .slice(0, 3)
        .map(([w, s]) => `“${visible(symbols[tokens[s]])}” at ${s} (${number(w)})`);
      setText(
        looks,
        `Layer ${layer + 1}, head ${head + 1}: from “${visible(symbols[tokens[query]])}” ` +
          `at position ${query} it looks at ${row.join(", ")}.`,
      );
    };

    const about = () => {
      const { n_layer: L, n_head: H, n_embd: C, block_size: B } = facts.model.config;
      const trained =
        facts.validation_loss === undefined
          ? ""
          : " Trained on " +
            `${CORPORA[facts.corpus] ?? facts.corpus} for ` +
            `${grouped(facts.steps)} steps; validation loss ${number(facts.validation_loss, 3)} nats.`;
      return `${L} layers of ${H} heads, ${C} channels, context ${B}.${trained}`;
    };

    const notes = (all) => {
      const length = [...all].length;
      if (full()) return FULL;
      if (length === 0) return "The prompt is empty: the model begins as after a line break.";
      if ([...figure.get("prompt")].length > engine.B)
        return `The prompt has ${[...figure.get("prompt")].length} symbols; the model reads the last ${engine.B} at a time.`;
      return "";
    };

    const showText = (all, tokens) => {
      const letters = [...all];
      const written = letters.length > [...figure.get("prompt")].length;
      const end = written ? letters.length - 1 : letters.length;
      const first = Math.max(0, letters.length - tokens.length);
      const shown = running && fast ? Math.max(0, first - MOST_WHILE_RUNNING) : 0;
      setText(before, letters.slice(shown, first).join(""));
      setText(seen, letters.slice(first, end).join(""));
      setText(newest, written ? (letters[end] === "\n" ? "↵\n" : letters[end]) : "");
    };

    figure.draw(function* draw() {
      while (!load()) yield;
      need(
        figure.get("layer") < engine.L && figure.get("head") < engine.H,
        `There is no layer ${figure.get("layer") + 1}, head ${figure.get("head") + 1}.`,
        `Choose among ${engine.L} layers of ${engine.H} heads.`,
      );
      setText(start, running ? "Pause" : "Write");
      one.disabled = running;
      const all = text();
      const tokens = context();
      if (rehearsed !== engine) {
        yield* rehearse(tokens);
        yield;
      }
      const room = figure.room(strip.area.parentElement);
      // At full speed only the newest row is computed in the last layer; the maps wait.
      const quick = running && fast;
      const logits = engine.follow(tokens, quick);
      const { probabilities, order } = nextProbabilities(logits, settings());
      setText(note, notes(all));
      note.hidden = !note.textContent;
      showText(all, tokens);
      const many = Math.min(order.length, CHOICES);
      choices.forEach((choice, i) => {
        choice.node.hidden = i >= many;
        if (i >= many) return;
        const token = order[i];
        const share = probabilities[token];
        choice.token = token;
        setText(choice.name, visible(symbols[token]));
        choice.bar.style.width = `${100 * share}%`;
        setText(choice.share, percent(share));
        choice.node.setAttribute(
          "aria-label",
          `${spoken(symbols[token])}, ${number(100 * share, 1)} percent`,
        );
      });
      const now = `${all.length} ${tokens.join()} ${figure.theme.paper}`;
      const known = quick || now === mapped;
      yield known ? null : NEXT_FRAME; // the maps take a frame's time of their own
      if (quick) strip.query = null;
      const [layer, head] = [figure.get("layer"), figure.get("head")];
      if (known) picker.choose();
      else picker.update({ L: engine.L, H: engine.H, T: tokens.length, weight: place });
      mapped = quick ? "" : now;
      yield;
      strip.update({
        symbols: tokens.map((token) => symbols[token]),
        weight: (t, s) => place(layer, head, t, s),
        room,
        most: engine.B,
      });
      tell(tokens);
      setText(told, `${about()} Seed ${figure.get("seed")}.`);
      if (!running)
        figure.describe(
          `${about()} The text ends “${[...all].slice(-60).map(spoken).join("")}”. ` +
            `The most likely next symbol is ${spoken(symbols[order[0]])} with ` +
            `${number(100 * probabilities[order[0]], 1)} percent. ${looks.textContent}`,
        );
      figure.reveal({ logits, probabilities, weights: engine.weights });
    });
  },
);
