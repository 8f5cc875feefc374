// The part of the picture that is seen: dragged with the mouse or a finger, zoomed with the wheel or two fingers.

const SMALLEST = 0.05, LARGEST = 6, READABLE = 1, COMFORTABLE = 1.3; // pixels for each of Graphviz's points
const MARGIN = 14; // pixels
const CLICK = 4; // pixels by which the mouse may move during a click

function makeView(stage) {
  let svg = null, x = 0, y = 0, scale = 1;
  let chosen = null; // the user's own scale
  let moved = false; // by the user
  let dragged = false, printing = false;
  const pointers = new Map();

  const box = () => svg.viewBox.baseVal;
  const room = () => ({ width: stage.clientWidth, height: stage.clientHeight });

  function place() {
    const { width, height } = room();
    // A corner of the picture never goes beyond the middle of the stage.
    x = Math.max(width / 2 - box().width * scale, Math.min(width / 2, x));
    y = Math.max(height / 2 - box().height * scale, Math.min(height / 2, y));
    svg.style.width = `${box().width * scale}px`;
    svg.style.transform = `translate(${x}px, ${y}px)`;
  }

  const whole = () => Math.min((room().width - 2 * MARGIN) / box().width, (room().height - 2 * MARGIN) / box().height);

  function middle() {
    x = (room().width - box().width * scale) / 2;
    y = (room().height - box().height * scale) / 2;
  }

  // The scale at which text can be read: all of the picture if possible, else all of the element.
  function readable(element) {
    if (whole() >= READABLE) return Math.min(COMFORTABLE, whole());
    const wide = Math.min(COMFORTABLE, Math.max(READABLE, (room().width - 2 * MARGIN) / box().width));
    if (!element) return wide;
    const size = element.getBBox();
    return Math.min(wide, (room().width - 2 * MARGIN) / size.width, (room().height - 2 * MARGIN) / size.height);
  }

  // Show this picture, and all of the element in it if there is one.
  function show(other, element) {
    const isNew = svg !== other;
    svg = other;
    if (!room().width || printing) return;
    const wanted = chosen === null ? readable(element) : chosen;
    if (isNew || wanted !== scale) {
      scale = wanted;
      middle();
      place();
    }
    if (element) follow(element);
    if (!moved) settle();
    place();
  }

  // Where the picture fits into the stage, it is in the middle; elsewhere there is no more emptiness than needed.
  function settle() {
    const { width, height } = room(), full = { width: box().width * scale, height: box().height * scale };
    if (full.width <= width - 2 * MARGIN) x = (width - full.width) / 2;
    else x = Math.min(MARGIN, Math.max(width - full.width - MARGIN, x));
    if (full.height <= height - 2 * MARGIN) y = (height - full.height) / 2;
    else y = Math.min(MARGIN, Math.max(height - full.height - MARGIN, y));
  }

  function follow(element) {
    const inside = element.getBoundingClientRect(), around = stage.getBoundingClientRect();
    const margin = Math.min(MARGIN, Math.max(0, (around.width - inside.width) / 2));
    const aside = inside.left < around.left + margin || inside.right > around.right - margin;
    const away = inside.top < around.top + MARGIN || inside.bottom > around.bottom - MARGIN;
    if (aside) x += (around.left + around.right - inside.left - inside.right) / 2;
    if (away) y += (around.top + around.bottom - inside.top - inside.bottom) / 2;
    if (aside || away) settle();
  }

  // Zoom in or out around a point of the stage, the middle if none is given.
  function zoom(factor, at = { x: room().width / 2, y: room().height / 2 }) {
    const next = Math.max(SMALLEST, Math.min(LARGEST, scale * factor));
    x = at.x - ((at.x - x) * next) / scale;
    y = at.y - ((at.y - y) * next) / scale;
    scale = chosen = next;
    moved = true;
    place();
  }

  function fit() {
    scale = chosen = Math.min(COMFORTABLE * 2, whole());
    moved = false;
    middle();
    place();
  }

  // Leave the size and the place to the style sheet, which prints all of the picture.
  function release() {
    printing = true;
    svg.removeAttribute("style");
  }

  function take() {
    printing = false;
    place();
  }

  const onStage = (event) => {
    const around = stage.getBoundingClientRect();
    return { x: event.clientX - around.left, y: event.clientY - around.top };
  };

  stage.addEventListener("wheel", (event) => {
    event.preventDefault();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    zoom(Math.exp((-event.deltaY * lines) / (event.ctrlKey ? 100 : 500)), onStage(event));
  }, { passive: false });

  stage.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    if (!pointers.size) dragged = false;
    pointers.set(event.pointerId, { ...onStage(event), begin: onStage(event) });
  });

  stage.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId), now = onStage(event);
    if (!before) return;
    if (!dragged && Math.hypot(now.x - before.begin.x, now.y - before.begin.y) < CLICK) return;
    if (!dragged) {
      dragged = moved = true;
      stage.setPointerCapture(event.pointerId);
      stage.classList.add("dragged");
      Object.assign(before, before.begin);
    }
    const other = [...pointers.entries()].find(([id]) => id !== event.pointerId);
    if (other) {
      const far = (one) => Math.hypot(one.x - other[1].x, one.y - other[1].y);
      zoom(far(now) / Math.max(1, far(before)), { x: (now.x + other[1].x) / 2, y: (now.y + other[1].y) / 2 });
    }
    x += (now.x - before.x) / pointers.size;
    y += (now.y - before.y) / pointers.size;
    Object.assign(before, now);
    place();
  });

  for (const end of ["pointerup", "pointercancel"]) {
    stage.addEventListener(end, (event) => {
      pointers.delete(event.pointerId);
      if (!pointers.size) stage.classList.remove("dragged");
    });
  }

  // What ends a drag is not a click.
  stage.addEventListener("click", (event) => {
    if (dragged) event.stopPropagation();
    dragged = false;
  }, { capture: true });

  return { show, zoom, fit, release, take };
}
