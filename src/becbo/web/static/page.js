"use strict";
// Every form works without this file. It adds parameter rows to a form, keeps an open campaign up
// to date while others work on it, and draws the figures.

const EVERY = 2000; // milliseconds between two requests for the state

// The message of a refused form is at the top: move the focus there.
document.querySelector(".message[role=alert]:not([hidden])")?.focus();

document.querySelector("[data-add-row]")?.addEventListener("click", (event) => {
  event.preventDefault();
  const rows = document.querySelector("[data-rows]");
  const row = rows.lastElementChild.cloneNode(true);
  const number = rows.childElementCount;
  row.setAttribute("aria-label", `Parameter ${number + 1}`);
  for (const field of row.querySelectorAll("[name]")) {
    field.name = field.name.replace(/\d+/, number);
    if (field.tagName === "INPUT") field.value = "";
  }
  rows.append(row);
  row.querySelector("input").focus();
});

const live = document.querySelector("[data-live]");
const learned = document.querySelector("[data-learned]");
let isLearning = false;
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
const SECTIONS = ["progress", "maps", "drivers", "calibration", "reasons"];
const OPTIONS = { responsive: true, displayModeBar: false };

async function learn() {
  const runsState = live.dataset.state.split("-")[0];
  if (isLearning || learned.dataset.state === runsState) return;
  isLearning = true;
  const saying = learned.querySelector("[data-saying]");
  saying.textContent = "Fitting the models…";
  try {
    const told = await ask(learned.dataset.learned);
    await show(told);
    learned.dataset.state = told.state;
    saying.textContent = "";
  } catch (error) {
    saying.textContent = `Not available: ${error.message}`;
  } finally {
    isLearning = false;
  }
}

async function show(told) {
  const fresh = new DOMParser().parseFromString(told.html, "text/html");
  const figures = JSON.parse(fresh.querySelector("[data-figures]").textContent);
  const sections = SECTIONS.map((name) => fresh.querySelector(`[aria-labelledby="${name}"]`));
  if (Object.keys(figures).length) await loadPlotly();
  for (const drawn of learned.querySelectorAll("[data-figure]")) {
    // A figure that is shown already is updated in place.
    fresh.querySelector(`[data-figure="${drawn.dataset.figure}"]`)?.replaceWith(drawn);
  }
  learned.querySelector("[data-sections]").replaceChildren(...sections.filter(Boolean));
  for (const place of learned.querySelectorAll("[data-figure]")) {
    const { data, layout } = figures[place.dataset.figure];
    // No zooming: on a phone it would interfere with scrolling.
    await Plotly.react(place, data, { ...layout, dragmode: false }, OPTIONS);
  }
  explain(told);
}

function explain(told) {
  for (const [number, words] of Object.entries(told.why)) {
    const place = document.querySelector(`[data-why="${number}"]`);
    if (place) place.textContent = words;
  }
}

// Loaded only when there is something to draw, because it is large.
function loadPlotly() {
  plotly ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = learned.dataset.plotly;
    script.onload = resolve;
    script.onerror = () => reject(new Error("the plotting library did not load"));
    document.head.append(script);
  });
  return plotly;
}
