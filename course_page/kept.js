/** All that this browser keeps of the course, in one place: what it is, a file of it, forgetting it. */
import { html } from "../course_figures/runtime/elements.js";
import { entries, everything, forgetEverything, restore } from "./answers.js";
import { button } from "./controls.js";
import { page } from "./files.js";
import { GUESSES } from "./guess.js";
import { markBook } from "./marks.js";
import { download } from "./notebook.js";

const FILE = "course-answers.json";

/** One line for each assignment and chapter: its name, and how much is kept of it. */
const listed = () =>
  entries()
    .sort((a, b) => a.key.localeCompare(b.key))
    .map(({ assignment, version, entry }) => {
      const cells = Object.keys(entry.cells ?? {}).length;
      const verdicts = Object.keys(entry.verdicts ?? {}).length;
      const texts = `${cells} ${cells === 1 ? "text" : "texts"}, ${verdicts} checked`;
      const counted = assignment === GUESSES ? cells : texts;
      return html("li", null, `${assignment}: ${counted} (version ${version} of the course)`);
    });

class Kept {
  constructor(section) {
    this.list = html("ul", { class: "cp-kept" });
    this.note = html("p", { class: "cp-note", role: "status", hidden: true });
    const choose = html("input", {
      type: "file",
      accept: ".json,application/json",
      class: "cp-unseen",
      tabindex: "-1",
      "aria-hidden": "true",
    });
    choose.addEventListener("change", () => this.takeOver(choose));
    const actions = html(
      "div",
      { class: "cp-bar" },
      button("Export everything", () => this.save()),
      button("Take over from a file", () => choose.click()),
      button("Forget everything", () => this.forget()),
      choose,
    );
    section.append(
      html(
        "div",
        { class: "cp-panel", role: "region", "aria-label": "What this browser keeps" },
        this.list,
        actions,
        this.note,
      ),
    );
    this.show();
  }

  show() {
    const lines = listed();
    this.list.replaceChildren(
      ...(lines.length ? lines : [html("li", null, "Nothing is kept in this browser.")]),
    );
    markBook(page().version, page().assignments);
  }

  say(...words) {
    this.note.hidden = words.length === 0;
    this.note.replaceChildren(...words);
    this.show();
  }

  save() {
    download(FILE, everything(), "application/json");
    this.say(`${FILE} is in your downloads: another browser takes it over here.`);
  }

  async takeOver(input) {
    const [file] = input.files;
    input.value = "";
    if (!file) return;
    const before = JSON.stringify(everything());
    try {
      const count = restore(await file.text(), file.name);
      this.say(
        `${count} ${count === 1 ? "entry" : "entries"} of ${file.name} are kept here now. `,
        this.undo(before),
      );
    } catch (error) {
      this.say(error.message);
    }
  }

  forget() {
    const before = JSON.stringify(everything());
    forgetEverything();
    this.say("All answers and verdicts of this course are forgotten. ", this.undo(before));
    this.note.querySelector("button").focus();
  }

  undo(before) {
    return button("Undo", () => {
      forgetEverything();
      restore(before, FILE);
      this.say();
    });
  }
}

/** Where the page has a place for it, show what this browser keeps. */
export const showKept = () => {
  const section = document.getElementById("your-answers");
  if (section) new Kept(section);
};
