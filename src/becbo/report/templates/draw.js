// Draws the figures of a report.
"use strict";

const places = () => [...document.querySelectorAll("[data-figure]")];

document.addEventListener("DOMContentLoaded", () => {
  const figures = JSON.parse(document.querySelector("script[data-figures]").textContent);
  for (const place of places()) {
    const { data, layout } = figures[place.dataset.figure];
    Plotly.newPlot(place, data, layout, { responsive: true, displayModeBar: false });
  }
});

// Figures keep the width of the screen unless they are drawn anew for the paper.
for (const [event, isPrinting] of [["beforeprint", true], ["afterprint", false]]) {
  window.addEventListener(event, () => {
    document.body.classList.toggle("printing", isPrinting);
    for (const place of places()) {
      Plotly.relayout(place, { width: isPrinting ? place.clientWidth : null, autosize: !isPrinting });
    }
  });
}
