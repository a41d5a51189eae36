// How well labels are predicted, at which threshold, and which are taken for others.

const startQuality = () => {
  if (!quality) return;
  const { bins, quality: found, positives, negatives, false: wrong } = quality;
  const total = (histogram, i, from = 0) => {
    let sum = 0;
    for (let b = from; b < bins; b++) sum += histogram[i * bins + b];
    return sum;
  };
  // Rows above a threshold, which is a multiple of the width of a bin.
  const at = (i, bin) => {
    const [hits, falses] = [total(positives, i, bin), total(negatives, i, bin)];
    return { hits, predicted: hits + falses, precision: hits / (hits + falses), recall: hits / total(positives, i) };
  };

  const number = (key, title) => ({ title, number: true, key: (i) => found[key][i], cell: (i) => plain(found[key][i]) });
  const columns = [
    { title: "label", key: (i) => names[i], cell: (i) => nameButton(i, dot(i)) },
    { title: "rows", number: true, key: (i) => found.positives[i], cell: (i) => whole(found.positives[i]) },
    ...[["precision", "precision"], ["recall", "recall"], ["auc", "AUC"]].map(([key, title]) => number(key, title)),
    { title: "F1", number: true, key: (i) => found.f1[i], cell: (i) => (isNumber(found.f1[i]) ? withBar(found.f1[i], found.f1[i].toFixed(3)) : "–") },
  ];
  const order = names.map((_, i) => i).sort((a, b) => found.positives[b] - found.positives[a]);
  buildTable(byId("quality-table"), "Quality of all labels", columns, order, { first: 14 });

  // Observed share of rows against the mean probability, in tenths.
  const curve = (i) => {
    const width = bins / 10;
    const points = [];
    for (let tenth = 0; tenth < 10; tenth++) {
      let [n, hits, sum] = [0, 0, 0];
      for (let b = tenth * width; b < (tenth + 1) * width; b++) {
        const here = positives[i * bins + b] + negatives[i * bins + b];
        n += here;
        hits += positives[i * bins + b];
        sum += (here * (b + 0.5)) / bins;
      }
      if (n) points.push({ p: sum / n, share: hits / n, n });
    }
    return points;
  };
  const side = 220;
  const drawCurve = (i) => {
    const x = (p) => 34 + p * (side - 44);
    const y = (p) => side - 30 - p * (side - 44);
    const points = curve(i);
    const text = (content, px, py, anchor) => draw("text", { x: px, y: py, "text-anchor": anchor, class: "tick" }, content);
    const ticks = [0, 0.5, 1].flatMap((p) => [text(String(p), x(p), side - 14, "middle"), text(String(p), 28, y(p) + 4, "end")]);
    const says = points.map(({ p, share, n }) => `${percent(p)}: ${percent(share)} of ${n}`).join("; ");
    return draw(
      "svg",
      { viewBox: `0 0 ${side} ${side}`, role: "img", "aria-label": `Calibration of ${names[i]}. ${says}` },
      draw("line", { x1: x(0), y1: y(0), x2: x(1), y2: y(1), class: "diagonal" }),
      draw("polyline", { points: points.map(({ p, share }) => `${x(p)},${y(share)}`).join(" "), class: "curve" }),
      ...points.map(({ p, share, n }) => draw("circle", { cx: x(p), cy: y(share), r: 2 + Math.min(5, Math.log10(n + 1) * 1.6), class: "knot" }, draw("title", {}, `${percent(share)} of ${plural(n, "row")} with probability ${percent(p)}`))),
      ...ticks,
      text("probability", side / 2 + 12, side - 2, "middle"),
    );
  };

  const slider = byId("threshold");
  slider.max = bins;
  const sayThreshold = () => {
    const i = Math.max(state.label, 0);
    const bin = Number(slider.value);
    const { hits, predicted, precision, recall } = at(i, bin);
    const own = quality.cut[i];
    byId("threshold-says").textContent =
      `${names[i]} above ${percent(bin / bins)}: precision ${percent(precision)}, recall ${percent(recall)}; ` +
      `${whole(hits)} right of ${whole(predicted)} predicted${isNumber(own) ? `. The model's own threshold is ${percent(own)}` : ""}.`;
    slider.setAttribute("aria-valuetext", byId("threshold-says").textContent);
  };
  const show = () => {
    const i = Math.max(state.label, 0);
    slider.value = Math.round((quality.cut[i] ?? 0.5) * bins);
    byId("calibration").replaceChildren(drawCurve(i), make("p", { class: "quiet" }, `${names[i]}: how often rows of a probability have the label; on the diagonal it is calibrated.`));
    sayThreshold();
  };
  slider.addEventListener("input", sayThreshold);
  listeners.label.push(show);
  show();

  const rate = (i, j) => wrong[i * size + j] / Math.max(found.positives[i], 1);
  startMatrix(
    byId("confusion"),
    "Confused labels: rows of the matrix are true, columns wrongly predicted",
    (i, j) => (i === j ? null : rate(i, j)),
    () => Math.max(...quality.confused.map(([i, j]) => rate(i, j))),
    (i, j) => (i === j ? names[i] : `${plural(wrong[i * size + j], "row")} with ${names[i]}, ${percent(rate(i, j))}, wrongly predicted ${names[j]}`),
  );
  buildTable(
    byId("confused"),
    "Most confused labels",
    [
      { title: "has", key: ([i]) => names[i], cell: ([i]) => nameButton(i) },
      { title: "wrongly predicted", key: ([, j]) => names[j], cell: ([, j]) => nameButton(j) },
      { title: "rows", number: true, key: (p) => p[2], cell: (p) => whole(p[2]) },
      { title: "by chance", number: true, key: (p) => p[3], cell: (p) => p[3].toFixed(1) },
      { title: "examples", key: (p) => (rowAt.has(p[4][0]) ? 0 : 1), cell: (p) => p[4].slice(0, 3).flatMap((row, k) => [k ? ", " : "", rowButton(row)]) },
    ],
    quality.confused,
    { first: 12 },
  );
};
