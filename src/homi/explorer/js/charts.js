// B against the data, entry by entry; and the objective, sweep by sweep.

const MOST_POINTS = 12000;

const startScatter = () => {
  if (!data) return;
  byId("scatter-figure").hidden = !arrowCount;
  if (!arrowCount) return;
  const canvas = byId("scatter");
  const says = byId("scatter-says");
  const points = [];
  for (let k = 0; k < Math.min(arrowCount, MOST_POINTS); k++) {
    const [i, j] = [arrows[2 * k], arrows[2 * k + 1]];
    const x = phi(i, j);
    if (!Number.isNaN(x)) points.push({ i, j, x, y: B(i, j) });
  }
  const reach = Math.max(0.05, ...points.map((p) => Math.abs(p.x)));
  const idle = `Each point is an entry of B (upright) over φ of the two labels (across)${arrowCount < size * (size - 1) ? `, the ${whole(points.length)} strongest` : ""}. In the tinted quarters the signs agree.`;
  canvas.setAttribute("aria-label", `${idle} The table beside it has the strongest in numbers.`);
  says.textContent = idle;
  const PAD = 26;
  const many = points.length > 1000;
  let spot;
  const dots = (context, some, radius) => {
    for (const point of some) {
      const [x, y] = spot(point);
      context.fillStyle = point.y < 0 ? colours.lower : colours.raise;
      context.beginPath();
      context.arc(x, y, radius, 0, 2 * Math.PI);
      context.fill();
    }
  };
  const axes = (context, { width, height }) => {
    context.globalAlpha = 0.06;
    context.fillStyle = colours.raise;
    context.fillRect(width / 2, 0, width / 2, height / 2);
    context.fillStyle = colours.lower;
    context.fillRect(0, height / 2, width / 2, height / 2);
    context.globalAlpha = 1;
    context.fillStyle = colours.soft;
    context.fillRect(0, height / 2, width, 1);
    context.fillRect(width / 2, 0, 1, height);
    context.font = `12px ${FONT}`;
    context.textAlign = "right";
    context.fillText(`φ ${signed(reach)}`, width - 4, height / 2 - 6);
    context.textAlign = "left";
    context.fillText(`B ${signed(largest)}`, width / 2 + 6, 14);
  };
  // All points, which stay as they are until the size or the colours change.
  let [all, key] = [null, ""];
  const prepare = (frame) => {
    const now = [frame.width, frame.height, frame.ratio, colours.ink, colours.raise].join();
    if (now === key) return;
    [key, all] = [now, sheet(frame)];
    all.context.globalAlpha = many ? 0.4 : 0.75;
    dots(all.context, points, many ? 2 : 4);
  };
  const draw = () => {
    const frame = brush(canvas);
    const { context, width, height } = frame;
    spot = ({ x, y }) => [
      width / 2 + (x / reach) * (width / 2 - PAD),
      height / 2 - (y / (largest || 1)) * (height / 2 - PAD),
    ];
    prepare(frame);
    axes(context, frame);
    lay(context, all, frame, chosen >= 0 ? 0.25 : 1);
    dots(context, points.filter(({ i, j }) => i === chosen || j === chosen), 4);
  };
  const redraw = whenSeen(canvas, draw);
  const nearest = (event) => {
    const box = canvas.getBoundingClientRect();
    const gap = (point) => {
      const [x, y] = spot(point);
      return Math.hypot(event.clientX - box.left - x, event.clientY - box.top - y);
    };
    const best = points.reduce((a, b) => (gap(b) < gap(a) ? b : a), points[0]);
    return best && gap(best) < 12 ? best : null;
  };
  canvas.addEventListener("pointermove", (event) => {
    const point = nearest(event);
    says.textContent = point
      ? `${names[point.i]} → ${names[point.j]}: B ${signed(point.y)}, φ ${signed(point.x)}`
      : idle;
  });
  canvas.addEventListener("click", (event) => {
    const point = nearest(event);
    if (point) choose(point.j);
  });
  canvas.addEventListener("pointerleave", () => (says.textContent = idle));
  repaint.push(redraw);
  onChoice.push(redraw);
};

const SVG = "http://www.w3.org/2000/svg";
const drawn = (tag, attributes, text) => {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
};

const startHistory = () => {
  const place = byId("history");
  if (!place) return;
  const totals = facts.history.map((terms) => Object.values(terms).reduce((a, b) => a + b, 0));
  const [width, height, pad] = [640, 200, 12];
  const [low, high] = [Math.min(...totals), Math.max(...totals)];
  const x = (k) => pad + (k / (totals.length - 1)) * (width - 2 * pad);
  const y = (value) => pad + (1 - (value - low) / (high - low || 1)) * (height - 2 * pad);
  const picture = drawn("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
  picture.setAttribute("aria-label", `The objective fell from ${plain(totals[0])} to ${plain(totals.at(-1))} in ${totals.length} sweeps.`);
  picture.append(drawn("polyline", { points: totals.map((v, k) => `${x(k)},${y(v)}`).join(" "), class: "curve" }));
  totals.forEach((value, k) => {
    const point = drawn("circle", { cx: x(k), cy: y(value), r: 3.5, class: "knot" });
    point.append(drawn("title", {}, `sweep ${k + 1}: ${value.toPrecision(7)}`));
    picture.append(point);
  });
  const last = facts.history.at(-1);
  const parts = Object.entries(last).map(([term, value]) => `${term} ${whole(Math.round(value * 100) / 100)}`);
  place.append(
    make("figure", { class: "history" }, picture, make(
      "figcaption",
      {},
      `The objective after each of ${totals.length} sweeps: from ${totals[0].toPrecision(6)} to ${totals.at(-1).toPrecision(6)}. At the end: ${parts.join(", ")}.`,
    )),
  );
};
