/** The frame around every figure: its parts, its state, its messages, and what it listens to. */
import { decode, encode } from "./arrays.js";
import { html, setText, uniqueId } from "./elements.js";
import { FigureError } from "./errors.js";
import { Highlight } from "./highlight.js";
import { clamp } from "./numbers.js";
import { Schedule } from "./schedule.js";
import { readTheme, watchTheme } from "./theme.js";
import { Walk } from "./walk.js";

// Room from which on things stand beside each other; figures.css has the same.
const WIDE = 40; // rem

export class Frame {
  constructor(model, el, names, build) {
    this.model = model;
    this.build = build;
    this.names = names;
    this.decoded = new Map();
    this.closing = new AbortController();
    this.initial = model.initial ?? Object.fromEntries(names.map((n) => [n, model.get(n)]));
    this.words = html("p", { class: "cf-hidden", id: uniqueId() });
    this.status = html("p", { class: "cf-hidden", role: "status" });
    this.fault = html("div", { class: "cf-fault", role: "alert", hidden: true });
    this.controls = html("div", { class: "cf-controls" });
    this.stage = html("div", { class: "cf-stage" });
    this.readout = html("div", { class: "cf-readout" });
    this.guide = html("div", { class: "cf-guide" }); // of a walk through the figure
    this.body = html(
      "div",
      { class: "cf-body" },
      this.guide,
      this.controls,
      this.fault,
      this.stage,
      this.readout,
    );
    this.hintWords = html("span");
    this.hints = html("p", { class: "cf-hints" }, this.hintWords);
    this.root = html(
      "div",
      { class: "course-figure", role: "group", "aria-describedby": this.words.id },
      this.body,
      this.hints,
      this.words,
      this.status,
    );
    el.append(this.root);
    this.theme = readTheme(this.root);
    this.bound = [];
    this.controlOf = new Map(); // the control of each trait that has one
    this.redraw = null;
    this.schedule = new Schedule(this);
    this.locate = null; // a figure with rows or cells says here where they are
    this.highlight = new Highlight(this);
    this.widths = new Map();
    this.resized = new ResizeObserver((changes) => {
      const others = changes
        .map(({ target }) => target)
        .filter((element) => this.widths.get(element) !== element.clientWidth);
      for (const element of others) this.widths.set(element, element.clientWidth);
      if (others.length) this.later();
    });
    this.closing.signal.addEventListener("abort", () => this.resized.disconnect());
    this.drawn = new Promise((done) => {
      this.arrive = done;
    });
  }

  /** Name of the figure, as screen readers announce it. */
  title(text) {
    this.root.setAttribute("aria-label", text);
  }

  /** How to use it, one line under the picture. */
  hint(text) {
    this.hintWords.textContent = text;
  }

  /** Offer a walk through the figure; `walk.js` says what a step is. */
  walk(steps) {
    const { begin, panel } = new Walk(this, steps);
    this.guide.replaceChildren(panel);
    this.hints.querySelector(".cf-link-walk")?.remove();
    this.hintWords.before(begin);
  }

  /** Where there is room, the picture stands on the left, controls and readout at its right. */
  beside() {
    this.body.classList.add("cf-beside");
  }

  /** Whether there is room for things beside each other. */
  get wide() {
    const letter = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
    return this.room(this.body) >= WIDE * letter;
  }

  /** What is shown, in words; call it whenever that changes. */
  describe(text) {
    setText(this.words, text);
  }

  /** Numbers that are drawn, by name: `root.shown`, for tests and for the curious. */
  reveal(numbers) {
    this.root.shown = numbers;
  }

  /** Announce something to those who do not see it. */
  say(text) {
    this.status.textContent = text;
  }

  /** Width that the picture has, in pixels. */
  get width() {
    return Math.max(240, this.room(this.stage));
  }

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
  get calm() {
    return matchMedia("(prefers-reduced-motion: reduce)").matches;
  }

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
      this.model.set(name, value?.data && value.shape ? encode(value) : value);
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
    this.bound = [];
    this.controlOf.clear();
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
    watchTheme(this.closing.signal, () => {
      this.theme = readTheme(this.root);
      this.later();
    });
    this.closing.signal.addEventListener("abort", () => {
      for (const name of this.names) this.model.off(`change:${name}`, later);
    });
    // Building and laying out take a frame of their own, the first drawing another.
    this.guard(() => this.fillIn());
    requestAnimationFrame(() => setTimeout(later));
  }

  /** Draw in the next frame; a first drawing that is not finished begins again. */
  later() {
    this.schedule.later();
  }

  /** Whether a drawing waits for its frame. */
  get drawingIsDue() {
    return this.schedule.due !== 0;
  }

  /** Draw, and then do something that needs what is drawn. */
  afterDrawing(action) {
    this.schedule.afterDrawing(action);
  }

  /** Let every control show what the state holds. */
  fillIn() {
    for (const update of this.bound) update();
  }

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
      ` ${mendable ? error.remedy : "The rest of the page works."} `,
      again,
    );
    this.fault.hidden = false;
    this.root.classList.add("cf-faulty");
    if (!mendable) reportError(error);
  }

  /** Listen as long as the figure lives; errors of the handler become messages. */
  listen(target, type, handler, options = {}) {
    const clicked = type === "click" || type === "change"; // of a button, or of a switch
    target.addEventListener(
      type,
      (event) => {
        const answer = () => this.guard(() => handler(event));
        if (clicked) this.schedule.whileClicked(answer);
        else answer();
      },
      { ...options, signal: this.closing.signal },
    );
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
}

/** The default export of a figure's module: the traits it uses, and what builds it. */
export const defineFigure = (names, build) => ({
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
