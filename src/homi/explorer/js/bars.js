// Labels with a bar and a number each.

// The labels that raise (sign 1) or lower (sign -1) a label most, or that it moves.
const movers = (label, sign, { outward = false, most = 6 } = {}) => {
  const shown = [];
  let total = 0;
  for (let other = 0; other < size; other++) {
    const value = sign * (outward ? B(label, other) : B(other, label));
    if (other === label || !(value > 0)) continue;
    total++;
    // Into its place among the strongest; of equals the first stays before.
    let at = shown.length;
    while (at > 0 && value > sign * shown[at - 1].value) at--;
    if (at === most) continue;
    shown.splice(at, 0, { label: other, value: sign * value });
    if (shown.length > most) shown.pop();
  }
  return { shown, total };
};

const nameButton = (label) =>
  make("button", { type: "button", class: "name", onclick: () => choose(label) }, names[label]);

const bar = (value, limit) => {
  const width = limit > 0 ? (100 * Math.abs(value)) / limit : 0;
  const fill = make("span", { class: value < 0 ? "fill lower" : "fill raise" });
  fill.style.width = `${Math.min(width, 100)}%`;
  return make("span", { class: "track", "aria-hidden": "true" }, fill);
};

// φ of the two labels; set apart where the data have the other sign.
const checked = (value, i, j, prefix = "φ ") => {
  if (!data) return null;
  const correlation = phi(i, j);
  const against = value * correlation < 0;
  const title = against
    ? "φ, the correlation in the data: of the other sign"
    : "φ, the correlation in the data";
  return make(
    "span",
    { class: against ? "phi against" : "phi", title },
    `${prefix}${signed(correlation)}${against ? " ≠" : ""}`,
  );
};

const moverList = (title, label, sign, options) => {
  const { shown, total } = movers(label, sign, options);
  const limit = largest;
  const items = shown.map(({ label: other, value }) =>
    make(
      "li",
      { "data-label": other, "data-value": value },
      nameButton(other),
      bar(value, limit),
      make("span", { class: "value" }, signed(value)),
      checked(value, label, other),
    ),
  );
  const rest = total - shown.length;
  const heading = make("h3", {}, title);
  if (rest > 0) heading.append(make("span", { class: "quiet" }, ` ${shown.length} of ${whole(total)}`));
  return make(
    "div",
    { class: "movers" },
    heading,
    items.length ? make("ul", {}, ...items) : make("p", { class: "quiet" }, "none"),
  );
};
