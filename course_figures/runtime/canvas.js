/** The pen of a canvas that is cleared and has this size in pixels of the page. */
export const penOf = (area, width, height) => {
  const ratio = Math.min(3, globalThis.devicePixelRatio || 1);
  const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (area.width !== across || area.height !== down) {
    [area.width, area.height] = [across, down];
    [area.style.width, area.style.height] = [`${width}px`, `${height}px`];
  }
  const pen = area.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.setLineDash([]);
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  return pen;
};
