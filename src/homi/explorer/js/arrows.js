// Arrows of the graph: which are strong enough, and how one is drawn.

const strength = (k) => Math.abs(B(arrows[2 * k], arrows[2 * k + 1]));

// Weakest and strongest arrow, and the slider between them: equal ratios, equal steps.
const range = arrowCount
  ? { weak: Math.max(strength(arrowCount - 1), strength(0) * 1e-6), strong: strength(0) }
  : { weak: 1, strong: 1 };
const threshold = (slider) => range.strong * (range.weak / range.strong) ** (1 - slider / 1000);
const sliderAt = (weakest) => {
  const span = Math.log(range.strong / range.weak);
  return span > 0 ? Math.floor((1000 * Math.log(weakest / range.weak)) / span) : 0;
};

// Arrows come strongest first: how many are at least this strong.
const shownAt = (weakest) => {
  let [low, high] = [0, arrowCount];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (strength(middle) >= weakest * (1 - 1e-9)) low = middle + 1;
    else high = middle;
  }
  return low;
};

const startingArrows = Math.min(
  arrowCount,
  Math.max(30, Math.min(Math.round(1.6 * size), 120)),
);

// From one place to another, ending at the disc around the latter.
const drawArrow = (context, value, [x1, y1], [x2, y2], radius, thickest) => {
  const [dx, dy] = [x2 - x1, y2 - y1];
  const length = Math.hypot(dx, dy) || 1;
  // Bent to its own left, so that the arrow back is not hidden by it.
  const bend = Math.min(0.16 * length, 40) / length;
  const [cx, cy] = [(x1 + x2) / 2 + dy * bend, (y1 + y2) / 2 - dx * bend];
  const reach = Math.hypot(x2 - cx, y2 - cy) || 1;
  const [ux, uy] = [(x2 - cx) / reach, (y2 - cy) / reach];
  const [tx, ty] = [x2 - ux * (radius + 2), y2 - uy * (radius + 2)];
  const width = 0.7 + thickest * (Math.abs(value) / range.strong) ** 0.8;
  const tip = Math.min(5 + 1.4 * width, 12, length / 3);
  const half = tip / 2;
  context.strokeStyle = context.fillStyle = value < 0 ? colours.lower : colours.raise;
  context.lineWidth = width;
  context.beginPath();
  context.moveTo(x1, y1);
  context.quadraticCurveTo(cx, cy, tx - ux * tip * 0.8, ty - uy * tip * 0.8);
  context.stroke();
  context.beginPath();
  context.moveTo(tx, ty);
  context.lineTo(tx - ux * tip - uy * half, ty - uy * tip + ux * half);
  context.lineTo(tx - ux * tip + uy * half, ty - uy * tip - ux * half);
  context.fill();
};
