// The facts, decoded; numbers for people; elements that hold text and nothing else.

const facts = JSON.parse(document.getElementById("facts").textContent);
const names = facts.names;
const size = names.length;

const TYPES = {
  float64: Float64Array,
  int16: Int16Array,
  uint16: Uint16Array,
  uint32: Uint32Array,
};

const decode = ({ type, bytes }) => {
  if (Uint8Array.fromBase64) return new TYPES[type](Uint8Array.fromBase64(bytes).buffer);
  const text = atob(bytes);
  const raw = new Uint8Array(text.length);
  for (let k = 0; k < text.length; k++) raw[k] = text.charCodeAt(k);
  return new TYPES[type](raw.buffer);
};

const entries = decode(facts.B);
const unit = facts.B.scale ?? 1;
const arrows = decode(facts.arrows);
const arrowCount = arrows.length / 2;

// How the score of label i moves label j.
const B = (i, j) => (i === j ? facts.own[i] : entries[i * size + j] * unit);

const data = facts.data;
const both = data ? decode(data.both) : null;

// Rows with both labels, from the upper triangle of the symmetric matrix.
const together = (i, j) => {
  const a = Math.min(i, j);
  const b = Math.max(i, j);
  return both[a * size - (a * (a - 1)) / 2 + (b - a)];
};
const counts = data ? names.map((_, i) => together(i, i)) : null;
const count = (i) => counts[i];
const spreads = data ? counts.map((n) => Math.sqrt(n * (data.rows - n))) : null;

// Pearson's correlation of two labels; NaN where one is constant.
const phi = (i, j) =>
  (data.rows * together(i, j) - counts[i] * counts[j]) / (spreads[i] * spreads[j]);

// The least and the greatest entry, and how large one is off the diagonal.
let [least, greatest] = [Infinity, -Infinity];
for (let k = 0; k < entries.length; k++) {
  if (k % (size + 1) === 0) continue;
  if (entries[k] < least) least = entries[k];
  if (entries[k] > greatest) greatest = entries[k];
}
const largest = Math.max(0, -least, greatest) * unit;
const extent = [Math.min(least * unit, ...facts.own), Math.max(greatest * unit, ...facts.own)];

const absolute = (value) => {
  const v = Math.abs(value);
  if (v === 0) return "0";
  if (v < 0.0005) return v.toExponential(1).replace("-", "−");
  return v >= 100 ? v.toFixed(0) : v >= 0.1 ? v.toFixed(3) : v.toPrecision(2);
};
const isNumber = (value) => value !== null && Number.isFinite(value);
const minus = (value) => (value < 0 ? "−" : "");
const plain = (value) => (isNumber(value) ? minus(value) + absolute(value) : "–");
const signed = (value) =>
  isNumber(value) ? (value < 0 ? "−" : "+") + absolute(value) : "–";
const whole = (value) => value.toLocaleString("en");
const share = (part, all) => {
  const percent = (100 * part) / all;
  return `${percent >= 10 || percent === 0 ? percent.toFixed(0) : percent.toFixed(1)} %`;
};
const shortened = (text, most = 28) =>
  text.length > most ? `${text.slice(0, most - 1)}…` : text;

// As much of a text as is no wider than this when drawn.
const fitted = (context, text, width) => {
  if (context.measureText(text).width <= width) return text;
  let most = text.length - 1;
  while (most > 1 && context.measureText(shortened(text, most)).width > width) most--;
  return shortened(text, most);
};

// An element; strings among its children become text, never markup.
const make = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child != null));
  return element;
};
const byId = (id) => document.getElementById(id);

// Sizes of canvases as the browser tells them: to ask would have it lay out the page.
const sizes = new WeakMap();
const noticeSize = new ResizeObserver((changes) => {
  for (const { target, contentRect } of changes) sizes.set(target, contentRect);
});

// A canvas with as many pixels as the screen has, drawn in units of CSS pixels.
const brush = (canvas) => {
  const ratio = Math.min(window.devicePixelRatio || 1, 2);
  if (!sizes.has(canvas)) noticeSize.observe(canvas);
  const { width, height } = sizes.get(canvas) ?? canvas.getBoundingClientRect();
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) Object.assign(canvas, { width: w, height: h });
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height, ratio };
};

// Draw at most once per frame, and only what can be seen; the rest when it comes near.
const whenSeen = (element, draw) => {
  let [waiting, seen, stale] = [false, false, false];
  const redraw = () => {
    stale = true;
    if (!seen || waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = stale = false;
      draw();
    });
  };
  const notice = (changes) => {
    seen = changes.at(-1).isIntersecting;
    if (seen && stale) redraw();
  };
  new IntersectionObserver(notice, { rootMargin: "100px" }).observe(element);
  new ResizeObserver(redraw).observe(element);
  return redraw;
};
