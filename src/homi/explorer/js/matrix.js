// B as a matrix in the order of its clusters, and what the data say in the same order.

const MOST_NAMED = 34;

const startMatrix = () => {
  const cell = byId("cell");
  const window_ = { row: 0, column: 0, span: size };
  let normalised = false;
  let at = null;

  // Of many labels few have entries far above the rest, which would all be pale.
  const far = Math.min(Math.round(0.002 * size ** 2), arrowCount - 1);
  const full = (size > 200 ? strength(far) : largest) || 1;

  const [low, high] = extent;
  const scaled = (i, j) => (high > low ? (B(i, j) - low) / (high - low) : 0);

  // Where on the scale from -1 to 1 a cell is coloured; null leaves it blank.
  const rooted = (t) => (Number.isNaN(t) ? null : Math.sign(t) * Math.sqrt(Math.abs(t)));
  const tones = {
    raw: (i, j) => (i === j ? null : rooted(B(i, j) / full)),
    normalised: (i, j) => 2 * scaled(i, j) - 1,
    data: (i, j) => (i === j ? null : rooted(phi(i, j))),
  };
  const kinds = data ? ["raw", "data", "normalised"] : ["raw", "normalised"];
  const levels = Object.fromEntries(kinds.map((kind) => [kind, levelsOf(tones[kind])]));

  const views = [
    {
      title: "B: the label of the row moves that of the column",
      kind: () => (normalised ? "normalised" : "raw"),
    },
  ];
  if (data) views.push({ title: "φ: how two labels occur together in the data", kind: () => "data" });

  for (const view of views) {
    view.canvas = make("canvas", {
      tabindex: "0",
      role: "application",
      "aria-label": `${view.title}. Arrow keys move over the cells, Enter chooses the label of the column.`,
    });
    byId("matrices").append(make("figure", {}, view.canvas, make("figcaption", {}, view.title)));
  }

  const margin = () => {
    if (window_.span > MOST_NAMED) return 0;
    const longest = Math.max(...names.map((name) => name.length));
    return Math.min(12 + 6.6 * longest, 116);
  };

  // Coloured again only for another picture.
  const picture = (view, pixels) => {
    const { span, row, column } = window_;
    const kind = view.kind();
    const key = [pixels, span, row, column, kind, colours.panel, colours.raise].join();
    if (view.key !== key) Object.assign(view, { key, image: coloured(levels[kind](), window_, pixels) });
    return view.image;
  };

  const paint = (view) => {
    const { context, width, ratio } = brush(view.canvas);
    const left = margin();
    const pixels = Math.max(1, Math.floor((width - left) * ratio));
    context.putImageData(picture(view, pixels), Math.round(left * ratio), Math.round(left * ratio));
    const step = (width - left) / window_.span;
    if (left) writeNames(context, left, step);
    mark(context, left, step);
  };

  const writeNames = (context, left, step) => {
    context.font = `${Math.min(12, step)}px ${FONT}`;
    context.textBaseline = "middle";
    const write = (label, x, y) => context.fillText(fitted(context, names[label], left - 8), x, y);
    for (let k = 0; k < window_.span; k++) {
      const row = order[window_.row + k];
      const column = order[window_.column + k];
      context.textAlign = "right";
      context.fillStyle = row === chosen ? colours.accent : colours.ink;
      write(row, left - 6, left + (k + 0.5) * step);
      context.save();
      context.translate(left + (k + 0.5) * step, left - 6);
      context.rotate(-Math.PI / 2);
      context.textAlign = "left";
      context.fillStyle = column === chosen ? colours.accent : colours.ink;
      write(column, 0, 0);
      context.restore();
    }
  };

  // A frame around the cell under the pointer, and ticks at the chosen label.
  const mark = (context, left, step) => {
    const spot = order.indexOf(chosen);
    const y = left + (spot - window_.row) * step;
    const x = left + (spot - window_.column) * step;
    const end = left + window_.span * step;
    context.fillStyle = colours.accent;
    const thick = Math.max(step, 2);
    if (spot >= 0 && y >= left && y < end) context.fillRect(end - 5, y, 5, thick);
    if (spot >= 0 && x >= left && x < end) context.fillRect(x, end - 5, thick, 5);
    if (!at) return;
    context.strokeStyle = colours.ink;
    context.lineWidth = 1.5;
    const [a, b] = [at.row - window_.row, at.column - window_.column];
    const frameSize = Math.max(step, 5);
    context.strokeRect(left + b * step, left + a * step, frameSize, frameSize);
  };

  const draw = () => views.forEach(paint);
  const redraw = whenSeen(byId("matrices"), draw);
  repaint.push(redraw);
  onChoice.push(redraw);

  const tell = () => {
    if (!at) return (cell.textContent = "");
    const [i, j] = [order[at.row], order[at.column]];
    const value = normalised ? `${scaled(i, j).toFixed(3)} of 1` : signed(B(i, j));
    const parts = [`${names[i]} → ${names[j]}: B ${value}`];
    if (data && i !== j) parts.push(`φ ${signed(phi(i, j))}`, `${whole(together(i, j))} rows have both`);
    cell.textContent = parts.join(", ");
  };
  const point = (row, column) => {
    at = row < 0 || column < 0 || row >= size || column >= size ? null : { row, column };
    tell();
    redraw();
  };
  const under = (event, canvas) => {
    const box = canvas.getBoundingClientRect();
    const left = margin();
    const step = (box.width - left) / window_.span;
    const inside = (offset) => Math.floor((offset - left) / step);
    const [a, b] = [inside(event.clientY - box.top), inside(event.clientX - box.left)];
    if (a < 0 || b < 0 || a >= window_.span || b >= window_.span) return [-1, -1];
    return [window_.row + a, window_.column + b];
  };

  const zoomBy = (factor) => {
    const middle = at ?? { row: window_.row + window_.span / 2, column: window_.column + window_.span / 2 };
    const span = Math.round(Math.min(Math.max(window_.span * factor, Math.min(size, 8)), size));
    const from = (centre) => Math.round(Math.min(Math.max(centre - span / 2, 0), size - span));
    Object.assign(window_, { span, row: from(middle.row), column: from(middle.column) });
    redraw();
  };
  const keepInSight = () => {
    for (const way of ["row", "column"]) {
      window_[way] = Math.min(Math.max(window_[way], at[way] - window_.span + 1), at[way]);
    }
  };

  const MOVES = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  const onKey = (event) => {
    const clamp = (k) => Math.min(Math.max(k, 0), size - 1);
    if (MOVES[event.key]) {
      const [a, b] = MOVES[event.key];
      at = at ? { row: clamp(at.row + a), column: clamp(at.column + b) } : { row: 0, column: 0 };
      keepInSight();
      point(at.row, at.column);
    } else if (event.key === "Enter" && at) choose(order[at.column]);
    else if (event.key === "+" || event.key === "=") zoomBy(0.5);
    else if (event.key === "-") zoomBy(2);
    else return;
    event.preventDefault();
  };
  for (const { canvas } of views) {
    canvas.addEventListener("pointermove", (event) => point(...under(event, canvas)));
    canvas.addEventListener("pointerleave", () => point(-1, -1));
    canvas.addEventListener("click", (event) => {
      point(...under(event, canvas));
      if (at) choose(order[at.column]);
    });
    canvas.addEventListener("dblclick", () => zoomBy(0.5));
    canvas.addEventListener("keydown", onKey);
  }
  byId("matrix-closer").addEventListener("click", () => zoomBy(0.5));
  byId("matrix-farther").addEventListener("click", () => zoomBy(2));

  const legend = () => {
    byId("matrix-legend").textContent = normalised
      ? `As in the paper: all entries, the diagonal too, brought to [0, 1], so that 0 is ${plain(low)} and 1 is ${plain(high)}.`
      : `Full colour from |B| = ${plain(full)}; colour grows with the square root. The diagonal, a label's own score (${plain(Math.min(...facts.own))} to ${plain(Math.max(...facts.own))}), is left blank.`;
  };
  const setScale = (wanted) => {
    normalised = wanted;
    byId("raw").setAttribute("aria-pressed", String(!wanted));
    byId("normalised").setAttribute("aria-pressed", String(wanted));
    legend();
    tell();
    redraw();
  };
  byId("raw").addEventListener("click", () => setScale(false));
  byId("normalised").addEventListener("click", () => setScale(true));
  legend();
  redraw();
};
