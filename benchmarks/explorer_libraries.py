"""What a drawing library would cost the label explorer: bytes, and time for 983 labels.

Pass the minified files of Cytoscape.js and Plotly.js, such as those in their packages:
``python benchmarks/explorer_libraries.py cytoscape.min.js plotly.min.js``. The same
graph is drawn by each, and as the SVG that the page draws: nodes at given positions,
edges between them, and the names of the most frequent labels.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

#: Labels, edges and names of the graph.
LABELS, EDGES, NAMES = 983, 1180, 150

GRAPH = f"""
const at = Array.from({{length: {LABELS}}}, (_, k) => [
  400 + 380 * Math.sin(k * 2.4) * Math.sqrt(k / {LABELS}),
  360 + 340 * Math.cos(k * 2.4) * Math.sqrt(k / {LABELS})]);
const edges = Array.from({{length: {EDGES}}}, (_, k) =>
  [k % {LABELS}, (k * 7 + 3) % {LABELS}]);
const named = (k) => k < {NAMES} ? `label ${{k}}` : '';
"""

DRAW = {
    "svg": """
const make = (tag, attributes) => {
  const e = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  return e;
};
const svg = make('svg', { width: 800, height: 720 });
const d = edges.map(([i, j]) => `M${at[i]}L${at[j]}`).join('');
svg.append(make('path', { d, stroke: 'steelblue' }));
at.forEach(([cx, cy]) => svg.append(make('circle', { cx, cy, r: 4 })));
at.forEach(([x, y], k) => {
  if (!named(k)) return;
  const text = make('text', { x, y });
  text.append(named(k));
  svg.append(text);
});
document.getElementById('place').append(svg);""",
    "cytoscape": """
cytoscape({
  container: document.getElementById('place'),
  layout: { name: 'preset' },
  style: [{ selector: 'node', style: { width: 8, height: 8, label: 'data(name)' } }],
  elements: [
    ...at.map(([x, y], k) => ({ data: { id: `n${k}`, name: named(k) },
      position: { x, y } })),
    ...edges.map(([i, j], k) => ({ data: { id: `e${k}`, source: `n${i}`,
      target: `n${j}` } })),
  ],
});""",
    "plotly": """
Plotly.newPlot('place', [
  { mode: 'lines', x: edges.flatMap(([i, j]) => [at[i][0], at[j][0], null]),
    y: edges.flatMap(([i, j]) => [at[i][1], at[j][1], null]) },
  { mode: 'markers+text', x: at.map((p) => p[0]), y: at.map((p) => p[1]),
    text: at.map((_, k) => named(k)) },
], { width: 800, height: 720 });""",
}

PAGE = """<!DOCTYPE html><meta charset="utf-8">
<div id="place" style="width:800px;height:720px"></div>
<script>const started = performance.now();</script>
<script>{library}</script>
<script>{graph}{draw}
requestAnimationFrame(() => requestAnimationFrame(() => {{
  document.documentElement.dataset.taken = performance.now() - started;
}}));</script>"""


def milliseconds(browser: Browser, path: Path, repeats: int) -> float:
    """Median time to run the library and to draw, until the second frame."""
    times = []
    for _ in range(repeats):
        page = browser.new_page()
        page.goto(path.as_uri())
        root = page.locator("html[data-taken]")
        root.wait_for(state="attached")
        times.append(float(root.get_attribute("data-taken") or "nan"))
        page.close()
    return statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("libraries", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--repeats", type=int, default=9, metavar="N")
    options = parser.parse_args()
    command = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))))
    flags = ["--no-sandbox"] if os.geteuid() == 0 else []
    print(
        "| drawn by | kB of script | ms until drawn |", "| --- | --- | --- |", sep="\n"
    )
    with tempfile.TemporaryDirectory() as directory, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=command, args=flags)
        for file in [None, *options.libraries]:
            kind = "svg" if file is None else file.name.split(".")[0]
            script = "" if file is None else file.read_text(encoding="utf-8")
            path = Path(directory) / f"{kind}.html"
            page = PAGE.format(library=script, graph=GRAPH, draw=DRAW[kind])
            path.write_text(page, encoding="utf-8")
            taken = milliseconds(browser, path, options.repeats)
            print(f"| {kind} | {len(script.encode()) / 1e3:.0f} | {taken:.0f} |")
        browser.close()


if __name__ == "__main__":
    main()
