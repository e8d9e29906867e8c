/** Buttons, and the line that says what Python is doing for somebody who waits. */
import { html, setText } from "../course_figures/runtime/elements.js";

/** How a check is asked for with the keyboard. */
export const keyHint = /Mac|iPhone|iPad/.test(navigator.platform) ? "⌘ Enter" : "Ctrl+Enter";

/** A button; `main` is the one that a reader begins with. */
export const button = (label, action, { main, title } = {}) => {
  const made = html(
    "button",
    { type: "button", class: main ? "cp-button cp-main" : "cp-button", title },
    label,
  );
  made.addEventListener("click", action);
  return made;
};

const megabytes = (bytes) => (bytes / 1e6).toFixed(1);

/** What Python does for one job: loading with a bar, waiting, running with a button to stop it. */
export class Progress {
  constructor(stop) {
    this.bar = html("progress", { max: 1, "aria-label": "Python is loaded" });
    this.words = html("span", { class: "cp-words" });
    this.stop = button("Stop", stop, { title: "Stop what runs" });
    this.element = html(
      "div",
      { class: "cp-progress", hidden: true },
      this.bar,
      this.words,
      this.stop,
    );
  }

  show(python, job) {
    this.element.hidden = !job;
    if (!job) return;
    const loading = python.state === "loading";
    const running = python.running === job;
    this.bar.hidden = !loading;
    this.bar.value = python.share;
    setText(
      this.words,
      loading
        ? this.loading(python)
        : running
          ? python.doing || "Running …"
          : "Waits for the cell that runs",
    );
    setText(this.stop, running ? "Stop" : "Cancel");
    this.element.classList.toggle("cp-soon", running);
  }

  loading({ doing, loaded, total }) {
    const left = total - loaded;
    return left > 50_000
      ? `Loading Python: ${megabytes(left)} of ${megabytes(total)} MB to go, once for all tasks`
      : `${doing || "Starting Python"} …`;
  }
}
