// What all figures share. This text stands before each figure's own, so that one string is the
// whole ES module; `course` is the only name it adds.
const course = (() => {
  "use strict";

  /** An error that the reader can mend: what is wrong, and how to go on. */
  class FigureError extends Error {
    constructor(what, remedy) {
      super(what);
      this.remedy = remedy;
    }
  }

  /** Throw a FigureError unless something holds. */
  const need = (holds, what, remedy) => {
    if (!holds) throw new FigureError(what, remedy);
  };

  // ---- arrays: {dtype, shape, base64} outside, {dtype, shape, data} inside ----------------------

  const KINDS = { float32: Float32Array, int32: Int32Array, uint8: Uint8Array };

  const decode = ({ dtype, shape, base64 }) => {
    need(dtype in KINDS, `An array of ${dtype} cannot be shown.`, "Give float32, int32 or uint8.");
    const text = atob(base64);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
    const cells = shape.reduce((product, size) => product * size, 1);
    need(cells * KINDS[dtype].BYTES_PER_ELEMENT === bytes.length,
      `An array of shape (${shape}) came as ${bytes.length} bytes.`, "Run its cell again.");
    return { dtype, shape, data: new KINDS[dtype](bytes.buffer) };
  };

  const encode = ({ dtype, shape, data }) => {
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    let text = "";
    for (let i = 0; i < bytes.length; i += 8192)
      text += String.fromCharCode(...bytes.subarray(i, i + 8192));
    return { dtype, shape: [...shape], base64: btoa(text) };
  };

  const array = (shape, data, dtype = "float32") =>
    ({ dtype, shape, data: data instanceof KINDS[dtype] ? data : KINDS[dtype].from(data) });

  const finite = (name, { data }) => {
    const place = data.findIndex((value) => !Number.isFinite(value));
    need(place < 0, `${name} holds ${number(data[place])} at place ${place}.`,
      "Give finite numbers, or start again.");
  };

  // ---- words and numbers -----------------------------------------------------------------------

  /** A number as the figures write it: a real minus, no trailing zeros, ∞ and NaN as such. */
  const number = (value, digits = 2) => {
    if (Number.isNaN(value)) return "NaN";
    if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
    let text = value.toFixed(digits);
    if (text.includes(".")) text = text.replace(/\.?0+$/, "");
    return (text === "-0" ? "0" : text).replace("-", "−");
  };

  /** A whole number as an English reader writes it; the browser's own formatter is slow to load. */
  const grouped = (whole) => String(whole).replace(/\B(?=(\d{3})+$)/g, ",");

  /** What a reader typed as a number: takes a comma, a real minus and ∞; NaN if it is none. */
  const parse = (text) => {
    const plain = text.trim().replace("−", "-").replace(",", ".").replace("∞", "Infinity")
      .replace(/^([+-]?)inf$/i, "$1Infinity");
    return plain === "" ? NaN : Number(plain);
  };

  const SIGNS = { " ": "␣", "\n": "↵", "\t": "⇥" };
  /** A symbol as a reader sees it: space and line break get a sign of their own. */
  const visible = (symbol) => SIGNS[symbol] ?? symbol;

  /** The same for reading aloud. */
  const spoken = (symbol) =>
    ({ " ": "space", "\n": "line break", "\t": "tab" })[symbol] ?? symbol;

  /** Numbers in [0, 1) that a seed fixes. Source: mulberry32 (public domain). */
  const random = (seed) => () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };

  const clamp = (value, least, most) => Math.min(Math.max(value, least), most);

  // ---- elements --------------------------------------------------------------------------------

  const fill = (node, attributes, children) => {
    for (const [name, value] of Object.entries(attributes ?? {}))
      if (value === true) node.setAttribute(name, "");
      else if (value !== false && value != null) node.setAttribute(name, value);
    node.append(...children.flat().filter((child) => child != null && child !== false));
    return node;
  };
  /** An HTML element; attributes that are false or null are left out. */
  const html = (tag, attributes, ...children) =>
    fill(document.createElement(tag), attributes, children);
  /** An SVG element. */
  const svg = (tag, attributes, ...children) =>
    fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

  /** Give an element its text; where that is the same, the page need not be laid out again. */
  const setText = (element, text) => { if (element.textContent !== text) element.textContent = text; };

  /** Fill an element with what `build` returns, if what that depends on is another than before. */
  const refill = (parent, reasons, build) => {
    const now = JSON.stringify(reasons);
    if (parent.dataset.drawn === now) return;
    parent.dataset.drawn = now;
    parent.replaceChildren(...build());
  };

  let ids = 0;
  const id = () => `cf-${(ids += 1)}-${Math.random().toString(36).slice(2)}`;

  // ---- colours ---------------------------------------------------------------------------------

  const canvas = () => {
    const area = document.createElement("canvas");
    area.width = area.height = 1;
    return area.getContext("2d", { willReadFrequently: true });
  };
  let pixel = null;
  const rgb = (colour) => {
    // Asking a canvas costs a good part of a millisecond, and most colours are written like this.
    if (/^#[0-9a-f]{6}$/i.test(colour)) return [1, 3, 5].map((i) => parseInt(colour.substr(i, 2), 16));
    pixel ??= canvas();
    pixel.clearRect(0, 0, 1, 1);
    pixel.fillStyle = colour;
    pixel.fillRect(0, 0, 1, 1);
    return [...pixel.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = (colour) => colour.map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);

  const STEPS = 64;
  /** The page's colours, and ramps from its paper to them, each made when it is asked for. */
  const readTheme = (element) => {
    const style = getComputedStyle(element);
    const named = (name) => style.getPropertyValue(`--cf-${name}`).trim();
    const theme = { font: style.fontFamily };
    for (const name of ["ink", "soft", "line", "paper", "blue", "orange", "green", "violet"])
      theme[name] = named(name);
    theme.dark = light(rgb(theme.paper)) < 0.2;
    const paper = rgb(theme.paper);
    const ramps = {};
    theme.ramps = new Proxy(ramps, { get: (_, name) => ramps[name] ??= ramp(paper, rgb(theme[name])) });
    return theme;
  };

  const ramp = (paper, end) => Array.from({ length: STEPS + 1 }, (_, i) => {
    const mixed = paper.map((v, k) => Math.round(v + (end[k] - v) * (i / STEPS)));
    // Black on anything lighter than this, white on the rest: 4.5 : 1 at the worst.
    return { fill: `rgb(${mixed})`, ink: light(mixed) > 0.179 ? "#000" : "#fff" };
  });

  const EARLY = 10; // frames after the first drawing
  const NEXT_FRAME = Symbol("next frame");

  // ---- the frame around every figure -----------------------------------------------------------

  class Frame {
    constructor(model, el, names, build) {
      this.model = model;
      this.build = build;
      this.names = names;
      this.decoded = new Map();
      this.closing = new AbortController();
      this.initial = model.initial ?? Object.fromEntries(names.map((n) => [n, model.get(n)]));
      this.words = html("p", { class: "cf-hidden", id: id() });
      this.status = html("p", { class: "cf-hidden", role: "status" });
      this.fault = html("div", { class: "cf-fault", role: "alert", hidden: true });
      this.controls = html("div", { class: "cf-controls" });
      this.stage = html("div", { class: "cf-stage" });
      this.readout = html("div", { class: "cf-readout" });
      this.hints = html("p", { class: "cf-hints" });
      this.root = html("div", { class: "course-figure", role: "group",
        "aria-describedby": this.words.id },
      this.controls, this.fault, this.stage, this.readout, this.hints, this.words, this.status);
      el.append(this.root);
      this.theme = readTheme(this.root);
      this.synchronise = [];
      this.redraw = null;
      this.due = 0;
      this.clicked = false; // while a click is answered
      this.waiting = []; // what is to be done when the next drawing is
      this.early = Infinity; // frames in which little is compiled; a number after the first drawing
      this.widths = new Map();
      this.resized = new ResizeObserver((changes) => {
        const others = changes.map(({ target }) => target)
          .filter((element) => this.widths.get(element) !== element.clientWidth);
        for (const element of others) this.widths.set(element, element.clientWidth);
        if (others.length) this.later();
      });
      this.closing.signal.addEventListener("abort", () => this.resized.disconnect());
      this.drawn = new Promise((done) => { this.arrive = done; });
    }

    /** Name of the figure, as screen readers announce it. */
    title(text) { this.root.setAttribute("aria-label", text); }

    /** How to use it, one line under the picture. */
    hint(text) { this.hints.textContent = text; }

    /** What is shown, in words; call it whenever that changes. */
    describe(text) { setText(this.words, text); }

    /** Numbers that are drawn, by name: `root.shown`, for tests and for the curious. */
    reveal(numbers) { this.root.shown = numbers; }

    /** Announce something to those who do not see it. */
    say(text) { this.status.textContent = text; }

    /** Width that the picture has, in pixels. */
    get width() { return Math.max(240, this.room(this.stage)); }

    /**
     * Width inside an element, in pixels; when it becomes another, the figure is drawn anew.
     *
     * To ask the element itself costs a layout of the whole page if anything in it has changed.
     */
    room(element) {
      if (!this.widths.has(element)) {
        this.widths.set(element, element.clientWidth);
        this.resized.observe(element);
      }
      return this.widths.get(element);
    }

    /** Whether the reader wants nothing to move. */
    get calm() { return matchMedia("(prefers-reduced-motion: reduce)").matches; }

    /** A trait; arrays come decoded, as {dtype, shape, data}, and are not to be written to. */
    get(name) {
      const value = this.model.get(name);
      if (!(value && typeof value === "object" && "base64" in value)) return value;
      const known = this.decoded.get(name);
      if (known?.from === value) return known.array;
      const decoded = decode(value);
      this.decoded.set(name, { from: value, array: decoded });
      return decoded;
    }

    /** Change traits, tell Python, and draw anew; arrays are given as {dtype, shape, data}. */
    set(changes) {
      for (const [name, value] of Object.entries(changes))
        this.model.set(name, value && value.data && value.shape ? encode(value) : value);
      this.model.save_changes();
      this.later();
    }

    /** Back to the state that the figure began with. */
    restart() {
      for (const name of this.names) this.model.set(name, this.initial[name]);
      this.model.save_changes();
      if (this.redraw) this.later();
      else this.begin();
      this.root.tabIndex = -1;
      this.root.focus({ preventScroll: true }); // the button that was pressed goes
    }

    /** Build the figure; where that fails, "Start again" does it once more. */
    begin() {
      for (const part of [this.controls, this.stage, this.readout]) part.replaceChildren();
      this.synchronise = [];
      this.widths.clear();
      this.resized.disconnect();
      this.forgive();
      this.guard(() => this.build(this));
      if (!this.redraw) this.arrive();
    }

    /** Give the function that draws; it runs once a frame after changes of state, theme or width. */
    draw(redraw) {
      this.redraw = redraw;
      const later = () => this.later();
      for (const name of this.names) this.model.on(`change:${name}`, later);
      const recolour = () => {
        this.theme = readTheme(this.root);
        this.later();
      };
      const themes = new MutationObserver(recolour);
      themes.observe(document.documentElement, { attributeFilter: ["data-theme", "data-mode"] });
      themes.observe(document.body, { attributeFilter: ["data-jp-theme-light"] });
      const dark = matchMedia("(prefers-color-scheme: dark)");
      dark.addEventListener("change", recolour, { signal: this.closing.signal });
      this.closing.signal.addEventListener("abort", () => {
        for (const name of this.names) this.model.off(`change:${name}`, later);
        themes.disconnect();
        cancelAnimationFrame(this.due);
      });
      // Building and laying out take a frame of their own, the first drawing another.
      this.guard(() => this.fillIn());
      requestAnimationFrame(() => setTimeout(later));
    }

    /** Draw in the next frame; a first drawing that is not finished begins again. */
    later() {
      this.steps = null;
      this.soon();
    }

    /** Draw, and then do something that needs what is drawn. */
    afterDrawing(action) {
      this.waiting.push(action);
      this.later();
    }

    soon() {
      if (!this.redraw || (this.due && !this.clicked)) return;
      const draw = () => {
        this.due = 0;
        this.now();
      };
      if (!this.clicked) {
        this.due = requestAnimationFrame(draw);
        return;
      }
      // The page around the figure answers a click as well, and takes its part of the next frame.
      cancelAnimationFrame(this.due);
      this.root.dataset.drawing = "";
      this.due = requestAnimationFrame(() => { this.due = requestAnimationFrame(draw); });
    }

    now() {
      if (this.closing.signal.aborted) return;
      this.early -= 1;
      this.guard(() => {
        this.fillIn();
        if (!this.drawSteps()) {
          this.root.dataset.drawing = "";
          this.soon();
        }
      });
      if (this.steps) return;
      delete this.root.dataset.drawing;
      this.early = Math.min(this.early, EARLY);
      for (const action of this.waiting.splice(0)) this.guard(action);
      this.arrive();
    }

    /**
     * Draw; true when all is drawn. A drawing may be a generator that yields between its steps: in
     * the first frames, when the browser has compiled little of it, each step gets one of its own;
     * later only what follows a NEXT_FRAME.
     */
    drawSteps() {
      if (!this.steps) this.forgive(); // a message that comes between the steps stays
      const steps = this.steps ?? this.redraw();
      this.steps = null;
      if (!steps?.next) return true;
      for (let step = steps.next(); !step.done; step = steps.next())
        if (this.early > 0 || step.value === NEXT_FRAME) {
          this.steps = steps;
          return false;
        }
      return true;
    }

    /** Let every control show what the state holds. */
    fillIn() { for (const one of this.synchronise) one(); }

    /** Run something; an error becomes a message inside the figure. */
    guard(action) {
      try {
        return action();
      } catch (error) {
        this.fail(error);
        return undefined;
      }
    }

    /** Take the message of an error away. */
    forgive() {
      this.fault.hidden = true;
      this.root.classList.remove("cf-faulty");
    }

    /** Show an error inside the figure, with the way out of it. */
    fail(error) {
      const mendable = error instanceof FigureError;
      const again = html("button", { type: "button", class: "cf-button" }, "Start again");
      again.addEventListener("click", () => this.restart());
      this.fault.replaceChildren(
        html("strong", null, mendable ? error.message : `This figure stopped: ${error.message}`),
        ` ${mendable ? error.remedy : "The rest of the page works."} `, again);
      this.fault.hidden = false;
      this.root.classList.add("cf-faulty");
      if (!mendable) reportError(error);
    }

    /** Listen as long as the figure lives; errors of the handler become messages. */
    listen(target, type, handler, options = {}) {
      target.addEventListener(type, (event) => {
        const before = this.clicked;
        this.clicked ||= type === "click" || type === "change"; // of a button, or of a switch
        this.guard(() => handler(event));
        this.clicked = before;
      }, { ...options, signal: this.closing.signal });
    }

    /**
     * Drag with mouse, pen or finger. Up and down stays the page's own scrolling, so figures are
     * dragged sideways. `start` may return false to decline; all get (point, event).
     */
    drag(element, { start, move, end }) {
      element.style.touchAction = "pan-y";
      let held = null;
      const at = (event) => {
        const box = element.getBoundingClientRect();
        return { x: event.clientX - box.left, y: event.clientY - box.top };
      };
      this.listen(element, "pointerdown", (event) => {
        if (event.button !== 0 || start(at(event), event) === false) return;
        held = event.pointerId;
        element.setPointerCapture(held);
      });
      this.listen(element, "pointermove", (event) => {
        if (event.pointerId === held) move(at(event), event);
      });
      for (const type of ["pointerup", "pointercancel"])
        this.listen(element, type, (event) => {
          if (event.pointerId !== held) return;
          held = null;
          end?.(at(event), event);
        });
    }

    /** Run step(0…1) over some milliseconds; at once where the reader wants nothing to move. */
    animate(milliseconds, step) {
      if (this.calm) {
        step(1);
        return;
      }
      const begin = performance.now();
      const frame = (now) => {
        if (this.closing.signal.aborted) return;
        const part = clamp((now - begin) / milliseconds, 0, 1);
        this.guard(() => step(part));
        if (part < 1) requestAnimationFrame(frame);
      };
      requestAnimationFrame(frame);
    }

    /** The pen of a canvas that is cleared and has this size in pixels of the page. */
    pen(area, width, height) {
      const ratio = Math.min(3, globalThis.devicePixelRatio || 1);
      const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
      if (area.width !== across || area.height !== down) {
        [area.width, area.height] = [across, down];
        [area.style.width, area.style.height] = [`${width}px`, `${height}px`];
      }
      const pen = area.getContext("2d");
      pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      pen.clearRect(0, 0, width, height);
      pen.setLineDash([]);
      pen.textAlign = "center";
      pen.textBaseline = "middle";
      return pen;
    }

    /** Fill and ink for a strength from −1 to 1: blue for plus, orange for minus (or `plus`). */
    heat(strength, plus = "blue", minus = "orange") {
      const ramp = this.theme.ramps[strength < 0 ? minus : plus];
      const size = Math.min(1, Math.abs(strength));
      return ramp[Number.isNaN(size) ? 0 : Math.round(size * STEPS)];
    }

    // ---- controls: each is bound to a trait by its name, or to functions read and write --------

    bind(name) {
      return typeof name === "string"
        ? { read: () => this.get(name), write: (value) => this.set({ [name]: value }) }
        : name;
    }

    place(node, parent = this.controls) {
      parent.append(node);
      return node;
    }

    button(label, action, { parent, title } = {}) {
      const node = html("button", { type: "button", class: "cf-button", title, "data-label": label },
        label);
      this.listen(node, "click", action);
      return this.place(node, parent);
    }

    /** A slider with its value beside it; `values` gives stops that are not evenly spaced. */
    slider(name, { label, min = 0, max = 1, step = 0.01, values, show = number, parent }) {
      const { read, write } = this.bind(name);
      const input = html("input", { type: "range", min: values ? 0 : min,
        max: values ? values.length - 1 : max, step: values ? 1 : step, "aria-label": label });
      const shown = html("output", { class: "cf-value", "aria-hidden": "true" });
      this.listen(input, "input", () =>
        write(values ? values[Number(input.value)] : Number(input.value)));
      this.synchronise.push(() => {
        const value = read();
        const nearest = values?.reduce((best, v, i) =>
          (Math.abs(v - value) < Math.abs(values[best] - value) ? i : best), 0);
        const position = String(values ? nearest : value);
        if (input.value !== position) input.value = position;
        setText(shown, show(value));
        input.setAttribute("aria-valuetext", show(value));
      });
      return this.place(html("label", { class: "cf-slider" },
        html("span", null, label), input, shown), parent);
    }

    /** A few names of which one is chosen: [[value, label], …]. */
    choice(name, { label, options, parent }) {
      const { read, write } = this.bind(name);
      const group = id();
      const inputs = options.map(([value, text]) => {
        const input = html("input", { type: "radio", name: group, value });
        this.listen(input, "change", () => write(value));
        return [value, input, html("label", null, input, html("span", { "data-label": text }, text))];
      });
      this.synchronise.push(() => {
        for (const [value, input] of inputs) input.checked = value === read();
      });
      return this.place(html("fieldset", { class: "cf-choice" },
        html("legend", { class: "cf-hidden" }, label), inputs.map((one) => one[2])), parent);
    }

    toggle(name, { label, parent }) {
      const { read, write } = this.bind(name);
      const input = html("input", { type: "checkbox" });
      this.listen(input, "change", () => write(input.checked));
      this.synchronise.push(() => { input.checked = read(); });
      return this.place(html("label", { class: "cf-toggle" }, input, html("span", null, label)),
        parent);
    }

    /** A field for text; `write` may throw a FigureError, which the reader then sees. */
    field(name, { label, lines = 1, most, parent, hidden = false, size }) {
      const { read, write } = this.bind(name);
      const input = html(lines > 1 ? "textarea" : "input", { rows: lines > 1 ? lines : null,
        type: lines > 1 ? null : "text", maxlength: most, size, spellcheck: "false",
        autocomplete: "off", autocapitalize: "off", "aria-label": hidden ? label : null });
      this.listen(input, "input", () => write(input.value));
      this.synchronise.push(() => {
        // Not while the reader types: the caret would jump.
        if (input.value !== read() && document.activeElement !== input) input.value = read();
      });
      const node = html("label", { class: "cf-field" },
        hidden ? null : html("span", null, label), input);
      node.input = input;
      return this.place(node, parent);
    }

    /**
     * A matrix of coloured cells with a cursor that the mouse, a finger and the arrow keys move.
     *
     * options: parent, label (spoken name), point(row, column) when the cursor moves,
     * pick(row, column) on click, tap, Enter or Space, spoken(row, column) → words.
     * Returns an object; call its update({ rows, columns, value(row, column), strength?(value) in
     * −1…1, text?(row, column), rowLabels?, columnLabels?, most?, mark?, colour? }) when drawing.
     */
    matrix(options) { return new Matrix(this, options); }
  }

  class Matrix {
    constructor(frame, { parent = frame.stage, label, point, pick, spoken: words }) {
      Object.assign(this, { frame, point, pick, words, row: 0, column: 0, data: null });
      this.area = html("canvas", { class: "cf-matrix", tabindex: 0, role: "application",
        "aria-roledescription": "matrix", "aria-label": label });
      parent.append(this.area);
      const at = (event) => {
        const box = this.area.getBoundingClientRect();
        return [Math.floor((event.clientY - box.top - this.top) / this.size),
          Math.floor((event.clientX - box.left - this.left) / this.size)];
      };
      const inside = ([r, c]) => this.data && r >= 0 && c >= 0
        && r < this.data.rows && c < this.data.columns;
      frame.listen(this.area, "pointermove", (event) => {
        const place = at(event);
        if (inside(place)) this.move(...place);
      });
      frame.listen(this.area, "click", (event) => {
        const place = at(event);
        if (!inside(place)) return;
        this.move(...place);
        this.pick?.(...place);
      });
      frame.listen(this.area, "keydown", (event) => this.key(event));
      frame.listen(this.area, "focus", () => this.speak());
      this.area.style.touchAction = "pan-y pinch-zoom";
    }

    key(event) {
      if (!this.data || event.ctrlKey || event.metaKey || event.altKey) return;
      const { rows, columns } = this.data;
      const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1],
        PageUp: [-10, 0], PageDown: [10, 0], Home: [0, -columns], End: [0, columns] };
      if (event.key === "Enter" || event.key === " ") this.pick?.(this.row, this.column);
      else if (event.key in steps) {
        const [down, right] = steps[event.key];
        this.move(clamp(this.row + down, 0, rows - 1),
          clamp(this.column + right, 0, columns - 1));
        this.speak();
      } else return;
      event.preventDefault();
    }

    move(row, column) {
      if (row === this.row && column === this.column) return;
      this.row = row;
      this.column = column;
      this.point?.(row, column);
      this.frame.later();
    }

    speak() { if (this.words && this.data) this.frame.say(this.words(this.row, this.column)); }

    update(data) {
      this.data = data;
      const { rows, columns, rowLabels, columnLabels, most = 40, least = 4 } = data;
      this.row = clamp(this.row, 0, rows - 1);
      this.column = clamp(this.column, 0, columns - 1);
      const longest = (labels) => Math.max(0, ...(labels ?? []).map((text) => text.length));
      this.left = rowLabels ? 10 + Math.min(90, 8 * longest(rowLabels)) : 1;
      this.slanted = longest(columnLabels) > 3;
      this.top = columnLabels ? (this.slanted ? 12 + 6 * Math.min(10, longest(columnLabels)) : 18)
        : 1;
      const room = (data.width ?? this.frame.room(this.area.parentElement)) - this.left - 2;
      this.size = clamp(Math.floor((room * 4) / columns) / 4, least, most);
      if (this.size > 8) this.size = Math.floor(this.size);
      const width = Math.ceil(this.left + columns * this.size + 2);
      const height = Math.ceil(this.top + rows * this.size + 2);
      const pen = this.frame.pen(this.area, width, height);
      this.paint(pen);
      this.label(pen);
    }

    paint(pen) {
      const { rows, columns, value, text, colour, strength = (v) => v } = this.data;
      const { size, left, top, frame } = this;
      const gap = size >= 14 ? 1 : 0;
      pen.font = `${clamp(size * 0.34, 9, 13)}px ${frame.theme.font}`;
      for (let r = 0; r < rows; r += 1)
        for (let c = 0; c < columns; c += 1) {
          const shade = frame.heat(strength(value(r, c)), colour);
          pen.fillStyle = shade.fill;
          pen.fillRect(left + c * size, top + r * size, size - gap, size - gap);
          if (!text || size < 20) continue;
          pen.fillStyle = shade.ink;
          pen.fillText(text(r, c), left + (c + 0.5) * size, top + (r + 0.5) * size + 0.5);
        }
      pen.strokeStyle = frame.theme.line;
      pen.lineWidth = 1;
      pen.strokeRect(left - 0.5, top - 0.5, columns * size + (gap ? 0 : 1),
        rows * size + (gap ? 0 : 1));
      const outline = (r, c, wide, high, weight, tint) => {
        pen.strokeStyle = tint;
        pen.lineWidth = weight;
        pen.strokeRect(left + c * size - 0.5, top + r * size - 0.5, wide * size, high * size);
      };
      for (const [r, c] of this.data.mark ?? []) outline(r, c, 1, 1, 2, frame.theme.orange);
      outline(this.row, 0, columns, 1, 1.5, frame.theme.soft);
      outline(this.row, this.column, 1, 1, 2.5, frame.theme.ink);
    }

    label(pen) {
      const { rows, columns, rowLabels, columnLabels } = this.data;
      const { size, left, top, frame: { theme } } = this;
      const every = Math.ceil(11 / size);
      const write = (labels, count, current, put) => {
        for (let i = 0; labels && i < count; i += 1) {
          if (i % every !== 0 && i !== current) continue;
          if (i !== current && every > 1 && Math.abs(i - current) < every) continue;
          pen.font = `${i === current ? "bold " : ""}${clamp(size * 0.9, 10, 13)}px ${theme.font}`;
          pen.fillStyle = i === current ? theme.ink : theme.soft;
          put(labels[i], (i + 0.5) * size);
        }
      };
      pen.textAlign = "right";
      write(rowLabels, rows, this.row, (text, y) => pen.fillText(text, left - 6, top + y, left - 6));
      pen.textAlign = this.slanted ? "left" : "center";
      write(columnLabels, columns, this.column, (text, x) => {
        pen.save();
        pen.translate(left + x, top - 9);
        if (this.slanted) pen.rotate(-0.9);
        pen.fillText(text, 0, 0, 80);
        pen.restore();
      });
    }
  }

  /** The default export of a figure's module: the traits it uses, and what builds it. */
  const figure = (names, build) => ({
    async render({ model, el }) {
      const frame = new Frame(model, el, names, build);
      frame.begin();
      await frame.drawn;
      return () => {
        frame.closing.abort();
        frame.root.remove();
      };
    },
  });

  return { FigureError, need, decode, encode, array, finite, number, grouped, parse, visible, spoken, random,
    clamp, html, svg, setText, refill, id, NEXT_FRAME, figure };
})();
