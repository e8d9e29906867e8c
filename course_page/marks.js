/** Marks in the contents: ✓ and ◐ for each task of this page, and a count for each assignment. */
import { html } from "../course_figures/runtime/elements.js";
import { progress } from "./answers.js";

const SIGNS = { done: ["✓", "done"], begun: ["◐", "begun"] };

/** How a verdict counts: "done", "begun", or "" if there is none. */
export const standing = (verdict) => {
  if (!verdict) return "";
  return verdict.outOf > 0 && verdict.points >= verdict.outOf ? "done" : "begun";
};

const sign = (state) => {
  const [shown, said] = SIGNS[state];
  return html(
    "span",
    { class: `cp-mark cp-${state}`, title: said },
    html("span", { "aria-hidden": "true" }, shown),
    html("span", { class: "cp-unseen" }, ` ${said}`),
  );
};

const count = (done, tasks) => {
  const all = done === tasks;
  return html(
    "span",
    { class: `cp-mark cp-${all ? "done" : "begun"}` },
    html("span", { "aria-hidden": "true" }, all ? "✓" : `${done}/${tasks}`),
    html("span", { class: "cp-unseen" }, ` ${done} of ${tasks} tasks done`),
  );
};

const mark = (link, node) => {
  link.querySelector(":scope > .cp-mark")?.remove();
  if (node) link.append(" ", node);
};

/** Mark a section of this page in its contents. */
export const markSection = (id, state) => {
  const links = document.querySelectorAll(
    `.bd-toc a[href="#${CSS.escape(id)}"], #pst-secondary-sidebar a[href="#${CSS.escape(id)}"]`,
  );
  for (const link of links) mark(link, state ? sign(state) : null);
};

/** Count what is done, beside each assignment in the book's contents. */
export const markBook = (version, assignments) => {
  const root = new URL(document.documentElement.dataset.content_root, location.href);
  const links = [...document.querySelectorAll(".bd-links a[href]")];
  for (const { name, page, tasks } of assignments) {
    const { done, begun } = progress(version, name);
    const address = new URL(page, root).href;
    for (const link of links.filter(({ href }) => href.split("#")[0] === address))
      mark(link, done + begun ? count(done, tasks) : null);
  }
};
