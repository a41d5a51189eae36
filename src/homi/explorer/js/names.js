// Names in the graph, where they fit: those that matter most first.

const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";
const MOST_NAMES = 70;

const crosses = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];

// Boxes beside, below and above a disc.
const spotsFor = ([x, y], width, reach) =>
  [
    [x + reach, y],
    [x - reach - width, y],
    [x - width / 2, y + reach + 7],
    [x - width / 2, y - reach - 7],
  ].map(([left, middle]) => [left - 2, middle - 8, left + width + 2, middle + 8]);

// discs: { label, at, radius, faded, must }; what must be named is named in any crowd.
const drawNames = (context, discs, { width, height }, crowded) => {
  const taken = [];
  const bodies = discs.map(({ at: [x, y], radius: r }) => [x - r, y - r, x + r, y + r]);
  const inside = ([left, top, right, bottom]) =>
    left >= 0 && right <= width && top >= 0 && bottom <= height;
  const crowd = (box) =>
    9 * taken.filter((other) => crosses(box, other)).length +
    (inside(box) ? 0 : 20) +
    (crowded ? 0 : bodies.filter((body) => crosses(box, body)).length);
  context.font = `500 12.5px ${FONT}`;
  context.textBaseline = "middle";
  context.lineJoin = "round";
  context.lineWidth = 4;
  for (const { label, at, radius, faded, must } of discs) {
    const [x, y] = at;
    if (x < -20 || y < -20 || x > width + 20 || y > height + 20) continue;
    const text = shortened(names[label], width < 500 ? 18 : 28);
    const spots = spotsFor(at, context.measureText(text).width, radius + 5);
    const best = spots.reduce((a, b) => (crowd(b) < crowd(a) ? b : a));
    if (!must && crowd(best) > 0) continue;
    taken.push(best);
    const middle = (best[1] + best[3]) / 2;
    context.globalAlpha = faded ? 0.35 : 1;
    context.strokeStyle = colours.panel;
    context.strokeText(text, best[0] + 2, middle);
    context.fillStyle = colours.ink;
    context.fillText(text, best[0] + 2, middle);
    if (taken.length >= MOST_NAMES) break;
  }
};
