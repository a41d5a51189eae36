// Labels of a row given some of them: homi.joint.JointModel, with the same numbers.

const sigmoid = (s) => 1 / (1 + Math.exp(-s));
const logit = (p) => Math.log(p / (1 - p));

const jointModel = ({ covariance, members, ends, prior, sharpness, weights, gates, leastVariance, tail, leastShare }) => {
  const C = new Float64Array(size * size);
  for (let i = 0, k = 0; i < size; i++) {
    for (let j = i; j < size; j++, k++) C[i * size + j] = C[j * size + i] = covariance[k];
  }
  const { scores: scoresFactor, known: knownFactor } = sharpness;
  const { slope, gaussian, sets } = weights;
  const hasEffect = Object.values(weights).some(Boolean);
  const deviation = (p) => Math.sqrt(Math.max(p * (1 - p), leastVariance));

  // Log-odds of p, which continue slowly below 0 and above 1.
  const bent = (p) => {
    const distance = Math.min(p, 1 - p);
    const odds = logit(distance < tail ? (tail * tail) / (2 * tail - distance) : distance);
    return p < 0.5 ? odds : -odds;
  };
  const setLogOdds = (p) => logit(leastShare + (1 - 2 * leastShare) * p);

  // Cholesky factor of C among the known labels, row by row.
  const factor = (known) => {
    const k = known.length;
    const L = new Float64Array(k * k);
    for (let a = 0; a < k; a++) {
      for (let b = 0; b <= a; b++) {
        let sum = C[known[a] * size + known[b]];
        for (let c = 0; c < b; c++) sum -= L[a * k + c] * L[b * k + c];
        L[a * k + b] = a === b ? Math.sqrt(sum) : sum / L[b * k + b];
      }
    }
    return L;
  };
  const solve = (L, right) => {
    const k = right.length;
    const x = Float64Array.from(right);
    for (let a = 0; a < k; a++) {
      for (let b = 0; b < a; b++) x[a] -= L[a * k + b] * x[b];
      x[a] /= L[a * k + a];
    }
    for (let a = k - 1; a >= 0; a--) {
      for (let b = a + 1; b < k; b++) x[a] -= L[b * k + a] * x[b];
      x[a] /= L[a * k + a];
    }
    return x;
  };

  // Probability of each label under the posterior over label sets seen in training.
  const marginals = (s, known) => {
    const field = s.map((value) => scoresFactor * value);
    for (const [j, y] of known) field[j] = knownFactor * (y ? 1 : -1);
    const n = prior.length;
    const weight = new Float64Array(n);
    let largest = -Infinity;
    for (let k = 0; k < n; k++) {
      let sum = prior[k];
      for (let m = ends[k]; m < ends[k + 1]; m++) sum += field[members[m]];
      weight[k] = sum;
      if (sum > largest) largest = sum;
    }
    const found = new Float64Array(size);
    let total = 0;
    for (let k = 0; k < n; k++) {
      const w = Math.exp(weight[k] - largest);
      total += w;
      for (let m = ends[k]; m < ends[k + 1]; m++) found[members[m]] += w;
    }
    return found.map((value) => Math.min(value / total, 1));
  };

  // s: log-odds of a row; known: Map of label to 0 or 1. Probabilities of all labels.
  const probabilities = (s, known, before = marginals(s, new Map())) => {
    const found = Float64Array.from(s, sigmoid);
    if (hasEffect && known.size && known.size < size) {
      const K = [...known.keys()];
      const residuals = K.map((j) => (known.get(j) - found[j]) / deviation(found[j]));
      const v = solve(factor(K), residuals);
      const after = marginals(s, known);
      for (let u = 0; u < size; u++) {
        const p = sigmoid(s[u]);
        let shift = 0;
        for (let k = 0; k < K.length; k++) shift += C[u * size + K[k]] * v[k];
        const byErrors = bent(p + deviation(p) * shift) - bent(p);
        const bySets = setLogOdds(after[u]) - setLogOdds(before[u]);
        const total = (slope * known.size * s[u]) / size + gaussian * byErrors + sets * bySets;
        found[u] = sigmoid(s[u] + gates[u] * total);
      }
    }
    for (const [j, y] of known) found[j] = y;
    return found;
  };

  // The label whose answer reduces the summed variance of all unknown labels most.
  const question = (P, known) => {
    const K = [...known.keys()];
    const L = factor(K);
    const U = Int32Array.from(names.keys()).filter((i) => !known.has(i));
    const n = U.length;
    // Rows of W = L⁻¹ C_KU, so that C given the known labels is C_UU - WᵀW.
    const W = [];
    K.forEach((j, a) => {
      const line = Float64Array.from(U, (u) => C[j * size + u]);
      for (let b = 0; b < a; b++) {
        for (let u = 0; u < n; u++) line[u] -= L[a * K.length + b] * W[b][u];
      }
      W.push(line.map((value) => value / L[a * K.length + a]));
    });
    const own = Float64Array.from(U, (u) => C[u * size + u]);
    for (const line of W) line.forEach((value, u) => (own[u] -= value * value));
    const variance = Float64Array.from(U, (u) => P[u] * (1 - P[u]));
    const gain = variance.slice();
    const given = new Float64Array(n);
    for (let a = 0; hasEffect && a < n; a++) {
      for (let b = a + 1; b < n; b++) given[b] = C[U[a] * size + U[b]];
      for (const line of W) {
        const own_ = line[a];
        for (let b = a + 1; b < n; b++) given[b] -= own_ * line[b];
      }
      let sum = 0;
      for (let b = a + 1; b < n; b++) {
        const square = (given[b] * given[b]) / (own[a] * own[b]);
        sum += square * variance[b];
        gain[b] += square * variance[a];
      }
      gain[a] += sum;
    }
    let best = -1;
    for (let a = 0; a < n; a++) {
      if (variance[a] > 1e-12 && (best < 0 || gain[a] > gain[best])) best = a;
    }
    return best < 0 ? null : U[best];
  };

  return { probabilities, marginals, question, hasEffect };
};
