// Beside everything: what is known of the chosen label.

const dot = (label) => {
  const mark = make("span", { class: "dot", "data-label": label, "aria-hidden": "true" });
  mark.style.background = groupColour(label);
  return mark;
};

repaint.push(() => {
  for (const mark of document.querySelectorAll(".dot")) {
    mark.style.background = groupColour(Number(mark.dataset.label));
  }
});

const MOST_GROUPS = 8;
const MOST_MEMBERS = 12;

const groupMembers = () => {
  const members = [];
  facts.groups.forEach((group, label) => (members[group] ??= []).push(label));
  if (data) for (const group of members) group.sort((a, b) => count(b) - count(a));
  return members;
};

const groupItem = (members) => {
  const shown = members.slice(0, MOST_MEMBERS);
  const more = members.length - shown.length;
  return make(
    "li",
    { class: "group" },
    dot(members[0]),
    make(
      "span",
      {},
      ...shown.flatMap((label, k) => [k ? " " : "", nameButton(label)]),
      more > 0 ? make("span", { class: "quiet" }, `and ${whole(more)} more`) : "",
    ),
  );
};

const overview = () => {
  const groups = groupMembers().filter((members) => members.length > 1);
  return [
    make("h2", {}, "Choose a label"),
    make("p", { class: "quiet" }, "Click one in the graph, or find it by name: what raises it, what lowers it and what explains it will stand here."),
    make("h3", {}, "Groups of labels that raise each other"),
    groups.length
      ? make("ul", { class: "groups" }, ...groups.slice(0, MOST_GROUPS).map(groupItem))
      : make("p", { class: "quiet" }, "There are none: no label raises another."),
  ];
};

const basics = (label) => {
  const parts = [];
  if (data) parts.push(`in ${whole(count(label))} of ${whole(data.rows)} rows (${share(count(label), data.rows)})`);
  parts.push(`own score × ${plain(facts.own[label])}`, `bias ${signed(facts.bias[label])}`);
  return make("p", { class: "quiet" }, parts.join(" · "));
};

const QUALITY = [
  ["auc", "AUC"],
  ["f1", "F1"],
  ["precision", "precision"],
  ["recall", "recall"],
];

const measured = (label) => {
  if (!facts.quality) return null;
  const parts = QUALITY.map(([key, title]) => `${title} ${plain(facts.quality[key][label])}`);
  return make("p", { class: "quality" }, `On the test set: ${parts.join(", ")}`);
};

// Brazil ≈ 0.01 + 0.60 rainforest + 0.40 soccer, with R² as members are added.
const explainedBy = (label) => {
  if (!data) return null;
  const { members, r2, weights, intercept } = data.sets[label];
  const box = make("div", { class: "explained" }, make("h3", {}, "Explained together by"));
  if (!members.length) {
    box.append(make("p", { class: "quiet" }, "No other label explains 1 % of it."));
    return box;
  }
  const items = members.map((member, k) => {
    const fill = make("span", { class: "fill share" });
    fill.style.width = `${100 * r2[k]}%`;
    return make(
      "li",
      { "data-label": member, "data-r2": r2[k] },
      nameButton(member),
      make("span", { class: "track", "aria-hidden": "true" }, fill),
      make("span", { class: "value" }, `R² ${r2[k].toFixed(2)}`),
    );
  });
  const terms = members.map((m, k) => ` ${weights[k] < 0 ? "−" : "+"} ${absolute(weights[k])} ${names[m]}`);
  box.append(
    make("ol", {}, ...items),
    make("p", { class: "formula" }, `${names[label]} ≈ ${plain(intercept)}${terms.join("")}`),
  );
  return box;
};

const portrait = (label) => [
  make("h2", {}, dot(label), names[label]),
  basics(label),
  measured(label),
  moverList("Raised by", label, 1),
  moverList("Lowered by", label, -1),
  moverList("It raises", label, 1, { outward: true, most: 4 }),
  moverList("It lowers", label, -1, { outward: true, most: 4 }),
  data ? make("p", { class: "quiet note" }, "φ is the correlation in the data; ≠ marks one of the other sign.") : null,
  explainedBy(label),
  make("p", {}, make("button", { type: "button", class: "plain", onclick: () => choose(-1) }, "Let go of this label")),
];

// What a screen reader says when a label is chosen.
const spoken = (label) => {
  if (label < 0) return "No label is chosen.";
  const most = (sign) => {
    const [first] = movers(label, sign, { most: 1 }).shown;
    return first ? `${names[first.label]}, ${signed(first.value)}` : "none";
  };
  return `${names[label]}. Raised most by ${most(1)}. Lowered most by ${most(-1)}.`;
};

const startCard = () => {
  const card = byId("card");
  // Asked of the card itself, that would have the browser lay out the page.
  let scrolled = false;
  card.addEventListener("scroll", () => (scrolled = true), { passive: true });
  onChoice.push((label) => (byId("said").textContent = spoken(label)));
  const show = () => {
    const parts = chosen < 0 ? overview() : portrait(chosen);
    card.replaceChildren(...parts.filter(Boolean));
    if (scrolled) card.scrollTop = 0;
    scrolled = false;
  };
  onChoice.push(show);
  show();
};
