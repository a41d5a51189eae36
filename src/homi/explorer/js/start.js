// Put everything in its place.

const legend = () => {
  const key = (kind, text) => [make("span", { class: `key ${kind}`, "aria-hidden": "true" }), text];
  byId("graph-legend").append(
    ...key("raise", "raises "),
    ...key("lower", "lowers "),
    "· an arrow from i to j is entry (i, j) of B, thicker if stronger · ",
    data ? "discs grow with the number of rows · " : "",
    "colours are groups of labels that raise each other",
  );
};

followPalette();
followSearch();
startCard();
startGraph();
startMatrix();
startSets();
startRows();
startStrongest();
startScatter();
startLabels();
startHistory();
legend();
root.dataset.ready = performance.now().toFixed(0);
