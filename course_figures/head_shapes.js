// Heads as shapes: a tensor's cells on their way into heads and back, and where memory holds them.
import { button, choice, controlRow } from "./runtime/controls.js";
import { html, refill, setText, svg, svgText } from "./runtime/elements.js";
import { need } from "./runtime/errors.js";
import { defineFigure } from "./runtime/frame.js";
import { ARROWS, onKeys } from "./runtime/keys.js";
import { NEXT_FRAME } from "./runtime/schedule.js";

const WIDEST = 8;
// Pixels of a cell that three digits still fit into; in narrower ones than the second, they are small.
const NARROWEST = 37;
const LEGIBLE = 40;
const SIGNS = ["★", "✚", "▼", "○"]; // not those of roles.js
const COLORS = ["group-1", "group-2", "group-3", "group-4"];
const STAND_IN = { view: "split", transposed: "merged" };

// ---- tensors: shape, strides, and memory, whose entries are numbers of x ------------------------

const contiguousStrides = (shape) =>
  shape.map((_, axis) => shape.slice(axis + 1).reduce((a, b) => a * b, 1));
const view = ({ memory }, shape) => ({ shape, strides: contiguousStrides(shape), memory });
const swap = ([a, b, c, d]) => [a, c, b, d];
const transpose = ({ shape, strides, memory }) => ({
  shape: swap(shape),
  strides: swap(strides),
  memory,
});

/** Every index of a shape, the last one running fastest. */
const indices = (shape) =>
  shape.reduce(
    (found, size) =>
      found.flatMap((index) => Array.from({ length: size }, (_, i) => [...index, i])),
    [[]],
  );
const address = (index, strides) => index.reduce((sum, i, axis) => sum + i * strides[axis], 0);
const read = ({ shape, strides, memory }) =>
  indices(shape).map((index) => memory[address(index, strides)]);
const copy = (tensor) => view({ memory: read(tensor) }, tensor.shape);
const contiguous = ({ shape, strides }) => {
  const wanted = contiguousStrides(shape);
  return shape.every((size, axis) => size === 1 || strides[axis] === wanted[axis]);
};

/**
 * Every stage of the route: its key, code, names of sizes, tensor, and what belongs in its cells.
 */
const route = ({ B, T, H, D, split, merge }) => {
  const C = H * D;
  const x = view({ memory: Array.from({ length: B * T * C }, (_, i) => i) }, [B, T, C]);
  const byTime = view(x, [B, T, H, D]);
  const byHead = transpose(byTime);
  const stages = [];
  const add = (key, code, names, tensor, right, copied = false) =>
    stages.push({ key, code, names, tensor, copied, source: read(tensor), belongs: read(right) });
  add("x", "x", "BTC", x, x);
  if (split === "transpose") {
    add("view", ".view(B, T, H, D)", "BTHD", byTime, byTime);
    add("split", ".transpose(1, 2)", "BHTD", byHead, byHead);
  } else add("split", ".view(B, H, T, D)", "BHTD", view(x, [B, H, T, D]), byHead);
  const found = copy(stages.at(-1).tensor);
  add("heads", "y = heads(…)", "BHTD", found, byHead, true);
  if (merge === "transpose") {
    const back = transpose(found);
    add("transposed", ".transpose(1, 2)", "BTHD", back, byTime);
    add("merged", ".reshape(B, T, C)", "BTC", view(copy(back), [B, T, C]), x, !contiguous(back));
  } else add("merged", ".view(B, T, C)", "BTC", view(found, [B, T, C]), x);
  return stages;
};

// ---- where cells are ----------------------------------------------------------------------------

/**
 * The last dimension runs across, the one before it down, the one before that in frames; b is
 * outermost.
 */
const arrange = (width, { names, tensor: { shape } }) => {
  const four = shape.length === 4 ? shape : [shape[0], 1, shape[1], shape[2]];
  const [B, frames, rows, columns] = four;
  const margin = 30;
  const most = Math.floor(Math.min(58, (width - margin - 6) / Math.max(columns, 5)));
  // All frames on one line, if the cells need not get too narrow for that.
  const fitting = Math.floor(((width + 14) / frames - margin - 14) / columns);
  const wide = fitting < NARROWEST ? most : Math.min(most, fitting);
  const high = 40;
  const frame = { width: margin + columns * wide + 14, height: rows * high + 34 };
  const perLine = Math.max(1, Math.floor((width + 14) / frame.width));
  const lines = Math.ceil(frames / perLine);
  const axis = (name, i) => `${{ B: "b", T: "t", H: "head" }[name]} ${i}`;
  const cells = [];
  const labels = [];
  for (let b = 0; b < B; b += 1)
    for (let f = 0; f < frames; f += 1) {
      const left = (f % perLine) * frame.width;
      const top = (b * lines + Math.floor(f / perLine)) * frame.height;
      const title = [
        B > 1 || frames === 1 ? axis("B", b) : null,
        shape.length === 4 ? axis(names[1], f) : null,
      ]
        .filter(Boolean)
        .join(", ");
      labels.push({ x: left, y: top + 4, text: title, strong: true });
      for (let i = 0; i < rows; i += 1) {
        const row = names.at(-2).toLowerCase();
        labels.push({ x: left, y: top + 26 + i * high + 12, text: `${row} ${i}` });
        for (let j = 0; j < columns; j += 1)
          cells.push({ x: left + margin + j * wide, y: top + 26 + i * high });
      }
    }
  return { cells, labels, wide, high, height: B * lines * frame.height };
};

/** Height that holds every arrangement of these sizes: what stands below keeps its place. */
const tallest = (width, { B, T, H, D }) =>
  Math.max(
    ...[
      ["BTC", [B, T, H * D]],
      ["BTHD", [B, T, H, D]],
      ["BHTD", [B, H, T, D]],
    ].map(([names, shape]) => arrange(width, { names, tensor: { shape } }).height),
  );

const plain = (index) => index.join(", ");

const WALK = [
  {
    set: { split: "transpose", merge: "transpose", stage: "x" },
    say: "x has C = H · D numbers for each position. Each color is a head that they are meant for.",
  },
  {
    set: { stage: "split" },
    say: "The view cuts C into H and D, and the transpose puts the heads before the positions: each head has a table of its own.",
  },
  {
    set: { split: "view" },
    say: "The view alone cuts the numbers in the order of memory, so cells hold what belongs to another head or position.",
  },
  {
    set: { split: "transpose", merge: "view", stage: "merged" },
    say: "The way back has the same trap: without the transpose, a position is given numbers of others.",
  },
  {
    set: { merge: "transpose" },
    say: "With the transpose, each number is back where it came from.",
  },
];

export default defineFigure(
  ["batch", "time", "heads", "head_size", "split", "merge", "stage", "selected"],
  (figure) => {
    figure.title("Heads as shapes");
    let shown = null; // the stage on screen, its places, and what was computed for it

    figure.beside();
    const sizes = controlRow(figure, "Sizes");
    const size = (name, label, meaning, most) => {
      const select = html(
        "select",
        { "aria-label": `${label}, ${meaning}` },
        Array.from({ length: most }, (_, i) => html("option", { value: i + 1 }, i + 1)),
      );
      sizes.append(
        html("label", { class: "cf-field head-shapes-size" }, html("span", null, label), select),
      );
      figure.bound.push(() => {
        select.value = figure.get(name);
      });
      figure.listen(select, "change", () => {
        const wanted = {
          batch: figure.get("batch"),
          time: figure.get("time"),
          heads: figure.get("heads"),
          head_size: figure.get("head_size"),
          [name]: Number(select.value),
        };
        // The other of the two gives way, so that C stays as narrow as a phone.
        const other = name === "heads" ? "head_size" : "heads";
        if (wanted.heads * wanted.head_size > WIDEST)
          wanted[other] = Math.floor(WIDEST / wanted[name === "heads" ? "heads" : "head_size"]);
        const cells = wanted.batch * wanted.time * wanted.heads * wanted.head_size;
        figure.set({ ...wanted, selected: Math.min(figure.get("selected"), cells - 1) });
      });
    };
    size("batch", "B", "sequences", 2);
    size("time", "T", "positions", 4);
    size("heads", "H", "heads", 4);
    size("head_size", "D", "channels of a head", 4);
    const channels = html("span");
    sizes.append(channels);
    choice(figure, "split", {
      label: "Way into the heads",
      options: [
        ["transpose", "in: view, transpose"],
        ["view", "in: view alone"],
      ],
    });
    choice(figure, "merge", {
      label: "Way out of the heads",
      options: [
        ["transpose", "out: transpose, reshape"],
        ["view", "out: view alone"],
      ],
    });

    const steps = html("div", {
      class: "cf-row head-shapes-steps",
      role: "group",
      "aria-label": "Operations, in order",
    });
    const legend = html("p", { class: "head-shapes-legend" });
    const board = html("div", {
      class: "head-shapes-board",
      role: "group",
      "aria-label": "Cells of the tensor",
    });
    const labels = html("div", { class: "head-shapes-labels", "aria-hidden": "true" });
    board.append(labels);
    const strip = svg("svg", { "aria-hidden": "true" });
    const stripName = html("p", { class: "head-shapes-memory" });
    figure.stage.append(steps, legend, board);
    const facts = html("p", { class: "cf-mono" });
    const verdict = html("p", { class: "head-shapes-verdict" });
    const followed = html("p");
    const strips = html("div");
    strips.append(stripName, strip);
    figure.readout.append(strips, facts, verdict, followed);
    figure.hint(
      "Choose an operation to see what it does. Choose a cell to follow its number; arrow " +
        "keys go to the next cell. Each cell says b t c: where it was in x.",
    );
    figure.walk(WALK);

    const cells = new Map(); // number of x → its cell; only the followed one is a stop of the Tab key

    const pick = (number) => {
      figure.set({ selected: number });
      cells.get(number).focus({ preventScroll: true });
    };

    /** The nearest cell in a direction, sideways steps counted double. */
    const beside = (from, across, down) => {
      let best = null;
      shown.place.cells.forEach((cell, i) => {
        const x = cell.x - from.x;
        const y = cell.y - from.y;
        const ahead = x * across + y * down;
        if (ahead <= 0) return;
        const cost = ahead + 2 * Math.abs(x * down) + 2 * Math.abs(y * across);
        if (best === null || cost < best.cost) best = { cost, i };
      });
      return best?.i;
    };

    /** What one cell shows; only what is another than before is written. */
    const drawCell = (number, { x, y, color, sign, text, wrong, chosen, label }) => {
      if (!cells.has(number)) {
        const built = html(
          "div",
          { role: "button", class: "head-shapes-cell", "data-number": number },
          html("span", { class: "head-shapes-sign" }),
          html("span"),
        );
        cells.set(number, built);
        board.append(built);
      }
      const cell = cells.get(number);
      const wanted = [x, y, color, sign, text, wrong, chosen, label].join();
      if (cell.shows === wanted) return;
      cell.shows = wanted;
      cell.style.transform = `translate(${x}px, ${y}px)`;
      cell.style.setProperty("--own", `var(--cf-${color})`);
      setText(cell.firstChild, sign);
      setText(cell.lastChild, text);
      cell.dataset.wrong = wrong;
      cell.setAttribute("aria-pressed", chosen);
      cell.setAttribute("aria-label", label);
      cell.tabIndex = chosen ? 0 : -1;
      cell.hidden = false;
    };

    const numberOf = (event) => {
      const cell = event.target.closest(".head-shapes-cell");
      return cell ? Number(cell.dataset.number) : null;
    };
    figure.listen(board, "click", (event) => {
      const number = numberOf(event);
      if (number !== null) pick(number);
    });
    onKeys(figure, board, (key, event) => {
      if (numberOf(event) === null) return false;
      const here = shown.place.cells[shown.source.indexOf(numberOf(event))];
      let next = null;
      if (key in ARROWS) next = beside(here, ...ARROWS[key]);
      else if (key === "Home") next = 0;
      else if (key === "End") next = shown.source.length - 1;
      else return false;
      if (next !== undefined) pick(shown.source[next]);
      return true;
    });

    const state = () => {
      const [B, T, H, D, split, merge, stage, selected] = [
        "batch",
        "time",
        "heads",
        "head_size",
        "split",
        "merge",
        "stage",
        "selected",
      ].map((name) => figure.get(name));
      need(
        [B, T, H, D].every((n) => Number.isInteger(n) && n >= 1) &&
          B <= 2 &&
          T <= 4 &&
          H * D <= WIDEST,
        `Sizes B = ${B}, T = ${T}, H = ${H}, D = ${D} cannot be shown.`,
        `Choose at most B = 2, T = 4 and H · D = ${WIDEST}.`,
      );
      need(selected < B * T * H * D, `x has no number ${selected}.`, `It has ${B * T * H * D}.`);
      return { B, T, H, D, C: H * D, split, merge, stage, selected };
    };

    const drawSteps = (stages, current) => {
      const known = [...steps.querySelectorAll("button")];
      const wanted = stages.map(({ key, code }) => `${key} ${code}`).join("|");
      if (steps.dataset.route !== wanted) {
        const focused = known.indexOf(document.activeElement);
        steps.dataset.route = wanted;
        steps.replaceChildren();
        stages.forEach(({ key, code }, i) => {
          // The way out has a line of its own: the picture keeps its place when a step is left out.
          if (stages[i - 1]?.key === "heads")
            steps.append(html("span", { class: "head-shapes-line" }));
          if (i > 0) steps.append(html("span", { "aria-hidden": "true" }, "→"));
          const step = button(figure, code, () => figure.set({ stage: key }), { parent: steps });
          step.classList.add("cf-mono");
          step.dataset.stage = key;
        });
        if (focused >= 0)
          steps.querySelectorAll("button")[Math.min(focused, stages.length - 1)].focus();
      }
      for (const step of steps.querySelectorAll("button"))
        step.setAttribute("aria-pressed", step.dataset.stage === current.key);
    };

    const drawCells = ({ names, source, belongs, tensor }, place, asked) => {
      const { T, C, D, selected } = asked;
      const every = indices(tensor.shape);
      refill(labels, place.labels, () =>
        place.labels.map(({ x, y, text, strong }) =>
          html(
            "span",
            {
              class: strong ? "head-shapes-title" : "head-shapes-row",
              style: `left:${x}px;top:${y}px`,
            },
            text,
          ),
        ),
      );
      source.forEach((number, i) => {
        const from = [Math.floor(number / (T * C)), Math.floor(number / C) % T, number % C];
        const head = Math.floor(from[2] / D);
        const wrong = number !== belongs[i];
        const at = every[i].map((n, axis) => `${names[axis].toLowerCase()} ${n}`).join(", ");
        drawCell(number, {
          ...place.cells[i],
          color: COLORS[head],
          wrong,
          chosen: number === selected,
          sign: `${SIGNS[head]}${wrong ? " ×" : ""}`,
          text: from.join(place.wide < LEGIBLE ? "·" : " "),
          label: `x[${plain(from)}] at ${at}${wrong ? ", wrong place" : ""}`,
        });
      });
      for (const [number, cell] of cells)
        if (number >= source.length) {
          cell.hidden = true;
          cell.shows = null;
        }
      board.style.height = `${tallest(figure.width, asked)}px`;
      board.dataset.narrow = place.wide < LEGIBLE;
      board.style.setProperty("--wide", `${place.wide - 4}px`);
      board.style.setProperty("--high", `${place.high - 5}px`);
    };

    const drawMemory = ({ tensor: { memory } }, { C, D, selected }) => {
      const width = figure.room(figure.readout);
      refill(strip, [C, D, width, memory], () => {
        const each = Math.min(24, Math.floor(width / 16));
        const perLine = Math.min(memory.length, Math.floor(width / each));
        strip.setAttribute("width", width);
        strip.setAttribute("height", Math.ceil(memory.length / perLine) * (each + 4) + 2);
        return memory.map((number, i) => {
          const x = (i % perLine) * each;
          const y = Math.floor(i / perLine) * (each + 4) + 2;
          const head = Math.floor((number % C) / D);
          return svg(
            "g",
            null,
            svg("rect", {
              x: x + 1,
              y,
              width: each - 2,
              height: each - 2,
              rx: 2,
              fill: `var(--cf-${COLORS[head]})`,
              "fill-opacity": 0.2,
            }),
            svgText(x + each / 2, y + each / 2 - 1, SIGNS[head], {
              "text-anchor": "middle",
              "font-size": each * 0.45,
            }),
          );
        });
      });
      strip.querySelector(".head-shapes-chosen")?.removeAttribute("class");
      strip.children[memory.indexOf(selected)].setAttribute("class", "head-shapes-chosen");
    };

    /** What is wrong now, in words; `stages` tells what was wrong in the heads. */
    const judge = (now, stages, { T, C }) => {
      const wrongIn = ({ source, belongs }) =>
        source.filter((number, i) => number !== belongs[i]).length;
      const wrong = wrongIn(now);
      const total = now.source.length;
      const place = now.names === "BTC" ? "place" : "head or position";
      if (wrong === 0) {
        const inside = wrongIn(stages.find(({ key }) => key === "heads"));
        const hidden =
          now.key === "merged" && inside > 0
            ? ` But in the heads ${inside} were wrong: the second mistake hides the first.`
            : "";
        return { wrong, short: `all ${total} cells are where they belong`, more: hidden };
      }
      const future =
        now.names !== "BHTD"
          ? 0
          : indices(now.tensor.shape).filter(
              (index, i) => Math.floor(now.source[i] / C) % T > index[2],
            ).length;
      return {
        wrong,
        short: `${wrong} of ${total} cells are in a wrong ${place}`,
        more:
          future > 0
            ? ` ${future} of them come from a later position: a causal mask cannot hide ` +
              "the future any more."
            : "",
      };
    };

    figure.draw(function* draw() {
      const all = state();
      const { B, T, C, selected } = all;
      const stages = route(all);
      const now =
        stages.find(({ key }) => key === all.stage) ??
        stages.find(({ key }) => key === STAND_IN[all.stage]);
      const place = arrange(figure.width, now);
      shown = { ...now, place };
      setText(channels, `C = H · D = ${C}`);
      drawSteps(stages, now);
      yield;
      drawCells(now, place, all);
      yield NEXT_FRAME;
      drawMemory(now, all);
      const signs = Array.from({ length: all.H }, (_, h) => {
        const range = all.D === 1 ? `${h}` : `${h * all.D} to ${(h + 1) * all.D - 1}`;
        return `${SIGNS[h]} channels ${range}, for head ${h}`;
      });
      setText(legend, [...signs, "× in a wrong place"].join("   "));
      const { shape, strides } = now.tensor;
      const names = [...now.names].join(", ");
      const order = contiguous(now.tensor)
        ? "in the order of memory"
        : "no longer in the order of memory";
      const touched = now.copied ? ", written anew" : now.key === "x" ? "" : ", untouched";
      setText(stripName, `Memory, ${B * T * C} numbers in a row${touched}:`);
      setText(facts, `(${names}) = (${plain(shape)})   strides (${plain(strides)})`);
      const { wrong, short, more } = judge(now, stages, all);
      const sentence = short[0].toUpperCase() + short.slice(1);
      verdict.replaceChildren(
        html("b", { class: "cf-strong" }, `${wrong ? "× " : "✓ "}${sentence}.`),
        more,
      );
      const i = now.source.indexOf(selected);
      const index = indices(shape)[i];
      const from = (number) =>
        `x[${plain([Math.floor(number / (T * C)), Math.floor(number / C) % T, number % C])}]`;
      const terms = index.map((n, axis) => `${n}·${strides[axis]}`).join(" + ");
      setText(
        followed,
        `${from(selected)} is at [${plain(index)}], address ${terms} = ` +
          `${address(index, strides)}. ` +
          (now.belongs[i] === selected
            ? "It belongs there."
            : `There belongs ${from(now.belongs[i])}.`),
      );
      figure.reveal({
        source: now.source,
        belongs: now.belongs,
        shape,
        strides,
        memory: now.tensor.memory,
      });
      figure.describe(
        `After ${now.code}: shape (${names}) = (${plain(shape)}), strides ` +
          `(${plain(strides)}), ${order}; ${short}.`,
      );
    });
  },
);
