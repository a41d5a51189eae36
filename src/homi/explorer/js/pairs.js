// How two labels hang together: φ and lift of the data, dependence of errors, and B.

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
