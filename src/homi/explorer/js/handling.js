// The graph under the hand: pointer, keys, zoom and the slider for the weakest arrow.

const DIRECTIONS = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

const nearestLabel = (graph, event) => {
  const box = graph.canvas.getBoundingClientRect();
  const [px, py] = [event.clientX - box.left, event.clientY - box.top];
  let [best, least] = [-1, Infinity];
  for (let i = 0; i < size; i++) {
    const [x, y] = graph.place(i);
    const gap = Math.hypot(px - x, py - y) - radii[i];
    if (gap < least) [best, least] = [i, gap];
  }
  return least < (event.pointerType === "touch" ? 18 : 8) ? best : -1;
};

// The nearest label in a direction; what lies aside counts as twice as far.
const nextLabel = (graph, [dx, dy]) => {
  if (chosen < 0) return importance[0];
  const [x, y] = graph.place(chosen);
  let [best, least] = [chosen, Infinity];
  for (let i = 0; i < size; i++) {
    const [px, py] = graph.place(i);
    const along = (px - x) * dx + (py - y) * dy;
    const far = along + 2 * Math.abs((px - x) * dy - (py - y) * dx);
    if (i !== chosen && along > 0 && far < least) [best, least] = [i, far];
  }
  return best;
};

const followZoom = (graph) => {
  const { view, canvas } = graph;
  const zoomBy = (factor) => {
    const fresh = view.zoom === 1 && factor > 1 && chosen >= 0;
    if (fresh) [view.x, view.y] = facts.places[chosen];
    view.zoom = Math.min(Math.max(view.zoom * factor, 1), 40);
    if (view.zoom === 1) [view.x, view.y] = [0, 0];
    canvas.style.touchAction = view.zoom > 1 ? "none" : "manipulation";
    graph.redraw();
  };
  const onWheel = (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    zoomBy(event.deltaY < 0 ? 1.25 : 0.8);
  };
  canvas.addEventListener("wheel", onWheel, { passive: false });
  canvas.addEventListener("dblclick", () => zoomBy(2));
  byId("closer").addEventListener("click", () => zoomBy(1.5));
  byId("farther").addEventListener("click", () => zoomBy(1 / 1.5));
  byId("whole").addEventListener("click", () => zoomBy(0));
  canvas.addEventListener("keydown", (event) => {
    if (DIRECTIONS[event.key]) choose(nextLabel(graph, DIRECTIONS[event.key]));
    else if (event.key === "+" || event.key === "=") zoomBy(1.5);
    else if (event.key === "-") zoomBy(1 / 1.5);
    else if (event.key === "0") zoomBy(0);
    else if (event.key === "Escape") choose(-1);
    else return;
    event.preventDefault();
  });
};

const followPointer = (graph) => {
  const { view, canvas } = graph;
  let drag = null;
  const hover = (label) => {
    if (label === graph.hovered) return;
    graph.hovered = label;
    graph.redraw();
  };
  canvas.addEventListener("pointerdown", (event) => {
    drag = { x: event.clientX, y: event.clientY, moved: false };
  });
  canvas.addEventListener("pointermove", (event) => {
    if (drag && event.buttons) {
      const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
      if (!drag.moved && Math.hypot(dx, dy) < 4) return;
      view.x -= (2 * dx) / (graph.frame.width * view.zoom);
      view.y -= (2 * dy) / (graph.frame.height * view.zoom);
      drag = { x: event.clientX, y: event.clientY, moved: true };
      graph.redraw();
      return;
    }
    const label = nearestLabel(graph, event);
    canvas.style.cursor = label >= 0 ? "pointer" : "default";
    hover(label);
  });
  canvas.addEventListener("pointerleave", () => hover(-1));
  canvas.addEventListener("click", (event) => {
    if (!drag?.moved) choose(nearestLabel(graph, event));
  });
};

const followSlider = (graph) => {
  const slider = byId("weakest");
  const says = byId("weakest-says");
  const show = () => {
    const weakest = threshold(Number(slider.value));
    graph.shown = arrowCount ? shownAt(weakest) : 0;
    says.textContent = arrowCount
      ? `|B| ≥ ${plain(weakest)}: ${whole(graph.shown)} of ${whole(arrowCount)} arrows`
      : "no arrows";
    slider.setAttribute("aria-valuetext", says.textContent);
    graph.redraw();
  };
  slider.disabled = arrowCount === 0;
  slider.value = arrowCount ? sliderAt(strength(startingArrows - 1)) : 0;
  slider.addEventListener("input", show);
  show();
};

const startGraph = () => {
  const graph = makeGraph(byId("graph-canvas"));
  const inSight = (label) => {
    const [x, y] = graph.place(label);
    const { width, height } = graph.frame;
    return x > 10 && y > 10 && x < width - 10 && y < height - 10;
  };
  onChoice.push((label) => {
    if (label >= 0 && !inSight(label)) [graph.view.x, graph.view.y] = facts.places[label];
    graph.redraw();
  });
  followSlider(graph);
  followZoom(graph);
  followPointer(graph);
  graph.draw();
};
