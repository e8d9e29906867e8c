/**
 * Buttons, sliders, choices, switches and fields.
 *
 * Each is bound to a trait by its name, or to two functions {read, write}; it shows what the state
 * holds whenever the figure is drawn. `parent` says where it stands, among the controls
 * if left out.
 */
import { html, setText, uniqueId } from "./elements.js";
import { number } from "./numbers.js";

const bind = (figure, name) =>
  typeof name === "string"
    ? { read: () => figure.get(name), write: (value) => figure.set({ [name]: value }) }
    : name;

const place = (figure, node, parent = figure.controls, name = null) => {
  parent.append(node);
  if (typeof name === "string") figure.controlOf.set(name, node);
  return node;
};

/** A button with a label; `main` is the one that a reader begins with. */
export const button = (figure, label, action, { parent, title, main } = {}) => {
  const node = html(
    "button",
    { type: "button", class: main ? "cf-button cf-main" : "cf-button", title, "data-label": label },
    label,
  );
  figure.listen(node, "click", action);
  return place(figure, node, parent);
};

/** A row of controls that belong together; with a label, a group of that name. */
export const controlRow = (figure, label) =>
  place(figure, html("div", { class: "cf-row", role: label && "group", "aria-label": label }));

/** A slider with its value beside it; `values` gives stops that are not evenly spaced. */
export const slider = (figure, name, settings) => {
  const { label, min = 0, max = 1, step = 0.01, values, show = number, parent } = settings;
  const { read, write } = bind(figure, name);
  const stops = values ? { min: 0, max: values.length - 1, step: 1 } : { min, max, step };
  const input = html("input", { type: "range", ...stops, "aria-label": label });
  const shown = html("output", { class: "cf-value", "aria-hidden": "true" });
  figure.listen(input, "input", () =>
    write(values ? values[Number(input.value)] : Number(input.value)),
  );
  const distance = (value, i) => Math.abs(values[i] - value);
  const nearest = (value) =>
    values.reduce((best, _, i) => (distance(value, i) < distance(value, best) ? i : best), 0);
  figure.bound.push(() => {
    const value = read();
    const position = String(values ? nearest(value) : value);
    if (input.value !== position) input.value = position;
    setText(shown, show(value));
    input.setAttribute("aria-valuetext", show(value));
  });
  const node = html("label", { class: "cf-slider" }, html("span", null, label), input, shown);
  return place(figure, node, parent, name);
};

/** A few names of which one is chosen: [[value, label], …]. */
export const choice = (figure, name, { label, options, parent }) => {
  const { read, write } = bind(figure, name);
  const group = uniqueId();
  const labels = options.map(([value, text]) => {
    const input = html("input", { type: "radio", name: group, value });
    figure.listen(input, "change", () => write(value));
    figure.bound.push(() => {
      input.checked = value === read();
    });
    return html("label", null, input, html("span", { "data-label": text }, text));
  });
  const legend = html("legend", { class: "cf-hidden" }, label);
  const node = html("fieldset", { class: "cf-choice" }, legend, labels);
  return place(figure, node, parent, name);
};

/** A switch. */
export const toggle = (figure, name, { label, parent }) => {
  const { read, write } = bind(figure, name);
  const input = html("input", { type: "checkbox" });
  figure.listen(input, "change", () => write(input.checked));
  figure.bound.push(() => {
    input.checked = read();
  });
  const node = html("label", { class: "cf-toggle" }, input, html("span", null, label));
  return place(figure, node, parent, name);
};

/** A field for text; `write` may throw a FigureError, which the reader then sees. */
export const field = (figure, name, { label, lines = 1, most, parent, size }) => {
  const { read, write } = bind(figure, name);
  const input = html(lines > 1 ? "textarea" : "input", {
    rows: lines > 1 ? lines : null,
    type: lines > 1 ? null : "text",
    maxlength: most,
    size,
    spellcheck: "false",
    autocomplete: "off",
    autocapitalize: "off",
  });
  figure.listen(input, "input", () => write(input.value));
  figure.bound.push(() => {
    // Not while the reader types: the caret would jump.
    if (input.value !== read() && document.activeElement !== input) input.value = read();
  });
  const node = html("label", { class: "cf-field" }, html("span", null, label), input);
  node.input = input;
  return place(figure, node, parent, name);
};
