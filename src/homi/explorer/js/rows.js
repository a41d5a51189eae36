// Why a row has a score: from the mean row, bar by bar, to g(x) or its log-odds.

const startRows = () => {
  if (!facts.rows.length) return;
  const pickRow = byId("row");
  const pickScore = byId("score");
  const place = byId("waterfall");
  const WORDS = new Map([[0, "zero"], [0.5, "one half"]]);
  const score = facts.logOdds ? "log-odds" : "g(x)";

  const title = (row, [kind, index, , number]) => {
    if (kind === "label") return index < 0 ? `${whole(number)} other labels` : names[index];
    if (facts.kernel) return "its own features, by the kernel";
    if (index < 0) return `${whole(number)} other features`;
    return `${facts.features[index]} = ${plain(row.values[index])}`;
  };

  // The verdict is the model's; its threshold is null where no fixed number decides.
  const verdict = ({ label, predicted }) => {
    const limit = facts.thresholds[label];
    const said = predicted ? "predicted" : "not predicted";
    if (limit === null) return { said };
    const name = WORDS.get(limit) ?? plain(limit);
    return { limit, name, said: `${predicted ? "" : "not "}above ${name}: ${said}` };
  };

  const line = (kind, text, from, to, scale, value, limit) => {
    const [left, right] = [Math.min(from, to), Math.max(from, to)].map(scale);
    const sign = kind === "total" ? "total" : to < from ? "lower" : "raise";
    const fill = make("span", { class: `fill ${sign}` });
    fill.style.left = `${left}%`;
    fill.style.width = `${Math.max(right - left, 0.35)}%`;
    const mark = make("span", { class: "half", "aria-hidden": "true", hidden: limit === undefined ? "" : false });
    if (limit !== undefined) mark.style.left = `${scale(limit)}%`;
    return make(
      "li",
      { class: kind, "data-value": value },
      make("span", { class: "what" }, text),
      make("span", { class: "track", "aria-hidden": "true" }, mark, fill),
      make("span", { class: "value" }, kind === "total" ? plain(value) : signed(value)),
    );
  };

  const show = () => {
    const row = facts.rows[Number(pickRow.value)];
    const why = row.why[Number(pickScore.value)];
    const ends = [why.start];
    for (const step of why.steps) ends.push(ends.at(-1) + step[2]);
    const { limit, name, said } = verdict(why);
    const low = Math.min(0, limit ?? 0, ...ends);
    const high = Math.max(limit ?? 0, ...ends);
    const scale = (value) => (100 * (value - low)) / (high - low || 1);
    const heading = (text) => make("li", { class: "heading" }, text);
    const lines = [line("total", facts.fromMean ? "the mean row" : "a row of zeros", 0, why.start, scale, why.start, limit)];
    let kind = "";
    why.steps.forEach((step, k) => {
      if (step[0] !== kind) lines.push(heading(step[0] === "feature" ? "Features, through the label's own model" : "Other labels, through B"));
      kind = step[0];
      lines.push(line(kind, title(row, step), ends[k], ends[k + 1], scale, step[2], limit));
    });
    lines.push(heading("Together"), line("total", `${score}, the score`, 0, why.score, scale, why.score, limit));
    const has = row.truth?.includes(why.label);
    const truth = row.truth ? `; the row ${has ? "has" : "does not have"} it` : "";
    const drawn = name ? ` The dashed line is ${name}.` : "";
    place.replaceChildren(
      make("ol", { class: "waterfall" }, ...lines),
      make("p", { class: "quiet", id: "verdict" }, `${names[why.label]}: ${score} = ${plain(why.score)}, ${said}${truth}.${drawn}`),
    );
  };

  const listScores = (wanted) => {
    const row = facts.rows[Number(pickRow.value)];
    pickScore.replaceChildren(
      ...row.why.map((why, k) => {
        const has = row.truth?.includes(why.label) ? " ✓" : "";
        return make("option", { value: k }, `${names[why.label]} (${plain(why.score)})${has}`);
      }),
    );
    const at = row.why.findIndex((why) => why.label === wanted);
    pickScore.value = String(Math.max(at, 0));
    show();
  };

  const current = () => facts.rows[Number(pickRow.value)].why[Number(pickScore.value)]?.label;
  pickRow.append(...facts.rows.map((row, k) => make("option", { value: k }, row.name)));
  pickRow.addEventListener("change", () => listScores(current()));
  pickScore.addEventListener("change", show);
  // Far below the graph: told again when it is seen.
  const follow = whenSeen(place, () => listScores(chosen >= 0 ? chosen : current()));
  onChoice.push((label) => label >= 0 && follow());
  listScores(-1);
};
