// Bars for what the model says and what the settings leave; draws fall on a line of pieces.
import { button, controlRow, slider } from "./runtime/controls.js";
import { html, setText, svg, svgText } from "./runtime/elements.js";
import { need } from "./runtime/errors.js";
import { defineFigure } from "./runtime/frame.js";
import { number, percent } from "./runtime/numbers.js";
import { drawSymbol, random } from "./runtime/random.js";
import { nextProbabilities } from "./runtime/sampling_rules.js";
import { NEXT_FRAME } from "./runtime/schedule.js";
import { spoken, visible } from "./runtime/symbols.js";

const SHOWN = 12;
const STOPS = [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 40, 50];
const MOST_DRAWS = 2000;

const rounded = (share) => percent(share, 100 * share < 10 ? 1 : 0);

/** Everything that follows from the state, computed once a drawing. */
const computeSampling = (figure) => {
  const {
    shape: [N, V],
    data,
  } = figure.get("logits");
  const symbols = figure.get("symbols");
  const context = figure.get("context");
  need(
    symbols.length === V,
    `The logits have V = ${V}, but there are ${symbols.length} symbols.`,
    "Give the vocabulary of the model that the logits come from.",
  );
  need(context < N, `There is no context ${context}.`, `Give 0 to ${N - 1}.`);
  const logits = data.subarray(context * V, (context + 1) * V);
  const topK = figure.get("top_k");
  const topP = figure.get("top_p");
  const before = nextProbabilities(logits);
  const after = nextProbabilities(logits, {
    temperature: figure.get("temperature"),
    topK: topK >= V ? null : topK,
    topP,
  });
  const next = random(figure.get("seed"));
  const counts = new Int32Array(V);
  const drawn = [];
  let point = null;
  for (let i = 0; i < figure.get("draws"); i += 1) {
    point = next();
    drawn.push(drawSymbol(after.probabilities, point));
    counts[drawn[i]] += 1;
  }
  return {
    V,
    symbols,
    before: before.probabilities,
    after: after.probabilities,
    order: after.order,
    cut: after.cut,
    counts,
    drawn,
    point,
  };
};

/** What is cut, in words. */
const cutWords = ({ V, cut, before }) => {
  const kept = cut.filter((reason) => !reason).length;
  if (kept === V) return `All ${V} symbols may be drawn.`;
  const lost = before.reduce((sum, p, v) => sum + (cut[v] ? p : 0), 0);
  const by = ["temperature", "top-k", "top-p"]
    .map((name) => [name, cut.filter((one) => one === name).length])
    .filter(([, count]) => count);
  const parts = by.map(
    ([name, count]) => `${name === "temperature" ? "temperature 0" : name} cuts ${count}`,
  );
  return (
    `${kept} of ${V} symbols may be drawn: ${parts.join(", ")}. ` +
    `What is cut had ${rounded(lost)} at temperature 1.`
  );
};

const WALK = [
  {
    set: { temperature: 1, top_k: 100000, top_p: 1, draws: 0 },
    say: "The bars are the model's own probabilities of the next symbol, with nothing changed.",
  },
  {
    set: { temperature: 0.5 },
    say: "At temperature 0.5 likely symbols become likelier and unlikely ones rarer; above 1 it is the other way round.",
  },
  {
    set: { temperature: 1, top_k: 3 },
    say: "Top-k keeps the three most likely symbols, and they share what the others had.",
  },
  {
    set: { top_k: 100000, top_p: 0.9 },
    say: "Top-p keeps as many as it takes to reach 90 %, so how many stay depends on how sure the model is.",
  },
  {
    set: { draws: 100 },
    say: "A hundred draws come close to the bars without being equal to them.",
  },
];

export default defineFigure(
  ["logits", "symbols", "contexts", "context", "temperature", "top_k", "top_p", "seed", "draws"],
  (figure) => {
    figure.title("Sampling");
    let all = false;
    let told = "";

    const select = html("select", { class: "sampling-select" });
    figure.controls.append(
      html("label", { class: "cf-field" }, html("span", null, "after"), select),
    );
    figure.listen(select, "change", () => figure.set({ context: Number(select.value) }));
    slider(figure, "temperature", { label: "temperature", min: 0, max: 3, step: 0.05 });
    const stops = [...STOPS.filter((k) => k < figure.get("symbols").length), 100000];
    slider(figure, "top_k", {
      label: "top-k",
      values: stops,
      show: (k) => (k > 99999 ? "off" : String(k)),
    });
    slider(figure, "top_p", {
      label: "top-p",
      min: 0,
      max: 1,
      step: 0.01,
      show: (p) => (p >= 1 ? "off" : number(p)),
    });

    const draw = (count) =>
      figure.set({ draws: Math.min(MOST_DRAWS, figure.get("draws") + count) });
    const buttons = controlRow(figure);
    button(figure, "Draw one", () => draw(1), { parent: buttons });
    button(figure, "Draw 100", () => draw(100), { parent: buttons });
    button(figure, "Other seed", () => figure.set({ seed: (figure.get("seed") % 9999) + 1 }), {
      parent: buttons,
    });
    button(figure, "Clear", () => figure.set({ draws: 0 }), { parent: buttons });

    const line = svg("svg", { class: "sampling-line", "aria-hidden": "true" });
    const heads = ["symbol", "probability: outline before, filled after the settings", "drawn"];
    const body = html("tbody");
    const table = html(
      "table",
      { class: "sampling-table" },
      html("caption", { class: "cf-hidden" }, "Symbols from the most to the least likely"),
      html(
        "thead",
        null,
        html(
          "tr",
          null,
          heads.map((text) => html("th", { scope: "col" }, text)),
        ),
      ),
      body,
    );
    figure.stage.append(line, table);
    const more = button(
      figure,
      "",
      () => {
        all = !all;
        figure.later();
      },
      { parent: figure.stage },
    );
    figure.hint(
      "Drag the sliders, or move them with the arrow keys. The same seed draws at the same " +
        "points of the line, whatever the settings: change one, and see which draws change.",
    );
    figure.walk(WALK);

    figure.readout.classList.add("sampling-words");

    const rows = [];
    const row = (index) => {
      if (rows[index]) return rows[index];
      const made = {
        name: html("th", { scope: "row" }),
        before: html("i"),
        after: html("b"),
        share: html("span"),
        count: html("td"),
      };
      made.node = html(
        "tr",
        null,
        made.name,
        html(
          "td",
          null,
          html("div", { class: "sampling-bar" }, made.before, made.after),
          made.share,
        ),
        made.count,
      );
      rows[index] = made;
      return made;
    };

    /** The line from 0 to 1, a piece for each symbol, in the order of the vocabulary. */
    const pieces = ({ V, symbols, after, drawn, point }) => {
      const width = figure.width - 2;
      const parts = [];
      let left = 0;
      let odd = false;
      for (let v = 0; v < V; v += 1) {
        if (after[v] === 0) continue;
        const wide = after[v] * width;
        const now = drawn.length > 0 && drawn.at(-1) === v;
        odd = !odd;
        parts.push(
          svg("rect", {
            x: 1 + left,
            y: 16,
            width: wide,
            height: 26,
            stroke: figure.theme.paper,
            "stroke-width": wide > 3 ? 1 : 0,
            fill: now ? figure.theme.minus : figure.theme.probability,
            opacity: now ? 0.9 : odd ? 0.5 : 0.32,
          }),
        );
        if (wide > 11)
          parts.push(
            svgText(1 + left + wide / 2, 29, visible(symbols[v]), {
              "text-anchor": "middle",
              style: now ? `fill:${figure.theme.paper};font-weight:700` : "",
            }),
          );
        left += wide;
      }
      if (point !== null) {
        const x = 1 + point * width;
        parts.push(
          svg("path", { d: `M${x - 6} 3h12l-6 11z`, fill: figure.theme.ink }),
          svg("line", {
            x1: x,
            x2: x,
            y1: 12,
            y2: 44,
            stroke: figure.theme.ink,
            "stroke-width": 1.5,
          }),
        );
      }
      line.setAttribute("width", width + 2);
      line.setAttribute("height", 48);
      line.replaceChildren(...parts);
    };

    figure.draw(function* drawing() {
      const contexts = figure.get("contexts");
      if (select.length !== contexts.length)
        select.replaceChildren(
          ...contexts.map((text, i) =>
            html("option", { value: i }, `“${[...text.slice(-28)].map(visible).join("")}”`),
          ),
        );
      select.value = figure.get("context");
      const state = computeSampling(figure);
      const { V, symbols, before, after, order, cut, counts, drawn, point } = state;
      pieces(state);
      yield;
      const largest = Math.max(...before, ...after);
      const count = all ? V : Math.min(V, SHOWN);
      while (body.children.length > count) body.lastChild.remove();
      for (let i = 0; i < count; i += 1) {
        const v = order[i];
        const made = row(i);
        if (i >= body.children.length) {
          if (i > 0 && i % SHOWN === 0) yield NEXT_FRAME;
          body.append(made.node);
        }
        setText(made.name, visible(symbols[v]));
        made.before.style.width = `${(100 * before[v]) / largest}%`;
        made.after.style.width = `${(100 * after[v]) / largest}%`;
        setText(made.share, cut[v] ? `cut by ${cut[v]}` : rounded(after[v]));
        made.node.classList.toggle("sampling-cut", cut[v] !== "");
        const last = drawn.length > 0 && drawn.at(-1) === v;
        made.node.classList.toggle("sampling-last", last);
        setText(made.count, counts[v] ? `${last ? "◂ " : ""}${counts[v]}` : "");
      }
      yield;
      more.hidden = V <= SHOWN;
      setText(more, all ? `Show the first ${SHOWN}` : `Show all ${V} symbols`);
      more.setAttribute("aria-expanded", String(all));
      const what = cutWords(state);
      const last = drawn.length
        ? `Draw ${drawn.length} with seed ${figure.get("seed")}: the number ` +
          `${number(point, 3)} falls on “${visible(symbols[drawn.at(-1)])}”.`
        : "Nothing is drawn yet.";
      setText(figure.readout, `${what} ${last}`);
      const best = order[0];
      figure.describe(
        `After “${contexts[figure.get("context")]}”, at temperature ` +
          `${number(figure.get("temperature"))}: ${what} The most likely is ${spoken(symbols[best])} with ` +
          `${rounded(after[best])}. ${last}`,
      );
      if (drawn.length && last !== told) figure.say(last);
      told = last;
      figure.reveal({ before, after, counts, drawn });
    });
  },
);
