// A GPT that writes in the page: the engine does the reading, this draws what it read.
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

// Weights in base64 → their bytes, and a step later what was read from them; figures share it.
const loaded = new Map();
/** One step of reading weights, short enough for a frame; what was read, or null for now. */
const loadStep = (packed) => {
  const known = loaded.get(packed);
  if (known === undefined) {
    const bytes = { dtype: "uint8", shape: [packed.length / 4 * 3 - packed.match(/=*$/)[0].length],
      base64: packed };
    loaded.set(packed, course.decode(bytes).data);
  } else if (known instanceof Uint8Array) loaded.set(packed, readWeights(known));
  else return known;
  return null;
};
const loadWeights = (packed) => loadStep(packed) ?? loadWeights(packed);

/** The text as tokens; symbols that the model does not know become a message. */
const tokensOf = (text, tokenOf) => {
  const tokens = [];
  const symbols = [...text];
  symbols.forEach((symbol, place) => {
    const token = tokenOf.get(symbol);
    if (token === undefined) {
      const code = symbol.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
      throw new course.FigureError(
        `“${course.visible(symbol)}” (U+${code}) at place ${place + 1} is not one of the ${tokenOf.size} symbols that this model knows.`,
        `Take it out of the prompt. The model knows: ${[...tokenOf.keys()].map(course.visible).join("")}`);
    }
    tokens.push(token);
  });
  return tokens;
};

/** A canvas that shows the context, each symbol with the weight that one query gives it. */
const lookingBack = (figure, { parent, label, spoken }) => {
  const area = course.html("canvas", { class: "live_model-context", tabindex: 0, role: "application",
    "aria-roledescription": "text with weights", "aria-label": label });
  parent.append(area);
  const self = { area, query: null, symbols: [], columns: 1 };
  const wide = 17;
  const high = 34;
  const go = (query) => {
    self.query = query >= self.symbols.length - 1 ? null : Math.max(0, query);
    figure.later();
  };
  figure.listen(area, "pointermove", (event) => {
    if (event.pointerType === "touch") return;
    at(event);
  });
  figure.listen(area, "click", (event) => at(event));
  const at = (event) => {
    const box = area.getBoundingClientRect();
    const place = Math.floor((event.clientY - box.top) / high) * self.columns
      + Math.min(self.columns - 1, Math.floor((event.clientX - box.left) / wide));
    if (place < self.symbols.length) go(place);
  };
  figure.listen(area, "pointerleave", () => go(Infinity));
  figure.listen(area, "keydown", (event) => {
    const now = self.query ?? self.symbols.length - 1;
    const to = { ArrowLeft: now - 1, ArrowRight: now + 1, ArrowUp: now - self.columns,
      ArrowDown: now + self.columns, Home: 0, End: Infinity }[event.key];
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    go(to);
    event.preventDefault();
    figure.afterDrawing(() => figure.say(spoken()));
  });
  figure.listen(area, "focus", () => figure.say(spoken()));

  self.update = ({ symbols, weight, room, most }) => {
    self.symbols = symbols;
    if (self.query !== null && self.query >= symbols.length) self.query = null;
    const query = self.query ?? symbols.length - 1;
    const width = Math.max(wide, room);
    self.columns = Math.max(1, Math.min(Math.floor(width / wide), 32));
    const rows = Math.ceil(symbols.length / self.columns);
    parent.style.minHeight = `${Math.ceil(most / self.columns) * high}px`; // nothing below moves
    const pen = figure.pen(area, self.columns * wide, rows * high);
    const { theme } = figure;
    symbols.forEach((symbol, s) => {
      const x = (s % self.columns) * wide;
      const y = Math.floor(s / self.columns) * high;
      const strength = s <= query ? weight(query, s) : 0;
      const shade = figure.heat(strength);
      pen.fillStyle = shade.fill;
      pen.fillRect(x, y, wide - 1, 22);
      pen.fillStyle = s > query ? theme.line : shade.ink;
      pen.font = `${s === query ? "bold " : ""}14px ui-monospace, Menlo, Consolas, monospace`;
      pen.fillText(course.visible(symbol), x + (wide - 1) / 2, y + 12);
      // The height says the same as the shade.
      pen.fillStyle = theme.blue;
      pen.fillRect(x + 2, y + 23, wide - 5, Math.max(strength > 0.01 ? 1 : 0, 8 * strength));
      if (s !== query) return;
      pen.strokeStyle = theme.ink;
      pen.lineWidth = 2;
      pen.strokeRect(x + 1, y + 1, wide - 3, 20);
    });
  };
  return self;
};

export default course.figure(["prompt", "text", "temperature", "seed", "layer", "head", "weights"],
  (figure) => {
    figure.title("Live model");
    const { html, number, visible, spoken, need } = course;
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
    let pace = 0;
    let mapped = "";
    let rehearsed = null; // the engine that has done all that it will do
    let draft = null; // at full speed, the text that is ahead of what is drawn
    let drawn = 0;
    let passage = 0; // symbols still to be written before any is shown

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
      for (const text of [new Array(engine.B).fill(0), tokens])
        for (let read = 0; read < text.length;) {
          read += read < SINGLE ? 1 : 4;
          engine.follow(text.slice(0, read), false);
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
        next = course.random(streamOf);
        uniforms = [];
      }
      while (uniforms.length <= n) uniforms.push(next());
      return uniforms[n];
    };

    const full = () => [...text()].length - [...figure.get("prompt")].length >= MOST_SYMBOLS;
    const FULL = `${course.grouped(MOST_SYMBOLS)} symbols are written: start over to go on.`;
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
        const token = drawSymbol(nextProbabilities(logits, settings()).probabilities,
          uniform(length - start));
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
      passage = 0;
      clearTimeout(pace);
      hand();
      figure.later();
    };
    const soon = () => channel.port2.postMessage(null);
    const again = () => {
      if (!running) return;
      if (passage > 0 || fast.checked) soon();
      else pace = setTimeout(() => { // not in the task that computed, or a frame would hold both
        hand();
        pace = setTimeout(tick, CALM_PACE);
      });
    };
    const tick = () => {
      if (!running || figure.closing.signal.aborted) return;
      if (figure.due) { // computing and drawing never share a frame's time
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
      const count = passage || (fast.checked ? MOST_SYMBOLS : 1);
      let fine = false;
      figure.guard(() => {
        write(count, (i) => i === 0 || performance.now() < until);
        if (!fast.checked && passage === 0) engine.follow(context(), false); // for the drawing
        fine = true;
      });
      if (!fine || (figure.calm && passage === 0)) {
        stop();
        if (fine) figure.say(text().slice(-PASSAGE));
      } else again();
    };
    channel.port1.onmessage = tick;
    figure.closing.signal.addEventListener("abort", () => {
      stop();
      channel.port1.close();
    });

    // ---- what the reader holds -----------------------------------------------------------------

    const field = figure.field({ read: () => figure.get("prompt"), write: (prompt) => {
      stop();
      figure.set({ prompt, text: prompt });
    } }, { label: "Prompt", lines: 2, most: 500 });
    field.classList.add("live_model-prompt");
    const buttons = html("div", { class: "cf-row" });
    figure.controls.append(buttons);
    const start = figure.button("Write", () => {
      if (running) return stop();
      if (refused()) return undefined;
      running = true;
      if (figure.calm) passage = PASSAGE; // nothing moves: a passage appears at once
      figure.later();
      return tick();
    }, { parent: buttons });
    const one = figure.button("One symbol", () => {
      stop();
      if (refused()) return;
      const all = write(1);
      figure.say(`wrote ${spoken([...all].at(-1))}`);
    }, { parent: buttons });
    figure.button("Start over", () => {
      stop();
      figure.set({ text: figure.get("prompt"), seed: figure.get("seed") % 9999 + 1 });
    }, { parent: buttons, title: "Back to the prompt, with another seed" });
    figure.slider("temperature", { label: "temperature", min: 0, max: 2, step: 0.05 });
    const fast = html("input", { type: "checkbox" });
    figure.place(html("label", { class: "cf-toggle" }, fast, html("span", null, "full speed")));

    // ---- what the reader sees ------------------------------------------------------------------

    const note = html("p", { class: "live_model-note" });
    const before = html("span", { class: "live_model-before" });
    const seen = html("span", { class: "live_model-seen" });
    const newest = html("mark");
    const page = html("div", { class: "live_model-text cf-mono", tabindex: 0, role: "region",
      "aria-label": "the text" }, html("div", null, before, seen, newest));
    const list = html("ol", { class: "live_model-choices" });
    const choices = Array.from({ length: CHOICES }, () => {
      const bar = html("i");
      const name = html("b");
      const share = html("span");
      const button = html("button", { type: "button" }, name, html("span", { class: "live_model-bar" }, bar), share);
      list.append(html("li", null, button));
      return { bar, name, share, button, token: 0 };
    });
    for (const choice of choices)
      figure.listen(choice.button, "click", () => {
        stop();
        if (refused()) return;
        figure.set({ text: text() + symbols[choice.token] });
        figure.say(`wrote ${spoken(symbols[choice.token])}`);
      });
    const looks = html("p", { class: "live_model-looks" });
    const left = html("section", null, html("p", { class: "live_model-head" }, "What follows? Choose, or let it draw."), list);
    const right = html("section", null, html("p", { class: "live_model-head" }, "Where does it look?"));
    const columns = html("div", { class: "live_model-columns" }, left, right);
    figure.stage.append(note, page, columns);
    const strip = lookingBack(figure, { parent: html("div"), label: "what one head looks at",
      spoken: () => looks.textContent });
    const picker = headPicker(figure, { parent: right });
    right.append(strip.area.parentElement, looks);
    figure.hint("Point at a symbol of the context, or move over it with the arrow keys, to see "
      + "where the head looked from there. The underlined symbols are what the model reads.");

    const place = (layer, head, t, s) =>
      engine.weights[((layer * engine.H + head) * engine.B + t) * engine.B + s];

    const tell = (tokens) => {
      const query = strip.query ?? tokens.length - 1;
      const [layer, head] = [figure.get("layer"), figure.get("head")];
      const row = Array.from({ length: query + 1 }, (_, s) => [place(layer, head, query, s), s])
        .sort((a, b) => b[0] - a[0]).slice(0, 3);
      course.setText(looks, `Layer ${layer + 1}, head ${head + 1}: from “${visible(symbols[tokens[query]])}” `
        + `at place ${query + 1} it looks at ${row.map(([w, s]) =>
          `“${visible(symbols[tokens[s]])}” at ${s + 1} (${number(w)})`).join(", ")}.`);
    };

    const about = () => {
      const { n_layer: L, n_head: H, n_embd: C, block_size: B } = facts.model.config;
      const trained = facts.validation_loss === undefined ? "" : " Trained on "
        + `${CORPORA[facts.corpus] ?? facts.corpus} for `
        + `${course.grouped(facts.steps)} steps; validation loss ${number(facts.validation_loss, 3)} nats.`;
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
      const shown = running && fast.checked ? Math.max(0, first - MOST_WHILE_RUNNING) : 0;
      course.setText(before, letters.slice(shown, first).join(""));
      course.setText(seen, letters.slice(first, end).join(""));
      course.setText(newest, written ? (letters[end] === "\n" ? "↵\n" : letters[end]) : "");
    };

    figure.draw(function* draw() {
      while (!load()) yield;
      need(figure.get("layer") < engine.L && figure.get("head") < engine.H,
        `There is no layer ${figure.get("layer") + 1}, head ${figure.get("head") + 1}.`,
        `Choose among ${engine.L} layers of ${engine.H} heads.`);
      course.setText(start, running ? "Pause" : "Write");
      one.disabled = running;
      const all = text();
      const tokens = context();
      if (rehearsed !== engine) {
        yield* rehearse(tokens);
        yield;
      }
      const room = figure.room(strip.area.parentElement);
      // At full speed only the newest row is computed in the last layer; the maps wait.
      const quick = running && fast.checked;
      const logits = engine.follow(tokens, quick);
      const { probabilities, order } = nextProbabilities(logits, settings());
      course.setText(note, notes(all));
      note.hidden = !note.textContent;
      showText(all, tokens);
      choices.forEach((choice, i) => {
        choice.button.hidden = i >= order.length;
        if (i >= order.length) return;
        const token = order[i];
        const share = probabilities[token];
        choice.token = token;
        course.setText(choice.name, visible(symbols[token]));
        choice.bar.style.width = `${100 * share}%`;
        course.setText(choice.share, `${number(100 * share, 1)} %`);
        choice.button.setAttribute("aria-label", `${spoken(symbols[token])}, ${number(100 * share, 1)} percent`);
      });
      const now = `${all.length} ${tokens.join()} ${figure.theme.paper}`;
      const known = quick || now === mapped;
      yield known ? null : course.NEXT_FRAME; // the maps take a frame's time of their own
      if (quick) strip.query = null;
      const [layer, head] = [figure.get("layer"), figure.get("head")];
      if (known) picker.choose();
      else picker.update({ L: engine.L, H: engine.H, T: tokens.length, weight: place });
      mapped = quick ? "" : now;
      yield;
      strip.update({ symbols: tokens.map((token) => symbols[token]),
        weight: (t, s) => place(layer, head, t, s), room, most: engine.B });
      tell(tokens);
      course.setText(figure.readout, `${about()} Seed ${figure.get("seed")}.`);
      if (!running) figure.describe(`${about()} The text ends “${[...all].slice(-60).map(spoken).join("")}”. `
        + `The most likely next symbol is ${spoken(symbols[order[0]])} with `
        + `${number(100 * probabilities[order[0]], 1)} percent. ${looks.textContent}`);
      figure.reveal({ logits, probabilities, weights: engine.weights });
    });
  });
