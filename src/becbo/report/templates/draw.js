// Draws the figures of a report.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  const figures = JSON.parse(document.querySelector("script[data-figures]").textContent);
  for (const place of document.querySelectorAll("[data-figure]")) {
    const { data, layout } = figures[place.dataset.figure];
    Plotly.newPlot(place, data, layout, { responsive: true, displayModeBar: false });
  }
});
