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
      heading("Strongest pairs"),
      make("ul", { class: "partners" }, ...strongest.map(item)),
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
      heading("Goes with"),
      list(1),
      heading("Goes against"),
      list(-1),
      explained(i) ?? "",
    );
  };
  listeners.label.push(show);
  listeners.relation.push(show);
  show();
};
