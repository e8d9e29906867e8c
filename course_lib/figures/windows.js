// A text, the windows cut from it, and what each position is asked.
const MOST = { rows: 4, positions: 16, symbols: 300 };
const TINTS = ["blue", "green", "violet", "orange"];

/** Tokens, inputs and targets: everything that follows from the state. */
const cut = (figure) => {
  const symbols = [...figure.get("text")];
  const given = figure.get("symbols");
  const vocabulary = given.length ? given : [...new Set(symbols)].sort((a, b) =>
    a.codePointAt(0) - b.codePointAt(0));
  const known = new Map(vocabulary.map((symbol, token) => [symbol, token]));
  course.need(symbols.length > 0, "The text is empty.", "Type a few words.");
  symbols.forEach((symbol, place) => course.need(known.has(symbol),
    `“${course.visible(symbol)}” at place ${place} is none of the ${known.size} symbols of the vocabulary.`,
    "Take it out of the text."));
  const T = figure.get("block_size");
  const most = symbols.length - T - 1;
  course.need(most >= 0, `The text has ${symbols.length} symbols; T = ${T} takes ${T + 1}, with the last target.`,
    "Type more, or make T smaller.");
  // A text that became shorter leaves windows behind its end: they stay at its end.
  const starts = Array.from(figure.get("starts").data, (start) => course.clamp(start, 0, most));
  course.need(starts.length >= 1 && starts.length <= MOST.rows, `There are ${starts.length} windows.`,
    `Give 1 to ${MOST.rows}.`);
  const tokens = symbols.map((symbol) => known.get(symbol));
  const table = (shift) => starts.map((start) => tokens.slice(start + shift, start + shift + T));
  const row = Math.min(figure.get("row"), starts.length - 1);
  const column = Math.min(figure.get("column"), T - 1);
  return { symbols, vocabulary, tokens, T, B: starts.length, starts, most, row, column,
    inputs: table(0), targets: table(1) };
};

const quoted = (symbols) => `“${symbols.map(course.visible).join("")}”`;

const word = (x, y, text, attributes = {}) => course.svg("text", { x, y, "text-anchor": "middle",
  "dominant-baseline": "central", "font-size": 14, ...attributes }, text);

const draw = (figure, { x, y, wide, high }, symbol, token, { shade, outline, dim, dashed } = {}) => {
  const group = course.svg("g", { opacity: dim ? 0.75 : 1 });
  group.append(course.svg("rect", { x: x + 0.75, y: y + 0.75, width: wide - 1.5, height: high - 1.5,
    rx: 3, fill: shade?.fill ?? figure.theme.paper, stroke: outline ?? figure.theme.line,
    "stroke-width": outline ? 2.5 : 1, "stroke-dasharray": dashed ? "3 2" : null }),
  word(x + wide / 2, y + high * 0.36, course.visible(symbol), {
    style: shade ? `fill:${shade.ink}` : null, class: "cf-mono", "font-size": wide < 18 ? 12 : 14 }),
  word(x + wide / 2, y + high * 0.78, String(token), { "font-size": wide < 18 ? 7.5 : 9,
    style: `fill:${shade?.ink ?? figure.theme.soft}` }));
  return group;
};

/** A symbol over its token, in a box: a part for `patch`. */
const tile = (figure, box, symbol, token, look = {}) => [
  [...Object.values(box), symbol, token, look.shade?.fill, look.outline, look.dashed, look.dim,
    figure.theme.paper].join(),
  () => draw(figure, box, symbol, token, look)];

/** A part for `patch` that is an SVG element with these attributes. */
const part = (tag, attributes, ...children) => [
  JSON.stringify([tag, attributes, children]), () => course.svg(tag, attributes, ...children)];
const wordPart = (x, y, text, attributes) => [JSON.stringify([x, y, text, attributes]),
  () => word(x, y, text, attributes)];

/** The whole text as tiles; each window is a bar of its own under the tiles it covers. */
const strip = (figure, state, width) => {
  const wide = width < 460 ? 17 : 20;
  const columns = Math.floor(width / wide);
  const high = 32;
  // The same for every B: with a window more, nothing moves.
  const line = high + 5 * MOST.rows + 4;
  const at = (place) => ({ x: (place % columns) * wide, y: Math.floor(place / columns) * line });
  const { symbols, tokens, starts, T, row, column } = state;
  const from = starts[row];
  const parts = symbols.map((symbol, place) => {
    const seen = place >= from && place <= from + column;
    const asked = place === from + column + 1;
    return tile(figure, { ...at(place), wide, high }, symbol, tokens[place], {
      shade: seen ? figure.heat(0.3, TINTS[row]) : null,
      outline: asked ? figure.theme.ink : null, dashed: asked });
  });
  starts.forEach((start, b) => {
    for (let t = 0; t < T; t += 1) {
      const { x, y } = at(start + t);
      parts.push(part("rect", { x: x + (t === 0 ? 2 : 0), y: y + high + 1 + 5 * b,
        width: wide - (t === 0 ? 2 : 0) - (t === T - 1 ? 2 : 0), height: 4,
        fill: figure.theme[TINTS[b]], opacity: b === row ? 1 : 0.5 }));
    }
  });
  return { parts, wide, high, line, columns, height: Math.ceil(symbols.length / columns) * line };
};

/** Inputs and targets, side by side or one above the other. */
const tables = (figure, state, width) => {
  const { T, B, row, column, vocabulary } = state;
  const stacked = width < 2 * (T * 22 + 30);
  const wide = Math.floor(course.clamp((stacked ? width - 28 : (width - 86) / 2) / T, 14, 34));
  const high = 38;
  const left = 26;
  const top = 26;
  const apart = stacked ? { x: 0, y: top + B * high + 14 } : { x: T * wide + 34, y: 0 };
  const parts = [];
  const places = [["inputs x", state.inputs, 0], ["targets y", state.targets, 1]]
    .map(([name, table, k]) => ({ name, table, k, x: left + k * apart.x, y: top + k * apart.y }));
  for (const { name, table, k, x, y } of places) {
    parts.push(wordPart(x, y - 14, `${name}  (B, T) = (${B}, ${T})`,
      { "text-anchor": "start", "font-size": 13 }));
    table.forEach((tokens, b) => {
      if (k === 0 || stacked)
        parts.push(wordPart(x - 14, y + b * high + high / 2, String(b), { "font-size": 11 }),
          part("rect", { x: x - 6, y: y + b * high + 4, width: 4, height: high - 8, rx: 2,
            fill: figure.theme[TINTS[b]] }));
      tokens.forEach((token, t) => {
        const seen = k === 0 && b === row && t <= column;
        const asked = k === 1 && b === row && t === column;
        parts.push(tile(figure, { x: x + t * wide, y: y + b * high, wide, high }, vocabulary[token],
          token, { shade: seen ? figure.heat(0.3, TINTS[b]) : null, dashed: asked,
            outline: asked ? figure.theme.ink : null, dim: b !== row }));
      });
    });
  }
  const last = places[1];
  return { parts, places, wide, high, width: last.x + T * wide + 2,
    height: last.y + B * high + 2 };
};

export default course.figure(["text", "symbols", "block_size", "starts", "row", "column"],
  (figure) => {
    figure.title("Windows and targets");
    const { html, svg } = course;
    let state = null;
    let band = null;
    let grid = null;
    let draws = 0;

    figure.field("text", { label: "Text", lines: 2, most: MOST.symbols });
    figure.slider("block_size", { label: "T, positions", min: 2, max: MOST.positions, step: 1 });
    const rows = () => figure.get("starts").data.length;
    const begin = (starts) => figure.set({ starts: course.array([starts.length], starts, "int32") });
    figure.slider({ read: rows, write(B) {
      const next = course.random(B + 100);
      begin(Array.from({ length: B }, (_, b) =>
        state.starts[b] ?? Math.floor(next() * (state.most + 1))));
    } }, { label: "B, windows", min: 1, max: MOST.rows, step: 1 });
    figure.button("draw places at random", () => {
      const next = course.random((draws += 1));
      begin(state.starts.map(() => Math.floor(next() * (state.most + 1))));
    });

    const ribbon = svg("svg", { tabindex: 0, role: "application",
      "aria-roledescription": "text with windows", "aria-label": "The text, and the windows on it" });
    const batch = svg("svg", { tabindex: 0, role: "application", "aria-roledescription": "batch",
      "aria-label": "Inputs and targets", style: "margin-top:0.6rem" });
    figure.stage.append(ribbon, batch);
    const asked = html("p");
    const numbers = html("p", { class: "cf-mono" });
    figure.readout.append(asked, numbers);
    figure.hint("Drag a window along the text; click a target to see what is known when it is asked. "
      + "Keys: on the text, ← → slide, ↑ ↓ choose a window, + − change T; on the tables, arrows move.");

    const spoken = () => {
      const { symbols, starts, row, column } = state;
      return `Window ${row} begins at place ${starts[row]}. Position ${column} sees `
        + `${symbols.slice(starts[row], starts[row] + column + 1).map(course.spoken).join(" ")} `
        + `and is asked for ${course.spoken(symbols[starts[row] + column + 1])}.`;
    };
    const speak = () => {
      state = cut(figure);
      figure.say(spoken());
    };
    const slide = (b, start) => {
      const starts = [...state.starts];
      starts[b] = course.clamp(start, 0, state.most);
      if (starts[b] !== state.starts[b]) begin(starts);
    };
    const look = (row, column) => figure.set({ row: course.clamp(row, 0, state.B - 1),
      column: course.clamp(column, 0, state.T - 1) });

    /** The place in the text under a point. */
    const place = ({ x, y }) => Math.floor(y / band.line) * band.columns
      + course.clamp(Math.floor(x / band.wide), 0, band.columns - 1);
    let held = null;
    figure.drag(ribbon, {
      start(point) {
        const here = place(point);
        const covers = (b) => here >= state.starts[b] && here < state.starts[b] + state.T;
        const others = state.starts.map((_, b) => b).filter(covers);
        const b = covers(state.row) ? state.row : others[0] ?? state.row;
        if (!covers(b)) slide(b, here);
        state = cut(figure);
        held = { b, offset: here - state.starts[b] };
        look(b, state.column);
        return true;
      },
      move(point) { slide(held.b, place(point) - held.offset); state = cut(figure); },
      end() { speak(); },
    });
    figure.listen(ribbon, "keydown", (event) => {
      const { row, T, starts, most, column } = state;
      const actions = {
        ArrowLeft: () => slide(row, starts[row] - 1), ArrowRight: () => slide(row, starts[row] + 1),
        Home: () => slide(row, 0), End: () => slide(row, most),
        ArrowUp: () => look(row - 1, column), ArrowDown: () => look(row + 1, column),
        "+": () => figure.set({ block_size: Math.min(T + 1, MOST.positions, T + most) }),
        "-": () => figure.set({ block_size: Math.max(T - 1, 2) }),
      };
      if (!(event.key in actions) || event.ctrlKey || event.metaKey) return;
      actions[event.key]();
      event.preventDefault();
      speak();
    });
    figure.listen(batch, "click", (event) => {
      const box = batch.getBoundingClientRect();
      const x = event.clientX - box.left;
      const y = event.clientY - box.top;
      for (const at of grid.places) {
        const row = Math.floor((y - at.y) / grid.high);
        const column = Math.floor((x - at.x) / grid.wide);
        if (row < 0 || row >= state.B || column < 0 || column >= state.T) continue;
        look(row, column);
        speak();
      }
    });
    figure.listen(batch, "keydown", (event) => {
      const { row, column, T } = state;
      const moves = { ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1],
        ArrowUp: [row - 1, column], ArrowDown: [row + 1, column], Home: [row, 0], End: [row, T - 1] };
      if (!(event.key in moves) || event.ctrlKey || event.metaKey) return;
      look(...moves[event.key]);
      event.preventDefault();
      speak();
    });
    for (const area of [ribbon, batch]) figure.listen(area, "focus", speak);

    figure.draw(() => {
      state = cut(figure);
      const { width } = figure;
      band = strip(figure, state, width);
      grid = tables(figure, state, width);
      for (const [area, drawn] of [[ribbon, { ...band, width }], [batch, grid]]) {
        area.setAttribute("width", drawn.width);
        area.setAttribute("height", drawn.height);
        if (!area.firstChild) area.append(svg("g"));
        course.patch(area.firstChild, drawn.parts);
      }
      const { symbols, starts, row, column, inputs, targets } = state;
      const seen = symbols.slice(starts[row], starts[row] + column + 1);
      const next = symbols[starts[row] + column + 1];
      asked.replaceChildren("Row ", html("b", null, String(row)), ", position ",
        html("b", null, String(column)), ": sees ", html("code", null, quoted(seen)),
        ", is asked for ", html("code", null, quoted([next])), ".");
      numbers.textContent = `x[${row}, :${column + 1}] = [${inputs[row].slice(0, column + 1).join(", ")}]  →  `
        + `y[${row}, ${column}] = ${targets[row][column]}`;
      figure.reveal({ inputs: inputs.flat(), targets: targets.flat() });
      figure.describe(`A text of ${symbols.length} symbols, cut into ${state.B} windows of ${state.T}. `
        + `In row ${row}, position ${column}, a model sees ${quoted(seen)} and is asked for ${quoted([next])}.`);
    });
  });
