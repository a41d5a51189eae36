// Labels with a bar and a number each.

// The labels that raise (sign 1) or lower (sign -1) a label most, or that it moves.
const movers = (label, sign, { outward = false, most = 6 } = {}) => {
  const found = [];
  for (let other = 0; other < size; other++) {
    if (other === label) continue;
    const value = outward ? B(label, other) : B(other, label);
    if (value * sign > 0) found.push({ label: other, value });
  }
  found.sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  return { shown: found.slice(0, most), total: found.length };
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
