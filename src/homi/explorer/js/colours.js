// Colours of the style sheet, for what is drawn; told anew when they change.

const root = document.documentElement;
const repaint = [];
let colours;

const readColours = () => {
  const style = getComputedStyle(root);
  const read = (name) => style.getPropertyValue(`--${name}`).trim();
  colours = Object.fromEntries(
    ["paper", "panel", "ink", "soft", "line", "raise", "lower", "accent"].map((name) => [
      name,
      read(name),
    ]),
  );
  colours.groups = read("groups").split(/\s+/);
};

const recolour = () => {
  readColours();
  for (const draw of repaint) draw();
};

// Small groups beyond the palette share its last colour, a grey.
const groupColour = (label) => {
  const { groups } = colours;
  return groups[Math.min(facts.groups[label], groups.length - 1)];
};

const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

// From the panel's own colour at 0 to the full colour at 1 or -1.
const blended = (from, to) => {
  const [a, b] = [rgb(from), rgb(to)];
  return (t) => a.map((value, k) => Math.round(value + t * (b[k] - value)));
};
const diverging = () => {
  const up = blended(colours.panel, colours.raise);
  const down = blended(colours.panel, colours.lower);
  return (t) => (t < 0 ? down(Math.min(-t, 1)) : up(Math.min(t, 1)));
};

const followPalette = () => {
  const box = byId("palette");
  box.addEventListener("change", () => {
    root.dataset.palette = box.checked ? "safe" : "paper";
    recolour();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
};
readColours();
