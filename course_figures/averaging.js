// Weights times values, and what feeds each output.
import { array, finite } from "./runtime/arrays.js";
import { penOf } from "./runtime/canvas.js";
import { button, choice, controlRow, toggle } from "./runtime/controls.js";
import { html, setText, svg, svgText } from "./runtime/elements.js";
import { need } from "./runtime/errors.js";
import { defineFigure } from "./runtime/frame.js";
import { partOfMatrix } from "./runtime/highlight.js";
import { moveInTable, onKeys } from "./runtime/keys.js";
import { clamp, number, parse } from "./runtime/numbers.js";
import { drag, pointIn } from "./runtime/pointer.js";
import { random } from "./runtime/random.js";
import { marked } from "./runtime/roles.js";
import { softmax } from "./runtime/softmax.js";
import { heat } from "./runtime/theme.js";

const LIMITS = {
  weights: { least: 0, most: 1, step: 0.05 },
  scores: { least: -8, most: 8, step: 0.5 },
};

const filled = (T, f) =>
  array(
    [T, T],
    Float32Array.from({ length: T * T }, (_, i) => f(Math.floor(i / T), i % T)),
  );

/** Rows divided by their sums; a row without weight stays as it is. */
const normalised = ({ shape: [T], data }) => {
  const sums = Array.from({ length: T }, (_, t) =>
    data.subarray(t * T, (t + 1) * T).reduce((sum, w) => sum + w, 0),
  );
  return filled(T, (t, s) => (sums[t] === 0 ? data[t * T + s] : data[t * T + s] / sums[t]));
};

const PRESETS = {
  weights: [
    ["ones", (T) => filled(T, () => 1)],
    ["tril", (T) => filled(T, (t, s) => Number(s <= t))],
    ["running mean", (T) => filled(T, (t, s) => (s <= t ? 1 / (t + 1) : 0))],
    ["window of 3", (T) => normalised(filled(T, (t, s) => Number(s <= t && s > t - 3)))],
    ["decay", (T) => normalised(filled(T, (t, s) => (s <= t ? 0.6 ** (t - s) : 0)))],
  ],
  scores: [
    ["zeros", (T) => filled(T, () => 0)],
    ["near counts more", (T) => filled(T, (t, s) => -Math.abs(t - s))],
    ["bell", (T) => filled(T, (t, s) => -((t - s) ** 2) / 8)],
    ["drawn at random", (T, next) => filled(T, () => Math.round(40 * (next() - 0.5)) / 10)],
  ],
};

/** Scores, masked if asked for, and the softmax of each row. */
const softmaxOfRows = ({ shape: [T], data }, masked) => {
  const scores = filled(T, (t, s) => (masked && s > t ? -Infinity : data[t * T + s]));
  const weights = new Float64Array(T * T);
  for (let t = 0; t < T; t += 1) softmax(scores.data, t * T, T, weights, t * T);
  return { scores, weights };
};

/** Everything that follows from the state, computed once a drawing. */
const compute = (figure) => {
  const values = figure.get("values");
  const mode = figure.get("mode");
  const [T] = values.shape;
  const edited = figure.get(mode === "weights" ? "matrix" : "scores");
  need(T >= 2 && T <= 12, `There are ${T} values.`, "Give 2 to 12.");
  need(
    edited.shape[0] === T && edited.shape[1] === T,
    `The matrix has shape (${edited.shape.join(", ")}) beside ${T} values.`,
    `Give (${T}, ${T}), and change both at once with change(…).`,
  );
  finite("The column of values", values);
  finite("The matrix", edited);
  const followed = mode === "scores" ? softmaxOfRows(edited, figure.get("masked")) : null;
  const weights = followed?.weights ?? Float64Array.from(edited.data);
  const outputs = Array.from({ length: T }, (_, t) =>
    values.data.reduce((sum, x, s) => sum + weights[t * T + s] * x, 0),
  );
  const sums = Array.from({ length: T }, (_, t) =>
    weights.subarray(t * T, (t + 1) * T).reduce((sum, w) => sum + w, 0),
  );
  const given = figure.get("labels");
  const labels = given.length === T ? given : Array.from({ length: T }, (_, t) => String(t));
  return {
    T,
    mode,
    edited,
    values: values.data,
    scores: followed?.scores.data,
    weights,
    outputs,
    sums,
    labels,
    row: Math.min(figure.get("row"), T - 1),
  };
};

/** Where everything stands; a phone has the two matrices one above the other. */
const arrange = (width, { T, mode }) => {
  const two = mode === "scores";
  const narrow = width < 460;
  const stacked = two && width < 600;
  const side = narrow ? 50 : two ? 74 : 108;
  const margin = narrow ? 14 : 26;
  const gap = narrow ? 13 : two ? 24 : 34;
  const matrices = two && !stacked ? 2 : 1;
  const room = width - margin - 2 * side - gap * (matrices + 1) - 2;
  const size = Math.floor(clamp(room / (T * matrices), 16, 36));
  const top = 26;
  const block = T * size;
  const first = { x: margin, y: top };
  const second = !two
    ? first
    : stacked
      ? { x: margin, y: top + block + 44 }
      : { x: margin + block + gap, y: top };
  const values = { x: second.x + block + gap, y: second.y };
  const outputs = { x: values.x + side + gap, y: second.y };
  return {
    size,
    side,
    stacked,
    two,
    first,
    second,
    values,
    outputs,
    block,
    gap,
    narrow,
    width: outputs.x + side + 2,
    height: second.y + block + 4,
  };
};

const short = (value, size) => {
  const text = number(value);
  return size < 32 ? text.replace(/^(−?)0\./, "$1.") : text;
};

const label = (x, y, text, attributes = {}) =>
  svgText(x, y, text, { "text-anchor": "middle", ...attributes });

/** One matrix as squares with numbers, painted; its outlines are elements. */
const squares = (figure, pen, at, state, { size }, { numbers, scale, color, cursor, hatched }) => {
  const { T, row } = state;
  pen.font = `${clamp(size * 0.33, 8.5, 13)}px ${figure.theme.font}`;
  pen.strokeStyle = figure.theme.line;
  for (let t = 0; t < T; t += 1)
    for (let s = 0; s < T; s += 1) {
      const value = numbers[t * T + s];
      const shade = heat(figure.theme, Number.isFinite(value) ? value / scale : 0, color, "soft");
      const x = at.x + s * size;
      const y = at.y + t * size;
      pen.globalAlpha = t === row ? 1 : 0.72;
      pen.fillStyle = shade.fill;
      pen.fillRect(x, y, size - 1.5, size - 1.5);
      pen.globalAlpha *= 0.6;
      pen.strokeRect(x, y, size - 1.5, size - 1.5);
      const blank = value === 0 && !hatched;
      pen.globalAlpha = blank && t !== row ? 0.45 : 1;
      pen.fillStyle = shade.ink;
      pen.fillText(blank ? "0" : short(value, size), x + size / 2 - 0.75, y + size / 2);
    }
  pen.globalAlpha = 1;
  const outline = (x, y, width, height, attributes) =>
    svg("rect", { x, y, width, height, fill: "none", ...attributes });
  return [
    outline(at.x - 2.5, at.y + row * size - 2.5, T * size + 3.5, size + 3.5, {
      rx: 5,
      stroke: figure.theme.ink,
      "stroke-width": 1.5,
    }),
    cursor?.column < T &&
      outline(
        at.x + cursor.column * size - 1,
        at.y + cursor.row * size - 1,
        size + 0.5,
        size + 0.5,
        { rx: 4, stroke: figure.theme.focus, "stroke-width": 3, class: "cf-cursor" },
      ),
  ].filter(Boolean);
};

/** A column of numbers, each with a bar as long as it is large. */
const bars = (figure, at, state, { size, side, narrow }, { numbers, color, strong, cursor }) => {
  const largest = Math.max(1e-9, ...numbers.map(Math.abs));
  const room = side - (narrow ? 32 : 44);
  const group = svg("g");
  numbers.forEach((value, t) => {
    const y = at.y + t * size;
    const tint = value < 0 ? figure.theme.minus : color;
    group.append(
      svg("rect", {
        x: at.x,
        y: y + 1,
        width: room,
        height: size - 3.5,
        rx: 3,
        fill: "var(--cf-faint)",
      }),
      svg("rect", {
        x: at.x,
        y: y + 1,
        width: Math.max(1.5, (Math.abs(value) / largest) * room),
        height: size - 3.5,
        rx: 3,
        fill: tint,
        opacity: strong(t),
      }),
      label(at.x + side, y + size / 2, number(value), {
        "text-anchor": "end",
        "font-size": narrow ? 11 : 13,
      }),
    );
    if (cursor?.row === t && cursor.column === state.T)
      group.append(
        svg("rect", {
          x: at.x - 2,
          y: y - 1,
          width: side + 4,
          height: size + 0.5,
          rx: 4,
          fill: "none",
          stroke: figure.theme.focus,
          "stroke-width": 3,
        }),
      );
  });
  return group;
};

/** Lines from the inputs to the output that they feed, as thick as their weights. */
const threads = (figure, state, place) => {
  const { T, row, weights } = state;
  const { size, side, values, outputs } = place;
  const end = { x: outputs.x - 2, y: outputs.y + (row + 0.5) * size };
  const group = svg("g", { fill: "none" });
  for (let s = 0; s < T; s += 1) {
    const weight = weights[row * T + s];
    if (weight === 0) continue;
    const y = values.y + (s + 0.5) * size;
    const x = values.x + side + 2;
    const middle = (x + end.x) / 2;
    group.append(
      svg("path", {
        d: `M${x} ${y}C${middle} ${y} ${middle} ${end.y} ${end.x} ${end.y}`,
        stroke: weight < 0 ? figure.theme.soft : figure.theme.weight,
        "stroke-dasharray": weight < 0 ? "4 3" : null,
        "stroke-width": clamp(Math.abs(weight) * 7, 0.8, 7),
        "stroke-opacity": 0.65,
      }),
    );
  }
  return group;
};

/** The dot product of a row, written out. */
const written = ({ T, row, weights, values, outputs }) => {
  const terms = [];
  for (let s = 0; s < T; s += 1)
    if (weights[row * T + s] !== 0) terms.push([weights[row * T + s], values[s]]);
  const sum = terms
    .map(([w, x], i) => {
      const sign = w < 0 ? (i ? " − " : "−") : i ? " + " : "";
      const factor = x < 0 ? `(${number(x)})` : number(x);
      return `${sign}${number(Math.abs(w))}·${factor}`;
    })
    .join("");
  return `${sum || "nothing"} = ${number(outputs[row], 3)}`;
};

const WALK = [
  {
    set: { mode: "weights" },
    press: ["ones"],
    say: "Every weight is 1, so each output is the sum of all values, and the future counts as much as the past.",
  },
  {
    press: ["tril"],
    say: "Above the diagonal the weights are 0: output t adds up the values up to position t and none that come later.",
  },
  {
    press: ["running mean"],
    say: "Each row is divided by how many values it adds up, which makes every output the mean of the past.",
  },
  {
    set: { mode: "scores", masked: true },
    press: ["zeros"],
    say: "The same means in another way: equal scores, −∞ for the future, and a softmax along each row.",
  },
  {
    press: ["near counts more"],
    say: "If scores fall with the distance, near positions get more weight, and each row still adds up to 1.",
  },
];

export default defineFigure(
  ["values", "matrix", "scores", "mode", "masked", "row", "labels"],
  (figure) => {
    figure.title("Averaging");
    let cursor = { row: figure.get("row"), column: 0 };
    let typed = "";
    let state = null;
    let place = null;
    let draws = 1;

    choice(figure, "mode", {
      label: "What you edit",
      options: [
        ["weights", "weights"],
        ["scores", "scores → softmax"],
      ],
    });
    const mask = toggle(figure, "masked", { label: "mask the future" });
    const presets = controlRow(figure, "Presets");
    const buttons = Object.fromEntries(
      Object.entries(PRESETS).map(([mode, all]) => [
        mode,
        all.map(([name, make]) =>
          button(
            figure,
            name,
            () => {
              draws += 1;
              figure.set({
                [mode === "weights" ? "matrix" : "scores"]: make(
                  figure.get("values").shape[0],
                  random(draws),
                ),
              });
            },
            { parent: presets },
          ),
        ),
      ]),
    );
    buttons.weights.push(
      button(
        figure,
        "rows ÷ their sums",
        () => figure.set({ matrix: normalised(figure.get("matrix")) }),
        { parent: presets },
      ),
    );

    const drawing = svg("svg", {
      tabindex: 0,
      role: "application",
      "aria-roledescription": "editable matrix",
      "aria-label": "Weights, values and outputs",
    });
    const sheet = html("canvas", { class: "averaging-sheet", "aria-hidden": "true" });
    figure.stage.append(sheet, drawing);
    const formula = html("p", { class: "averaging-formula cf-mono" });
    const total = html("p");
    const editor = html("input", { type: "text", inputmode: "decimal", size: 6 });
    const editorName = html("span");
    figure.readout.append(formula, total, html("label", { class: "cf-field" }, editorName, editor));
    figure.hint(
      "Point at a row to see what feeds its output. Drag a cell sideways, or type a " +
        "number. Keys: arrows move, + and − change, digits type, Shift − begins a negative number, " +
        "Delete sets 0.",
    );
    figure.walk(WALK);

    const current = () =>
      cursor.column === state.T
        ? state.values[cursor.row]
        : state.edited.data[cursor.row * state.T + cursor.column];

    const spoken = () =>
      cursor.column === state.T
        ? `value ${state.labels[cursor.row]}: ${number(current())}`
        : `${state.mode === "weights" ? "weight" : "score"}, row ${state.labels[cursor.row]}, ` +
          `column ${state.labels[cursor.column]}: ${number(current())}. ` +
          `Output ${state.labels[cursor.row]}: ${number(state.outputs[cursor.row])}`;

    const write = (value) => {
      need(!Number.isNaN(value), "That is not a number.", "Type one like 0.25 or −3.");
      need(
        Number.isFinite(Math.fround(value)),
        "That number is too large for float32.",
        "Type one of at most 3.4e38 in size.",
      );
      state = compute(figure);
      const { T, mode } = state;
      if (cursor.column === T) {
        const values = Float32Array.from(state.values);
        values[cursor.row] = value;
        figure.set({ values: array([T], values) });
      } else {
        const edited = Float32Array.from(state.edited.data);
        edited[cursor.row * T + cursor.column] = value;
        figure.set({ [mode === "weights" ? "matrix" : "scores"]: array([T, T], edited) });
      }
      state = compute(figure);
    };

    const go = (row, column) => {
      cursor = { row, column };
      typed = "";
      if (figure.get("row") !== row) figure.set({ row });
      else figure.later();
    };

    /** The row and column of a point: of the matrix that is edited, or of the values. */
    const find = ({ x, y }) => {
      const { first, second, values, outputs, size, block, side } = place;
      const within = (at, wide) => x >= at.x && x < at.x + wide && y >= at.y && y < at.y + block;
      const row = (at) => Math.floor((y - at.y) / size);
      if (within(first, block))
        return { row: row(first), column: Math.floor((x - first.x) / size) };
      if (within(values, side)) return { row: row(values), column: state.T };
      if (within(second, block) || within(outputs, side)) return { row: row(second), column: null };
      return null;
    };

    figure.locate = (wanted) => {
      if (!place || !state) return null;
      const { T, labels, mode } = state;
      const part = partOfMatrix(wanted, {
        ...place.first,
        element: drawing,
        size: place.size,
        rows: T,
        columns: T,
        rowLabels: labels,
        columnLabels: labels,
      });
      if (part?.row === undefined || part?.column === undefined) return part;
      const value = number(state.edited.data[part.row * T + part.column]);
      const name = mode === "weights" ? "weight" : "score";
      return {
        ...part,
        words: `${name}, row ${labels[part.row]}, column ${labels[part.column]}: ${value}`,
      };
    };

    let held = null;
    drag(figure, drawing, {
      start(point) {
        state = compute(figure);
        const found = find(point);
        if (!found) return false;
        if (found.column === null) {
          go(found.row, cursor.column);
          return false;
        }
        drawing.focus({ preventScroll: true });
        go(found.row, found.column);
        held = { x: point.x, value: current() };
        return true;
      },
      move(point) {
        const { least, most, step } =
          cursor.column === state.T ? { least: -20, most: 20, step: 0.5 } : LIMITS[state.mode];
        const far = point.x - held.x;
        if (Math.abs(far) < 3) return;
        const value = held.value + Math.round(((far / 120) * (most - least)) / step / 2) * step;
        write(clamp(value, Math.min(least, held.value), Math.max(most, held.value)));
      },
      end() {
        held = null;
      },
    });
    figure.listen(drawing, "pointermove", (event) => {
      if (held || !place || event.pointerType === "touch") return;
      const found = find(pointIn(drawing, event));
      if (found && found.row !== figure.get("row")) go(found.row, cursor.column);
    });

    /**
     * What is typed after one more key: a sign begins a number, a key that fits into none is lost.
     */
    const longer = (key) =>
      /^[-−_]$/.test(key) ? "-" : /^-?\d*[.,]?\d*$/.test(typed + key) ? typed + key : typed;
    const isMinus = (key) => /^[-−]$/.test(key);
    onKeys(figure, drawing, (key, { shiftKey }) => {
      state = compute(figure);
      const { T, mode } = state;
      const step = cursor.column === T ? 1 : LIMITS[mode].step;
      const change = (by) => {
        typed = "";
        write(Math.round((current() + by) * 1000) / 1000);
      };
      const to = moveInTable(key, cursor, { rows: T, columns: T + 1 });
      if (key === "Home" || key === "End") go(cursor.row, key === "Home" ? 0 : T - 1);
      else if (to !== null) {
        go(to.row, to.column);
        state = compute(figure);
      } else if (key === "Delete" || key === "Backspace") {
        typed = "";
        write(0);
      } else if (key === "+" || key === "=") change(step);
      else if (/^[\d.,_]$/.test(key) || (isMinus(key) && shiftKey)) {
        typed = longer(key); // Shift with the minus key is an underscore on many keyboards
        const value = parse(typed);
        if (!Number.isNaN(value)) write(value);
      } else if (isMinus(key)) change(-step);
      else if (key === "Enter") {
        editor.focus();
        editor.select();
      } else return false;
      figure.say(spoken());
      return true;
    });
    figure.listen(drawing, "focus", () => {
      typed = "";
      state = compute(figure);
      figure.say(spoken());
    });
    figure.listen(editor, "change", () => {
      write(parse(editor.value));
      figure.say(spoken());
    });

    figure.draw(function* draw() {
      state = compute(figure);
      const { T, mode, row, labels } = state;
      cursor = { row, column: Math.min(cursor.column, T) };
      place = arrange(figure.width, state);
      const { size, side, first, second, values, outputs, block, two, stacked, gap } = place;
      for (const [name, all] of Object.entries(buttons))
        for (const preset of all) preset.hidden = name !== mode;
      mask.hidden = mode !== "scores";
      yield;
      const scale = Math.max(1, ...state.weights.map(Math.abs));
      const scoreScale = 2 * Math.max(1, ...state.edited.data.map(Math.abs));
      const pen = penOf(sheet, place.width, place.height);
      const parts = [
        label(
          first.x + block / 2,
          10,
          two ? marked("score", "scores") : marked("weight", "weights"),
        ),
        label(values.x + side / 2, values.y - 16, marked("value", "values")),
        label(outputs.x + side / 2, outputs.y - 16, "outputs"),
        label(values.x - gap / 2, values.y + block / 2, "×", { "font-size": 18 }),
        threads(figure, state, place),
        ...squares(figure, pen, first, state, place, {
          numbers: two ? state.scores : state.weights,
          scale: two ? scoreScale : scale,
          color: two ? "score" : "weight",
          cursor,
          hatched: two,
        }),
        bars(figure, values, state, place, {
          numbers: Array.from(state.values),
          cursor,
          color: figure.theme.value,
          strong: (s) => 0.3 + 0.6 * Math.min(1, Math.abs(state.weights[row * T + s]) / scale),
        }),
        bars(figure, outputs, state, place, {
          numbers: state.outputs,
          color: figure.theme.soft,
          strong: (t) => (t === row ? 0.95 : 0.4),
        }),
      ];
      if (two)
        parts.push(
          label(
            second.x + block / 2,
            second.y - 16,
            stacked ? "↓ ◆ softmax of each row" : "◆ softmax of each row",
          ),
          stacked
            ? ""
            : label((first.x + block + second.x) / 2, first.y + block / 2, "→", {
                "font-size": 20,
              }),
          ...squares(figure, pen, second, state, place, {
            numbers: state.weights,
            scale,
            color: "weight",
          }),
        );
      for (const at of two && stacked ? [first, second] : [first])
        parts.push(
          ...labels.map((text, t) =>
            label(at.x - 6, at.y + (t + 0.5) * size, text.slice(0, 3), {
              "text-anchor": "end",
              "font-size": 11,
              opacity: 0.8,
            }),
          ),
        );
      const other = arrange(figure.width, { T, mode: two ? "weights" : "scores" });
      // As high in one mode as in the other, where they stand side by side: nothing below moves.
      figure.stage.style.minHeight = `${stacked || other.stacked ? 0 : Math.max(place.height, other.height)}px`;
      drawing.setAttribute("width", place.width);
      drawing.setAttribute("height", place.height);
      drawing.replaceChildren(...parts.filter(Boolean));
      yield;
      const sum = number(state.sums[row]);
      setText(formula, `output ${labels[row]} = ${written(state)}`);
      setText(
        total,
        `The weights of row ${labels[row]} add up to ${sum}` +
          (Math.abs(state.sums[row] - 1) < 5e-4 ? ": an average." : ", not to 1: no average."),
      );
      setText(
        editorName,
        cursor.column === T
          ? `value ${labels[row]}`
          : `${mode === "weights" ? "weight" : "score"} in row ${labels[row]}, column ${labels[cursor.column]}`,
      );
      if (document.activeElement !== editor) editor.value = number(current(), 4);
      figure.reveal({
        weights: Array.from(state.weights),
        outputs: state.outputs,
        cells: [first.x, first.y, size],
      });
      figure.describe(
        `${mode === "weights" ? "Weights" : "Scores and their softmax"} of ${T} positions ` +
          `times ${T} values. Output ${labels[row]} = ${written(state)}. The weights of the row add ` +
          `up to ${sum}.`,
      );
    });
  },
);
