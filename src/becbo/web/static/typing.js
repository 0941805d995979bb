"use strict";
// Nothing typed is lost: a form is sent only while the server answers, and this browser keeps what is
// in it until it was accepted, also if it is closed or breaks down. Without this file, forms are sent
// as usual.

const DRAFT = "becbo draft ";
const SENT = "becbo sent"; // which form this window sent last
const LIFE = 30 * 24 * 3600 * 1000; // milliseconds until a draft is forgotten
const OURS = ["csrf", "version"]; // fields that the server fills in

// The attribute says for which state of the campaign a form is.
function draftKey(form) {
  return `${DRAFT}${form.getAttribute("action")} ${form.dataset.draft}`;
}

function typedIn(form) {
  return [...new FormData(form)].filter(([name, value]) => !OURS.includes(name) && typeof value === "string");
}

function keepDraft(form) {
  localStorage.setItem(draftKey(form), JSON.stringify({ when: Date.now(), typed: typedIn(form) }));
}

function restoreDraft(form) {
  const kept = localStorage.getItem(draftKey(form));
  if (!kept || "restored" in form.dataset) return;
  form.dataset.restored = "";
  const { typed } = JSON.parse(kept);
  const before = JSON.stringify(typedIn(form));
  addMissingRows(form, typed);
  for (const field of form.elements) {
    if (!field.name || OURS.includes(field.name) || field.type === "file") continue;
    const values = typed.filter(([name]) => name === field.name).map(([, value]) => value);
    if (["radio", "checkbox"].includes(field.type)) field.checked = values.includes(field.value);
    else if (values.length) field.value = values[0];
  }
  if (JSON.stringify(typedIn(form)) !== before) offerToDiscard(form);
}

// Rows that somebody added to the form of a new campaign.
function addMissingRows(form, typed) {
  const focused = document.activeElement;
  for (const [name] of typed) {
    const adder = form.querySelector(`[data-add-row="${CSS.escape(name.split("-")[0])}"]`);
    while (adder && !form.elements[name] && form.elements.length < 2000) adder.click();
  }
  focused?.focus();
}

function offerToDiscard(form) {
  const place = document.createElement("p");
  const button = document.createElement("button");
  place.className = "hint";
  place.role = "status";
  button.type = "button";
  button.className = "link";
  button.textContent = "Discard it";
  button.addEventListener("click", () => {
    localStorage.removeItem(draftKey(form));
    form.reset();
    place.remove();
  });
  place.append("This is what you typed before and did not send. ", button);
  form.prepend(place);
}

function restoreDrafts() {
  document.querySelectorAll("form[data-draft]").forEach(restoreDraft);
}

function forgetDrafts(isOver) {
  for (const key of Object.keys(localStorage).filter((name) => name.startsWith(DRAFT))) {
    if (isOver(JSON.parse(localStorage.getItem(key)))) localStorage.removeItem(key);
  }
}

function tell(form, text) {
  let place = form.querySelector("[data-unsent]");
  if (!place) {
    place = document.createElement("p");
    place.className = "message bad";
    place.role = "alert";
    place.dataset.unsent = "";
    form.append(place);
  }
  place.textContent = text;
  place.hidden = !text;
}

async function send(form) {
  form.dataset.sending = "";
  try {
    await fetch("/login", { cache: "no-store" });
    tell(form, "");
    if ("draft" in form.dataset) sessionStorage.setItem(SENT, draftKey(form));
    if (form.getAttribute("action") === "/logout") forgetDrafts(() => true); // the next one may be somebody else
    form.submit();
  } catch {
    tell(form, "The server does not answer, so nothing was sent. What you typed is still here; try again in a moment.");
  } finally {
    delete form.dataset.sending;
  }
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "post") return;
  event.preventDefault();
  if (!("sending" in form.dataset)) send(form);
});

document.addEventListener("input", (event) => {
  const form = event.target.closest("form[data-draft]");
  if (form) keepDraft(form);
});

// When all scripts are there: the one that adds rows is another.
document.addEventListener("DOMContentLoaded", () => {
  forgetDrafts(({ when }) => when < Date.now() - LIFE);
  // A form that was accepted is no longer on the page. A refused one has what was typed already. Where
  // the server had a problem, the draft is all that is left.
  const sent = sessionStorage.getItem(SENT);
  const refused = [...document.querySelectorAll("form[data-draft]")].find((form) => draftKey(form) === sent);
  if (refused) refused.dataset.restored = "";
  else if (sent && !document.querySelector("[data-problem]")) localStorage.removeItem(sent);
  sessionStorage.removeItem(SENT);
  restoreDrafts();
});
