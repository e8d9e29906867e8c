/** Losses over steps, with lines to compare them with. */
import { penOf } from "./canvas.js";
import { grouped } from "./numbers.js";

// Pixels, where a figure asks for no other height.
const HIGH = 300;
const [LEFT, RIGHT, TOP, BOTTOM] = [34, 8, 10, 34];
// Pixels between two labels.
const APART = 14;
// Pixels over a line in which the curve and its scatter would cross a label.
const NEAR = 28;

/** A number of steps, round and not smaller, for the end of the axis. */
const roundUp = (steps) => {
  const unit = 10 ** Math.floor(Math.log10(steps));
  return [1, 2, 5, 10].map((factor) => factor * unit).find((round) => round >= steps);
};

/**
 * Draw them on a canvas.
 *
 * @param {object} figure whose theme is used
 * @param {HTMLCanvasElement} area
 * @param {{room: number, high?: number, batches: number[][], validation: number[][], lines: object[]}} data
 *   [step, loss] each; lines are [{ loss, label }]; `room` is the width in pixels, `high` the height.
 */
export const lossChart = ({ theme }, area, data) => {
  const { room, high = HIGH, batches, validation, lines } = data;
  const pen = penOf(area, room, high);
  const losses = lines.map(({ loss }) => loss);
  const newest = validation.length ? validation.at(-1)[1] : Infinity;
  const most = Math.max(...losses) + 0.35;
  const least = Math.max(0, Math.min(...losses, newest) - 0.3);
  const steps = roundUp(Math.max(100, batches.at(-1)?.[0] ?? 0, validation.at(-1)?.[0] ?? 0));
  const x = (step) => LEFT + (step / steps) * (room - LEFT - RIGHT);
  const y = (loss) =>
    TOP + ((most - Math.min(most, Math.max(least, loss))) / (most - least)) * (high - TOP - BOTTOM);

  pen.font = `11px ${theme.font}`;
  pen.fillStyle = theme.soft;
  pen.strokeStyle = theme.line;
  pen.lineWidth = 1;
  pen.textAlign = "right";
  for (let loss = Math.ceil(2 * least) / 2; loss <= most; loss += 0.5) {
    pen.fillText(loss.toFixed(1), LEFT - 6, y(loss));
    pen.beginPath();
    pen.moveTo(LEFT - 3, y(loss));
    pen.lineTo(LEFT, y(loss));
    pen.stroke();
  }
  pen.beginPath();
  pen.moveTo(LEFT, TOP);
  pen.lineTo(LEFT, high - BOTTOM);
  pen.lineTo(room - RIGHT, high - BOTTOM);
  pen.stroke();
  for (const part of [0, 0.5, 1]) {
    pen.textAlign = part === 1 ? "right" : part ? "center" : "left";
    pen.fillText(grouped(part * steps), x(part * steps), high - BOTTOM + 12);
  }
  pen.textAlign = "center";
  pen.fillText("steps; loss in nats, lower is better", (LEFT + room) / 2, high - 7);

  const path = (points, color, width) => {
    pen.strokeStyle = color;
    pen.lineWidth = width;
    pen.beginPath();
    for (const [step, loss] of points) pen.lineTo(x(step), y(loss));
    pen.stroke();
  };
  path(batches, theme.soft, 1);
  path(validation, theme.plus, 2.5);
  pen.fillStyle = theme.plus;
  for (const [step, loss] of validation.slice(-1)) {
    pen.beginPath();
    pen.arc(x(step), y(loss), 4, 0, 2 * Math.PI);
    pen.fill();
  }

  pen.setLineDash([5, 4]);
  for (const { loss } of lines) {
    const ends = [0, steps].map((step) => [step, loss]);
    path(ends, theme.soft, 1);
  }
  pen.setLineDash([]);

  // Labels stand at the right, where the curve ends: above their lines, or below them where the
  // curve comes close from above, or where another label is in the way.
  let last = -Infinity;
  pen.textAlign = "right";
  for (const { loss, label } of [...lines].sort((a, b) => b.loss - a.loss)) {
    const above = y(loss) - y(newest);
    const side = above >= 0 && above < NEAR ? 8 : -7;
    const free = last + APART;
    // Pushed down to its own line, a label goes on to below it, so that the line does not cross it.
    const at = y(loss) + side >= free ? y(loss) + side : Math.max(free, y(loss) + 8);
    const width = pen.measureText(label).width;
    pen.fillStyle = theme.paper; // what is written on stands out from the curves
    pen.globalAlpha = 0.8;
    pen.fillRect(room - RIGHT - width - 2, at - 6, width + 4, 12);
    pen.globalAlpha = 1;
    pen.fillStyle = theme.ink;
    pen.fillText(label, room - RIGHT, at);
    last = at;
  }
};
