// Put everything in its place: the graph at once, the rest while the browser idles.

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
