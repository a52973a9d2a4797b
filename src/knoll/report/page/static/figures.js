// The kinds of figures: a map of marks in two columns, their profile in all columns, bars, trees, pictures of layers.

const MOST_BARS = 40;
const whole = { on: false }; // whether axes show the whole bounds: the same in all figures

function range(axis, extra) {
  if (whole.on) return [axis.low, axis.high];
  const reach = (i) => Math.max(2 * (axis.error[i] || 0), extra && axis.spread ? axis.spread[i] : 0);
  const low = Math.max(axis.low, Math.min(...axis.at.map((at, i) => at - reach(i))));
  const high = Math.min(axis.high, Math.max(...axis.at.map((at, i) => at + reach(i))));
  const least = 0.02 * (axis.high - axis.low), pad = Math.max(0.06 * (high - low), (least - (high - low)) / 2, 0);
  return [low - pad, high + pad];
}

const lines = (figure, i) => {
  const mark = figure.marks[i];
  return [`${mark.title}${mark.seen ? "" : " (not seen)"}`, mark.note];
};

const FIGURES = {
  map(place, figure, title) {
    const names = figure.axes.map((axis) => axis.label);
    const controls = el("div", { class: "choose" });
    const canvas = el("div");
    const draw = () => canvas.replaceChildren(drawMap(figure, canvas.clientWidth || place.clientWidth, title));
    if (figure.axes.length > 1)
      for (const side of ["x", "y"]) {
        const select = el("select", { "data-side": side });
        names.forEach((name, i) => select.append(el("option", { value: i, ...(figure[side] === i ? { selected: "" } : {}) }, name)));
        select.addEventListener("change", () => { figure[side] = Number(select.value); draw(); });
        controls.append(el("label", null, side === "x" ? "Across" : "Up", select));
      }
    const box = el("input", { type: "checkbox" });
    box.checked = whole.on;
    box.addEventListener("change", () => { whole.on = box.checked; redrawAll(); });
    controls.append(el("label", null, box, "Whole bounds"));
    place.replaceChildren(controls, canvas);
    draw();
  },
  profile(place, spec, title, figures) {
    const figure = figures[spec.of];
    const canvas = el("div");
    const draw = () => canvas.replaceChildren(drawProfile(figure, spec.shown, place.clientWidth, title));
    place.replaceChildren();
    if (figure.axes.length > 2) place.append(chooseColumns(figure, spec, draw));
    place.append(canvas);
    draw();
  },
  bars(place, figure, title) {
    place.replaceChildren(drawBars(figure, place.clientWidth, title));
    if (figure.rows.length > MOST_BARS) place.append(el("p", { class: "faint" }, `And ${figure.rows.length - MOST_BARS} more, in the table.`));
  },
  xy(place, figure, title) {
    place.replaceChildren(drawLayers(figure, place.clientWidth, title));
  },
  slices(place, figure, title) {
    const select = el("select", { "data-side": "slice" });
    figure.options.forEach((each, i) => select.append(el("option", { value: i, ...(i === figure.chosen ? { selected: "" } : {}) }, each.label)));
    const canvas = el("div");
    const draw = () => canvas.replaceChildren(drawLayers(figure.options[figure.chosen].figure, place.clientWidth, title));
    select.addEventListener("change", () => { figure.chosen = Number(select.value); draw(); });
    place.replaceChildren(el("div", { class: "choose" }, el("label", null, `${figure.label} =`, select)), canvas);
    draw();
  },
  tree(place, figure, title) {
    place.replaceChildren(drawTree(figure, place.clientWidth, title));
  },
};

function chooseColumns(figure, spec, draw) {
  const boxes = el("div", { class: "boxes" }), summary = el("summary");
  const say = () => { summary.textContent = `Columns: ${spec.shown.length} of ${figure.axes.length}`; };
  figure.axes.forEach((axis, i) => {
    const box = el("input", { type: "checkbox" });
    box.checked = spec.shown.includes(i);
    box.addEventListener("change", () => {
      spec.shown = figure.axes.map((_, j) => j).filter((j) => (j === i ? box.checked : spec.shown.includes(j)));
      say();
      draw();
    });
    boxes.append(el("label", null, box, axis.label));
  });
  say();
  const details = el("details", null, summary, boxes);
  details.open = spec.open || false;
  details.addEventListener("toggle", () => { spec.open = details.open; });
  return el("div", { class: "choose" }, details);
}

function drawMap(figure, width, title) {
  const many = figure.marks.length > 40, narrow = width < 520;
  const most = many ? 13 : narrow ? 18 : 26, height = figure.y === null ? 190 : Math.round(Math.max(330, Math.min(540, width * 0.56)));
  const across = figure.axes[figure.x], up = figure.y === null ? null : figure.axes[figure.y];
  const [low, high] = range(across, true), [bottom, top] = up ? range(up, true) : [0, 1];
  const x = { ...across, low, high }, y = up && { ...up, low: bottom, high: top };
  if (isMap(x, y)) evenLengths(x, y, frame(width, height, x, y).box, most + 4);
  const { root, box, sx, sy } = frame(width, height, x, y, most + 4, title);
  limits(root, across, sx, box, true);
  if (up) limits(root, up, sy, box, false);
  const largest = Math.max(...figure.marks.map((mark) => mark.size), 1e-300);
  const order = figure.marks.map((_, i) => i).sort((a, b) => figure.marks[b].size - figure.marks[a].size);
  const inside = clipped(root, box);
  if (isMap(x, y)) kilometres(root, { sx, box }, y);
  for (const i of order) outline(inside, figure, i, sx, sy, across, up);
  for (const i of order) {
    const mark = figure.marks[i], cx = sx(across.at[i]), cy = up ? sy(up.at[i]) : sy();
    const r = Math.max(4, most * Math.sqrt(Math.max(mark.size, 0) / largest));
    const group = svg("g", { class: `${colour(i)} ${mark.seen ? "" : "doubt"}` });
    group.append(svg("circle", { class: "bubble", cx, cy, r }));
    const ex = mark.seen ? 2 * (across.error[i] || 0) : 0, ey = mark.seen && up ? 2 * (up.error[i] || 0) : 0;
    if (ex) whisker(group, sx(across.at[i] - ex), cy, sx(across.at[i] + ex), cy);
    if (ey) whisker(group, cx, sy(up.at[i] - ey), cx, sy(up.at[i] + ey));
    badge(group, cx + 0.75 * r + 3, cy - 0.75 * r - 3, mark.label, many ? 7 : 9);
    const words = [...lines(figure, i), `${across.label}: ${across.text[i]}`];
    if (up) words.push(`${up.label}: ${up.text[i]}`);
    root.append(shows(group, words, i));
  }
  rove(root);
  return root;
}

// Widen one side of a map until a kilometre is as long across as up.
function evenLengths(x, y, box, room) {
  const wide = widening((y.low + y.high) / 2), shape = (box.right - box.left - 2 * room) / (box.bottom - box.top - 2 * room);
  const across = x.high - x.low, up = (y.high - y.low) * wide;
  const [side, by] = across < up * shape ? [x, up * shape - across] : [y, (across / shape - up) / wide];
  side.low -= by / 2;
  side.high += by / 2;
}

// A group of which only what lies within a frame is seen.
let clips = 0;
function clipped(root, box) {
  const path = svg("clipPath", { id: `clip${(clips += 1)}` });
  path.append(svg("rect", { x: box.left, y: box.top, width: box.right - box.left, height: box.bottom - box.top }));
  const group = svg("g", { "clip-path": `url(#clip${clips})` });
  root.append(path, group);
  return group;
}

function limits(root, axis, at, box, upright) {
  for (const bound of [axis.low, axis.high]) {
    const p = at(bound), [from, to] = upright ? [box.left, box.right] : [box.top, box.bottom];
    if (p < from - 1 || p > to + 1) continue;
    root.append(svg("path", { class: "limit", d: upright ? `M${p},${box.top}V${box.bottom}` : `M${box.left},${p}H${box.right}` }));
  }
}

// Where a cluster's records lie: ellipses of a mixture's covariance, or the standard deviations of both columns.
function outline(root, figure, i, sx, sy, across, up) {
  if (!up || !across.spread || !up.spread || !figure.marks[i].seen) return;
  const px = Math.abs(sx(1) - sx(0)), py = Math.abs(sy(1) - sy(0));
  const group = svg("g", { class: colour(i), "data-mark": i });
  const matrix = figure.covariances && figure.covariances[i];
  for (const times of matrix ? [1, 2] : [1]) {
    const [a, b, c] = matrix
      ? [matrix[figure.x][figure.x], matrix[figure.x][figure.y], matrix[figure.y][figure.y]]
      : [across.spread[i] ** 2, 0, up.spread[i] ** 2];
    const A = a * px * px, B = -b * px * py, C = c * py * py; // upwards is negative on a screen
    const middle = (A + C) / 2, half = Math.hypot((A - C) / 2, B);
    const angle = (Math.atan2(2 * B, A - C) / 2) * (180 / Math.PI);
    group.append(svg("ellipse", {
      class: "spread", rx: times * Math.sqrt(middle + half), ry: times * Math.sqrt(Math.max(middle - half, 0)),
      transform: `translate(${sx(across.at[i])} ${sy(up.at[i])}) rotate(${angle})`,
    }));
  }
  root.append(group);
}

function drawProfile(figure, shown, width, title) {
  const k = figure.marks.length, few = k <= 12, row = few ? 92 + 2.2 * k : 80, left = 12, right = width - 14;
  const height = shown.length * row + 8;
  const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": title });
  const dodge = (i) => (few && k > 1 ? (i / (k - 1) - 0.5) * Math.min(34, 7 * k) : 0);
  const rows = shown.map((j, at) => {
    const axis = figure.axes[j], [low, high] = range(axis, false), y = at * row + row / 2;
    const sx = scale(axis, low, high, left + 8, right - 8);
    root.append(svg("text", { x: left, y: at * row + 14, "font-weight": 600 }, cut(axis.label, Math.floor(width / 7.4))));
    root.append(svg("path", { class: "axis", d: `M${left},${y + row / 2 - 32}H${right}` }));
    for (const tick of ticks(axis, low, high, Math.max(2, Math.floor(width / 120)))) {
      root.append(svg("line", { class: "gridline", x1: sx(tick.at), x2: sx(tick.at), y1: at * row + 20, y2: y + row / 2 - 32 }));
      root.append(svg("text", { class: "tick", x: sx(tick.at), y: y + row / 2 - 17, "text-anchor": "middle" }, cut(tick.text, 14)));
    }
    return { axis, sx, y };
  });
  for (const i of figure.marks.keys()) {
    const mark = figure.marks[i], group = svg("g", { class: `${colour(i)} ${mark.seen ? "" : "doubt"}`, "data-mark": i });
    const d = rows.map(({ axis, sx, y }, at) => `${at ? "L" : "M"}${sx(axis.at[i])},${y + dodge(i)}`).join("");
    group.append(svg("path", { class: few ? "link" : "link many", d }));
    root.append(group);
  }
  for (const { axis, sx, y } of rows)
    for (const i of figure.marks.keys()) {
      const mark = figure.marks[i], at = axis.at[i], cy = y + dodge(i), error = mark.seen ? 2 * (axis.error[i] || 0) : 0;
      const group = svg("g", { class: `${colour(i)} ${mark.seen ? "" : "doubt"}` });
      if (error) whisker(group, Math.max(left, sx(at - error)), cy, Math.min(right, sx(at + error)), cy);
      if (few) badge(group, sx(at), cy, mark.label, 8);
      else group.append(svg("circle", { class: "dot", cx: sx(at), cy, r: 5 }));
      root.append(shows(group, [...lines(figure, i), `${axis.label}: ${axis.text[i]}`], i));
    }
  rove(root);
  return root;
}

function drawBars(figure, width, title) {
  const rows = figure.rows.slice(0, MOST_BARS), narrow = width < 560, step_ = narrow ? 44 : 30;
  const long = Math.max(...rows.map((row) => row.label.length)) * 6.9 + 16;
  const left = narrow ? 4 : Math.min(long, width * 0.4), text = Math.max(...rows.map((row) => row.text.length)) * 6.9 + 14;
  const right = width - text, height = rows.length * step_ + 44 + (figure.rule ? 16 : 0), start = figure.rule ? 18 : 2;
  const values = rows.map((row) => row.value + 2 * (row.error || 0));
  const axis = { kind: figure.kind, low: 0, high: Math.max(...values, figure.rule ? figure.rule.at * 1.02 : 0, 1e-300) };
  const sx = scale(axis, axis.low, axis.high, left, right);
  const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": title });
  const bottom = start + rows.length * step_;
  for (const tick of ticks(axis, 0, axis.high, Math.max(2, Math.floor((right - left) / 95)))) {
    root.append(svg("line", { class: "gridline", x1: sx(tick.at), x2: sx(tick.at), y1: start, y2: bottom }));
    root.append(svg("text", { class: "tick", x: sx(tick.at), y: bottom + 16, "text-anchor": tick.at ? "middle" : "start" }, tick.text));
  }
  root.append(svg("text", { x: (left + right) / 2, y: bottom + 34, "text-anchor": "middle" }, figure.label));
  rows.forEach((row, i) => {
    const y = start + i * step_ + (narrow ? 18 : 5), tall = step_ - (narrow ? 24 : 11), seen = row.seen !== false;
    const group = svg("g", { class: `${colour(row.mark)} ${seen ? "" : "doubt"}` });
    group.append(svg("rect", { class: "bar", x: left, y, width: Math.max(1, sx(row.value) - left), height: tall, rx: 2 }));
    if (row.error) whisker(group, Math.max(left, sx(row.value - 2 * row.error)), y + tall / 2, sx(row.value + 2 * row.error), y + tall / 2);
    const label = seen ? row.label : `${row.label} (not seen)`;
    const at = narrow ? { x: left, y: y - 5 } : { x: left - 8, y: y + tall / 2 + 4, "text-anchor": "end" };
    group.append(svg("text", at, cut(row.label, narrow ? 60 : Math.floor((left - 8) / 6.6))));
    const end = Math.max(sx(row.value + 2 * (row.error || 0)), sx(row.value)) + 8;
    group.append(svg("text", { class: "tick", x: end, y: y + tall / 2 + 4 }, row.text));
    root.append(shows(group, [label, `${figure.label}: ${row.text}`], row.mark));
  });
  if (figure.rule) {
    const x = sx(figure.rule.at);
    root.append(svg("line", { class: "rule", x1: x, x2: x, y1: start - 2, y2: bottom }));
    root.append(svg("text", { class: "rule-text", x, y: start - 6, "text-anchor": x > width / 2 ? "end" : "start" }, figure.rule.text));
  }
  rove(root);
  return root;
}

function drawLayers(figure, width, title) {
  const map = isMap(figure.x, figure.y);
  let height = figure.square ? Math.min(width, 480) : Math.round(Math.max(figure.narrow ? 230 : 320, Math.min(540, width * 0.54)));
  let wide = figure.square ? Math.min(width, 560) : width;
  if (map) {
    const { x, y } = figure, shape = ((y.high - y.low) * widening((y.low + y.high) / 2)) / (x.high - x.low);
    const { box } = frame(width, height, x, y), sides = width - (box.right - box.left);
    wide = Math.min(width, sides + 620 / shape);
    height = Math.round((wide - sides) * shape + height - (box.bottom - box.top));
  }
  const room = figure.layers.some((layer) => layer.draw === "cells") || figure.narrow || figure.square ? 0 : 8;
  const made = frame(wide, height, figure.x, figure.y, room, title);
  for (const layer of figure.layers) LAYERS[layer.draw](made.root, layer, made, figure);
  if (map) kilometres(made.root, made, figure.y);
  rove(made.root);
  return made.root;
}

function drawTree(figure, width, title) {
  const n = figure.joins.length + 1, height = 300, box = { left: 46, right: width - 8, top: 12, bottom: height - 26 };
  const node = Array.from({ length: n }, (_, i) => ({ leaves: [i], depth: 0, cluster: figure.clusters[i] }));
  figure.joins.forEach(([a, b, depth]) => {
    const [p, q] = [node[a], node[b]];
    const same = p.cluster === q.cluster ? p.cluster : p.cluster === -1 ? q.cluster : q.cluster === -1 ? p.cluster : -2;
    node.push({ leaves: [...p.leaves, ...q.leaves], depth, cluster: same, parts: [p, q] });
  });
  const top = node[node.length - 1], deepest = Math.max(...figure.joins.map((join) => join[2]), 1e-9);
  const axis = { kind: "number", label: "depth" }, sy = scale(axis, 0, deepest * 1.05, box.top, box.bottom);
  top.leaves.forEach((leaf, i) => { node[leaf].x = box.left + ((i + 0.5) / n) * (box.right - box.left); });
  const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": title });
  for (const tick of ticks(axis, 0, deepest * 1.05, 5)) {
    root.append(svg("line", { class: "gridline", x1: box.left, x2: box.right, y1: sy(tick.at), y2: sy(tick.at) }));
    root.append(svg("text", { class: "tick", x: box.left - 6, y: sy(tick.at) + 4, "text-anchor": "end" }, tick.text));
  }
  node.slice(n).forEach((join, i) => {
    const [p, q] = join.parts;
    join.x = (p.x + q.x) / 2;
    const group = svg("g", { class: join.cluster >= 0 ? colour(join.cluster) : "" });
    group.append(svg("path", { class: "branch", d: `M${p.x},${sy(p.depth)}V${sy(join.depth)}H${q.x}V${sy(q.depth)}` }));
    const what = join.cluster >= 0 ? `Join within cluster ${join.cluster}` : "Kept apart";
    const sure = figure.sure[i] === undefined || figure.sure[i] === null ? [] : [`holds in ${percent(figure.sure[i])} of redraws of the noise`];
    root.append(shows(group, [what, `log density ${count(join.depth)} below the highest peak`, ...sure], join.cluster >= 0 ? join.cluster : null));
  });
  root.append(svg("text", { x: (box.left + box.right) / 2, y: height - 6, "text-anchor": "middle" }, cut(width < 520 ? "down: log density below the highest peak" : "sub-clusters; down: log density of the pass, below the highest peak", Math.floor(width / 6.6))));
  rove(root);
  return root;
}
