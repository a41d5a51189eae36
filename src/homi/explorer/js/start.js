// Two models: where they disagree, by label and by row.

const startModels = () => {
  if (!models) return;
  const [one, other] = models.models;
  const at = models.labels.map((label, k) => ({ label, k }));
  const differ = ({ k }) => models.first[k] + models.second[k];
  const columns = [
    { title: "label", key: ({ label }) => names[label], cell: ({ label }) => nameButton(label, dot(label)) },
    { title: `only ${one}`, number: true, key: ({ k }) => models.first[k], cell: ({ k }) => whole(models.first[k]) },
    { title: `only ${other}`, number: true, key: ({ k }) => models.second[k], cell: ({ k }) => whole(models.second[k]) },
  ];
  [one, other].forEach((name, m) => {
    if (!models.f1) return;
    const f1 = ({ k }) => models.f1[m][k];
    columns.push({ title: `F1 of ${name}`, number: true, key: f1, cell: (r) => plain(f1(r)) });
  });
  buildTable(byId("models-labels"), "Disagreement by label", columns, at.sort((a, b) => differ(b) - differ(a)), { first: 14 });
  buildTable(
    byId("models-rows"),
    "Disagreement by row",
    [
      { title: "row", key: ([row]) => row, number: true, left: true, cell: ([row]) => rowButton(row) },
      { title: `only ${one}`, key: ([, first]) => first.length, number: true, left: true, cell: ([, first]) => chips(first, () => "") },
      { title: `only ${other}`, key: ([, , second]) => second.length, number: true, left: true, cell: ([, , second]) => chips(second, () => "") },
    ],
    models.rows,
    { first: 10 },
  );
};

// Put everything in its place: the graph at once, the rest while the browser idles.

root.toggleAttribute("data-related", Boolean(state.relation));
startSearch();
startCard();
startGraph();
root.dataset.ready = performance.now().toFixed(0);

const later = [startKnown, startRows, startAudit, startQuality, startModels, startPairsMatrix];
const next = () => {
  const start = later.shift();
  if (!start) {
    root.dataset.complete = performance.now().toFixed(0);
    return;
  }
  start();
  setTimeout(next);
};
completions.unshift(() => {
  for (const start of later.splice(0)) start();
});
setTimeout(next);
