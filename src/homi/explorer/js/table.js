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
    body.replaceChildren(...shown.map(lineOf));
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
  const table = make("table", { "aria-label": title, class: columns.some((column) => column.left) ? "stacked" : false }, make("thead", {}, make("tr", {}, ...headers)), body);
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
