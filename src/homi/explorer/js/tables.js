// Tables that sort, and show their first rows until all are wanted.

const FIRST_ROWS = 25;
const ROWS_A_FRAME = 50;
const words = new Intl.Collator("en", { numeric: true });

// columns: { title, number, key: row => what to sort by, cell: row => what to show }.
const buildTable = (table, columns, rows, { more, says, noun }) => {
  let all = rows.length <= FIRST_ROWS;
  let sorted = rows;
  let turn = 0;
  const body = make("tbody");
  const line = (row) =>
    make(
      "tr",
      {},
      ...columns.map(({ cell, number }, k) =>
        make(k ? "td" : "th", { class: number ? "number" : false, scope: k ? false : "row" }, cell(row)),
      ),
    );
  // The rest of a long table comes in the frames that follow, unless it is sorted anew.
  const append = (from, mine) => {
    if (mine !== turn) return;
    const to = from + ROWS_A_FRAME;
    body.append(...sorted.slice(from, to).map(line));
    if (to < sorted.length) requestAnimationFrame(() => append(to, mine));
  };
  const fill = () => {
    turn++;
    body.replaceChildren(...sorted.slice(0, FIRST_ROWS).map(line));
    const mine = turn;
    if (all) requestAnimationFrame(() => append(FIRST_ROWS, mine));
    const shown = all ? rows.length : FIRST_ROWS;
    if (says) says.textContent = `${whole(shown)} of ${whole(rows.length)} ${noun}`;
    if (more) more.hidden = all;
  };
  const headers = columns.map((column) => {
    const { title, number, key } = column;
    const button = make("button", { type: "button", title: "Sort" }, title);
    const header = make("th", { scope: "col", class: number ? "number" : false, "aria-sort": "none" }, button);
    button.addEventListener("click", () => {
      const down = header.getAttribute("aria-sort") === (number ? "none" : "ascending");
      for (const other of headers) other.setAttribute("aria-sort", "none");
      header.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rank = (row) => key(row) ?? NaN;
      const compare = number
        ? (a, b) => Number.isNaN(rank(a)) - Number.isNaN(rank(b)) || (down ? rank(b) - rank(a) : rank(a) - rank(b))
        : (a, b) => (down ? -1 : 1) * words.compare(String(key(a)), String(key(b)));
      sorted = [...rows].sort(compare);
      fill();
    });
    return header;
  });
  table.replaceChildren(make("thead", {}, make("tr", {}, ...headers)), body);
  more?.addEventListener("click", () => {
    all = true;
    fill();
  });
  fill();
};

const withBar = (value, text) => {
  const element = make("span", { class: "withbar" }, text);
  element.style.setProperty("--part", value);
  return element;
};

const startSets = () => {
  if (!data) return;
  const gain = ({ r2 }) => r2.at(-1) - r2[0];
  const rows = data.sets.map((set, label) => ({ ...set, label })).filter((set) => set.members.length);
  rows.sort((a, b) => gain(b) - gain(a) || b.r2[0] - a.r2[0]);
  const names_ = (row) =>
    make("span", { class: "members" }, ...row.members.flatMap((m, k) => [k ? (row.weights[k] < 0 ? " − " : " + ") : row.weights[0] < 0 ? "− " : "", nameButton(m)]));
  buildTable(
    byId("sets-table"),
    [
      { title: "label", key: (r) => names[r.label], cell: (r) => nameButton(r.label) },
      { title: "best single label", key: (r) => names[r.members[0]], cell: (r) => nameButton(r.members[0]) },
      { title: "R²", number: true, key: (r) => r.r2[0], cell: (r) => r.r2[0].toFixed(2) },
      { title: "smallest set", key: (r) => r.members.length, cell: names_ },
      { title: "R² of the set", number: true, key: (r) => r.r2.at(-1), cell: (r) => withBar(r.r2.at(-1), r.r2.at(-1).toFixed(2)) },
      { title: "gain", number: true, key: gain, cell: (r) => (gain(r) ? `+${gain(r).toFixed(2)}` : "–") },
    ],
    rows,
    { more: byId("sets-more"), says: byId("sets-says"), noun: "labels, most gained by a set first" },
  );
};

const startLabels = () => {
  const columns = [
    { title: "label", key: (i) => names[i], cell: (i) => make("span", {}, dot(i), nameButton(i)) },
    { title: "group", number: true, key: (i) => facts.groups[i], cell: (i) => String(facts.groups[i] + 1) },
    { title: "own score ×", number: true, key: (i) => facts.own[i], cell: (i) => plain(facts.own[i]) },
  ];
  if (data) {
    const most = Math.max(1, ...names.map((_, i) => count(i)));
    columns.splice(1, 0, {
      title: "rows",
      number: true,
      key: count,
      cell: (i) => withBar(count(i) / most, whole(count(i))),
    });
  }
  if (facts.quality) {
    columns.push({ title: "test rows", number: true, key: (i) => facts.quality.positives[i], cell: (i) => whole(facts.quality.positives[i]) });
    for (const [key, title] of QUALITY) {
      columns.push({ title, number: true, key: (i) => facts.quality[key][i], cell: (i) => plain(facts.quality[key][i]) });
    }
  }
  const rows = names.map((_, i) => i);
  if (data) rows.sort((a, b) => count(b) - count(a));
  buildTable(byId("labels-table"), columns, rows, {
    more: byId("labels-more"),
    says: byId("labels-says"),
    noun: data ? "labels, the most frequent first" : "labels",
  });
};

const MOST_PAIRS = 200;

// The strongest entries of B; where there are none, the pairs of the largest |φ|.
const strongestPairs = () => {
  const pairs = [];
  for (let k = 0; k < Math.min(arrowCount, MOST_PAIRS); k++) pairs.push([arrows[2 * k], arrows[2 * k + 1]]);
  if (arrowCount) return pairs;
  for (let i = 0; i < size; i++) {
    for (let j = i + 1; j < size; j++) if (phi(i, j)) pairs.push([i, j]);
  }
  pairs.sort((a, b) => Math.abs(phi(...b)) - Math.abs(phi(...a)));
  return pairs.slice(0, MOST_PAIRS);
};

const startStrongest = () => {
  if (!data) return;
  const rows = strongestPairs();
  const expected = ([i, j]) => (count(i) * count(j)) / data.rows;
  buildTable(
    byId("strongest"),
    [
      { title: "from", key: ([i]) => names[i], cell: ([i]) => nameButton(i) },
      { title: "to", key: ([, j]) => names[j], cell: ([, j]) => nameButton(j) },
      { title: "B", number: true, key: ([i, j]) => B(i, j), cell: ([i, j]) => signed(B(i, j)) },
      { title: "φ", number: true, key: ([i, j]) => phi(i, j), cell: ([i, j]) => checked(B(i, j), i, j, "") },
      { title: "both", number: true, key: (p) => together(...p), cell: (p) => whole(together(...p)) },
      { title: "by chance", number: true, key: expected, cell: (p) => whole(Math.round(expected(p))) },
    ],
    rows,
    {},
  );
};
