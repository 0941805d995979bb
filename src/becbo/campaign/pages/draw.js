// Draws the figures of every report section that has not been drawn yet.
"use strict";

function drawFigures() {
  for (const store of document.querySelectorAll("script[data-figures]:not([data-drawn])")) {
    const figures = JSON.parse(store.textContent);
    const section = store.parentElement;
    for (const place of section.querySelectorAll("[data-figure]")) {
      const figure = figures[place.dataset.figure];
      const settings = { responsive: true, displayModeBar: false };
      Plotly.newPlot(place, figure.data, figure.layout, settings);
    }
    store.dataset.drawn = "";
  }
}

document.addEventListener("DOMContentLoaded", drawFigures);
document.addEventListener("htmx:afterSettle", drawFigures);
