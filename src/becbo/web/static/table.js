"use strict";
// Sorts, filters and shortens the table of experiments. Without this file it shows all of them.

const FEW = matchMedia("(max-width: 640px)").matches ? 10 : 25; // rows until somebody wants all
const filter = document.querySelector("[data-filter]");
const more = document.querySelector("[data-more]");
const order = { column: 0, isRising: false };
let showsAll = false;

function cellValue(row, column) {
  const text = row.cells[column].textContent.trim();
  const number = parseFloat(text);
  return Number.isNaN(number) ? text.toLowerCase() : number;
}

function compare(a, b) {
  if (a === b) return 0;
  if (a === "" || b === "") return a === "" ? 1 : -1; // empty cells last
  if (typeof a === typeof b) return a < b ? -1 : 1;
  return typeof a === "number" ? -1 : 1;
}

function isWanted(row) {
  const outcome = filter.querySelector("[data-outcome]").value;
  const words = filter.querySelector("[data-words]").value.trim().toLowerCase();
  const isKind =
    !outcome || (outcome === "best" ? row.classList.contains("best") : row.dataset.outcome === outcome);
  return isKind && row.textContent.toLowerCase().includes(words);
}

function arrangeRows() {
  const table = document.querySelector("[data-sortable]");
  if (!table || !filter) return;
  filter.hidden = false;
  addSortButtons(table);
  const rows = [...table.tBodies[0].rows];
  const direction = order.isRising ? 1 : -1;
  rows.sort((a, b) => {
    const [x, y] = [cellValue(a, order.column), cellValue(b, order.column)];
    return x === "" || y === "" ? compare(x, y) : direction * compare(x, y);
  });
  const wanted = rows.filter(isWanted);
  const shown = new Set(showsAll ? wanted : wanted.slice(0, FEW));
  for (const row of rows) row.hidden = !shown.has(row);
  table.tBodies[0].replaceChildren(...rows);
  filter.querySelector("[data-shown]").textContent = `${shown.size} of ${rows.length} shown`;
  more.hidden = wanted.length <= FEW;
  more.textContent = showsAll ? "Show fewer" : `Show all ${wanted.length}`;
}

function addSortButtons(table) {
  [...table.tHead.rows[0].cells].forEach((cell, column) => {
    if (!cell.querySelector("button")) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...cell.childNodes);
      button.addEventListener("click", () => {
        order.isRising = order.column === column ? !order.isRising : true;
        order.column = column;
        arrangeRows();
      });
      cell.append(button);
    }
    cell.ariaSort = column === order.column ? (order.isRising ? "ascending" : "descending") : "none";
  });
}

filter?.addEventListener("input", arrangeRows);
more?.addEventListener("click", () => {
  showsAll = !showsAll;
  arrangeRows();
});
arrangeRows();
