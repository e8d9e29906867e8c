/** When a figure is drawn: in the next frame after something asked for it, if need be in steps. */

/** Yielded by a drawing: what follows has a frame of its own. */
export const NEXT_FRAME = Symbol("next frame");

const EARLY = 10; // frames after the first drawing

/**
 * Draws a figure once a frame, however often that was asked for.
 *
 * A drawing may be a generator that yields between its steps: in the first frames, when the browser
 * has compiled little of it, each step gets one of its own; later only what follows a NEXT_FRAME.
 */
export class Schedule {
  /** @param {import("./frame.js").Frame} frame The figure: its root, and what draws it. */
  constructor(frame) {
    this.frame = frame;
    this.steps = null; // of a drawing that is not finished
    this.due = 0; // the frame that was asked for
    this.clicked = false; // while a click is answered
    this.waiting = []; // what is to be done when the next drawing is
    this.early = Infinity; // frames in which little is compiled; a number after the first drawing
    frame.closing.signal.addEventListener("abort", () => cancelAnimationFrame(this.due));
  }

  /** Draw in the next frame; a drawing that is not finished begins again. */
  later() {
    this.steps = null;
    this.soon();
  }

  /** Draw, and then do something that needs what is drawn. */
  afterDrawing(action) {
    this.waiting.push(action);
    this.later();
  }

  /** While `answer` runs, what it changes is drawn as the answer to a click. */
  whileClicked(answer) {
    const before = this.clicked;
    this.clicked = true;
    answer();
    this.clicked = before;
  }

  soon() {
    if (!this.frame.redraw || (this.due && !this.clicked)) return;
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
    this.frame.root.dataset.drawing = "";
    this.due = requestAnimationFrame(() => {
      this.due = requestAnimationFrame(draw);
    });
  }

  now() {
    const { frame } = this;
    if (frame.closing.signal.aborted) return;
    this.early -= 1;
    frame.guard(() => {
      frame.fillIn();
      if (!this.draw()) {
        frame.root.dataset.drawing = "";
        this.soon();
      }
    });
    if (this.steps) return;
    delete frame.root.dataset.drawing;
    frame.highlight.place();
    this.early = Math.min(this.early, EARLY);
    for (const action of this.waiting.splice(0)) frame.guard(action);
    frame.arrive();
  }

  /** Draw as much as this frame has time for; true when all is drawn. */
  draw() {
    if (!this.steps) this.frame.forgive(); // a message that comes between the steps stays
    const steps = this.steps ?? this.frame.redraw();
    this.steps = null;
    if (!steps?.next) return true;
    for (let step = steps.next(); !step.done; step = steps.next())
      if (this.early > 0 || step.value === NEXT_FRAME) {
        this.steps = steps;
        return false;
      }
    return true;
  }
}
