// The residual stream of a GPT: its length before and after each part, and what each part adds.
import { array, bytesOf } from "./runtime/arrays.js";
import { button, choice, field, toggle } from "./runtime/controls.js";
import { html, setText, svg } from "./runtime/elements.js";
import { need } from "./runtime/errors.js";
import { defineFigure } from "./runtime/frame.js";
import { moveOnLine, onKeys } from "./runtime/keys.js";
import { attend, layerNorm, linear, relu } from "./runtime/layers.js";
import { clamp, number } from "./runtime/numbers.js";
import { drag } from "./runtime/pointer.js";
import { NEXT_FRAME } from "./runtime/schedule.js";
import { softmax } from "./runtime/softmax.js";
import { spoken, visible } from "./runtime/symbols.js";

// Mean height of a row, in pixels: flat rows leave room to steep ones.
const ROW = { wide: 46, narrow: 70 };
// Height of the numbers beside a row; where there is room, they take two lines.
const FLAT = { wide: { pre: 38, post: 38 }, narrow: { pre: 43, post: 60 } };
const MARGIN = 18; // of a row's height, what no arrow uses

// ---- the model ----------------------------------------------------------------------------------

/** Half-precision numbers as doubles. */
const halves = (base64) => {
  const bytes = bytesOf(base64);
  const data = new DataView(bytes.buffer);
  return Float64Array.from({ length: bytes.length >> 1 }, (_, i) => {
    const bits = data.getUint16(2 * i, true);
    const sign = bits & 0x8000 ? -1 : 1;
    const exponent = (bits >> 10) & 31;
    const fraction = bits & 1023;
    if (exponent === 31) return fraction ? NaN : sign * Infinity;
    return exponent
      ? sign * 2 ** (exponent - 15) * (1 + fraction / 1024)
      : sign * 2 ** -24 * fraction;
  });
};

/** The weights by name, cut out of one long row in the order in which Python wrote them. */
const readModel = (base64, [V, block, L, H, C]) => {
  const all = halves(base64);
  let at = 0;
  const take = (length) => {
    at += length;
    return all.subarray(at - length, at);
  };
  const norm = () => [take(C), take(C)];
  const model = { V, block, L, H, C, tokens: take(V * C), positions: take(block * C) };
  model.blocks = Array.from({ length: L }, () => ({
    attentionNorm: norm(),
    query: take(C * C),
    key: take(C * C),
    value: take(C * C),
    projection: [take(C * C), take(C)],
    forwardNorm: norm(),
    widen: [take(4 * C * C), take(4 * C)],
    narrow: [take(4 * C * C), take(C)],
  }));
  Object.assign(model, { norm: norm(), output: take(V * C) });
  need(
    at === all.length,
    `The model should have ${at} weights and has ${all.length}.`,
    "Run the cell again, or load the page again.",
  );
  need(
    all.every(Number.isFinite),
    "The model holds a weight that is not a number.",
    "Train it again with a lower learning rate, and run the cell again.",
  );
  return model;
};

/** What a part adds to rows that it is given, (T, C). */
const attention = ({ C, H }, { query, key, value, projection }, x, T) => {
  const parts = {};
  for (const [name, weights] of Object.entries({ queries: query, keys: key, values: value })) {
    parts[name] = new Float64Array(T * C);
    linear(x, T, C, weights, null, parts[name], C, false);
  }
  const found = new Float64Array(T * C);
  const weights = new Float64Array(T);
  for (let t = 0; t < T; t += 1) attend(t, { H, D: C / H }, parts, found, t * C, weights);
  const added = new Float64Array(T * C);
  linear(found, T, C, ...projection, added, C, false);
  return added;
};

const feedForward = ({ C }, { widen, narrow }, x, T) => {
  const hidden = new Float64Array(T * 4 * C);
  linear(x, T, C, ...widen, hidden, 4 * C, false);
  relu(hidden, hidden.length);
  const added = new Float64Array(T * C);
  linear(hidden, T, 4 * C, ...narrow, added, C, false);
  return added;
};

const normed = (x, T, C, gains) => {
  const y = new Float64Array(T * C);
  layerNorm(x, y, 0, T, C, gains);
  return y;
};

/** Rows of measures, as `Measures` in Python; `on` is (L, 2), row by row. A step for each block. */
function* measure(model, tokens, norm, on) {
  const { C, V, L } = model;
  const T = tokens.length;
  const lengths = (vectors) => {
    const squares = new Float64Array(T);
    for (let i = 0; i < vectors.length; i += 1) squares[Math.floor(i / C)] += vectors[i] ** 2;
    return squares.map(Math.sqrt);
  };
  let x = new Float64Array(T * C).map(
    (_, i) => model.tokens[tokens[Math.floor(i / C)] * C + (i % C)] + model.positions[i],
  );
  const found = { stream: [lengths(x)], part: [], cosine: [], total: [] };
  for (let s = 0; s < 2 * L; s += 1) {
    if (s % 2 === 0) yield;
    const block = model.blocks[s >> 1];
    const [branch, gains] =
      s % 2 ? [feedForward, block.forwardNorm] : [attention, block.attentionNorm];
    const given = norm === "pre" ? normed(x, T, C, gains) : x;
    const added = on[s] ? branch(model, block, given, T) : new Float64Array(T * C);
    const part = lengths(added);
    const before = found.stream.at(-1);
    found.part.push(part);
    found.cosine.push(
      part.map((length, t) => {
        let dot = 0;
        for (let c = t * C; c < (t + 1) * C; c += 1) dot += x[c] * added[c];
        return length * before[t] > 0 ? dot / (length * before[t]) : 0;
      }),
    );
    x = x.map((v, i) => v + added[i]);
    found.total.push(lengths(x));
    if (norm === "post") x = normed(x, T, C, gains);
    found.stream.push(lengths(x));
  }
  const last = norm === "pre" ? normed(x, T, C, model.norm) : x;
  const logits = new Float64Array(T * V);
  linear(last, T, C, model.output, null, logits, V, false);
  found.chance = Float64Array.from({ length: T }, (_, t) => {
    if (t === T - 1) return NaN;
    softmax(logits, t * V, V);
    return logits[t * V + tokens[t + 1]];
  });
  return found;
}

/** What Python measured, for a model that is too large to travel. */
const unstack = ({ shape: [, T], data }, L) => {
  const row = (r) => Float64Array.from(data.subarray(r * T, (r + 1) * T));
  const rows = (from, n) => Array.from({ length: n }, (_, r) => row(from + r));
  const S = 2 * L;
  return {
    stream: rows(0, S + 1),
    part: rows(S + 1, S),
    cosine: rows(2 * S + 1, S),
    total: rows(3 * S + 1, S),
    chance: row(4 * S + 1),
  };
};

const lossOf = ({ chance }) => {
  const known = chance.slice(0, -1);
  return -known.reduce((sum, p) => sum + Math.log(p), 0) / known.length;
};

// ---- the picture --------------------------------------------------------------------------------

/** The paths of an arrow: its shaft, and its head. */
const arrow = (x, y, toX, toY) => {
  const length = Math.hypot(toX - x, toY - y);
  if (length < 0.5) return ["", ""];
  const [a, b] = [(toX - x) / length, (toY - y) / length];
  const head = Math.min(8, length * 0.6);
  const back = [toX - a * head, toY - b * head];
  const side = head * 0.5;
  return [
    `M${x} ${y}L${back[0]} ${back[1]}`,
    `M${toX} ${toY}L${back[0] - b * side} ${back[1] + a * side}L${back[0] + b * side} ${back[1] - a * side}Z`,
  ];
};

/** The strokes of a row's picture, from the undermost; `triangle` gives them their places. */
const strokesOf = (color) => {
  const stroke = (attributes) => svg("path", { fill: "none", ...attributes });
  return {
    grid: stroke({ stroke: "var(--cf-line)", "stroke-opacity": 0.45 }),
    sum: stroke({
      stroke: "var(--cf-ink)",
      "stroke-width": 1.5,
      "stroke-dasharray": "4 3",
      opacity: 0.75,
    }),
    stream: stroke({ stroke: "var(--cf-residual)", "stroke-width": 4 }),
    streamHead: stroke({ fill: "var(--cf-residual)" }),
    part: stroke({ stroke: color, "stroke-width": 3 }),
    partHead: stroke({ fill: color }),
  };
};

/**
 * The stream lies flat; what is added starts at its tip, at the true angle; dashed is their sum.
 */
const triangle = (drawing, strokes, width, height, scale, { before, part, cosine, unit }) => {
  const y = height - 8;
  const left = 4;
  const tip = left + before * scale;
  const end = [
    tip + part * cosine * scale,
    y - part * Math.sqrt(Math.max(0, 1 - cosine * cosine)) * scale,
  ];
  let grid = "";
  for (let x = left; x < width; x += unit * scale) grid += `M${x} 6V${height}`;
  const [stream, streamHead] = arrow(left, y, tip, y);
  const [added, addedHead] = arrow(tip, y, ...end);
  const places = {
    grid,
    sum: part > 0 ? `M${left} ${y}L${end[0]} ${end[1]}` : "",
    stream,
    streamHead,
    part: added,
    partHead: addedHead,
  };
  drawing.setAttribute("width", width);
  drawing.setAttribute("height", height);
  for (const [name, place] of Object.entries(places)) strokes[name].setAttribute("d", place);
};

const nameOf = (s) => `${s % 2 ? "feed-forward" : "attention"} ${s >> 1}`;

const everyPart = (figure, value) => ({
  on: array(
    figure.get("on").shape,
    figure.get("on").data.map(() => value),
    "uint8",
  ),
});

const WALK = [
  {
    set: (figure) => ({ norm: "pre", ...everyPart(figure, 1) }),
    say: "From top to bottom, each part reads the stream and adds something to it: the thinner line, at its true angle.",
  },
  {
    set: (figure) => everyPart(figure, 0),
    say: "With every part off, the stream is what the embedding put there, through all blocks.",
  },
  {
    set: (figure) => {
      const on = figure.get("on").data.map((_, s) => (s === 0 ? 1 : 0));
      return { on: array(figure.get("on").shape, on, "uint8") };
    },
    say: "One attention is on. What it adds stays in the stream and passes the other parts unchanged.",
  },
  {
    set: (figure) => ({ norm: "post", ...everyPart(figure, 1) }),
    say: "With post-norm, the norm is in the stream itself and rescales it after each part.",
  },
];

export default defineFigure(
  ["text", "symbols", "sizes", "weights", "measured", "norm", "on", "position"],
  (figure) => {
    figure.title("The residual stream");
    let model = null;
    let readFrom = "";
    let known = {}; // measures by what they depend on
    const travels = figure.get("weights") !== "";
    const asleep = !travels && figure.model.initial !== undefined;

    const encode = (text) => {
      const symbols = figure.get("symbols");
      const [, block] = figure.get("sizes").data;
      const letters = Array.from(text);
      need(letters.length >= 2, "The text is too short.", "Write at least two symbols.");
      need(
        letters.length <= block,
        `The text has ${letters.length} symbols, and the model reads ${block} at once.`,
        `Leave out ${letters.length - block}.`,
      );
      return letters.map((letter) => {
        const token = symbols.indexOf(letter);
        need(
          token >= 0,
          `The model does not know the symbol “${visible(letter)}”.`,
          "Its vocabulary is that of its training text: write it differently.",
        );
        return token;
      });
    };

    choice(figure, "norm", {
      label: "Where the norm is",
      options: [
        ["pre", "pre-norm"],
        ["post", "post-norm"],
      ],
    });
    const all = (value) =>
      figure.set({
        on: array(
          figure.get("on").shape,
          figure.get("on").data.map(() => value),
          "uint8",
        ),
      });
    const every = button(figure, "all parts on", () => all(1));
    field(
      figure,
      {
        read: () => figure.get("text"),
        write: (text) => {
          const { length } = encode(text);
          figure.set({ text, position: Math.min(figure.get("position"), length - 1) });
        },
      },
      { label: "text", size: 30 },
    );

    const ribbon = html("div", {
      class: "residual-stream-text",
      role: "slider",
      tabindex: 0,
      "aria-label": "Position in the text",
      "aria-valuemin": 0,
    });
    const start = html("p", { class: "residual-stream-start" });
    const rows = html("div", { class: "residual-stream-parts" });
    figure.stage.append(ribbon, start, rows);
    const verdict = html("p", { class: "residual-stream-verdict" });
    figure.readout.append(verdict);
    figure.hint(
      "Choose a symbol, with ← and → too. Thick: the stream, to scale. Thinner: what the part " +
        "adds, at its true angle to it. Dashed: their sum. Switch parts off to see what the " +
        "others do without them.",
    );
    if (!asleep) figure.walk(WALK);

    const go = (position) => {
      if (position !== figure.get("position")) figure.set({ position });
    };
    const under = (event) => {
      const place = document.elementFromPoint(event.clientX, event.clientY);
      const symbol = place?.closest(".residual-stream-text > span");
      if (symbol && ribbon.contains(symbol)) go(Array.from(ribbon.children).indexOf(symbol));
    };
    drag(figure, ribbon, {
      start: (_, event) => {
        under(event);
      },
      move: (_, event) => under(event),
    });
    onKeys(figure, ribbon, (key) => {
      const last = Math.max(0, Array.from(figure.get("text")).length - 1);
      const to = moveOnLine(key, figure.get("position"), { least: 0, most: last });
      if (to === null) return false;
      go(to);
      return true;
    });

    const L = figure.get("sizes").data[2];
    const parts = Array.from({ length: 2 * L }, (_, s) => {
      const row = html("div", { class: "residual-stream-part" });
      const control = toggle(
        figure,
        {
          read: () => figure.get("on").data[s] === 1,
          write: (value) => {
            const { shape, data } = figure.get("on");
            const on = Uint8Array.from(data);
            on[s] = value ? 1 : 0;
            figure.set({ on: array(shape, on, "uint8") });
          },
        },
        { label: nameOf(s), parent: row },
      );
      const area = html("div", { class: "residual-stream-picture" });
      const strokes = strokesOf(s % 2 ? "var(--cf-teal)" : "var(--cf-weight)");
      const drawing = svg("svg", { "aria-hidden": "true" }, ...Object.values(strokes));
      area.append(drawing);
      const facts = html("p", { class: "residual-stream-facts" });
      row.append(area, facts);
      rows.append(row);
      return { row, area, drawing, strokes, facts, input: control.querySelector("input") };
    });
    if (asleep) {
      for (const node of figure.root.querySelectorAll("input")) node.disabled = true;
      every.disabled = true;
      figure.hint(
        "This model is too large to be computed in a page: its switches work in JupyterLab. " +
          "Choose a symbol of the text, with ← and → too.",
      );
    }

    const read = () => {
      const packed = figure.get("weights");
      if (!travels || packed === readFrom) return;
      model = readModel(packed, figure.get("sizes").data);
      readFrom = packed;
      known = {};
    };

    function* compute(tokens, norm, on) {
      if (!travels) return unstack(figure.get("measured"), L);
      const key = `${norm} ${on} ${tokens}`;
      if (known.key !== key)
        known = { ...known, key, now: yield* measure(model, tokens, norm, on) };
      const whole = `${norm} ${tokens}`;
      if (known.whole !== whole)
        known = {
          ...known,
          whole,
          undisturbed: on.every(Boolean)
            ? known.now
            : yield* measure(
                model,
                tokens,
                norm,
                on.map(() => 1),
              ),
        };
      return known.now;
    }

    const drawText = (letters, t) => {
      if (ribbon.textContent !== letters.map(visible).join(""))
        ribbon.replaceChildren(...letters.map((letter) => html("span", null, visible(letter))));
      for (const [i, symbol] of Array.from(ribbon.children).entries())
        symbol.classList.toggle("residual-stream-here", i === t);
      ribbon.setAttribute("aria-valuemax", letters.length - 1);
      ribbon.setAttribute("aria-valuenow", t);
      ribbon.setAttribute("aria-valuetext", `position ${t}, ${spoken(letters[t])}`);
    };

    const drawParts = (now, t, norm, on) => {
      const width = Math.max(140, figure.room(parts[0].area));
      const room = figure.wide ? "wide" : "narrow";
      const most = Math.max(...now.stream.map((row) => row[t]), ...now.total.map((row) => row[t]));
      const rises = now.part.map(
        (row, s) => row[t] * Math.sqrt(Math.max(0, 1 - now.cosine[s][t] ** 2)),
      );
      const heights = (by) =>
        rises.map((rise) => Math.ceil(Math.max(FLAT[room][norm], MARGIN + rise * by)));
      let scale = Math.min((width - 16) / most, 130 / Math.max(1e-6, ...rises));
      // Always as high, so that nothing below moves.
      while (heights(scale).reduce((a, b) => a + b) > rises.length * ROW[room]) scale *= 0.98;
      const high = heights(scale);
      rows.style.minHeight = `${rises.length * (ROW[room] + 1)}px`;
      const unit = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100].find((u) => u * scale >= 22) ?? 1000;
      setText(
        start,
        `The embedding of “${visible(Array.from(figure.get("text"))[t])}” begins the ` +
          `stream with length ${now.stream[0][t].toFixed(2)}. Thin lines are ${number(unit)} apart.`,
      );
      parts.forEach(({ row, drawing, strokes, facts }, s) => {
        triangle(drawing, strokes, width, high[s], scale, {
          before: now.stream[s][t],
          part: now.part[s][t],
          cosine: now.cosine[s][t],
          unit,
        });
        row.dataset.off = !on[s];
        const after =
          norm === "pre"
            ? [`→ ${now.stream[s + 1][t].toFixed(2)}`]
            : [`→ ${now.total[s][t].toFixed(2)}`, `normed ${now.stream[s + 1][t].toFixed(2)}`];
        const cells = [
          `stream ${now.stream[s][t].toFixed(2)}`,
          on[s] ? `adds ${now.part[s][t].toFixed(2)}` : "switched off",
          on[s] ? `cosine ${now.cosine[s][t].toFixed(2).replace("-", "−")}` : "",
          ...after,
        ];
        while (facts.children.length > cells.length) facts.lastChild.remove();
        while (facts.children.length < cells.length) facts.append(html("span"));
        for (const [i, text] of cells.entries()) setText(facts.children[i], text);
      });
    };

    figure.draw(function* draw() {
      const text = figure.get("text");
      const tokens = encode(text);
      const letters = Array.from(text);
      const norm = figure.get("norm");
      const on = Array.from(figure.get("on").data);
      need(
        on.length === 2 * L,
        `There are ${on.length} switches for ${2 * L} parts.`,
        "Run the cell again.",
      );
      read();
      yield;
      const { key } = known;
      const now = yield* compute(tokens, norm, on);
      if (now.chance.length !== letters.length) return; // Python is still measuring the new text
      yield known.key === key ? null : NEXT_FRAME;
      const t = clamp(figure.get("position"), 0, letters.length - 1);
      drawText(letters, t);
      drawParts(now, t, norm, on);
      yield;
      every.disabled = asleep || on.every(Boolean);
      const loss = lossOf(now);
      const off = on.flatMap((value, s) => (value ? [] : [nameOf(s)]));
      const compared =
        off.length && travels
          ? [
              ` (${number(known.undisturbed.chance[t])} with all parts)`,
              ` (${number(lossOf(known.undisturbed))} with all parts)`,
            ]
          : ["", ""];
      const next =
        t + 1 < letters.length
          ? `The symbol that follows, “${visible(letters[t + 1])}”, gets probability ${number(now.chance[t])}${compared[0]}. `
          : "";
      setText(
        verdict,
        `The stream ends with length ${now.stream.at(-1)[t].toFixed(2)}. ${next}` +
          `Loss on the whole text: ${number(loss)} nats per symbol${compared[1]}.` +
          (norm === "post"
            ? " These weights were trained for pre-norm, so the loss is no verdict on post-norm."
            : ""),
      );
      figure.reveal({
        stream: now.stream.flatMap((row) => [...row]),
        part: now.part.flatMap((row) => [...row]),
        cosine: now.cosine.flatMap((row) => [...row]),
        total: now.total.flatMap((row) => [...row]),
        chance: now.chance,
        loss: [loss],
      });
      const at = now.part.map((row) => row[t]);
      const longest = at.indexOf(Math.max(...at));
      figure.describe(
        `Residual stream at position ${t}, “${visible(letters[t])}”, ${norm}-norm: it ` +
          `begins with length ${number(now.stream[0][t])} and ends with ${number(now.stream.at(-1)[t])}. The ` +
          `longest addition is ${nameOf(longest)}, ${number(at[longest])} long, cosine with the stream ` +
          `${number(now.cosine[longest][t])}.${off.length ? ` Switched off: ${off.join(", ")}.` : ""} Loss on ` +
          `the text ${number(loss)} nats per symbol.`,
      );
    });
  },
);
