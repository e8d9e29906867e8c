/**
 * *Walk me through*: a few steps that move the figure's own controls, with a sentence for each.
 *
 * A step is { say, set, press }: `say` is the sentence; `set` holds traits, or is a function of the
 * figure that returns them; `press` names buttons by how their labels begin, pressed in this order
 * afterwards. What a step moves is marked. The state is the reader's own: *Back* restores what a
 * step found, and where the walk ends the figure stays as it is.
 */
import { html } from "./elements.js";

const plainButton = (label, action) => {
  const node = html("button", { type: "button", class: "cf-button", "data-label": label }, label);
  node.addEventListener("click", action);
  return node;
};

export class Walk {
  constructor(figure, steps) {
    this.figure = figure;
    this.steps = steps;
    this.found = []; // the traits that each step found, to go back to
    this.at = -1;
    this.begin = html(
      "button",
      { type: "button", class: "cf-link cf-link-walk" },
      "Walk me through",
    );
    this.count = html("b");
    this.sentence = html("span");
    this.back = plainButton("Back", () => this.goBack());
    this.next = plainButton("Next", () => this.go(this.at + 1));
    this.panel = html(
      "div",
      { class: "cf-walk", role: "group", "aria-label": "Walk me through", hidden: true },
      html("p", { "aria-live": "polite" }, this.count, this.sentence),
      html(
        "div",
        { class: "cf-row" },
        this.back,
        this.next,
        plainButton("End", () => this.end()),
      ),
    );
    this.begin.addEventListener("click", () => {
      this.begin.hidden = true;
      this.panel.hidden = false;
      this.go(0);
      this.next.focus({ preventScroll: true });
    });
  }

  go(at) {
    if (at >= this.steps.length) {
      this.end();
      return;
    }
    const { figure } = this;
    const { set = {}, press = [] } = this.steps[at];
    this.found[at] = Object.fromEntries(figure.names.map((name) => [name, figure.model.get(name)]));
    this.at = at;
    figure.guard(() => {
      const changes = typeof set === "function" ? set(figure) : set;
      figure.set(changes);
      this.show(Object.keys(changes).map((name) => figure.controlOf.get(name)));
      this.press(press, at);
    });
  }

  /** Press buttons one after the other; what the next one is called is known once it is drawn. */
  press([label, ...others], at) {
    if (label === undefined || this.at !== at || this.panel.hidden) return;
    const node = [...this.figure.root.querySelectorAll("button[data-label]")].find(
      (one) => !this.panel.contains(one) && one.dataset.label.startsWith(label),
    );
    if (!node) throw new Error(`a walk presses “${label}”, and no button is called that`);
    node.click();
    node.classList.add("cf-moved");
    this.figure.afterDrawing(() => this.figure.guard(() => this.press(others, at)));
  }

  goBack() {
    if (this.at < 1) return;
    this.figure.guard(() => this.figure.set(this.found[this.at]));
    this.at -= 1;
    this.show([]);
  }

  show(moved) {
    this.mark(moved);
    const last = this.at === this.steps.length - 1;
    this.count.textContent = `${this.at + 1} of ${this.steps.length}. `;
    this.sentence.textContent = this.steps[this.at].say;
    this.back.disabled = this.at === 0;
    this.next.hidden = last;
    if (last) this.panel.lastChild.lastChild.focus({ preventScroll: true });
  }

  mark(moved) {
    for (const one of this.figure.root.querySelectorAll(".cf-moved"))
      one.classList.remove("cf-moved");
    for (const one of moved) one?.classList.add("cf-moved");
  }

  end() {
    this.mark([]);
    this.panel.hidden = true;
    this.begin.hidden = false;
    this.begin.focus({ preventScroll: true });
  }
}
