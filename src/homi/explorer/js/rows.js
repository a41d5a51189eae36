// The chosen label: what goes with it, and what is known about it.

const startCard = () => {
  const card = byId("card");
  const heading = (text) => make("h3", {}, text);
  const list = (sign) => {
    const found = partners(state.label, sign, 6);
    if (!found.length) return make("p", { class: "quiet" }, "none");
    const item = ({ label, value }) => {
      const others = pairs.relations.filter((key) => key !== state.relation);
      const rest = others.map((key) => `${RELATIONS[key].title} ${signed(RELATIONS[key].value(label, state.label))}`);
      if (data) rest.push(`lift ${plain(lift(label, state.label))}`);
      return make(
        "li",
        { "data-label": label, "data-value": value },
        nameButton(label),
        make("span", { class: `value ${value < 0 ? "lower" : "raise"}` }, signed(value)),
        make("span", { class: "quiet" }, rest.join(" · ")),
      );
    };
    return make("ul", { class: "partners" }, ...found.map(item));
  };
  const facts = (i) => {
    const lines = [];
    if (data) lines.push(["rows", `${whole(count(i))}, ${percent(count(i) / data.rows)}`]);
    const found = quality?.quality;
    if (found) lines.push(["precision, recall", `${percent(found.precision[i])}, ${percent(found.recall[i])}`], ["AUC", plain(found.auc[i])]);
    return make("dl", {}, ...lines.flatMap(([term, value]) => [make("dt", {}, term), make("dd", {}, value)]));
  };
  const explained = (i) => {
    const set = data?.sets[i];
    if (!set?.members.length) return null;
    const parts = set.members.flatMap((m, k) => [set.signs[k] < 0 ? " − " : k ? " + " : "", nameButton(m)]);
    return make("p", { class: "quiet set" }, "Labels that explain it together: ", ...parts, ` (R² ${set.r2.at(-1).toFixed(2)}; the first alone ${set.r2[0].toFixed(2)})`);
  };
  const overview = () => {
    const found = pairs.edges[state.relation] ?? [];
    const strongest = Array.from({ length: Math.min(10, found.length / 2) }, (_, k) => [found[2 * k], found[2 * k + 1]]);
    const item = ([i, j]) => {
      const value = RELATIONS[state.relation].value(i, j);
      return make("li", {}, make("span", {}, nameButton(i), " – ", nameButton(j)), make("span", { class: `value ${value < 0 ? "lower" : "raise"}` }, signed(value)));
    };
    return [
      make("h2", {}, "No label chosen"),
      make("p", {}, "Choose a label in the graph, in a list or by the search: here is what goes with it."),
      ...(strongest.length ? [heading("Strongest pairs"), make("ul", { class: "partners" }, ...strongest.map(item))] : []),
    ];
  };
  const show = () => {
    const i = state.label;
    const say = byId("said");
    if (i < 0) {
      card.replaceChildren(...overview());
      say.textContent = "No label chosen";
      return;
    }
    const strong = partners(i, 1, 2).map((p) => names[p.label]);
    say.textContent = `${names[i]}. ${strong.length ? `Raised most by ${strong.join(" and ")}.` : ""}`;
    const known = conditional && knowButtons(i);
    card.replaceChildren(
      make("h2", {}, dot(i), names[i]),
      facts(i),
      ...(known ? [make("p", { class: "know" }, "I know: ", known)] : []),
      ...(state.relation ? [heading("Goes with"), list(1), heading("Goes against"), list(-1)] : []),
      explained(i) ?? "",
    );
  };
  listeners.label.push(show);
  listeners.relation.push(show);
  show();
};

// Rows: search and sort them, open one, and see what adds up to the score of a label.

const chips = (found, kind, limit = 12) => {
  const shown = found.slice(0, limit).map((i) => make("span", { class: `chip ${kind(i)}` }, nameButton(i)));
  if (found.length > limit) shown.push(make("span", { class: "quiet" }, ` and ${found.length - limit} more`));
  return shown.length ? make("span", { class: "chips" }, ...shown) : make("span", { class: "quiet" }, "none");
};

// A text is shown as it is; what looks like an address or the path of a file is a link.
const isLink = (text) => /^(https?:\/\/|file:\/\/|\.{0,2}\/)\S+$/.test(text) || /^[\w./ -]+\.(png|jpe?g|gif|webp|svg|pdf|wav|mp3|txt)$/i.test(text);
// " · " separates the columns of a row.
const rowText = (text, most = Infinity) => {
  const pieces = text.split(" · ");
  if (!pieces.some(isLink)) return make("span", { class: "text" }, shortened(text, most));
  const shown = (piece) => (isLink(piece) ? make("a", { href: piece, target: "_blank", rel: "noreferrer" }, piece) : shortened(piece, most));
  return make("span", { class: "text" }, ...pieces.flatMap((piece, k) => [k ? " · " : "", shown(piece)]));
};

const startRows = () => {
  if (!rows.length) return;
  const missed = (r) => r.truth?.filter((i) => !r.predicted.includes(i)) ?? [];
  const false_ = (r) => (r.truth ? r.predicted.filter((i) => !r.truth.includes(i)) : []);
  const has = (r) => r.truth !== null;
  const columns = [
    {
      title: "row",
      key: (r) => r.name,
      cell: (r) => make("span", {}, make("button", { type: "button", class: "name open", onclick: () => tell("row", rows.indexOf(r)) }, r.name), r.text && make("br"), r.text && rowText(r.text, 90)),
    },
    { title: "predicted", key: (r) => r.predicted.length, number: true, left: true, cell: (r) => chips(r.predicted, (i) => (has(r) && !r.truth.includes(i) ? "false" : ""), 8) },
  ];
  if (rows.some(has)) {
    columns.push(
      { title: "given", key: (r) => r.truth.length, number: true, left: true, cell: (r) => chips(r.truth, (i) => (r.predicted.includes(i) ? "" : "missed"), 8) },
      { title: "errors", key: (r) => missed(r).length + false_(r).length, number: true, cell: (r) => String(missed(r).length + false_(r).length) },
    );
  }
  const table = buildTable(byId("rows-table"), "Rows", columns, rows, { first: 8 });
  const wanted = byId("rows-search");
  wanted.addEventListener("input", () => {
    const text = wanted.value.trim().toLowerCase();
    const words_ = (r) => [r.name, r.text, ...r.predicted.map((i) => names[i]), ...(r.truth ?? []).map((i) => names[i])];
    table.keep((r) => words_(r).some((word) => word.toLowerCase().includes(text)));
  });

  const place = byId("row");
  const score = labels.logOdds ? "log-odds" : "g(x)";
  const HEADINGS = {
    feature: "Features",
    neighbor: "Neighbors: training rows, by their similarity",
    label: "Other labels, through B",
  };
  const title = (row, [kind, index, , number]) => {
    if (index < 0) return `${whole(number)} other ${kind}s`;
    if (kind === "label") return names[index];
    if (kind === "neighbor") return `${rowsPart.neighbor} ${index}, similarity ${plain(row.similar[index])}`;
    return `${rowsPart.features[index]} = ${plain(row.values[index])}`;
  };
  const line = (kind, text, from, to, scale, value, limit) => {
    const [left, right] = [Math.min(from, to), Math.max(from, to)].map(scale);
    const sign = kind === "total" ? "total" : to < from ? "lower" : "raise";
    const bar = make("span", { class: `fill ${sign}` });
    Object.assign(bar.style, { left: `${left}%`, width: `${Math.max(right - left, 0.35)}%` });
    const mark = make("span", { class: "half", hidden: limit === null ? "" : false });
    if (limit !== null) mark.style.left = `${scale(limit)}%`;
    return make(
      "li",
      { class: kind, "data-value": value },
      make("span", { class: "what" }, text),
      make("span", { class: "track", "aria-hidden": "true" }, mark, bar),
      make("span", { class: "value" }, kind === "total" ? plain(value) : signed(value)),
    );
  };
  const waterfall = (row, why) => {
    const ends = [why.start];
    for (const step of why.steps) ends.push(ends.at(-1) + step[2]);
    const limit = labels.thresholds[why.label];
    const low = Math.min(0, limit ?? 0, ...ends);
    const high = Math.max(0, limit ?? 0, ...ends);
    const scale = (value) => (100 * (value - low)) / (high - low || 1);
    const lines = [line("total", labels.fromMean ? "the mean row" : "a row of zeros", 0, why.start, scale, why.start, limit)];
    let kind = "";
    why.steps.forEach((step, k) => {
      if (step[0] !== kind) lines.push(make("li", { class: "heading" }, HEADINGS[step[0]] + (step[0] === "feature" && why.leaves !== null ? ", and the leaves of trees that they lead to" : "")));
      kind = step[0];
      lines.push(line(kind, title(row, step), ends[k], ends[k + 1], scale, step[2], limit));
    });
    lines.push(make("li", { class: "heading" }, "Sum"), line("total", `score (${score})`, 0, why.score, scale, why.score, limit));
    const said = [`${names[why.label]}: ${score} = ${plain(why.score)}, ${why.predicted ? "predicted" : "not predicted"}`];
    if (row.truth) said.push(row.truth.includes(why.label) ? "the row has it" : "the row does not have it");
    if (why.leaves !== null) said.push(`${percent(why.leaves)} of the training rows in its leaves have it`);
    const dashed = limit === null ? "" : ` The dashed line is the threshold, ${plain(limit)}.`;
    return [make("ol", { class: "waterfall" }, ...lines), make("p", { class: "quiet", id: "verdict" }, `${said.join("; ")}.${dashed}`)];
  };

  const show = () => {
    const k = Math.max(state.row, 0);
    const row = rows[k];
    const explained = row.why.length > 0;
    const at = row.why.findIndex((why) => why.label === state.label);
    const pick = make("select", { id: "score", "aria-label": "Label to explain", onchange: (event) => draw_(Number(event.target.value)) });
    pick.append(...row.why.map((why, n) => make("option", { value: n }, `${names[why.label]} (${plain(why.score)})${row.truth?.includes(why.label) ? " ✓" : ""}`)));
    const box = make("div", { id: "waterfall" });
    const draw_ = (n) => {
      pick.value = n;
      box.replaceChildren(...waterfall(row, row.why[n]));
    };
    const parts = [
      make("h3", {}, row.name, " ", button("‹", () => tell("row", Math.max(k - 1, 0)), { "aria-label": "Previous row" }), button("›", () => tell("row", Math.min(k + 1, rows.length - 1)), { "aria-label": "Next row" })),
      row.text && make("p", { class: "rowtext" }, rowText(row.text)),
      make("p", {}, "Predicted: ", chips(row.predicted, (i) => (has(row) && !row.truth.includes(i) ? "false" : ""), Infinity)),
      row.truth && make("p", {}, "Given: ", chips(row.truth, (i) => (row.predicted.includes(i) ? "" : "missed"), Infinity)),
      make("p", { class: "tools" }, explained && make("label", { for: "score" }, "Explain the score of"), explained && pick, conditional && button("Tell what you know about it", () => {
        listeners.knownRow(k);
        byId("known").scrollIntoView();
      })),
      explained && at < 0 && state.label >= 0 && make("p", { class: "quiet" }, `The score of ${names[state.label]} is not among those explained for this row.`),
      box,
    ];
    place.replaceChildren(...parts.filter(Boolean));
    if (explained) draw_(Math.max(at, 0));
  };
  listeners.row.push(show);
  listeners.label.push(show);
  show();
};
