// Softmax and scale: a row of scores and its weights, and the variance of dot products over D.
import { array, finite } from "./runtime/arrays.js";
import { button, controlRow, field, slider, toggle } from "./runtime/controls.js";
import { refill, setText, svg, svgText } from "./runtime/elements.js";
import { need } from "./runtime/errors.js";
import { defineFigure } from "./runtime/frame.js";
import { moveOnLine, onKeys } from "./runtime/keys.js";
import { clamp, number, parse } from "./runtime/numbers.js";
import { drag } from "./runtime/pointer.js";
import { softmax } from "./runtime/softmax.js";

const PAIRS = 256;
const LARGEST = 128;
const FEWEST = 2;
const MOST = 8;
const LOWEST = 35; // height of a row of the picture when there are so many
const REACH = 10;
const SIZES = [1, 2, 4, 8, 16, 32, 64, 128];
// Even steps of the logarithm, from 0.1 to 10, through 1.
const TEMPERATURES = Array.from({ length: 41 }, (_, i) =>
  Number((10 ** (i / 20 - 1)).toPrecision(i === 20 ? 1 : 3)),
);

/** Weights of one row, what the softmax was given, and what can be said about it. */
const softmaxRow = (scores, temperature, headSize, scaled) => {
  const scale = (scaled ? 1 : Math.sqrt(headSize)) / temperature;
  const logits = Array.from(scores, (score) => score * scale);
  const weights = Array.from(logits);
  softmax(weights, 0, weights.length);
  let entropy = 0;
  let squares = 0;
  weights.forEach((w, i) => {
    if (w > 0) entropy -= w * Math.log(w);
    weights.forEach((v, j) => {
      squares += ((i === j ? w : 0) - w * v) ** 2;
    });
  });
  return { logits, weights, entropy: Math.max(0, entropy), gradient: Math.sqrt(squares) };
};

/** The i-th of the numbers in (0, 1) that a seed fixes: Weyl sequence, MurmurHash3's finaliser. */
const uniform = (seed, i) => {
  let bits = (seed + Math.imul(i + 1, 0x9e3779b9)) >>> 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b) >>> 0;
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35) >>> 0;
  return (((bits ^ (bits >>> 16)) >>> 0) + 0.5) / 4294967296;
};

/** Dot products of random normal vectors over their first D channels: entry n·128 + D − 1. */
const dotProducts = (seed) => {
  const dots = new Float64Array(PAIRS * LARGEST);
  for (let n = 0; n < PAIRS; n += 1) {
    let sum = 0;
    for (let d = 0; d < LARGEST; d += 1) {
      const i = n * LARGEST + d;
      // Box and Muller give r cos a and r sin a; their product is r² sin(2a) / 2, r² = −2 log u.
      const angle = 2 * Math.PI * uniform(seed, PAIRS * LARGEST + i);
      sum -= Math.log(uniform(seed, i)) * Math.sin(2 * angle);
      dots[i] = sum;
    }
  }
  return dots;
};

/** Their variance over the pairs, for D = 1 … 128. */
const variances = (dots) => {
  const squares = new Float64Array(LARGEST);
  for (let d = 0; d < LARGEST; d += 1) {
    let mean = 0;
    for (let i = d; i < dots.length; i += LARGEST) mean += dots[i] / PAIRS;
    for (let i = d; i < dots.length; i += LARGEST) squares[d] += (dots[i] - mean) ** 2 / PAIRS;
  }
  return squares;
};

/** The sample that a seed fixes. */
const take = (seed) => {
  const dots = dotProducts(seed);
  return { seed, dots, raw: variances(dots) };
};

const line = (d, attributes = {}) =>
  svg("path", { d, fill: "none", stroke: "var(--cf-line)", ...attributes });
const bar = (x, y, width, height, attributes = {}) =>
  svg("rect", { x, y, width: Math.max(0, width), height, rx: 3, ...attributes });

/**
 * Where everything stands: the row on the left and the sample on the right, or one above the other.
 *
 * It is as high for few scores as for many: what stands below keeps its place.
 */
const arrange = (width, T) => {
  const wide = width >= 600;
  const left = wide ? Math.round(width * 0.55) : width;
  const track = { x: 30, width: Math.round((left - 96) * 0.46) };
  const weights = { x: track.x + track.width + 66, width: 0 };
  weights.width = left - weights.x - 42;
  const top = 44;
  const row = Math.min(60, Math.floor((MOST * LOWEST) / T));
  const gauges = top + MOST * LOWEST + 30;
  const right = wide ? { x: left + 56, y: 0 } : { x: 34, y: gauges + 106 };
  const chart = {
    ...right,
    width: width - right.x - 14,
    top: right.y + 44,
    height: wide ? 240 : 150,
  };
  const rug = chart.top + chart.height + 66;
  return { left, track, weights, top, row, gauges, chart, rug, height: rug + 74 };
};

/** A quantity between 0 and its largest value. */
const gauge = (place, y, { label, value, most, shown, color }) => {
  const { left } = place;
  const length = left - 30 - 8;
  return [
    svgText(30, y, label, { "font-weight": 600 }),
    svgText(left - 8, y, shown, { "text-anchor": "end" }),
    bar(30, y + 11, length, 6, { fill: "var(--cf-faint)" }),
    bar(30, y + 11, length * clamp(value / most, 0, 1), 6, { fill: color }),
    line(`M${30 + length} ${y + 8}v12`, { stroke: "var(--cf-soft)" }),
  ];
};

/** Variance over D, both axes doubling from line to line; sampled points and what is expected. */
const varianceChart = ({ chart }, raw, D) => {
  const { x, width, top, height } = chart;
  const across = (size) => x + (width * Math.log2(size)) / 7;
  const down = (variance) => top + height * (1 - (Math.log2(variance) + 1) / 8.5);
  const parts = [
    svgText(x - 26, chart.y + 10, "Variance of q·k as D grows", { "font-weight": 600 }),
    ...[1, 4, 16, 64].flatMap((value) => [
      line(`M${x} ${down(value)}h${width}`, { "stroke-opacity": 0.7 }),
      svgText(x - 8, down(value), value, { "text-anchor": "end", "font-size": 12, opacity: 0.85 }),
    ]),
    ...SIZES.map((size) =>
      svgText(across(size), top + height + 16, size, {
        "text-anchor": "middle",
        "font-size": size === D ? 13 : 11,
        "font-weight": size === D ? 700 : 400,
        opacity: size === D ? 1 : 0.85,
      }),
    ),
    svgText(x + width, top + height + 35, "head size D", { "text-anchor": "end", "font-size": 12 }),
    line(`M${across(D)} ${top - 6}V${top + height + 4}`, {
      stroke: "var(--cf-soft)",
      "stroke-dasharray": "2 3",
    }),
  ];
  for (const scaled of [false, true]) {
    const color = scaled ? "var(--cf-score)" : "var(--cf-soft)";
    const value = (size) => raw[size - 1] / (scaled ? size : 1);
    const points = Array.from(
      { length: LARGEST },
      (_, d) => `${across(d + 1).toFixed(1)} ${down(value(d + 1)).toFixed(1)}`,
    );
    parts.push(line(`M${points.join("L")}`, { stroke: color, "stroke-width": 2 }));
    for (const size of SIZES) {
      const [cx, cy, r] = [across(size), down(value(size)), size === D ? 5.5 : 3];
      parts.push(
        scaled
          ? line(`M${cx} ${cy - r}l${r} ${r}l${-r} ${r}l${-r} ${-r}z`, {
              stroke: color,
              fill: "var(--cf-paper)",
            })
          : line(`M${cx - r} ${cy - r}l${2 * r} ${2 * r}m0 ${-2 * r}l${-2 * r} ${2 * r}`, {
              stroke: color,
            }),
      );
    }
    parts.push(
      svgText(
        across(scaled ? 128 : 1) + (scaled ? 0 : 6),
        down(scaled ? 2 : 32),
        scaled ? "◇ q·k / √D stays near 1" : "× q·k grows like D",
        { "text-anchor": scaled ? "end" : "start", "font-size": 12.5, style: `fill:${color}` },
      ),
    );
  }
  return parts;
};

/** Every sampled dot product at the present D as a tick. */
const rugs = ({ chart, rug }, dots, D, raw) => {
  const { x, width } = chart;
  const left = x - 26;
  const room = width + 26;
  const across = (value) => left + room * (0.5 + clamp(value, -40, 40) / 80);
  const parts = [line(`M${left} ${rug + 55}h${room}`, { stroke: "var(--cf-soft)" })];
  for (const value of [-40, -20, 0, 20, 40])
    parts.push(
      line(`M${across(value)} ${rug + 55}v4`, { stroke: "var(--cf-soft)" }),
      svgText(across(value), rug + 67, number(value), {
        "font-size": 11,
        opacity: 0.85,
        "text-anchor": value === -40 ? "start" : value === 40 ? "end" : "middle",
      }),
    );
  [
    ["q·k", 1, "var(--cf-soft)"],
    ["q·k / √D", Math.sqrt(D), "var(--cf-score)"],
  ].forEach(([name, divisor, color], i) => {
    const y = rug + 26 * i;
    let d = "";
    for (let n = 0; n < PAIRS; n += 1)
      d += `M${across(dots[n * LARGEST + D - 1] / divisor).toFixed(1)} ${y + 1}v18`;
    parts.push(line(d, { stroke: color, "stroke-opacity": 0.45, "stroke-width": 1.25 }));
    const deviation = Math.sqrt(raw[D - 1]) / divisor;
    parts.push(
      line(`M${across(-deviation)} ${y + 22}H${across(deviation)}`, {
        stroke: color,
        "stroke-width": 3,
      }),
      svgText(left, y + 10, name, { "font-size": 12 }),
    );
  });
  return parts;
};

const WALK = [
  {
    set: { temperature: 1, scaled: true },
    say: "A softmax turns the row of scores into weights that add up to 1; a larger score gets a larger weight.",
  },
  {
    set: { temperature: 0.3 },
    say: "A temperature below 1 stretches the differences between scores, so the largest weight grows.",
  },
  {
    set: { temperature: 1, head_size: 64, scaled: false },
    say: "Products of vectors with 64 entries are about eight times as large. Without the division, the weights get closer to a choice of one.",
  },
  {
    set: { scaled: true },
    say: "Divided by √D, the products have the same spread for every D, and the weights are those of the first step.",
  },
];

export default defineFigure(["scores", "temperature", "head_size", "scaled", "seed"], (figure) => {
  figure.title("Softmax and scale");
  let sample = null;
  let place = null;

  const read = () => {
    const { data, shape } = figure.get("scores");
    need(
      shape.length === 1 && data.length >= FEWEST && data.length <= MOST,
      `A row of ${data.length} scores cannot be shown.`,
      `Give ${FEWEST} to ${MOST} scores.`,
    );
    finite("The row of scores", { data });
    return Array.from(data);
  };
  const put = (scores) => figure.set({ scores: array([scores.length], scores) });
  const rounded = (score) => clamp(Math.round(score * 10) / 10, -REACH, REACH);

  figure.body.classList.add("softmax_and_scale");
  slider(figure, "temperature", {
    label: "temperature τ",
    values: TEMPERATURES,
    show: (value) => number(value, value < 1 ? 2 : 1),
  });
  slider(figure, "head_size", { label: "head size D", values: SIZES });
  toggle(figure, "scaled", { label: "divide q·k by √D" });
  const row = controlRow(figure, "The row of scores");
  field(
    figure,
    {
      read: () =>
        read()
          .map((score) => number(score))
          .join(", "),
      write: (text) => {
        const typed = text
          .split(/[\s,;]+/)
          .filter(Boolean)
          .map(parse);
        need(
          typed.every(Number.isFinite),
          "One of the scores is not a number.",
          "Write numbers between commas, such as 2, 1, 0.5.",
        );
        need(
          typed.length >= FEWEST && typed.length <= MOST,
          `The row has ${typed.length} of them.`,
          `Write ${FEWEST} to ${MOST} scores between commas.`,
        );
        need(
          typed.every((score) => Math.abs(score) <= REACH),
          "A score is too large to be shown.",
          `Write numbers from −${REACH} to ${REACH}.`,
        );
        put(typed);
      },
    },
    { label: "scores", parent: row, size: 13, most: 80 },
  );
  const more = button(figure, "+ position", () => put([...read(), 0]), { parent: row });
  const less = button(figure, "− position", () => put(read().slice(0, -1)), { parent: row });
  button(figure, "all equal", () => put(read().map(() => 0)), { parent: row });
  button(
    figure,
    "sampled scores",
    () => {
      const D = figure.get("head_size");
      put(
        read().map((_, n) =>
          clamp(
            Math.round((sample.dots[n * LARGEST + D - 1] / Math.sqrt(D)) * 100) / 100,
            -REACH,
            REACH,
          ),
        ),
      );
    },
    { parent: row, title: "The first dot products of the sample, divided by √D" },
  );
  button(figure, "draw again", () => figure.set({ seed: (figure.get("seed") + 1) % 4294967296 }), {
    title: "Other random vectors",
  });
  const drawing = svg("svg", { role: "group", "aria-label": "Scores, weights and dot products" });
  const picture = { row: svg("g"), chart: svg("g"), rug: svg("g") };
  const handles = svg("g");
  drawing.append(...Object.values(picture), handles);
  figure.stage.append(drawing);
  figure.hint(
    "Drag a score sideways, or step to it with Tab and press ← → (Page keys for whole " +
      "steps, Delete for 0). Point at the chart to choose D.",
  );
  figure.walk(WALK);

  const range = (scores) => Math.max(4, ...scores.map((score) => Math.ceil(Math.abs(score))));
  let held = null; // the row that is dragged, and the range of the track when it was taken
  const reach = (scores) => held?.reach ?? range(scores);

  const knobs = Array.from({ length: MOST }, (_, t) => {
    const knob = svg(
      "g",
      {
        role: "slider",
        tabindex: 0,
        "aria-label": `score ${t}`,
        "aria-valuemin": -REACH,
        "aria-valuemax": REACH,
        style: "cursor:ew-resize",
      },
      svg("circle", { r: 15, fill: "transparent" }),
      svg("circle", {
        r: 7.5,
        fill: "var(--cf-paper)",
        stroke: "var(--cf-ink)",
        "stroke-width": 2.5,
      }),
    );
    onKeys(figure, knob, (key) => {
      const scores = read();
      const to = moveOnLine(key, scores[t], { least: -REACH, most: REACH, step: 0.1 });
      if (to !== null) scores[t] = rounded(to);
      else if (key === "Delete" || key === "Backspace") scores[t] = 0;
      else return false;
      put(scores);
      return true;
    });
    handles.append(knob);
    return knob;
  });

  const drop = ({ x }) => {
    const { track } = place;
    const scores = read();
    scores[held.t] = clamp(
      rounded(((x - track.x) / track.width) * 2 * held.reach - held.reach),
      -held.reach,
      held.reach,
    );
    put(scores);
  };
  const choose = ({ x }) => {
    const { chart } = place;
    const nearest = Math.round(clamp((x - chart.x) / chart.width, 0, 1) * 7);
    if (SIZES[nearest] !== figure.get("head_size")) figure.set({ head_size: SIZES[nearest] });
  };
  drag(figure, drawing, {
    start(point) {
      const scores = read();
      const { track, top, row: high, chart } = place;
      const t = Math.floor((point.y - top) / high);
      if (
        t >= 0 &&
        t < scores.length &&
        Math.abs(point.x - track.x - track.width / 2) < track.width / 2 + 16
      ) {
        held = { t, reach: range(scores) };
        knobs[t].focus({ preventScroll: true });
        drop(point);
        return true;
      }
      if (
        point.y > chart.top - 10 &&
        point.y < chart.top + chart.height + 30 &&
        point.x > chart.x - 20
      ) {
        held = null;
        choose(point);
        return true;
      }
      return false;
    },
    move: (point) => (held ? drop(point) : choose(point)),
    end() {
      held = null;
      figure.later();
    },
  });

  const drawRow = (scores, { logits, weights, entropy, gradient }, scaled) => {
    const { track, top, row: high, left, gauges } = place;
    const most = reach(scores);
    const T = scores.length;
    const across = (score) => track.x + track.width * (0.5 + score / (2 * most));
    const largest = Math.max(...weights);
    const below = place.weights.width > 100 ? "◆ softmax of the logits" : "◆ their softmax";
    const parts = [
      svgText(track.x, 10, "Scores", { "font-weight": 600 }),
      svgText(place.weights.x, 10, "Weights", { "font-weight": 600 }),
      svgText(track.x + track.width + 33, 10, "logits", { "text-anchor": "middle" }),
      svgText(track.x + track.width + 33, 28, scaled ? "s / τ" : "s √D / τ", {
        "text-anchor": "middle",
        "font-size": 12,
        "font-style": "italic",
      }),
      svgText(place.weights.x, 28, below, { "font-size": 12 }),
      ...[-most, 0, most].map((value) =>
        svgText(across(value), 28, number(value), {
          "text-anchor": value < 0 ? "start" : value > 0 ? "end" : "middle",
          "font-size": 11,
          opacity: 0.85,
        }),
      ),
      line(`M${across(0)} ${top}v${T * high}`, {
        "stroke-dasharray": "2 3",
        stroke: "var(--cf-soft)",
      }),
    ];
    scores.forEach((score, t) => {
      const y = top + (t + 0.5) * high;
      const long = place.weights.width * weights[t];
      const strong = weights[t] === largest ? 700 : 400;
      parts.push(
        svgText(8, y, t, { opacity: 0.85 }),
        line(`M${track.x} ${y}h${track.width}`),
        line(`M${across(0)} ${y}H${across(clamp(score, -most, most))}`, {
          stroke: "var(--cf-ink)",
          "stroke-width": 2.5,
        }),
        svgText(
          track.x + track.width + 33,
          y,
          number(logits[t], Math.abs(logits[t]) < 10 ? 2 : 1),
          { "text-anchor": "middle" },
        ),
        bar(place.weights.x, y - 11, place.weights.width, 22, { fill: "var(--cf-faint)" }),
        bar(place.weights.x, y - 11, Math.max(1.5, long), 22, { fill: "var(--cf-weight)" }),
        svgText(left - 2, y, weights[t] < 0.005 && weights[t] > 0 ? "≈ 0" : weights[t].toFixed(2), {
          "text-anchor": "end",
          "font-weight": strong,
        }),
      );
      const knob = knobs[t];
      knob.setAttribute(
        "transform",
        `translate(${across(clamp(score, -most, most)).toFixed(1)} ${y})`,
      );
      knob.setAttribute("aria-valuenow", score.toFixed(2));
      knob.setAttribute("aria-valuetext", `${number(score)}, weight ${weights[t].toFixed(2)}`);
    });
    knobs.forEach((knob, t) => {
      knob.style.display = t < T ? "" : "none";
    });
    return [
      ...parts,
      ...gauge(place, gauges, {
        label: "Entropy",
        value: entropy,
        most: Math.log(T),
        shown: `${number(entropy)} of ln ${T} = ${number(Math.log(T))} nats`,
        color: "var(--cf-soft)",
      }),
      ...gauge(place, gauges + 40, {
        label: "Gradient",
        value: gradient,
        most: 0.5,
        shown: `${number(gradient, 3)} of at most 0.5`,
        color: "var(--cf-soft)",
      }),
    ];
  };

  figure.draw(function* draw() {
    const scores = read();
    const [temperature, D, scaled, seed] = ["temperature", "head_size", "scaled", "seed"].map(
      (name) => figure.get(name),
    );
    if (sample?.seed !== seed) sample = take(seed);
    yield;
    const now = softmaxRow(scores, temperature, D, scaled);
    const { width } = figure;
    place = arrange(width, scores.length);
    drawing.setAttribute("width", width);
    drawing.setAttribute("height", place.height);
    const raw = sample.raw[D - 1];
    refill(picture.row, [scores, now.logits, reach(scores), scaled, width], () =>
      drawRow(scores, now, scaled),
    );
    yield;
    refill(picture.chart, [seed, D, width], () => varianceChart(place, sample.raw, D));
    yield;
    refill(picture.rug, [seed, D, width], () => rugs(place, sample.dots, D, sample.raw));
    yield;
    more.disabled = scores.length >= MOST;
    less.disabled = scores.length <= FEWEST;
    const top = now.weights.indexOf(Math.max(...now.weights));
    const saturated = now.gradient < 0.05;
    setText(
      figure.readout,
      `Sampled over ${PAIRS} pairs at D = ${D}: variance ${number(raw, 1)} ` +
        `of q·k, ${number(raw / D)} of q·k / √D. ` +
        (saturated
          ? "The softmax is nearly saturated: one weight takes almost all, and almost no " +
            "gradient reaches the scores."
          : scaled
            ? "Divided by √D, the weights do not depend on D."
            : "Not divided, the logits are √D times as wide."),
    );
    figure.reveal({
      ...now,
      entropy: [now.entropy],
      gradient: [now.gradient],
      dots: sample.dots,
      variances: sample.raw,
      seed: [sample.seed],
    });
    figure.describe(
      `Scores ${scores.map((score) => number(score)).join(", ")} at temperature ` +
        `${number(temperature)}, D = ${D}, ${scaled ? "divided" : "not divided"} by √D: the largest ` +
        `weight is ${number(now.weights[top])}, on position ${top}. Entropy ${number(now.entropy)} of ` +
        `at most ${number(Math.log(scores.length))} nats, gradient ${number(now.gradient, 3)}. The ` +
        `sampled variance of q·k is ${number(raw, 1)}, that of q·k/√D ${number(raw / D)}.`,
    );
  });
});
