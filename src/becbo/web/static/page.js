"use strict";
// Every form works without this file. It adds rows to a form, keeps an open campaign up to date while
// others work on it, and draws the figures.

const EVERY = 2000; // milliseconds between two requests for the state

// The message of a refused form is at the top: move the focus there.
document.querySelector(".message[role=alert]:not([hidden])")?.focus();

for (const adder of document.querySelectorAll("[data-add-row]")) {
  adder.addEventListener("click", (event) => {
    event.preventDefault();
    const group = adder.dataset.addRow;
    const rows = document.querySelector(`[data-rows="${group}"]`);
    const row = rows.lastElementChild.cloneNode(true);
    const number = rows.childElementCount;
    row.setAttribute("aria-label", `${group[0].toUpperCase()}${group.slice(1)} ${number + 1}`);
    for (const field of row.querySelectorAll("[name]")) {
      field.name = field.name.replace(/\d+/, number);
      field.required = false;
      if (field.tagName === "INPUT") field.value = "";
    }
    rows.append(row);
    row.querySelector("input").focus();
  });
}

const live = document.querySelector("[data-live]");
const learned = document.querySelector("[data-learned]");
const shown = document.querySelector("[data-sections]");
let isLearning = false;
let explained = null; // what was learned of the present runs
let plotly = null;
if (live) {
  learn();
  setInterval(() => document.hidden || update(), EVERY);
}

// The page of a pending run: what the present models say about it.
const asked = document.querySelector("[data-from]");
if (asked) {
  asked.textContent = "Fitting the models…";
  ask(asked.dataset.from).then(explain, (error) => {
    asked.textContent = `The models could not be fitted: ${error.message}`;
  });
}

// The page of a run: maps through it, if somebody wants them.
const mapper = document.querySelector("[data-maps]");
if (mapper) {
  mapper.hidden = false;
  mapper.addEventListener("click", async () => {
    const saying = document.querySelector("[data-saying]");
    mapper.disabled = true;
    for (const name of ["maps", "expected"]) isOpen.set(name, true);
    saying.textContent = "Fitting the models…";
    try {
      await show(await ask(mapper.dataset.maps), ["maps", "expected"]);
      saying.textContent = "";
    } catch (error) {
      saying.textContent = `Not available: ${error.message}`;
      mapper.disabled = false;
    }
  });
}

// The JSON answer of the server, or an error with its message.
async function ask(path) {
  const answer = await fetch(path, { headers: { Accept: "application/json" } });
  if (answer.redirected) location.reload(); // to the login
  if (!answer.headers.get("Content-Type")?.startsWith("application/json")) {
    throw new Error(`the server answered ${answer.status} ${answer.statusText}`); // or a proxy
  }
  const told = await answer.json();
  if (!answer.ok) throw new Error(told.detail);
  return told;
}

async function update() {
  try {
    const { state } = await ask(`${live.dataset.live}/state`);
    if (state !== live.dataset.state) await refresh();
    document.querySelector("[data-offline]").hidden = true;
    // Does nothing if this state is shown already.
    await learn();
  } catch {
    document.querySelector("[data-offline]").hidden = false;
  }
}

async function refresh() {
  const answer = await fetch(live.dataset.live + location.search);
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  live.dataset.state = fresh.querySelector("[data-live]").dataset.state;
  for (const region of live.querySelectorAll("[data-region]")) {
    swap(region, fresh.querySelector(`[data-region="${region.dataset.region}"]`));
  }
  arrangeRows();
  restoreDrafts();
}

// Elements with the same key stay, with whatever somebody is typing into them.
function swap(region, fresh) {
  const kept = new Map([...region.children].map((child) => [child.dataset.key, child]));
  kept.delete(undefined);
  const children = [...fresh.children].map((child) => kept.get(child.dataset.key) ?? child);
  const focused = region.contains(document.activeElement) && document.activeElement;
  region.replaceChildren(...children);
  if (focused && region.contains(focused)) focused.focus();
}

// The sections of the report that this page does not have itself.
const SECTIONS = ["outlook", "front", "progress", "limits", "maps", "expected", "drivers", "calibration", "reasons"];
const MANY = 3; // figures that a phone shows at once
const OPTIONS = { responsive: true, displayModeBar: false };
const isNarrow = matchMedia("(max-width: 640px)").matches;
const isOpen = new Map(SECTIONS.map((name) => [name, !isNarrow || ["outlook", "front", "progress"].includes(name)]));
const isChosen = new Map(); // which figure of a section a phone shows
let figures = {};

async function learn() {
  const runsState = live.dataset.state.split("-")[0];
  if (isLearning) return;
  if (learned.dataset.state === runsState) return explain(explained); // parts of the page may be new
  isLearning = true;
  const saying = learned.querySelector("[data-saying]");
  saying.textContent = "Fitting the models…";
  try {
    const told = await ask(learned.dataset.learned);
    await show(told);
    explained = told;
    learned.dataset.state = told.state;
    saying.textContent = "";
  } catch (error) {
    saying.textContent = `Not available: ${error.message}`;
  } finally {
    isLearning = false;
  }
}

async function show(told, names = SECTIONS) {
  const fresh = new DOMParser().parseFromString(told.html, "text/html");
  figures = JSON.parse(fresh.querySelector("[data-figures]").textContent);
  const sections = names.map((name) => fresh.querySelector(`[aria-labelledby="${name}"]`));
  if (Object.keys(figures).length) await loadPlotly();
  for (const drawn of shown.querySelectorAll("[data-figure]")) {
    // A figure that is shown already is updated in place.
    fresh.querySelector(`[data-figure="${drawn.dataset.figure}"]`)?.replaceWith(drawn);
  }
  const folded = sections.filter(Boolean).map(fold);
  shown.replaceChildren(...folded);
  explain(told);
  for (const section of folded) await draw(section);
}

// A section that can be closed: a phone has no room for all of them.
function fold(section) {
  const name = section.getAttribute("aria-labelledby");
  const details = document.createElement("details");
  const summary = document.createElement("summary");
  summary.append(section.querySelector("h2"));
  details.append(summary, ...section.childNodes);
  if (isNarrow) offerChoice(name, [...details.querySelectorAll("figure:has(figcaption)")]);
  details.open = isOpen.get(name);
  details.addEventListener("toggle", () => {
    isOpen.set(name, details.open);
    draw(section);
  });
  section.append(details);
  return section;
}

// One of many figures at a time, for a phone.
function offerChoice(name, pictures) {
  if (pictures.length <= MANY) return;
  const grids = [...new Set(pictures.map((picture) => picture.closest(".maps")))];
  const titles = grids.map((grid) => grid.previousElementSibling).map((before) => before.matches("h3") && before);
  const label = document.createElement("label");
  const select = document.createElement("select");
  label.append("Show", select);
  (titles[0] || grids[0]).before(label);
  grids.forEach((grid, number) => {
    const group = titles[number] ? document.createElement("optgroup") : select;
    if (titles[number]) group.label = titles[number].textContent;
    for (const caption of grid.querySelectorAll("figcaption")) group.append(new Option(caption.textContent));
    if (titles[number]) select.append(group);
  });
  const choose = () => {
    isChosen.set(name, select.selectedIndex);
    pictures.forEach((picture, number) => (picture.hidden = number !== select.selectedIndex));
    grids.forEach((grid, number) => {
      grid.hidden = !grid.querySelector("figure:not([hidden])");
      if (titles[number]) titles[number].hidden = grid.hidden;
    });
  };
  select.selectedIndex = Math.min(isChosen.get(name) ?? 0, pictures.length - 1);
  choose();
  select.addEventListener("change", () => {
    choose();
    draw(select.closest("section"));
  });
}

async function draw(section) {
  if (!section.querySelector("details").open) return;
  for (const place of section.querySelectorAll("[data-figure]")) {
    if (place.closest("[hidden]")) continue;
    const { data, layout } = figures[place.dataset.figure];
    // No zooming: on a phone it would interfere with scrolling.
    await Plotly.react(place, data, { ...layout, dragmode: false }, OPTIONS);
  }
}

function explain(told) {
  for (const [number, words] of Object.entries(told.why)) {
    const place = document.querySelector(`[data-why="${number}"]`);
    if (place) place.textContent = words;
  }
  const form = document.querySelector("[data-repeat]");
  if (!form) return;
  form.hidden = told.repeat === null;
  form.action = `${live.dataset.live}/runs/${told.repeat}/repeat`;
  form.querySelector("button").textContent = `Repeat run ${told.repeat}`;
}

// Loaded only when there is something to draw, because it is large.
function loadPlotly() {
  plotly ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = shown.dataset.plotly;
    script.onload = resolve;
    script.onerror = () => reject(new Error("the plotting library did not load"));
    document.head.append(script);
  });
  return plotly;
}
