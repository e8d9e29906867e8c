/**
 * A place to write code: a plain field that looks like the page's code, until it is used. Then the
 * editor is loaded and takes its place, with what was typed meanwhile.
 */
import { html } from "../course_figures/runtime/elements.js";
import { editorParts } from "./files.js";
import { makeEditor } from "./editor.js";

const INDENT = "    ";

const lines = (text) => text.split("\n").length;

export class Field {
  /**
   * `still` is the page's own block of code with the same text, colored; it stands behind the
   * field as long as that text is unchanged. `names` may be completed beside those of the text.
   */
  constructor({ source, label, still = null, names = [], changed = () => {}, run = () => {} }) {
    this.label = label;
    this.names = names;
    this.changed = changed;
    this.run = run;
    this.released = source;
    this.area = html("textarea", {
      class: "cp-area",
      "aria-label": label,
      spellcheck: "false",
      autocomplete: "off",
      autocapitalize: "off",
      autocorrect: "off",
      wrap: "off",
    });
    this.area.value = source;
    this.still = still;
    this.element = html("section", { class: "cp-code highlight" }, still, this.area);
    this.area.addEventListener("input", () => this.typed());
    this.area.addEventListener("focus", () => this.upgrade());
    this.area.addEventListener("keydown", (event) => this.key(event));
    this.fit();
  }

  get value() {
    return this.editor ? this.editor.get() : this.area.value;
  }

  set value(text) {
    if (this.value === text) return;
    if (this.editor) this.editor.set(text);
    else this.area.value = text;
    this.fit();
  }

  typed() {
    this.fit();
    this.changed(this.area.value);
  }

  fit() {
    if (this.editor) return;
    this.area.rows = lines(this.area.value);
    this.element.classList.toggle(
      "cp-untouched",
      this.still !== null && this.area.value === this.released,
    );
  }

  key(event) {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey || event.shiftKey)) {
      event.preventDefault();
      this.run();
    } else if (event.key === "Escape") {
      this.leaving = true;
    } else if (event.key === "Tab" && !event.shiftKey && !this.leaving) {
      event.preventDefault();
      this.area.setRangeText(INDENT, this.area.selectionStart, this.area.selectionEnd, "end");
      this.typed();
    } else if (event.key !== "Tab") {
      this.leaving = false;
    }
  }

  focus() {
    (this.editor ?? this.area).focus();
  }

  /** Take the editor; where it cannot be loaded, the plain field stays and does the same. */
  async upgrade() {
    if (this.coming || this.editor) return;
    this.coming = true;
    try {
      const parts = await editorParts();
      if (!parts) return;
      const focused = document.activeElement === this.area;
      const { selectionStart, selectionEnd } = this.area;
      const editor = makeEditor(parts, {
        source: this.area.value,
        selection: [selectionStart, selectionEnd],
        label: this.label,
        names: this.names,
        changed: (text) => this.changed(text),
        run: () => this.run(),
      });
      this.editor = editor;
      this.still?.remove();
      this.element.classList.remove("cp-untouched");
      this.area.replaceWith(editor.element);
      if (focused) editor.focus();
    } catch {
      this.coming = false; // the next focus tries again
    }
  }
}
