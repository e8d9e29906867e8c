// A text, the windows cut from it, and what each position is asked.
import { array } from "./runtime/arrays.js";
import { penOf } from "./runtime/canvas.js";
import { button, field, slider } from "./runtime/controls.js";
import { html, setText } from "./runtime/elements.js";
import { need } from "./runtime/errors.js";
import { defineFigure } from "./runtime/frame.js";
import { moveInTable, onKeys } from "./runtime/keys.js";
import { clamp } from "./runtime/numbers.js";
import { drag, pointIn } from "./runtime/pointer.js";
import { random } from "./runtime/random.js";
import { quoted, spoken, visible } from "./runtime/symbols.js";
import { heat } from "./runtime/theme.js";

const MOST = { rows: 4, positions: 16, symbols: 300 };
const TINTS = ["group-1", "group-2", "group-3", "group-4"];

/** Tokens, inputs and targets: everything that follows from the state. */
const cut = (figure) => {
  const symbols = [...figure.get("text")];
  const given = figure.get("symbols");
  const vocabulary = given.length
    ? given
    : [...new Set(symbols)].sort((a, b) => a.codePointAt(0) - b.codePointAt(0));
  const known = new Map(vocabulary.map((symbol, token) => [symbol, token]));
  need(symbols.length > 0, "The text is empty.", "Type a few words.");
  const strange = symbols.findIndex((symbol) => !known.has(symbol));
  need(
    strange < 0,
    `“${visible(symbols[strange])}” at place ${strange} is none of the ${known.size} symbols of the vocabulary.`,
    "Take it out of the text.",
  );
  const T = figure.get("block_size");
  const most = symbols.length - T - 1;
  need(
    most >= 0,
    `The text has ${symbols.length} symbols; T = ${T} takes ${T + 1}, with the last target.`,
    "Type more, or make T smaller.",
  );
  // A text that became shorter leaves windows behind its end: they stay at its end.
  const starts = Array.from(figure.get("starts").data, (start) => clamp(start, 0, most));
  need(
    starts.length >= 1 && starts.length <= MOST.rows,
    `There are ${starts.length} windows.`,
    `Give 1 to ${MOST.rows}.`,
  );
  const tokens = symbols.map((symbol) => known.get(symbol));
  const table = (shift) => starts.map((start) => tokens.slice(start + shift, start + shift + T));
  const row = Math.min(figure.get("row"), starts.length - 1);
  const column = Math.min(figure.get("column"), T - 1);
  return {
    symbols,
    vocabulary,
    tokens,
    T,
    B: starts.length,
    starts,
    most,
    row,
    column,
    inputs: table(0),
    targets: table(1),
  };
};

/**
 * Tiles of one size: a symbol over its token, in a box.
 *
 * Each is { x, y, symbol, token, shade?, asked?, dim? }. One font after the other: to change the
 * font costs more than to write in it.
 */
const paint = (figure, pen, tiles, { wide, high }) => {
  const { ink, soft, line, paper, font } = figure.theme;
  const narrow = wide < 18;
  pen.textAlign = "center";
  for (const { x, y, shade, asked, dim } of tiles) {
    const inset = asked ? 1.75 : 0.75;
    pen.globalAlpha = dim ? 0.75 : 1;
    pen.fillStyle = shade?.fill ?? paper;
    pen.strokeStyle = asked ? ink : line;
    pen.lineWidth = asked ? 2.5 : 1;
    pen.setLineDash(asked ? [3, 2] : []);
    pen.fillRect(x + inset, y + inset, wide - 2 * inset, high - 2 * inset);
    pen.strokeRect(x + inset, y + inset, wide - 2 * inset, high - 2 * inset);
  }
  const write = (style, height, text, color) => {
    pen.font = style;
    for (const tile of tiles) {
      pen.globalAlpha = tile.dim ? 0.75 : 1;
      pen.fillStyle = tile.shade?.ink ?? color;
      pen.fillText(text(tile), tile.x + wide / 2, tile.y + high * height);
    }
  };
  write(
    `${narrow ? 12 : 14}px ui-monospace, Menlo, Consolas, monospace`,
    0.36,
    ({ symbol }) => visible(symbol),
    ink,
  );
  write(`9px ${font}`, 0.78, ({ token }) => String(token), soft);
  pen.globalAlpha = 1;
};

/** The whole text as tiles; each window is a bar of its own under the tiles it covers. */
const drawText = (figure, area, state, width) => {
  const wide = width < 460 ? 17 : 20;
  const columns = Math.floor(width / wide);
  const high = 32;
  // The same for every B: with a window more, nothing moves.
  const line = high + 5 * MOST.rows + 4;
  const at = (place) => ({ x: (place % columns) * wide, y: Math.floor(place / columns) * line });
  const { symbols, tokens, starts, T, row, column } = state;
  const pen = penOf(area, width, Math.ceil(symbols.length / columns) * line);
  const from = starts[row];
  paint(
    figure,
    pen,
    symbols.map((symbol, place) => ({
      ...at(place),
      symbol,
      token: tokens[place],
      shade: place >= from && place <= from + column ? heat(figure.theme, 0.3, TINTS[row]) : null,
      asked: place === from + column + 1,
    })),
    { wide, high },
  );
  starts.forEach((start, b) => {
    pen.globalAlpha = b === row ? 1 : 0.5;
    pen.fillStyle = figure.theme[TINTS[b]];
    for (let t = 0; t < T; t += 1) {
      const { x, y } = at(start + t);
      pen.fillRect(
        x + (t === 0 ? 2 : 0),
        y + high + 1 + 5 * b,
        wide - (t === 0 ? 2 : 0) - (t === T - 1 ? 2 : 0),
        4,
      );
    }
  });
  return { wide, high, line, columns };
};

/** Inputs and targets, side by side or one above the other. */
const drawTables = (figure, area, state, width) => {
  const { T, B, row, column, vocabulary } = state;
  const stacked = width < 2 * (T * 22 + 30);
  const wide = Math.floor(clamp((stacked ? width - 28 : (width - 86) / 2) / T, 14, 34));
  const high = 38;
  const left = 26;
  const top = 26;
  const apart = stacked ? { x: 0, y: top + B * high + 14 } : { x: T * wide + 34, y: 0 };
  const places = [
    ["inputs x", state.inputs],
    ["targets y", state.targets],
  ].map(([name, table], k) => ({ name, table, x: left + k * apart.x, y: top + k * apart.y }));
  const last = places[1];
  const pen = penOf(area, last.x + T * wide + 2, last.y + B * high + 2);
  const write = (size, text, x, y, align) => {
    pen.textAlign = align;
    pen.font = `${size}px ${figure.theme.font}`;
    pen.fillStyle = figure.theme.ink;
    pen.fillText(text, x, y);
  };
  const tiles = [];
  places.forEach(({ name, table, x, y }, k) => {
    write(13, `${name}  (B, T) = (${B}, ${T})`, x, y - 14, "start");
    table.forEach((tokens, b) => {
      if (k === 0 || stacked) {
        write(11, String(b), x - 14, y + b * high + high / 2, "center");
        pen.fillStyle = figure.theme[TINTS[b]];
        pen.fillRect(x - 6, y + b * high + 4, 4, high - 8);
      }
      tiles.push(
        ...tokens.map((token, t) => ({
          x: x + t * wide,
          y: y + b * high,
          symbol: vocabulary[token],
          token,
          dim: b !== row,
          shade: k === 0 && b === row && t <= column ? heat(figure.theme, 0.3, TINTS[b]) : null,
          asked: k === 1 && b === row && t === column,
        })),
      );
    });
  });
  paint(figure, pen, tiles, { wide, high });
  return { places, wide, high };
};

const WALK = [
  {
    set: { row: 0, column: 0 },
    say: "A window is a row of T tokens. The first target is asked for when only the first token is known.",
  },
  {
    set: (figure) => ({ column: figure.get("block_size") - 1 }),
    say: "The last target is asked for with the whole window in view, and lies one token behind it in the text.",
  },
  {
    press: ["draw places at random"],
    say: "For training, windows begin at places drawn at random. They may overlap, and some tokens lie in none.",
  },
];

export default defineFigure(
  ["text", "symbols", "block_size", "starts", "row", "column"],
  (figure) => {
    figure.title("Windows and targets");
    let state = null;
    let band = null;
    let grid = null;
    let draws = 0;
    let put = null; // where the windows were put, as long as a short text moves them
    let moved = null;

    const places = (starts) => array([starts.length], starts, "int32");
    /** Another text or another T: windows and target that no longer lie in it go with it. */
    const resize = (changes) => {
      if (figure.get("starts") !== moved) put = figure.get("starts").data;
      const T = changes.block_size ?? figure.get("block_size");
      const most = [...(changes.text ?? figure.get("text"))].length - T - 1;
      const starts = Array.from(put, (start) => clamp(start, 0, Math.max(0, most)));
      // Of a text that is too short for any window the figure says so, and the windows wait.
      figure.set(
        most < 0
          ? changes
          : { ...changes, starts: places(starts), column: Math.min(figure.get("column"), T - 1) },
      );
      if (most >= 0) moved = figure.get("starts");
    };
    const bound = (name) => ({
      read: () => figure.get(name),
      write: (value) => resize({ [name]: value }),
    });
    field(figure, bound("text"), { label: "Text", lines: 2, most: MOST.symbols });
    slider(figure, bound("block_size"), {
      label: "T, positions",
      min: 2,
      max: MOST.positions,
      step: 1,
    });
    const rows = () => figure.get("starts").data.length;
    const begin = (starts) =>
      figure.set({ starts: places(starts), row: Math.min(figure.get("row"), starts.length - 1) });
    slider(
      figure,
      {
        read: rows,
        write(B) {
          const { starts, most } = cut(figure);
          const next = random(B + 100);
          begin(Array.from({ length: B }, (_, b) => starts[b] ?? Math.floor(next() * (most + 1))));
        },
      },
      { label: "B, windows", min: 1, max: MOST.rows, step: 1 },
    );
    button(figure, "draw places at random", () => {
      const { starts, most } = cut(figure);
      draws += 1;
      const next = random(draws);
      begin(starts.map(() => Math.floor(next() * (most + 1))));
    });

    const sheet = (name, label) =>
      html("canvas", {
        class: "windows-sheet",
        tabindex: 0,
        role: "application",
        "aria-roledescription": name,
        "aria-label": label,
      });
    const ribbon = sheet("text with windows", "The text, and the windows on it");
    const batch = sheet("batch", "Inputs and targets");
    figure.stage.append(ribbon, batch);
    const asked = html("p");
    const numbers = html("p", { class: "cf-mono" });
    figure.readout.append(asked, numbers);
    figure.hint(
      "Drag a window along the text; click a target to see what is known when it is asked. " +
        "Keys: on the text, ← → slide, ↑ ↓ choose a window, + − change T; on the tables, arrows move.",
    );
    figure.walk(WALK);

    const sentence = () => {
      const { symbols, starts, row, column } = state;
      const seen = symbols.slice(starts[row], starts[row] + column + 1);
      return (
        `Window ${row} begins at place ${starts[row]}. Position ${column} sees ` +
        `${seen.map(spoken).join(" ")} and is asked for ${spoken(symbols[starts[row] + column + 1])}.`
      );
    };
    const speak = () => {
      state = cut(figure);
      figure.say(sentence());
    };
    const slide = (b, start) => {
      const starts = [...state.starts];
      starts[b] = clamp(start, 0, state.most);
      if (starts[b] !== state.starts[b]) begin(starts);
    };
    const look = (row, column) =>
      figure.set({ row: clamp(row, 0, state.B - 1), column: clamp(column, 0, state.T - 1) });

    /** The place in the text under a point. */
    const place = ({ x, y }) =>
      Math.floor(y / band.line) * band.columns +
      clamp(Math.floor(x / band.wide), 0, band.columns - 1);
    let held = null;
    drag(figure, ribbon, {
      start(point) {
        state = cut(figure);
        const here = place(point);
        const covers = (k) => here >= state.starts[k] && here < state.starts[k] + state.T;
        const others = [...state.starts.keys()].filter(covers);
        const b = covers(state.row) ? state.row : (others[0] ?? state.row);
        if (!covers(b)) slide(b, here);
        state = cut(figure);
        held = { b, offset: here - state.starts[b] };
        look(b, state.column);
        return true;
      },
      move(point) {
        slide(held.b, place(point) - held.offset);
        state = cut(figure);
      },
      end() {
        speak();
      },
    });
    onKeys(figure, ribbon, (key) => {
      state = cut(figure);
      const { row, T, starts, most, column } = state;
      const actions = {
        ArrowLeft: () => slide(row, starts[row] - 1),
        ArrowRight: () => slide(row, starts[row] + 1),
        Home: () => slide(row, 0),
        End: () => slide(row, most),
        ArrowUp: () => look(row - 1, column),
        ArrowDown: () => look(row + 1, column),
        "+": () => resize({ block_size: Math.min(T + 1, MOST.positions, T + most) }),
        "-": () => resize({ block_size: Math.max(T - 1, 2) }),
      };
      if (!(key in actions)) return false;
      actions[key]();
      speak();
      return true;
    });
    figure.listen(batch, "click", (event) => {
      state = cut(figure);
      const { x, y } = pointIn(batch, event);
      for (const at of grid.places) {
        const row = Math.floor((y - at.y) / grid.high);
        const column = Math.floor((x - at.x) / grid.wide);
        if (row < 0 || row >= state.B || column < 0 || column >= state.T) continue;
        look(row, column);
        speak();
      }
    });
    onKeys(figure, batch, (key) => {
      state = cut(figure);
      const to = moveInTable(key, state, { rows: state.B, columns: state.T });
      if (to === null) return false;
      look(to.row, to.column);
      speak();
      return true;
    });
    for (const area of [ribbon, batch]) figure.listen(area, "focus", speak);

    figure.draw(function* draw() {
      state = cut(figure);
      const { width } = figure;
      band = drawText(figure, ribbon, state, width);
      yield;
      grid = drawTables(figure, batch, state, width);
      yield;
      const { symbols, starts, row, column, inputs, targets } = state;
      const seen = symbols.slice(starts[row], starts[row] + column + 1);
      const next = symbols[starts[row] + column + 1];
      asked.replaceChildren(
        "Row ",
        html("b", null, String(row)),
        ", position ",
        html("b", null, String(column)),
        ": sees ",
        html("code", null, quoted(seen)),
        ", is asked for ",
        html("code", null, quoted([next])),
        ".",
      );
      setText(
        numbers,
        `x[${row}, :${column + 1}] = [${inputs[row].slice(0, column + 1).join(", ")}]  →  ` +
          `y[${row}, ${column}] = ${targets[row][column]}`,
      );
      figure.reveal({
        inputs: inputs.flat(),
        targets: targets.flat(),
        text: [band.wide, band.line, band.columns],
        tables: grid.places.flatMap(({ x, y }) => [x, y, grid.wide, grid.high]),
      });
      figure.describe(
        `A text of ${symbols.length} symbols, cut into ${state.B} windows of ${state.T}. ` +
          `In row ${row}, position ${column}, a model sees ${quoted(seen)} and is asked for ${quoted([next])}.`,
      );
    });
  },
);
