// Labels as a graph: where they stand, the edges between them, and names that fit.

const startGraph = () => {
  const svg = byId("graph-svg");
  const [under, over, discs, texts] = ["edges", "own", "discs", "names"].map((name) => {
    const layer = draw("g", { class: name });
    svg.append(layer);
    return layer;
  });
  const measure = document.createElement("canvas").getContext("2d");
  const most = data ? Math.max(1, ...counts) : 1;
  const radius = (i) => (size > 200 ? 2 : 4) + (size > 200 ? 4 : 7) * Math.sqrt(data ? count(i) / most : 0.2);
  const central = new Map(labels.groupNames.flatMap((group, g) => group.slice(0, 1).map((i) => [i, g])));
  const edges = pairs.edges;
  const zoom = { scale: 1, x: 0, y: 0 };
  let [width, height, points, base] = [0, 0, [], []];
  let crowded = size > 200;

  const circles = names.map((name, i) =>
    draw("circle", { r: radius(i), class: `g${labels.groups[i] % 10}`, "data-label": i }, draw("title", {}, name)),
  );
  discs.append(...circles);

  // Boxes of a disc and its name are pushed apart until none overlap, if there is room.
  const boxOf = (i, [x, y]) => ({ i, x, y, r: radius(i), w: nameWidth[i] });
  const separate = (boxes) => {
    const area = boxes.reduce((sum, b) => sum + (2 * b.r + b.w + 10) * 20, 0);
    crowded = area > 0.6 * width * height;
    if (crowded) return boxes;
    for (let turn = 0; turn < 300; turn++) {
      let moved = false;
      for (let a = 0; a < boxes.length; a++) {
        for (let b = a + 1; b < boxes.length; b++) {
          const [p, q] = [boxes[a], boxes[b]];
          const dx = Math.min(p.x + p.r + p.w, q.x + q.r + q.w) - Math.max(p.x - p.r, q.x - q.r) + 10;
          const dy = 19 - Math.abs(p.y - q.y);
          if (dx <= 0 || dy <= 0) continue;
          moved = true;
          const [below, above] = p.y > q.y || (p.y === q.y && a > b) ? [p, q] : [q, p];
          const [right, left] = p.x > q.x ? [p, q] : [q, p];
          if (dy < dx) [below.y, above.y] = [below.y + dy / 2, above.y - dy / 2];
          else [right.x, left.x] = [right.x + dx / 2, left.x - dx / 2];
        }
      }
      for (const b of boxes) {
        b.x = Math.min(Math.max(b.x, b.r + 4), width - b.r - b.w - 10);
        b.y = Math.min(Math.max(b.y, 12), height - 12);
      }
      if (!moved) break;
    }
    return boxes;
  };

  let nameWidth = [];
  let shownName = [];
  const place = () => {
    ({ clientWidth: width, clientHeight: height } = svg);
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const font = `12px ${getComputedStyle(svg).fontFamily}`;
    shownName = names.map((name) => shortened(name, width < 500 ? 16 : 24));
    nameWidth = shownName.map((name, i) => {
      measure.font = central.has(i) ? `650 ${font}` : font;
      return measure.measureText(name).width + 12;
    });
    const room = size > 200 ? 30 : Math.min(140, 0.2 * width);
    base = labels.places.map(([x, y]) => [
      10 + ((x + 1) / 2) * (width - 20 - room),
      16 + ((y + 1) / 2) * (height - 32),
    ]);
    if (size <= 200) separate(base.map((point, i) => boxOf(i, point))).forEach(({ i, x, y }) => (base[i] = [x, y]));
    paint();
  };

  const crosses = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
  const spots = (i) => {
    const [[x, y], r, w] = [points[i], radius(i) + 3, nameWidth[i] - 4];
    return [[x + r, y], [x - r - w, y], [x - w / 2, y + r + 8], [x - w / 2, y - r - 8]].map(
      ([left, middle]) => [left, middle - 8, left + w, middle + 8],
    );
  };
  const isInside = ([left, top, right, bottom]) => left >= 0 && top >= 0 && right <= width && bottom <= height;

  // The chosen label, its partners and the heart of each group are named first.
  const writeNames = () => {
    const near = state.label < 0 ? [] : [state.label, ...[1, -1].flatMap((s) => partners(state.label, s)).map((p) => p.label)];
    const rest = names.map((_, i) => i).sort((a, b) => (data ? count(b) - count(a) : a - b));
    const order = [...new Set([...near, ...central.keys(), ...rest])];
    const bodies = size > 200 ? [] : points.map(([x, y], i) => [x - radius(i), y - radius(i), x + radius(i), y + radius(i)]);
    const taken = [];
    const written = [];
    for (const i of order) {
      if (taken.length >= 160) break;
      const boxes = spots(i).filter((box) => isInside(box) && !taken.some((t) => crosses(box, t)));
      const clear = boxes.find((box) => !bodies.some((body, j) => j !== i && crosses(box, body)));
      const free = clear ?? (crowded && boxes[0]);
      if (!free) continue;
      taken.push(free);
      const kind = [i === state.label && "chosen", central.has(i) && "central", near.length && !near.includes(i) && "far"];
      written.push(draw("text", { x: free[0], y: (free[1] + free[3]) / 2, class: kind.filter(Boolean).join(" "), "data-label": i }, shownName[i]));
    }
    texts.replaceChildren(...written);
  };

  // Lines of the same sign and about the same strength are one path: thousands are quick.
  const SHADES = 8;
  // A little bent: edges of discs that stand in a row do not hide each other.
  const arc = ([x1, y1], [x2, y2]) =>
    `M${x1.toFixed(1)} ${y1.toFixed(1)}Q${((x1 + x2 - (y2 - y1) / 6) / 2).toFixed(1)} ${((y1 + y2 + (x2 - x1) / 6) / 2).toFixed(1)} ${x2.toFixed(1)} ${y2.toFixed(1)}`;
  const lines = (found, limit) => {
    const parts = new Map();
    for (const [i, j, value] of found) {
      const shade = Math.min(SHADES, Math.ceil((SHADES * Math.abs(value)) / limit));
      const key = value < 0 ? -shade : shade;
      parts.set(key, (parts.get(key) ?? "") + arc(points[Math.min(i, j)], points[Math.max(i, j)]));
    }
    return [...parts].map(([key, d]) => draw("path", { d, class: key < 0 ? "lower" : "raise", "stroke-width": 0.6 + (5 * Math.abs(key)) / SHADES }));
  };
  const drawEdges = () => {
    const key = state.relation;
    if (!key) return;
    const { value } = RELATIONS[key];
    const pair = (k) => [edges[key][2 * k], edges[key][2 * k + 1]];
    const limit = Math.abs(value(...pair(0))) || 1;
    const shown = Number(byId("edges").value);
    under.replaceChildren(...lines(Array.from({ length: shown }, (_, k) => [...pair(k), value(...pair(k))]), limit));
    const near = state.label < 0 ? [] : [1, -1].flatMap((sign) => partners(state.label, sign));
    over.replaceChildren(...lines(near.map((p) => [p.label, state.label, p.value]), limit));
    byId("edges-says").textContent = `${whole(shown)} of ${whole(edges[key].length / 2)} edges`;
  };

  const paint = () => {
    points = base.map(([x, y]) => [
      width / 2 + zoom.scale * (x - width / 2) + zoom.x,
      height / 2 + zoom.scale * (y - height / 2) + zoom.y,
    ]);
    circles.forEach((circle, i) => {
      circle.setAttribute("cx", points[i][0]);
      circle.setAttribute("cy", points[i][1]);
    });
    mark();
  };
  let marked = [];
  const mark = () => {
    for (const i of marked) circles[i].classList.remove("chosen");
    marked = state.label < 0 ? [] : [state.label];
    for (const i of marked) circles[i].classList.add("chosen");
    svg.classList.toggle("picked", state.label >= 0);
    drawEdges();
    writeNames();
  };

  const setRelation = (key) => {
    const total = edges[key].length / 2;
    const slider = byId("edges");
    slider.max = total;
    slider.value = Math.min(total, Math.max(15, Math.round(1.2 * size)));
    byId("relation-says").textContent = labels.captions[key];
    tell("relation", key);
  };

  const zoomBy = (factor) => {
    const scale = Math.min(Math.max(zoom.scale * factor, 1), 20);
    [zoom.x, zoom.y] = scale === 1 ? [0, 0] : [(zoom.x * scale) / zoom.scale, (zoom.y * scale) / zoom.scale];
    zoom.scale = scale;
    paint();
  };
  const reset = () => {
    Object.assign(zoom, { scale: 1, x: 0, y: 0 });
    paint();
  };
  const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  // The nearest label in a direction; sideways counts double.
  const step = ([dx, dy]) => {
    if (state.label < 0) return choose(labels.groupNames[0]?.[0] ?? 0);
    const [x, y] = base[state.label];
    let [best, least] = [-1, Infinity];
    base.forEach(([p, q], i) => {
      const ahead = (p - x) * dx + (q - y) * dy;
      const aside = Math.abs((p - x) * dy) + Math.abs((q - y) * dx);
      if (ahead > 0 && ahead + 2 * aside < least) [best, least] = [i, ahead + 2 * aside];
    });
    if (best >= 0) choose(best);
  };
  svg.addEventListener("keydown", (event) => {
    if (WAYS[event.key]) step(WAYS[event.key]);
    else if (event.key === "+") zoomBy(1.6);
    else if (event.key === "-") zoomBy(1 / 1.6);
    else if (event.key === "Escape") choose(-1);
    else return;
    event.preventDefault();
  });

  let drag = null;
  svg.addEventListener("pointerdown", (event) => {
    drag = { x: event.clientX, y: event.clientY, moved: false, from: { ...zoom } };
  });
  svg.addEventListener("pointermove", (event) => {
    if (!drag || !(event.buttons & 1) || zoom.scale === 1) return;
    const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
    drag.moved ||= Math.hypot(dx, dy) > 5;
    if (!drag.moved) return;
    Object.assign(zoom, { x: drag.from.x + dx, y: drag.from.y + dy });
    paint();
  });
  // The label next to where a pointer is; fingers are not exact.
  svg.addEventListener("click", (event) => {
    if (drag?.moved) return;
    const { left, top } = svg.getBoundingClientRect();
    const [x, y] = [event.clientX - left, event.clientY - top];
    const named = event.target.dataset.label;
    const distance = points.map(([p, q]) => Math.hypot(p - x, q - y));
    const nearest = distance.indexOf(Math.min(...distance));
    choose(named !== undefined ? Number(named) : distance[nearest] < 28 ? nearest : -1);
  });

  const options = pairs.relations.map((key) => [key, RELATIONS[key].name]);
  const pick = switches(byId("relations"), "Relation", options, setRelation);
  byId("closer").addEventListener("click", () => zoomBy(1.6));
  byId("farther").addEventListener("click", () => zoomBy(1 / 1.6));
  byId("whole").addEventListener("click", reset);
  byId("edges").addEventListener("input", drawEdges);
  byId("groups").append(
    ...labels.groupNames.slice(0, 24).map(([first, second]) => {
      const members = labels.groups.filter((g) => g === labels.groups[first]).length;
      const title = second === undefined ? names[first] : `${names[first]} · ${names[second]}`;
      return make(
        "li",
        {},
        button([dot(first), `${shortened(title, 48)} `, make("span", { class: "quiet" }, String(members))], () => choose(first), { class: "group" }),
      );
    }),
  );
  if (state.relation) pick(state.relation);
  place();
  listeners.relation.push(mark);
  listeners.label.push(mark);
  new ResizeObserver(() => svg.clientWidth !== width && place()).observe(svg);
};
