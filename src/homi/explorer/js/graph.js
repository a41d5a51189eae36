// The graph of B as a drawing: an arrow from i to j for entry (i, j).

const ALWAYS_NAMED = 40;
const OWN_ARROWS = 6;

const radii = (() => {
  const [small, big] = size > 200 ? [2, 9] : size > 60 ? [3, 11] : [5, 14];
  if (!data) return names.map(() => (small + big) / 2);
  const most = Math.max(1, ...counts);
  return counts.map((n) => small + (big - small) * Math.sqrt(n / most));
})();

// The most frequent labels first: they are named, and reached by keys, before others.
const importance = names.map((_, i) => i).sort((a, b) => radii[b] - radii[a]);

// One path for each colour: a thousand paths would take many times as long.
const drawDiscs = (context, places, labels) => {
  const paths = new Map();
  for (const i of labels) {
    const colour = groupColour(i);
    if (!paths.has(colour)) paths.set(colour, new Path2D());
    const [x, y] = places[i];
    paths.get(colour).moveTo(x + radii[i], y);
    paths.get(colour).arc(x, y, radii[i], 0, 2 * Math.PI);
  }
  context.globalAlpha = 1;
  context.strokeStyle = colours.panel;
  context.lineWidth = 1.5;
  for (const [colour, path] of paths) {
    context.fillStyle = colour;
    context.fill(path);
    context.stroke(path);
  }
};

const ring = (context, [x, y], radius) => {
  context.strokeStyle = colours.ink;
  context.lineWidth = 2.5;
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.stroke();
};

const makeGraph = (canvas) => {
  const crowded = size > ALWAYS_NAMED;
  const thickest = crowded ? 3.3 : 5.3;
  const graph = { canvas, view: { zoom: 1, x: 0, y: 0 }, shown: 0, hovered: -1 };
  graph.frame = { width: 1, height: 1 };

  graph.place = (i) => {
    const [x, y] = facts.places[i];
    const { view, frame } = graph;
    const side = Math.min(84, frame.width * 0.14);
    return [
      frame.width / 2 + (x - view.x) * view.zoom * (frame.width / 2 - side),
      frame.height / 2 + (y - view.y) * view.zoom * (frame.height / 2 - 44),
    ];
  };

  // The chosen label's strongest arrows are drawn however weak they are.
  const arrowsOf = (label) => {
    const found = new Map();
    const add = (i, j) => found.set(i * size + j, [i, j]);
    for (let k = 0; k < graph.shown; k++) {
      const [i, j] = [arrows[2 * k], arrows[2 * k + 1]];
      if (i === label || j === label) add(i, j);
    }
    for (const sign of [1, -1]) {
      const most = OWN_ARROWS;
      for (const { label: i } of movers(label, sign, { most }).shown) add(i, label);
      const out = movers(label, sign, { outward: true, most }).shown;
      for (const { label: j } of out) add(label, j);
    }
    return [...found.values()].sort((a, b) => Math.abs(B(...a)) - Math.abs(B(...b)));
  };

  let places = [];
  const arrow = (context, i, j) =>
    drawArrow(context, B(i, j), places[i], places[j], radii[j], thickest);
  const drawnArrows = pile(arrowCount, (context, k) => {
    context.globalAlpha = crowded ? 0.55 : 0.75;
    arrow(context, arrows[2 * k], arrows[2 * k + 1]);
  });
  const named = (label, faded, must) => ({ label, at: places[label], radius: radii[label], faded, must });

  // All labels, which stay as they are until the view or the colours change.
  let [discs, someNames, key] = [null, null, ""];
  const prepare = () => {
    const { view, frame } = graph;
    const { width, height, ratio } = frame;
    const now = [width, height, ratio, view.zoom, view.x, view.y, colours.ink, colours.raise].join();
    if (now === key) return;
    key = now;
    places = names.map((_, i) => graph.place(i));
    drawnArrows.clear(frame);
    discs = sheet(frame);
    drawDiscs(discs.context, places, importance);
    if (!crowded) return;
    someNames = sheet(frame);
    drawNames(someNames.context, importance.map((i) => named(i, false, false)), frame, crowded);
  };

  const nearTo = (own, focus) => {
    const near = new Set(own.flat());
    near.delete(focus);
    return near;
  };
  const drawNamesAround = (context, focus, near) => {
    const others = importance.filter((i) => i !== focus && !near.has(i));
    // Beside a chosen label, of many others only those that it has to do with are named.
    const listed = [focus, ...near].filter((i) => i >= 0).map((i) => named(i, false, !crowded || i === focus || i === chosen));
    if (!crowded) listed.push(...others.map((i) => named(i, focus >= 0, true)));
    drawNames(context, listed, graph.frame, crowded);
  };

  const draw = () => {
    graph.frame = brush(canvas);
    prepare();
    const { frame } = graph;
    const { context } = frame;
    const focus = graph.hovered >= 0 ? graph.hovered : chosen;
    const own = focus >= 0 ? arrowsOf(focus) : [];
    const near = nearTo(own, focus);
    // Of very many arrows the weakest come in the frames that follow.
    if (!drawnArrows.advance(graph.shown)) graph.redraw();
    drawnArrows.lay(context, focus >= 0 ? 0.12 : 1);
    context.globalAlpha = 0.9;
    for (const [i, j] of own) arrow(context, i, j);
    lay(context, discs, frame, focus >= 0 ? 0.25 : 1);
    if (focus >= 0) drawDiscs(context, places, [...near, focus]);
    if (chosen >= 0) ring(context, places[chosen], radii[chosen]);
    if (crowded && focus < 0) lay(context, someNames, frame);
    else drawNamesAround(context, focus, near);
    context.globalAlpha = 1;
  };

  graph.draw = draw;
  graph.redraw = whenSeen(canvas, draw);
  repaint.push(graph.redraw);
  return graph;
};
