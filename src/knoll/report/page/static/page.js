"use strict";
// Elements, the box that shows values, marks that belong together, tables, copying, light and dark.

const SVG = "http://www.w3.org/2000/svg";

function put(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {}))
    if (value !== null && value !== undefined) node.setAttribute(name, value);
  for (const child of children) if (child) node.append(child); // text is appended as text, never as HTML
  return node;
}
const el = (name, attributes, ...children) => put(document.createElement(name), attributes, children);
const svg = (name, attributes, ...children) => put(document.createElementNS(SVG, name), attributes, children);

const tip = {
  show(lines, x, y) {
    const box = document.getElementById("tip");
    box.replaceChildren(...lines.map((line, i) => el(i ? "div" : "b", null, line)));
    box.hidden = false;
    const { width, height } = box.getBoundingClientRect();
    box.style.left = `${Math.max(6, Math.min(x + 14, innerWidth - width - 6))}px`;
    box.style.top = `${y - height - 14 > 6 ? y - height - 14 : y + 18}px`;
  },
  hide() {
    document.getElementById("tip").hidden = true;
  },
};

// A mark that shows lines when it is pointed at or has the focus; arrow keys go from one to the next of a figure.
function shows(node, lines, mark) {
  node.setAttribute("role", "img");
  node.setAttribute("aria-label", lines.join(". "));
  node.setAttribute("tabindex", "-1");
  if (mark !== undefined && mark !== null) node.setAttribute("data-mark", mark);
  node.addEventListener("pointermove", (event) => tip.show(lines, event.clientX, event.clientY));
  node.addEventListener("pointerleave", tip.hide);
  node.addEventListener("focus", () => {
    const box = node.getBoundingClientRect();
    tip.show(lines, box.x + box.width / 2, box.y);
    pick(node.getAttribute("data-mark"));
  });
  node.addEventListener("blur", () => { tip.hide(); pick(null); });
  return node;
}

function rove(picture) {
  const marks = [...picture.querySelectorAll("[tabindex]")];
  if (marks.length) marks[0].setAttribute("tabindex", "0");
  picture.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const at = marks.indexOf(document.activeElement);
    if (event.key === "Escape") tip.hide();
    if (!step || at < 0) return;
    event.preventDefault();
    marks[at].setAttribute("tabindex", "-1");
    const next = marks[(at + step + marks.length) % marks.length];
    next.setAttribute("tabindex", "0");
    next.focus();
  });
}

// What has the same number is one cluster: in pictures, tables and cards.
function pick(mark) {
  document.body.classList.toggle("picked", mark !== null);
  for (const node of document.querySelectorAll("[data-mark]"))
    node.classList.toggle("hot", node.getAttribute("data-mark") === mark);
}

function startMarks() {
  document.addEventListener("pointerover", (event) => {
    const over = event.target.closest && event.target.closest("[data-mark]");
    const mark = over ? over.getAttribute("data-mark") : null;
    if (mark !== startMarks.last) pick(mark);
    startMarks.last = mark;
  });
  document.addEventListener("scroll", tip.hide, { passive: true });
}
startMarks.last = null;

function sortBy(table, column) {
  const heads = [...table.tHead.rows[0].cells];
  const up = heads[column].getAttribute("aria-sort") !== "ascending";
  heads.forEach((head, i) => {
    if (i === column) head.setAttribute("aria-sort", up ? "ascending" : "descending");
    else head.removeAttribute("aria-sort");
  });
  const key = (row) => row.cells[column].getAttribute("data-sort");
  const number = (text) => (text === "inf" ? Infinity : text.trim() === "" ? NaN : Number(text));
  const rows = [...table.tBodies[0].rows].map((row, i) => ({ row, i, text: key(row), value: number(key(row)) }));
  const numeric = rows.every((each) => !Number.isNaN(each.value));
  rows.sort((a, b) => (numeric ? a.value - b.value || 0 : a.text.localeCompare(b.text)) * (up ? 1 : -1) || a.i - b.i);
  table.tBodies[0].append(...rows.map((each) => each.row));
}

function startTables() {
  for (const table of document.querySelectorAll("table"))
    [...table.tHead.rows[0].cells].forEach((head, i) =>
      head.querySelector("button").addEventListener("click", () => sortBy(table, i)));
}

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = el("textarea", { "aria-label": "text to copy" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

function startCopies() {
  for (const button of document.querySelectorAll("[data-copy]"))
    button.addEventListener("click", async () => {
      const rows = button.dataset.copy === "table" ? [...button.closest(".sheet").querySelectorAll("tr")] : null;
      const line = (row) => [...row.cells].map((cell) => cell.textContent).join("\t");
      const text = rows ? rows.map(line).join("\n") : button.closest(".code").querySelector("code").textContent;
      await copyText(text);
      const was = button.textContent;
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = was; }, 1500);
    });
}

function startTheme(redraw) {
  const button = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (document.documentElement.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  const say = () => {
    button.textContent = dark() ? "Light" : "Dark";
    button.setAttribute("aria-label", dark() ? "Use light colours" : "Use dark colours");
  };
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = dark() ? "light" : "dark";
    say();
    redraw();
  });
  system.addEventListener("change", () => { say(); redraw(); });
  document.getElementById("print").addEventListener("click", () => print());
  say();
}
