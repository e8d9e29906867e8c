import { html, uniqueId } from "./elements.js";
import { RAMP_STEPS } from "./theme.js";

/**
 * All heads of all layers as small maps, of which the reader chooses one.
 *
 * Bound to the traits `layer` and `head`. Returns { update({ L, H, T, weight }), node }, where
 * weight(layer, head, t, s) is in 0 … 1.
 */
export const headPicker = (figure, { parent }) => {
  const group = uniqueId();
  const node = html(
    "fieldset",
    { class: "cf-heads" },
    html("legend", null, "Choose a head: one row a layer"),
  );
  parent.append(node);
  let maps = [];
  let shape = "";

  const build = (L, H) => {
    shape = `${L} ${H}`;
    maps = [];
    node.style.setProperty("--cf-heads", H);
    for (const label of node.querySelectorAll("label")) label.remove();
    for (let layer = 0; layer < L; layer += 1)
      for (let head = 0; head < H; head += 1) {
        const input = html("input", {
          type: "radio",
          name: group,
          value: `${layer} ${head}`,
          "aria-label": `layer ${layer + 1}, head ${head + 1}`,
        });
        const canvas = html("canvas", { "aria-hidden": "true", width: 1, height: 1 });
        figure.listen(input, "change", () => figure.set({ layer, head }));
        node.append(
          html(
            "label",
            null,
            input,
            canvas,
            html("span", { "aria-hidden": "true" }, `${layer + 1}.${head + 1}`),
          ),
        );
        maps.push({ layer, head, input, canvas });
      }
  };

  const paint = (canvas, T, weight, ramp) => {
    if (canvas.width !== T) [canvas.width, canvas.height] = [T, T];
    const pen = canvas.getContext("2d");
    const image = pen.createImageData(T, T);
    const pixels = new Uint32Array(image.data.buffer);
    for (let t = 0; t < T; t += 1)
      for (let s = 0; s < T; s += 1)
        pixels[t * T + s] = ramp[Math.min(RAMP_STEPS, Math.round(RAMP_STEPS * weight(t, s)))];
    pen.putImageData(image, 0, 0);
  };

  const choose = () => {
    for (const { layer, head, input } of maps)
      input.checked = layer === figure.get("layer") && head === figure.get("head");
  };

  const update = ({ L, H, T, weight }) => {
    if (shape !== `${L} ${H}`) build(L, H);
    node.hidden = L * H === 1;
    const bytes = figure.theme.ramp("weight").flatMap(({ fill }) => [...fill.match(/\d+/g), 255]);
    const ramp = new Uint32Array(Uint8Array.from(bytes).buffer);
    for (const { layer, head, canvas } of maps)
      paint(canvas, T, (t, s) => weight(layer, head, t, s), ramp);
    choose();
  };
  return { node, update, choose };
};
