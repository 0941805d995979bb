"use strict";
// Nothing typed is lost: a form is sent only while the server answers, and what is in it is kept in
// this window until it was accepted. Without this file, forms are sent as usual.

const SENT = "becbo sent"; // which form was sent last
const HIDDEN = ["csrf", "version"];

function draftKey(form) {
  return `becbo draft ${form.getAttribute("action")} ${form.dataset.draft}`;
}

function keepDraft(form) {
  const typed = [...new FormData(form)].filter(([name, value]) => !HIDDEN.includes(name) && value);
  sessionStorage.setItem(draftKey(form), JSON.stringify(typed));
}

function restoreDraft(form) {
  const kept = sessionStorage.getItem(draftKey(form));
  if (!kept) return;
  for (const [name, value] of JSON.parse(kept)) {
    for (const field of form.querySelectorAll(`[name="${CSS.escape(name)}"]`)) {
      if (["radio", "checkbox"].includes(field.type)) field.checked ||= field.value === value;
      else if (field.type !== "file") field.value = value;
    }
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

// A refused form has what was typed already. One that was accepted is no longer on the page.
const isRefused = document.querySelector(".message[role=alert]:not([hidden], [data-offline])");
const drafts = [...document.querySelectorAll("form[data-draft]")];
const sent = sessionStorage.getItem(SENT);
if (sent && !drafts.some((form) => draftKey(form) === sent)) sessionStorage.removeItem(sent);
sessionStorage.removeItem(SENT);
if (!isRefused) drafts.forEach(restoreDraft);
