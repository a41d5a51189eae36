// The parts of the page, decoded; numbers for people; elements that hold text only.

const root = document.documentElement;
const byId = (id) => document.getElementById(id);

const bytesOf = (text) => {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
};
const TYPES = {
  float64: Float64Array,
  int32: Int32Array,
  int16: Int16Array,
  uint16: Uint16Array,
  uint32: Uint32Array,
};
// The numbers of an array: all their first bytes, then all their second ones, and so on.
const numbers = ({ type, at, length, scale }, raw) => {
  const found = new TYPES[type](length);
  const bytes = new Uint8Array(found.buffer);
  const width = found.BYTES_PER_ELEMENT;
  for (let b = 0; b < width; b++) {
    for (let k = 0; k < length; k++) bytes[k * width + b] = raw[at + b * length + k];
  }
  return scale === undefined ? found : Float64Array.from(found, (value) => value * scale);
};
const restore = (document_, raw) => {
  for (const [key, value] of Object.entries(document_)) {
    if (value?.constructor !== Object) continue;
    if (TYPES[value.type]) document_[key] = numbers(value, raw);
    else restore(value, raw);
  }
  return document_;
};
const part = async (name) => {
  const element = byId(`data-${name}`);
  if (!element) return null;
  const packed = new Blob([bytesOf(element.textContent)]);
  const data = await new Response(packed.stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  const end = 4 + new DataView(data).getUint32(0, true);
  const text = new TextDecoder().decode(new Uint8Array(data, 4, end - 4));
  return restore(JSON.parse(text), new Uint8Array(data, end));
};

const [labels, pairs, knownPart, rowsPart, audit, quality, models] = await Promise.all(
  ["labels", "pairs", "known", "rows", "audit", "quality", "models"].map(part),
);
const names = labels.names;
const size = names.length;

// Place of (i, j) in the upper triangle of a symmetric matrix, row by row.
const triangle = (i, j) => (i > j ? triangle(j, i) : i * size - (i * (i - 1)) / 2 + (j - i));

const absolute = (value) => {
  const v = Math.abs(value);
  if (v === 0) return "0";
  if (v < 1e-5) return v.toExponential(1).replace("-", "−");
  return v >= 100 ? v.toFixed(0) : v >= 0.1 ? v.toFixed(3) : v.toPrecision(2);
};
const isNumber = (value) => value != null && Number.isFinite(value);
const plain = (value) => (isNumber(value) ? (value < 0 ? "−" : "") + absolute(value) : "–");
const signed = (value) => (isNumber(value) ? (value < 0 ? "−" : "+") + absolute(value) : "–");
const whole = (value) => value.toLocaleString("en");
const percent = (p) => {
  if (!isNumber(p)) return "–";
  const value = 100 * p;
  return `${value >= 10 || value === 0 ? value.toFixed(0) : value >= 0.1 ? value.toFixed(1) : "<0.1"}\u00a0%`;
};
const shortened = (text, most = 28) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
const plural = (count, noun) => `${whole(count)} ${noun}${count === 1 ? "" : "s"}`;

// An element; strings among its children become text, never markup.
const SVG = "http://www.w3.org/2000/svg";
const fill = (element, attributes, children) => {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child != null && child !== false));
  return element;
};
const make = (tag, attributes = {}, ...children) =>
  fill(document.createElement(tag), attributes, children);
const draw = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);
const button = (text, onclick, attributes = {}) =>
  make("button", { type: "button", class: "plain", onclick, ...attributes }, text);

// One of several buttons is pressed.
const switches = (host, label, options, onpick) => {
  const buttons = options.map(([key, text]) =>
    button(text, () => pick(key), { "data-key": key, "aria-pressed": "false" }),
  );
  const pick = (key) => {
    for (const one of buttons) one.setAttribute("aria-pressed", String(one.dataset.key === key));
    onpick(key);
  };
  host.append(make("span", { class: "buttons", role: "group", "aria-label": label }, ...buttons));
  return pick;
};

// What is chosen, and who wants to be told.
const state = { label: -1, row: -1, relation: pairs.relations[0] ?? null };
const listeners = { label: [], row: [], relation: [], decisions: [] };
const tell = (what, value) => {
  state[what] = value;
  root.dataset[what] = typeof value === "object" ? JSON.stringify(value) : value;
  for (const listen of listeners[what]) listen(value);
  if (window.parent === window) return;
  const message = { label: names[state.label] ?? "", row: rowIndex(state.row) };
  window.parent.postMessage({ homi: { ...message, decisions: state.decisions ?? [] } }, "*");
};
const choose = (label) => tell("label", label);
const rows = rowsPart?.rows ?? [];
const rowIndex = (k) => rows[k]?.index ?? k;
const rowAt = new Map(rows.map((row, k) => [row.index, k]).filter(([index]) => index !== null));

// A longer name is cut, and whole where the pointer rests.
const MOST_LETTERS = 80;
const shortName = (name) => [shortened(name, MOST_LETTERS), { title: name.length > MOST_LETTERS ? name : false }];
const nameButton = (label, ...before) => {
  const [name, title] = shortName(names[label]);
  return make("button", { type: "button", class: "name", onclick: () => choose(label), ...title }, ...before, name);
};
const rowButton = (index) => {
  if (!rowAt.has(index)) return `row\u00a0${index}`;
  const [name, title] = shortName(rows[rowAt.get(index)].name);
  return make("button", { type: "button", class: "name row", onclick: () => openRow(rowAt.get(index)), ...title }, name);
};
const openRow = (k) => {
  tell("row", k);
  byId("rows").scrollIntoView();
};
const dot = (label) => make("span", { class: `dot g${labels.groups[label] % 10}`, "aria-hidden": "true" });

// Elements of a long list: the first are there at once, the others when nothing was done
// for PAUSE milliseconds, some a frame. What was there stays until its turn comes, so that
// the page does not jump.
const [FIRST, SLICE, PAUSE] = [30, 90, 100];
const fillings = new WeakMap();
const fillList = (host, items, element, first = FIRST) => {
  const own = {}; // a later filling ends this one
  fillings.set(host, own);
  const old = [...host.children];
  for (const each of old.splice(items.length)) each.remove();
  const put = (item, k) => (old[k] ? old[k].replaceWith(element(item)) : host.append(element(item)));
  const add = (from, to) => {
    if (fillings.get(host) !== own) return;
    items.slice(from, to).forEach((item, k) => put(item, from + k));
    const isDone = to >= items.length;
    host.toggleAttribute("data-filling", !isDone);
    if (isDone) return;
    const more = () => add(to, to + SLICE);
    requestAnimationFrame(from ? more : () => setTimeout(more, PAUSE));
  };
  add(0, atOnce ? items.length : Math.max(first, FIRST));
};

// What a page on paper, or one that is drawn as a whole, has to show in addition.
const completions = [];
let atOnce = false;
const complete = () => {
  atOnce = true;
  while (completions.length) completions.shift()();
  atOnce = false;
};
addEventListener("beforeprint", complete);
matchMedia("print").addEventListener("change", (event) => event.matches && complete());

// Relations of two labels: φ and lift of the data, dependence of errors, and B.

const data = pairs.data;
const both = data?.both;
const together = (i, j) => both[triangle(i, j)];
const counts = data && names.map((_, i) => together(i, i));
const count = (i) => counts[i];
const spreads = data && counts.map((n) => Math.sqrt(n * (data.rows - n)));
const phi = (i, j) => (data.rows * together(i, j) - counts[i] * counts[j]) / (spreads[i] * spreads[j]);
const byChance = (i, j) => (counts[i] * counts[j]) / data.rows;
const lift = (i, j) => together(i, j) / byChance(i, j);

const RELATIONS = {
  phi: { title: "φ", name: "Occur together", value: phi },
  errors: {
    title: "dependence",
    name: "Depend on each other",
    value: (i, j) => pairs.errors[triangle(i, j)],
  },
  B: { title: "B", name: "The model's B", value: (i, j) => pairs.B[i * size + j] },
};

// The labels of the largest values of one sign; of equals the first comes first.
const partners = (label, sign, most = 8, value = RELATIONS[state.relation]?.value) => {
  const shown = [];
  for (let other = 0; value && other < size; other++) {
    const strength = sign * value(other, label);
    if (other === label || !(strength > 0)) continue;
    let at = shown.length;
    while (at > 0 && strength > shown[at - 1].strength) at--;
    if (at === most) continue;
    shown.splice(at, 0, { label: other, strength });
    if (shown.length > most) shown.pop();
  }
  return shown.map(({ label: other, strength }) => ({ label: other, value: sign * strength }));
};

// The search that chooses a label.

const MOST_FOUND = 12;

// Names that begin with the text come first, then those that contain it.
const search = (text) => {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return [];
  const rank = (name) => {
    const at = name.toLowerCase().indexOf(wanted);
    return at < 0 ? 2 : Math.min(at, 1);
  };
  const ranked = names.map((name, label) => ({ label, rank: rank(name) }));
  return ranked.filter((r) => r.rank < 2).sort((a, b) => a.rank - b.rank).map((r) => r.label);
};

const startSearch = () => {
  const input = byId("search");
  const list = byId("found");
  let found = [];
  let active = 0;

  const close = () => {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };
  const take = (label) => {
    close();
    input.value = names[label];
    choose(label);
  };
  const option = (label, at) =>
    make(
      "li",
      {
        id: `found-${at}`,
        role: "option",
        "aria-selected": String(at === active),
        onpointerdown: (event) => {
          event.preventDefault();
          take(label);
        },
      },
      make("span", {}, names[label]),
      data && make("span", { class: "quiet" }, percent(count(label) / data.rows)),
    );
  const show = () => {
    const shown = found.slice(0, MOST_FOUND);
    const more = found.length - shown.length;
    list.replaceChildren(...shown.map(option));
    const note = (text) => make("li", { class: "quiet", role: "option", "aria-disabled": "true" }, text);
    if (!found.length) list.append(note("No label has this name"));
    if (more > 0) list.append(note(`and ${whole(more)} more`));
    list.hidden = !input.value.trim();
    input.setAttribute("aria-expanded", String(!list.hidden));
    if (found.length) input.setAttribute("aria-activedescendant", `found-${active}`);
  };
  input.addEventListener("input", () => {
    found = search(input.value);
    active = 0;
    show();
  });
  input.addEventListener("keydown", (event) => {
    const last = Math.min(found.length, MOST_FOUND) - 1;
    if (event.key === "ArrowDown") active = Math.min(active + 1, last);
    else if (event.key === "ArrowUp") active = Math.max(active - 1, 0);
    else if (event.key === "Enter" && found.length) return take(found[active]);
    else if (event.key === "Escape") return close();
    else return;
    event.preventDefault();
    show();
  });
  input.addEventListener("blur", close);
};
