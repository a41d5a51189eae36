// Tell it what you know: click labels to yes or no, and see what follows.

const conditional = knownPart && jointModel(knownPart);
const known = new Map();
const logOddsOf = (k) => (k < 0 ? knownPart.average : rowsPart.logOdds.subarray(k * size, (k + 1) * size));

let redrawKnown = () => {};
const know = (label, value) => {
  if (known.get(label) === value) known.delete(label);
  else known.set(label, value);
  redrawKnown();
};
const knowButtons = (label) =>
  make(
    "span",
    { class: "buttons" },
    ...[["yes", 1], ["no", 0]].map(([text, value]) =>
      button(text, () => know(label, value), {
        "aria-pressed": String(known.get(label) === value),
        "aria-label": `${names[label]}: ${text}`,
        "data-know": `${label} ${value}`,
      }),
    ),
  );

const startKnown = () => {
  if (!conditional) return;
  const first = 24;
  const list = byId("known-list");
  let [row, all, filter] = [-1, false, ""];
  let found = null; // what follows from what is known
  const whichRow = byId("known-row");
  whichRow.append(make("option", { value: -1 }, "an average row"), ...rows.map((r, k) => make("option", { value: k }, r.name)));

  // Known labels that moved a label: what its log-odds would lack without each.
  const reasons = (s, P, before) => {
    if (known.size < 2) return () => [...known.keys()];
    const without = [...known.keys()].slice(0, 30).map((j) => {
      const fewer = new Map(known);
      fewer.delete(j);
      return [j, conditional.probabilities(s, fewer, before)];
    });
    return (u) =>
      without
        .map(([j, Q]) => [j, Math.abs(logit(P[u]) - logit(Q[u]))])
        .sort((a, b) => b[1] - a[1])
        .filter(([, effect], k, sorted) => effect > 0.2 * sorted[0][1])
        .slice(0, 3)
        .map(([j]) => j);
  };

  const item = (u) => {
    const { P, plainP, why } = found;
    const bar = make("span", { class: P[u] < plainP[u] ? "bar lower" : "bar", "aria-hidden": "true" });
    bar.style.setProperty("--part", `${100 * P[u]}%`);
    bar.style.setProperty("--before", `${100 * plainP[u]}%`);
    const moved = Math.abs(P[u] - plainP[u]) >= 0.0005;
    const says = known.has(u)
      ? `known: ${known.get(u) ? "yes" : "no"}`
      : moved
        ? `was ${percent(plainP[u])}, because of ${why(u).map((j) => `${known.get(j) ? "" : "no "}${shortened(names[j], 24)}`).join(", ")}`
        : "";
    return make(
      "li",
      { "data-label": u, "data-p": P[u], class: known.has(u) ? "is-known" : false },
      knowButtons(u),
      nameButton(u),
      bar,
      make("span", { class: "value" }, percent(P[u])),
      make("span", { class: "quiet" }, says),
    );
  };

  const show = (kept = -1) => {
    const named = found.order.filter((i) => names[i].toLowerCase().includes(filter));
    const shown = all ? named : named.slice(0, Math.max(first, known.size + 12));
    fillList(list, shown, item, shown.indexOf(kept) + 1);
    byId("known-more").hidden = shown.length === named.length;
    byId("known-more").textContent = `Show all ${whole(named.length)}`;
  };
  const update = (kept) => {
    const s = logOddsOf(row);
    const before = found?.row === row ? found.before : conditional.marginals(s, new Map());
    const P = conditional.probabilities(s, known, before);
    const plainP = Float64Array.from(s, sigmoid);
    const moved = Float64Array.from(s, (_, u) => (known.size ? Math.abs(P[u] - plainP[u]) : 0));
    const order = names.map((_, i) => i).sort((a, b) => known.has(b) - known.has(a) || moved[b] - moved[a] || P[b] - P[a]);
    found = { row, before, P, plainP, order, why: reasons(s, P, before) };
    show(kept);
    const next = known.size < size ? conditional.question(P, known) : null;
    byId("known-next").replaceChildren(
      ...(next === null ? ["Nothing is left to ask."] : ["Ask next: ", nameButton(next), " ", knowButtons(next)]),
    );
    byId("known-next").dataset.label = next ?? -1;
    byId("known-clear").disabled = !known.size;
    root.dataset.known = JSON.stringify([...known]);
    const chosen = byId("card").querySelector(".know .buttons");
    chosen?.replaceWith(knowButtons(state.label));
  };
  // The button that was pressed is a new one now: the focus stays where it was.
  redrawKnown = () => {
    const at = document.activeElement?.dataset?.know;
    const place = document.activeElement?.closest("#known-next, #card, #known-list")?.id;
    update(at ? Number(at.split(" ")[0]) : -1);
    if (at && place) byId(place).querySelector(`[data-know="${at}"]`)?.focus();
  };
  const setRow = (k) => {
    row = k;
    whichRow.value = k;
    update();
  };
  whichRow.addEventListener("change", () => setRow(Number(whichRow.value)));
  byId("known-filter").addEventListener("input", (event) => {
    filter = event.target.value.trim().toLowerCase();
    show();
  });
  const showAll = () => {
    all = true;
    show();
  };
  byId("known-more").addEventListener("click", showAll);
  byId("known-clear").addEventListener("click", () => {
    known.clear();
    update();
  });
  listeners.knownRow = setRow;
  completions.push(showAll);
  update();
};
