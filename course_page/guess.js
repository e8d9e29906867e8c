/** *Guess first*: choices or a number in a box, and the output below it, folded until then. */
import { html } from "../course_figures/runtime/elements.js";
import { Answers } from "./answers.js";
import { button } from "./controls.js";
import { page } from "./files.js";

/** The name under which all guesses of the book are kept. */
export const GUESSES = "guesses";

// What is kept, beside a choice's number or the number that was typed: the output was asked for.
const SHOWN = "shown";
// Folded, but where a browser can, found by its own search.
const FOLDED = "onbeforematch" in document.body ? "until-found" : true;
// Kept under this name: outputs are shown before anybody guesses.
const ALWAYS = "always";

/** A number as people type it: 0.5, 0,5, 1,024, 13 %, −2; NaN for anything else. */
export const numberOf = (text) => {
  const plain = text
    .trim()
    .replace(/\s*[%×x]$/, "")
    .replace(/^[−–]/, "-");
  const grouped = /^-?\d{1,3}(,\d{3})+(\.\d+)?$/.test(plain);
  const written = grouped ? plain.replaceAll(",", "") : plain.replace(",", ".");
  return /^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(written) ? Number(written) : Number.NaN;
};

class Guess {
  /** `element` is the box; what the build says of it stands in it, as JSON. */
  constructor(element, pageOfGuesses) {
    this.page = pageOfGuesses;
    this.about = JSON.parse(element.querySelector("script[type='application/json']").text);
    const { cell } = this.about;
    this.outputs = [...document.querySelectorAll(`.guessed-${CSS.escape(cell)}`)];
    this.fold = document.getElementById(`fold-${cell}`);
    this.said = html("p", { class: "guess-said", role: "status" });
    this.choices = [...element.querySelectorAll("ul > li")].map((item, at) =>
      this.choice(item, at + 1),
    );
    this.form = element.querySelector(".guess-number");
    this.form?.addEventListener("submit", (event) => {
      event.preventDefault();
      this.type(this.form.querySelector("input").value);
    });
    element.append(this.said);
    const [show, always] = this.fold.querySelectorAll("button");
    show.addEventListener("click", () => this.show());
    always.addEventListener("click", () => pageOfGuesses.showAlways(true));
    for (const output of this.outputs) output.addEventListener("beforematch", () => this.show()); // the browser's own search
  }

  choice(item, number) {
    const made = html("button", { type: "button", "aria-pressed": "false" });
    made.append(...(item.querySelector("p") ?? item).childNodes);
    made.addEventListener("click", () => this.guessed || this.keep(String(number)));
    item.replaceChildren(made);
    return made;
  }

  /** What was guessed, or nothing. */
  get guessed() {
    const kept = this.page.kept(this.about.cell);
    return kept === SHOWN ? undefined : kept;
  }

  get right() {
    const { right, number, within } = this.about;
    return right ? Number(this.guessed) === right : Math.abs(this.guessed - number) <= within;
  }

  type(text) {
    const number = numberOf(text);
    if (Number.isNaN(number)) this.said.textContent = "Type a number, such as 12 or 0.5.";
    else this.keep(String(number));
  }

  keep(guess) {
    this.page.keep(this.about.cell, guess);
    this.page.follow();
  }

  show() {
    if (this.page.kept(this.about.cell) === undefined) this.page.keep(this.about.cell, SHOWN);
    this.follow();
    this.outputs[0].tabIndex = -1;
    this.outputs[0].focus({ preventScroll: true }); // the button that had it is gone
  }

  /** Show what was guessed, and fold the output or not. */
  follow() {
    const open = this.page.always || this.page.kept(this.about.cell) !== undefined;
    this.fold.hidden = open;
    for (const output of this.outputs) output.hidden = open ? false : FOLDED;
    const { guessed } = this;
    if (guessed === undefined) return;
    const { right, number, unit } = this.about;
    for (const [at, made] of this.choices.entries()) {
      const own = guessed === String(at + 1);
      made.setAttribute("aria-pressed", own);
      made.setAttribute("aria-disabled", true);
      made.dataset.guess = at + 1 === right ? "right" : own ? "wrong" : "";
    }
    if (this.form) this.form.querySelector("input").value = guessed;
    const shown = right ? "the one marked ✓" : `${number}${unit && ` ${unit}`}`;
    const verdict = this.right
      ? right
        ? "✓ Right."
        : `✓ Close enough: it is ${shown}.`
      : `✗ It is ${shown}.`;
    this.said.replaceChildren(verdict, html("span", { class: "guess-tally" }, this.page.tally()));
  }
}

class Guesses {
  constructor(elements) {
    this.name = location.pathname
      .split("/")
      .pop()
      .replace(/\.html$/, "");
    this.answers = new Answers(page().version, GUESSES);
    this.answers.changedElsewhere = () => this.follow();
    this.note = html(
      "p",
      { class: "guess-tally" },
      "Outputs are shown before you guess. ",
      button("Fold them", () => this.showAlways(false)),
    );
    this.all = elements.map((element) => new Guess(element, this));
    elements[0].append(this.note);
    this.follow();
    document.documentElement.dataset.guesses = "ready";
  }

  kept(cell) {
    return this.answers.source(`${this.name}/${cell}`);
  }

  keep(cell, guess) {
    this.answers.keep(`${this.name}/${cell}`, guess);
  }

  get always() {
    return this.answers.source(ALWAYS) !== undefined;
  }

  showAlways(always) {
    this.answers.keep(ALWAYS, always ? "yes" : null);
    this.follow();
  }

  tally() {
    const guessed = this.all.filter((one) => one.guessed !== undefined);
    return `${guessed.filter((one) => one.right).length} of ${guessed.length} right on this page`;
  }

  follow() {
    this.note.hidden = !this.always;
    for (const one of this.all) one.follow();
  }
}

/** Make the boxes of this page ask. */
export const askForGuesses = () => {
  const boxes = [...document.querySelectorAll("blockquote.guess")];
  if (boxes.length) new Guesses(boxes);
};
