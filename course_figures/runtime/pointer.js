/** Mouse, pen and finger. */

/** Where an event is, in pixels from the corner of an element. */
export const pointIn = (element, event) => {
  const box = element.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
};

/** Where the corner of an element is, in pixels from the corner of one that it is placed in. */
export const cornerIn = (outer, element) => {
  const [from, to] = [outer.getBoundingClientRect(), element.getBoundingClientRect()];
  return { x: to.left - from.left - outer.clientLeft, y: to.top - from.top - outer.clientTop };
};

/**
 * Drag with mouse, pen or finger. Up and down stays the page's own scrolling, so figures are
 * dragged sideways. `start` may return false to decline; all get (point, event).
 */
export const drag = (figure, element, { start, move, end }) => {
  element.style.touchAction = "pan-y";
  let held = null;
  figure.listen(element, "pointerdown", (event) => {
    if (event.button !== 0 || start(pointIn(element, event), event) === false) return;
    held = event.pointerId;
    element.setPointerCapture(held);
  });
  figure.listen(element, "pointermove", (event) => {
    if (event.pointerId === held) move(pointIn(element, event), event);
  });
  for (const type of ["pointerup", "pointercancel"])
    figure.listen(element, type, (event) => {
      if (event.pointerId !== held) return;
      held = null;
      end?.(pointIn(element, event), event);
    });
};
