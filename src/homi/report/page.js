// Tables that sort and filter, and a list of contents that folds on small screens.
"use strict";
(() => {
  const NUMBER =
    /^[<>≤≥≈~]?\s*([+\-−]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d*\.?\d+(?:e[+\-−]?\d+)?))/i;
  const WORDS = new Intl.Collator("en", { numeric: true });
  const NEXT = { none: "ascending", ascending: "descending", descending: "none" };

  const create = (tag, properties) =>
    Object.assign(document.createElement(tag), properties);

  // "0.205 ± 0.023 ●" is 0.205; what does not start with a number is NaN.
  const value = (cell) => {
    const text = cell.textContent.trim();
    const found = NUMBER.exec(text);
    const digits = found ? found[1].replace(/,/g, "").replace(/−/g, "-") : NaN;
    return { text, number: Number(digits) };
  };

  // Cells without a number come last in both directions.
  const compare = (a, b, sign) => {
    const missing = Number.isNaN(a.number) - Number.isNaN(b.number);
    if (missing) return missing;
    if (Number.isNaN(a.number)) return sign * WORDS.compare(a.text, b.text);
    return sign * (a.number - b.number);
  };

  const sorted = (rows, column, direction) => {
    if (direction === "none") return rows;
    const sign = direction === "ascending" ? 1 : -1;
    const keyed = rows.map((row) => ({ row, key: value(row.cells[column]) }));
    return keyed.sort((a, b) => compare(a.key, b.key, sign)).map(({ row }) => row);
  };

  const makeSortable = (table, rows) => {
    const headers = [...table.tHead.rows[0].cells];
    const sort = (header, column) => {
      const direction = NEXT[header.getAttribute("aria-sort")];
      for (const other of headers) other.setAttribute("aria-sort", "none");
      header.setAttribute("aria-sort", direction);
      table.tBodies[0].append(...sorted(rows, column, direction));
    };
    headers.forEach((header, column) => {
      const button = create("button", { type: "button", title: "Sort" });
      button.append(...header.childNodes);
      button.addEventListener("click", () => sort(header, column));
      header.append(button);
      header.setAttribute("aria-sort", "none");
    });
  };

  const makeFilter = (listing, rows) => {
    const texts = rows.map((row) =>
      [...row.cells].map((cell) => cell.textContent).join(" ").toLowerCase(),
    );
    const input = create("input", { type: "search", placeholder: "Filter rows" });
    const count = create("output", { textContent: `${rows.length} rows` });
    input.setAttribute("aria-label", "Filter rows: all of these words");
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      rows.forEach((row, index) => {
        row.hidden = !words.every((word) => texts[index].includes(word));
      });
      const left = rows.filter((row) => !row.hidden).length;
      count.textContent = `${left} of ${rows.length} rows`;
    });
    const tools = create("div", { className: "tools" });
    tools.append(input, count);
    listing.querySelector(".scroll").before(tools);
  };

  const makeFolding = (details) => {
    const small = window.matchMedia("(max-width: 63.99rem)");
    const fold = () => {
      details.open = !small.matches;
    };
    fold();
    small.addEventListener("change", fold);
    details.addEventListener("click", (event) => {
      if (event.target.closest("a")) fold();
    });
  };

  document.documentElement.classList.add("scripted");
  makeFolding(document.querySelector("nav details"));
  for (const listing of document.querySelectorAll(".listing")) {
    const table = listing.querySelector("table");
    const rows = [...table.tBodies[0].rows];
    makeSortable(table, rows);
    makeFilter(listing, rows);
  }
})();
