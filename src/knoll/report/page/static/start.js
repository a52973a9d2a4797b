// Read the page's data and draw.

const drawn = JSON.parse(document.getElementById("knoll-data").textContent).figures;

function redrawAll() {
  tip.hide();
  for (const place of document.querySelectorAll("[data-figure]")) {
    const figure = drawn[place.dataset.figure];
    const title = place.closest("figure").querySelector("figcaption b").textContent;
    FIGURES[figure.type](place, figure, title, drawn);
  }
}

let width = document.documentElement.clientWidth;
addEventListener("resize", () => {
  if (document.documentElement.clientWidth === width) return;
  width = document.documentElement.clientWidth;
  redrawAll();
});
startTheme(redrawAll);
startTables();
startCopies();
startMarks();
redrawAll();
