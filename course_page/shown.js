/** The reader's trained model as a page of its own: shown in a frame, and saved as one file. */
import { html } from "../course_figures/runtime/elements.js";
import { button } from "./controls.js";
import { pageOfFigures } from "./files.js";

// Pixels, until the page in the frame has said how long it is.
const HIGH = 720;

const escaped = (text) =>
  text.replace(
    /[&<>"]/g,
    (one) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[one],
  );

/** A figure as the script of a page of figures finds it. */
const place = (module, title, state) => {
  const data = JSON.stringify({ module, title, state }).replace(/</g, "\\u003c");
  return (
    `<div class="course-figure-mount" data-course-figure="${module}">` +
    `<figure class="course-figure-still"><figcaption>${title}: it appears with JavaScript.</figcaption></figure>` +
    `<script type="application/json">${data}</script></div>`
  );
};

/** The page of a model that Python has packed, with the source that it came from. */
export const pageOf = async ({ weights, layers, prompt, text, facts }, source) => {
  const { before, after } = await pageOfFigures();
  const live = {
    ...{ prompt, text: prompt, temperature: 0.8, seed: 1, layer: layers - 1, head: 0 },
    weights,
  };
  const inside = { text, off: [], layer: layers - 1, head: 0, position: 1, weights };
  return [
    before,
    place("live_model", "Live model", live),
    place("looking_inside", "Looking inside", inside),
    `<p>${escaped(facts)}.</p><h2>The program</h2>`,
    `<pre style="overflow-x:auto;font-size:13px"><code>${escaped(source)}</code></pre>`,
    after,
  ].join("\n");
};

const save = (page) => {
  const address = URL.createObjectURL(new Blob([page], { type: "text/html" }));
  html("a", { href: address, download: "my-gpt.html" }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
};

/** An element with the page in a frame, and a button that saves it. */
export const framed = (page) => {
  const theme = document.documentElement.dataset.theme === "dark" ? "dark" : "light";
  const frame = html("iframe", {
    class: "cp-shown",
    title: "Your model: it writes, and its heads can be switched off",
    srcdoc: page.replace("<html", `<html data-theme="${theme}"`),
  });
  frame.style.height = `${HIGH}px`;
  frame.addEventListener("load", () => {
    const inside = frame.contentDocument?.documentElement;
    if (!inside) return;
    new ResizeObserver(() => {
      frame.style.height = `${Math.max(HIGH / 2, inside.getBoundingClientRect().height + 2)}px`;
    }).observe(inside);
  });
  const keep = button("Save it as one file", () => save(page), {
    title: "One HTML file with your model and your source, which needs no network",
  });
  return html("div", null, html("div", { class: "cp-bar" }, keep), frame);
};
