// Suspicious labels: accept or reject each, by mouse or key, and download the decisions.

const startAudit = () => {
  if (!audit) return;
  const list = byId("audit-list");
  const decided = audit.listed.map(() => "");
  let at = 0;

  const cell = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const csv = () => {
    const lines = audit.listed.map(([row, label, given, p, score, reason], k) =>
      [row, names[label], given, p, score, reason, decided[k]].map((value) => cell(String(value))).join(","),
    );
    return `${["row,label,given,probability,score,reason,decision", ...lines].join("\n")}\n`;
  };
  const download = () => {
    const link = make("a", { href: URL.createObjectURL(new Blob([csv()], { type: "text/csv" })), download: "decisions.csv" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };

  // The beginning of the row's text, if the row is in the page.
  const shownText = (row) => {
    const text = rows[rowAt.get(row)]?.text;
    return text ? [make("br"), rowText(text, 120)] : [];
  };
  const item = ([row, label, given, p, score, reason], k) =>
    make(
      "li",
      { id: `suspect-${k}`, "data-decision": decided[k], class: k === at ? "at" : false, onclick: () => go(k) },
      make("span", { class: "what" }, rowButton(row), given ? " has " : " lacks ", nameButton(label)),
      make("span", { class: "value" }, `${percent(score)} likely wrong`),
      make("span", { class: "quiet" }, reason, ...shownText(row)),
      make(
        "span",
        { class: "buttons" },
        button(given ? "Remove it" : "Add it", () => decide(k, String(1 - given)), { "aria-pressed": String(decided[k] === String(1 - given)), "aria-label": `${given ? "Remove" : "Add"} ${names[label]}, row ${row}` }),
        button("Keep", () => decide(k, String(given)), { "aria-pressed": String(decided[k] === String(given)), "aria-label": `Keep row ${row} as it is: ${given ? "with" : "without"} ${names[label]}` }),
      ),
    );
  // At first those that are likely wrong, but some in any case.
  const likely = audit.listed.filter(([, , , , score]) => score >= 0.01).length;
  let shown = Math.min(Math.max(likely, 5), 20, audit.listed.length);
  const refresh = () => {
    list.replaceChildren(...audit.listed.slice(0, shown).map(item));
    const done = decided.filter(Boolean).length;
    const changes = audit.listed.filter(([, , given], k) => decided[k] === String(1 - given)).length;
    byId("audit-says").textContent = `${whole(done)} of ${whole(audit.listed.length)} decided, ${plural(changes, "change")}`;
    byId("audit-more").hidden = shown === audit.listed.length;
    byId("audit-more").textContent = `Show all ${whole(audit.listed.length)}`;
    byId("audit-download").disabled = !done;
  };
  const update = (...which) => {
    for (const k of which) list.children[k]?.replaceWith(item(audit.listed[k], k));
  };
  const go = (k) => {
    const [before, next] = [at, Math.min(Math.max(k, 0), audit.listed.length - 1)];
    if (next >= shown) {
      shown = Math.min(shown + 20, audit.listed.length);
      refresh();
    }
    at = next;
    update(before, at);
    list.setAttribute("aria-activedescendant", `suspect-${at}`);
  };
  const decide = (k, value) => {
    decided[k] = decided[k] === value ? "" : value;
    const at_ = document.activeElement?.getAttribute("aria-label");
    refresh();
    const again = [...list.querySelectorAll("button")].find((b) => b.getAttribute("aria-label") === at_);
    again?.focus();
    const found = audit.listed.map(([row, label], n) => [row, names[label], decided[n]]);
    tell("decisions", found.filter(([, , value_]) => value_));
  };
  const given = () => audit.listed[at][2];
  byId("audit").addEventListener("keydown", (event) => {
    if (event.target.matches("input, select")) return;
    const moves = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 };
    if (moves[event.key]) go(at + moves[event.key]);
    else if (event.key === "a") decideAndGo(String(1 - given()));
    else if (event.key === "r") decideAndGo(String(given()));
    else if (event.key === "u") undo();
    else if (event.key === "o" && rowAt.has(audit.listed[at][0])) openRow(rowAt.get(audit.listed[at][0]));
    else return;
    event.preventDefault();
    list.children[at]?.scrollIntoView({ block: "nearest" });
  });
  const lately = []; // decided by key, the last one last
  const decideAndGo = (value) => {
    lately.push(at);
    decided[at] = "";
    decide(at, value);
    go(at + 1);
  };
  const undo = () => {
    const last = decided[at] ? at : (lately.pop() ?? at);
    if (decided[last]) decide(last, decided[last]);
    go(last);
  };
  byId("audit-download").addEventListener("click", download);
  byId("audit-more").addEventListener("click", () => {
    shown = audit.listed.length;
    refresh();
  });
  completions.push(() => byId("audit-more").click());
  refresh();
};
