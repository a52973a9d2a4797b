// Axes with ticks in the user's terms, and the layers of a picture.

const NOBODY = 255; // in a picture of cells: no cluster
const count = (value) => value.toLocaleString("en-US", { maximumSignificantDigits: 6 });
const percent = (value) => `${count(Number((100 * value).toPrecision(4)))} %`;
const isLog = (axis) => axis.kind === "logs" || axis.kind === "logshare";

function step(width, most) {
  const power = 10 ** Math.floor(Math.log10(width / most));
  return power * [1, 2, 5, 10].find((each) => width / (power * each) <= most);
}

function evenly(low, high, most) {
  const by = step(high - low || 1, most);
  const found = [];
  for (let i = Math.ceil(low / by - 1e-9); i * by <= high + 1e-9 * by; i += 1) found.push(Number((i * by).toPrecision(12)));
  return found;
}

function dateTicks(low, high, most) {
  const months = (high - low) / 30.44;
  if (months / most < 1)
    return evenly(low, high, most).filter(Number.isInteger).map((day) => [day, day]);
  const by = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200].find((each) => months / each <= most) || 1200;
  const start = new Date(low * 864e5);
  const found = [];
  for (let m = 12 * start.getUTCFullYear() + start.getUTCMonth(); ; m += 1) {
    const day = Date.UTC(Math.floor(m / 12), m % 12, 1) / 864e5;
    if (day > high) return found;
    if (m % by === 0 && day >= low) found.push([day, by % 12 ? 7 : 4]);
  }
}

const iso = (day) => new Date(day * 864e5).toISOString();

function logTicks(low, high, most, write) {
  const found = [];
  const wide = high - low > 2.5;
  for (let power = Math.floor(low); power <= Math.ceil(high); power += 1)
    for (const digit of wide ? [1] : high - low > 1 ? [1, 3] : [1, 2, 5]) found.push(digit * 10 ** power);
  const kept = found.filter((value) => value >= 10 ** low * 0.999 && value <= 10 ** high * 1.001);
  const every = Math.ceil(kept.length / most);
  return kept.filter((_, i) => i % every === 0).map((value) => ({ at: value, text: write(value) }));
}

// Degrees as maps write them, and whether two axes are the sides of one map.
const isMap = (x, y) => Boolean(y) && x.longitude !== undefined && x.longitude === y.latitude;
const isDegrees = (axis) => axis.longitude !== undefined || axis.latitude !== undefined;
const widening = (latitude) => 1 / Math.max(0.02, Math.cos((latitude * Math.PI) / 180));

function degrees(axis, value) {
  const turned = axis.longitude !== undefined && Math.abs(value) > 180 ? ((value + 540) % 360) - 180 : value;
  const mark = (axis.longitude !== undefined ? "EW" : "NS")[Number(turned < 0)];
  return `${count(Math.abs(turned))}°${Math.abs(turned) < 1e-12 ? "" : ` ${mark}`}`;
}

// A line of so many kilometres, at the bottom left: on maps where a kilometre is about as long everywhere.
function kilometres(root, { sx, box }, y) {
  if (y.high - y.low > 15) return;
  const per = (sx(1) - sx(0)) * widening((y.low + y.high) / 2) / 111.2; // pixels of a kilometre
  const most = (box.right - box.left) / 4 / per, power = 10 ** Math.floor(Math.log10(most));
  const long = power * [5, 2, 1].find((digit) => digit * power <= most);
  const x = box.left + 12, at = box.bottom - 10;
  root.append(svg("path", { class: "scale", d: `M${x},${at - 5}v5h${long * per}v-5` }));
  root.append(svg("text", { class: "tick scale-text", x: x + (long * per) / 2, y: at - 6, "text-anchor": "middle" }, `${count(long)} km`));
}

function ticks(axis, low, high, most) {
  if (isDegrees(axis)) return evenly(low, high, most).map((at) => ({ at, text: degrees(axis, at) }));
  if (axis.ticks) return thin(axis.ticks.map((at) => ({ at, text: count(at) })), most);
  if (axis.kind === "logshare") return logTicks(Math.log10(low), Math.log10(high), most, percent);
  if (axis.kind === "log") {
    const per = Math.log10(2); // coordinates are logarithms of base two
    const found = logTicks(low * per, high * per, most, count);
    return found.map((each) => ({ at: Math.log2(each.at), text: each.text }));
  }
  if (axis.kind === "date")
    return dateTicks(low, high, most).map(([at, cut]) => ({ at, text: iso(at).slice(0, cut > 7 || cut === at ? 10 : cut) }));
  if (axis.kind === "levels")
    return thin(axis.levels.map((text, at) => ({ at, text })).filter(({ at }) => at >= low && at <= high), most);
  return evenly(low, high, most).map((at) => ({ at, text: axis.kind === "share" ? percent(at) : count(at) }));
}

const thin = (all, most) => all.filter((_, i) => i % Math.ceil(all.length / most) === 0);

function valueText(axis, value) {
  if (axis.kind === "share" || axis.kind === "logshare") return percent(value);
  if (axis.kind === "date") return iso(value).slice(0, 10);
  if (axis.kind === "log") return count(Number((2 ** value).toPrecision(4)));
  if (axis.kind === "levels") return axis.levels[Math.max(0, Math.min(Math.round(value), axis.levels.length - 1))];
  return count(Number(value.toPrecision(4)));
}

function scale(axis, low, high, from, to) {
  const f = isLog(axis) ? Math.log10 : (value) => value;
  const a = f(low), b = f(high) - a || 1;
  const to_ = (value) => from + ((f(value) - a) / b) * (to - from);
  to_.back = (pixel) => { const v = a + ((pixel - from) / (to - from)) * b; return isLog(axis) ? 10 ** v : v; };
  return to_;
}

const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

// A frame with both axes: returns where to draw and the scales. `room` keeps marks off the edges.
function frame(width, height, x, y, room = 0, name = "Picture") {
  const up = y ? ticks(y, y.low, y.high, Math.max(3, Math.floor(height / 62))) : [];
  const wide = Math.max(0, ...up.map((tick) => cut(tick.text, 14).length)) * 6.7;
  const box = { left: (y ? 14 : 4) + wide + (y ? 8 : 6), right: width - 10, top: y ? 26 : 10, bottom: height - 44 };
  const sx = scale(x, x.low, x.high, box.left + room, box.right - room);
  const sy = y ? scale(y, y.low, y.high, box.bottom - room, box.top + room) : () => (box.top + box.bottom) / 2;
  const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": name });
  const across = ticks(x, sx.back(box.left), sx.back(box.right), Math.max(2, Math.floor((box.right - box.left) / 86)));
  for (const { at, text } of across) {
    const place = sx(at);
    if (place < box.left - 1 || place > box.right + 1) continue;
    const anchor = place > box.right - 22 && text.length > 4 ? "end" : "middle";
    root.append(svg("line", { class: "gridline", x1: place, x2: place, y1: box.top, y2: box.bottom }));
    root.append(svg("text", { class: "tick", x: anchor === "end" ? box.right : place, y: box.bottom + 17, "text-anchor": anchor }, cut(text, 14)));
  }
  for (const { at, text } of up) {
    root.append(svg("line", { class: "gridline", x1: box.left, x2: box.right, y1: sy(at), y2: sy(at) }));
    root.append(svg("text", { class: "tick", x: box.left - 7, y: sy(at) + 4, "text-anchor": "end" }, cut(text, 14)));
  }
  root.append(svg("path", { class: "axis", d: `M${box.left},${y ? box.top : box.bottom}V${box.bottom}H${box.right}` }));
  const fit = Math.floor((box.right - box.left) / 6.6);
  root.append(svg("text", { x: (box.left + box.right) / 2, y: height - 6, "text-anchor": "middle" }, cut(x.label, fit)));
  if (y) root.append(svg("text", { x: 2, y: 12 }, cut(y.label, Math.floor(width / 6.6))));
  return { root, box, sx, sy };
}

const path = (xs, ys, sx, sy) => {
  let open = false;
  return xs.map((x, i) => {
    if (ys[i] === null || x === null) { open = false; return ""; }
    const word = `${open ? "L" : "M"}${sx(x).toFixed(1)},${sy(ys[i]).toFixed(1)}`;
    open = true;
    return word;
  }).join("");
};

const colour = (mark) => (mark === undefined || mark === null || mark < 0 ? "" : `c${mark % 8}`);

function whisker(parent, x0, y0, x1, y1, kind = "error") {
  const flat = y0 === y1, cap = kind === "error" ? 3.5 : 2.5;
  const caps = flat ? `M${x0},${y0 - cap}v${2 * cap}M${x1},${y0 - cap}v${2 * cap}` : `M${x0 - cap},${y0}h${2 * cap}M${x0 - cap},${y1}h${2 * cap}`;
  parent.append(svg("path", { class: kind, d: `M${x0},${y0}L${x1},${y1}${caps}` }));
}

function badge(parent, x, y, text, radius = 9) {
  parent.append(svg("circle", { class: "badge", cx: x, cy: y, r: text.length > 2 ? radius + 2 : radius }));
  parent.append(svg("text", { class: "badge-text", x, y: y + 3.6 }, text));
}

const LAYERS = {
  line(root, layer, { sx, sy }, spec) {
    const d = path(layer.x, layer.y, sx, sy);
    const kind = layer.bold ? "bold" : layer.mark === undefined ? "plain" : "";
    const group = svg("g", { class: colour(layer.mark), "data-mark": layer.mark });
    group.append(svg("path", { class: `trace ${kind} ${layer.dash ? "dash" : ""}`, d }));
    if (layer.text) {
      const hit = svg("path", { class: "catch", d });
      hit.addEventListener("pointermove", (event) => follow(event, root, layer, sx, spec));
      hit.addEventListener("pointerleave", tip.hide);
      group.append(hit);
    }
    root.append(group);
  },
  area(root, layer, { sx, sy, box }, spec) {
    const known = layer.x.filter((_, i) => layer.y[i] !== null);
    if (!known.length) return;
    const runs = [];
    layer.x.forEach((x, i) => {
      if (layer.y[i] === null) return;
      if (!i || layer.y[i - 1] === null) runs.push([]);
      runs[runs.length - 1].push(i);
    });
    const zero = Math.min(sy(0), box.bottom);
    const d = runs.map((run) => `M${sx(layer.x[run[0]])},${zero}` + run.map((i) => `L${sx(layer.x[i]).toFixed(1)},${sy(layer.y[i]).toFixed(1)}`).join("") + `L${sx(layer.x[run[run.length - 1]])},${zero}Z`).join("");
    const node = svg("path", { class: `area ${colour(layer.mark)}`, d, "data-mark": layer.mark });
    if (layer.text) {
      node.addEventListener("pointermove", (event) => follow(event, root, layer, sx, spec));
      node.addEventListener("pointerleave", tip.hide);
      root.append(svg("path", { class: `trace ${colour(layer.mark)}`, d: path(layer.x, layer.y, sx, sy), "data-mark": layer.mark }));
    }
    root.append(node);
  },
  band(root, layer, { sx, sy }) {
    const back = path([...layer.x].reverse(), [...layer.low].reverse(), sx, sy).replace("M", "L");
    root.append(svg("path", { class: "band", d: `${path(layer.x, layer.high, sx, sy)}${back}Z` }));
  },
  stairs(root, layer, { sx, sy, box }) {
    const inside = (value) => Math.max(box.left, Math.min(sx(value), box.right));
    layer.y.forEach((y, i) => {
      const left = inside(layer.edges[i]), right = inside(layer.edges[i + 1]), top = Math.max(sy(y), box.top);
      if (right > left) root.append(svg("rect", { class: "stairs", x: left, y: top, width: right - left, height: Math.max(0, sy(0) - top) }));
    });
  },
  rule(root, layer, { sy, box }) {
    root.append(svg("line", { class: "rule", x1: box.left, x2: box.right, y1: sy(layer.y), y2: sy(layer.y) }));
  },
  cells(root, layer, { sx, sy, box }, spec) {
    const left = sx(spec.x.low), right = sx(spec.x.high), top = sy(spec.y.high), bottom = sy(spec.y.low);
    const shade = layer.shade.match(/../g).map((each) => parseInt(each, 16) / 255), owner = owners(layer);
    const image = svg("image", { href: painted(layer, shade, owner), x: left, y: top, width: right - left, height: bottom - top, preserveAspectRatio: "none" });
    image.addEventListener("pointermove", (event) => {
      const at = root.getBoundingClientRect(), per = root.viewBox.baseVal.width / at.width;
      const x = sx.back((event.clientX - at.x) * per), y = sy.back((event.clientY - at.y) * per);
      const column = Math.floor(((x - spec.x.low) / (spec.x.high - spec.x.low)) * layer.nx);
      const row = Math.floor(((y - spec.y.low) / (spec.y.high - spec.y.low)) * layer.ny);
      const here = shade[row * layer.nx + column], whose = owner[row * layer.nx + column];
      if (here === undefined) return;
      const words = !layer.marks ? "" : whose === NOBODY ? "within the noise" : `${layer.word} ${whose}`;
      const lines = [`${spec.x.label} ${valueText(spec.x, x)}`, `${spec.y.label} ${valueText(spec.y, y)}`, words];
      tip.show(lines.filter(Boolean), event.clientX, event.clientY);
    });
    image.addEventListener("pointerleave", tip.hide);
    root.append(image, svg("rect", { class: "axis", x: box.left, y: box.top, width: box.right - box.left, height: box.bottom - box.top }));
  },
  points(root, layer, { sx, sy }) {
    layer.x.forEach((x, i) => {
      const mark = layer.marks ? layer.marks[i] : undefined, cx = sx(x), cy = sy(layer.y[i]);
      const group = svg("g", { class: colour(mark) });
      const kind = layer.small ? "fine" : "error";
      group.append(svg("circle", { class: `dot ${layer.hollow ? "hollow" : ""}`, cx, cy, r: layer.small ? 4 : 6 }));
      if (layer.ex && layer.ex[i]) whisker(group, sx(x - layer.ex[i]), cy, sx(x + layer.ex[i]), cy, kind);
      if (layer.ey && layer.ey[i]) whisker(group, cx, sy(layer.y[i] - layer.ey[i]), cx, sy(layer.y[i] + layer.ey[i]), kind);
      if (!layer.small && mark !== undefined) badge(group, cx + 11, cy - 11, String(mark));
      root.append(shows(group, split(layer.text[i]), mark));
    });
  },
  crosses(root, layer, { sx, sy }) {
    layer.x.forEach((x, i) => {
      const mark = layer.marks ? layer.marks[i] : undefined;
      const d = `M${sx(x) - 5},${sy(layer.y[i]) - 5}l10,10m0,-10l-10,10`;
      root.append(shows(svg("g", { class: colour(mark) }, svg("path", { class: "cross", d })), split(layer.text[i]), mark));
    });
  },
};

const split = (text) => { const at = text.indexOf(": "); return at < 0 ? [text] : [text.slice(0, at), ...text.slice(at + 2).split("; ")]; };

const owners = (layer) => (layer.marks ? layer.marks.match(/../g).map((each) => parseInt(each, 16)) : layer.shade.match(/../g).map(() => NOBODY));

function follow(event, root, layer, sx, spec) {
  const at = root.getBoundingClientRect();
  const x = sx.back((event.clientX - at.x) * (root.viewBox.baseVal.width / at.width));
  let best = 0;
  layer.x.forEach((each, i) => { if (layer.y[i] !== null && Math.abs(each - x) < Math.abs(layer.x[best] - x)) best = i; });
  const lines = [layer.text, `${spec.x.label}: ${valueText(spec.x, layer.x[best])}`, `${spec.y.label}: ${valueText(spec.y, layer.y[best])}`];
  tip.show(lines, event.clientX, event.clientY);
}

// Cells as a small image: the colour of their cluster, or one ink, as deep as the density.
function painted(layer, shade, owner) {
  const canvas = el("canvas", { width: layer.nx, height: layer.ny }), drawn = canvas.getContext("2d");
  const style = getComputedStyle(document.documentElement);
  const ink = style.getPropertyValue("--shade").split(",").map(Number);
  const inks = [...Array(8).keys()].map((i) => style.getPropertyValue(`--c${i}`).trim()).map((hex) => [1, 3, 5].map((j) => parseInt(hex.slice(j, j + 2), 16)));
  const data = drawn.createImageData(layer.nx, layer.ny);
  shade.forEach((depth, i) => {
    const row = layer.ny - 1 - Math.floor(i / layer.nx), at = 4 * (row * layer.nx + (i % layer.nx));
    const free = owner[i] === NOBODY, most = !free ? 0.72 : layer.marks ? 0.3 : 0.62;
    data.data.set([...(free ? ink : inks[owner[i] % 8]), Math.round(255 * most * Math.sqrt(depth))], at);
  });
  drawn.putImageData(data, 0, 0);
  return canvas.toDataURL();
}
