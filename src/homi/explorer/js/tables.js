// A matrix of labels in the order of their clusters: one pixel a cell, read by pointer
// or keys.

const MOST_NAMED = 40; // on a phone 16

// value(i, j) is null for a blank cell, limit() is that of full color; says(i, j) puts a
// cell into words.
const startMatrix = (host, title, value, limit, says) => {
  const order = labels.order;
  const canvas = make("canvas", {
    width: size,
    height: size,
    tabindex: "0",
    role: "application",
    "aria-label": `${title}. Arrow keys move over the cells, Enter chooses the label of the column.`,
  });
  const said = make("output", { class: "cell", "aria-live": "polite" }, "Point at a cell, or use the arrow keys.");
  const cursor = make("span", { class: "cursor", hidden: "", "aria-hidden": "true" });
  const axis = (kind) =>
    size <= MOST_NAMED &&
    make("ol", { class: `axis ${kind}`, "aria-hidden": "true" }, ...order.map((i) => make("li", {}, shortened(names[i], 18))));
  const field = make("div", { class: size > MOST_NAMED ? "matrix" : size > 16 ? "matrix named many" : "matrix named" }, axis("of-columns"), axis("of-rows"), make("div", { class: "cells" }, canvas, cursor));
  host.replaceChildren(field, said);

  // The colors from one end to the other: TONES of lower, the panel, TONES of raise.
  const TONES = 100;
  const palette = () => {
    const style = getComputedStyle(root);
    const rgb = (name) => [1, 3, 5].map((k) => parseInt(style.getPropertyValue(`--${name}`).trim().slice(k, k + 2), 16));
    const [panel, raise, lower, blank] = ["panel", "raise", "lower", "line"].map(rgb);
    const mixed = (k) => panel.map((from, c) => from + (Math.abs(k) / TONES) * ((k < 0 ? lower : raise)[c] - from));
    const colors = Array.from({ length: 2 * TONES + 1 }, (_, k) => mixed(k - TONES));
    return new Uint32Array(new Uint8ClampedArray([...colors, blank].flatMap((color) => [...color, 255])).buffer);
  };
  // A million cells: some rows a frame, so that the page answers meanwhile.
  let turn = 0;
  const paint = () => {
    const [context, mine, full, colors] = [canvas.getContext("2d"), ++turn, limit() || 1, palette()];
    const some = matchMedia("print").matches ? size : Math.max(1, Math.floor(30000 / size));
    const from = (top) => {
      if (mine !== turn || top >= size) return;
      const bottom = Math.min(top + some, size);
      const image = new ImageData(size, bottom - top);
      const pixels = new Uint32Array(image.data.buffer);
      let at = 0;
      for (let a = top; a < bottom; a++) {
        for (const j of order) {
          const v = value(order[a], j);
          const tone = Math.round(TONES * Math.sqrt(Math.min(1, Math.abs(v) / full)));
          pixels[at++] = colors[v === null ? 2 * TONES + 1 : TONES + (v < 0 ? -tone : tone)];
        }
      }
      context.putImageData(image, 0, top);
      requestAnimationFrame(() => from(bottom));
    };
    from(0);
  };

  let at = [0, 0];
  const point = (a, b) => {
    at = [a, b].map((k) => Math.min(Math.max(k, 0), size - 1));
    Object.assign(cursor.style, { top: `${(100 * at[0]) / size}%`, left: `${(100 * at[1]) / size}%`, width: `${100 / size}%`, height: `${100 / size}%` });
    cursor.hidden = false;
    said.textContent = says(order[at[0]], order[at[1]]);
  };
  const under = (event) => {
    const { left, top, width, height } = canvas.getBoundingClientRect();
    point(Math.floor(((event.clientY - top) / height) * size), Math.floor(((event.clientX - left) / width) * size));
  };
  canvas.addEventListener("pointermove", under);
  canvas.addEventListener("click", (event) => {
    under(event);
    choose(order[at[1]]);
  });
  canvas.addEventListener("keydown", (event) => {
    const [a, b] = at;
    const moves = { ArrowUp: [a - 1, b], ArrowDown: [a + 1, b], ArrowLeft: [a, b - 1], ArrowRight: [a, b + 1] };
    if (moves[event.key]) point(...moves[event.key]);
    else if (event.key === "Enter") choose(order[b]);
    else return;
    event.preventDefault();
  });
  for (const media of ["(prefers-color-scheme: dark)", "print"]) matchMedia(media).addEventListener("change", paint);
  paint();
  return paint;
};

const startPairsMatrix = () => {
  if (!state.relation) return;
  const value = (i, j) => (i === j ? null : RELATIONS[state.relation].value(i, j) || 0);
  const limit = () => {
    const [i, j] = pairs.edges[state.relation];
    return Math.abs(RELATIONS[state.relation].value(i, j));
  };
  const says = (i, j) =>
    i === j
      ? names[i]
      : `${names[i]}, ${names[j]}: ${pairs.relations.map((key) => `${RELATIONS[key].title} ${signed(RELATIONS[key].value(i, j))}`).join(", ")}${
          data ? `; together in ${plural(together(i, j), "row")}, by chance in ${plain(byChance(i, j))}` : ""
        }`;
  const paint = startMatrix(byId("matrix"), "All pairs of labels", value, limit, says);
  listeners.relation.push(paint);
};

// Tables that sort, and show their first rows until all are wanted.

const FIRST_ROWS = 20;
const words = new Intl.Collator("en", { numeric: true });

// columns: { title, number, left, key: row => what to sort by, cell: row => what to show };
// numbers stand on the right unless a column is of words on the left.
const buildTable = (host, title, columns, given, { first = FIRST_ROWS, line = () => ({}) } = {}) => {
  let all = given.length <= first;
  let [kept, sort] = [given, null];
  const body = make("tbody");
  const says = make("span", { class: "quiet" });
  const more = button("", () => showAll(), { class: "plain more" });
  const lineOf = (row) =>
    make(
      "tr",
      line(row),
      ...columns.map(({ title: text, cell, number, left }, k) =>
        make(k ? "td" : "th", { "data-title": text, class: number && !left ? "number" : false, scope: k ? false : "row" }, cell(row)),
      ),
    );
  const compare = ({ key, number, down }) => {
    const rank = (row) => key(row) ?? NaN;
    if (!number) return (a, b) => (down ? -1 : 1) * words.compare(String(key(a)), String(key(b)));
    return (a, b) => Number.isNaN(rank(a)) - Number.isNaN(rank(b)) || (down ? rank(b) - rank(a) : rank(a) - rank(b));
  };
  const refresh = () => {
    const sorted = sort ? [...kept].sort(compare(sort)) : kept;
    const shown = all ? sorted : sorted.slice(0, first);
    fillList(body, shown, lineOf);
    says.textContent = shown.length < kept.length ? `${whole(shown.length)} of ${whole(kept.length)} ` : kept.length ? "" : "None.";
    more.textContent = `Show all ${whole(kept.length)}`;
    more.hidden = shown.length === kept.length;
  };
  const showAll = () => {
    all = true;
    refresh();
  };
  const headers = columns.map((column) => {
    const { title: text, number, left } = column;
    const header = make("th", { scope: "col", class: number && !left ? "number" : false, "aria-sort": "none" });
    header.append(
      make("button", { type: "button", onclick: () => {
        const down = header.getAttribute("aria-sort") === (number ? "none" : "ascending") || (number && header.getAttribute("aria-sort") === "ascending");
        for (const other of headers) other.setAttribute("aria-sort", "none");
        header.setAttribute("aria-sort", down ? "descending" : "ascending");
        sort = { ...column, down };
        refresh();
      } }, text),
    );
    return header;
  });
  const table = make("table", { "aria-label": title }, make("thead", {}, make("tr", {}, ...headers)), body);
  host.replaceChildren(make("div", { class: "wide", tabindex: "0", role: "region", "aria-label": title }, table), make("p", { class: "after" }, says, more));
  refresh();
  completions.push(showAll);
  return {
    refresh,
    keep: (test) => {
      kept = given.filter(test);
      refresh();
    },
  };
};

const withBar = (value, text) => {
  const element = make("span", { class: "withbar" }, text);
  element.style.setProperty("--part", value);
  return element;
};
