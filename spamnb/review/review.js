// Keys for the list and for a message, corrections without reloading the page, and the cutoff in its picture.
// Everything else works without this script.
"use strict";

const status = document.getElementById("status");
const form = document.querySelector("form.messages");
const one = document.querySelector("form.actions");
const done = []; // corrections that can be undone: a list of ids for each
const queue = []; // corrections to send
const TOGETHER = 20; // messages up to which corrections are joined in one request
let sending = false;
const early = []; // labels given by key while the next rows were still loading
const AHEAD = 40; // load more rows when fewer than this follow
let loading = false;

const rows = () => [...document.querySelectorAll(".rows > li")];
const idOf = (row) => row.id.slice(1);
const parsed = (html) => new DOMParser().parseFromString(html, "text/html");

let current = null; // the row to which keys apply
let silence = 0;
function say(text, canUndo = false) {
  status.textContent = text;
  if (canUndo) {
    const button = document.createElement("button");
    button.textContent = "undo";
    button.onclick = undo;
    status.append(" ", button);
  }
  clearTimeout(silence);
  silence = setTimeout(() => { status.textContent = ""; }, canUndo ? 10000 : 4000);
}

function go(row) {
  if (!row) return;
  current = row;
  row.querySelector(".subject").focus();
}

function here() {
  const row = document.activeElement?.closest?.(".rows > li");
  if (row) current = row;
  return current?.isConnected ? current : null;
}

function step(by) {
  const all = rows(), at = all.indexOf(here());
  go(all[at < 0 ? 0 : Math.min(Math.max(at + by, 0), all.length - 1)]);
  if (at + AHEAD > all.length) loadMore();
}

async function loadMore() {
  const more = document.getElementById("more");
  if (!more || loading) return;
  loading = true;
  try {
    const page = parsed(await (await fetch(more.href)).text());
    const known = new Set(rows().map((row) => row.id));
    const fresh = [...page.querySelectorAll(".rows > li")].filter((row) => !known.has(row.id));
    document.querySelector(".rows").append(...fresh);
    const next = page.getElementById("more");
    if (next && fresh.length) more.href = next.href; else more.remove();
  } catch { /* the link "more" remains */ }
  loading = false;
  for (const label of early.splice(0)) {
    if (current.classList.contains("saving")) step(1);
    mark(label);
  }
}

// Sends corrections, one request at a time; those to the same label that wait meanwhile share a request.
function send(ids, fields, words) {
  ids.forEach((id) => document.getElementById("m" + id)?.classList.add("saving"));
  queue.push({ ids, fields, words });
  selection();
  if (!sending) drain();
}

async function drain() {
  sending = true;
  while (queue.length) {
    const { ids, fields, words } = queue.shift();
    while (fields.all && queue[0]?.fields.all === fields.all && ids.length < TOGETHER) ids.push(...queue.shift().ids);
    await post(ids, fields, words);
  }
  sending = false;
}

// Replaces the old rows by those in the answer.
async function post(ids, fields, words) {
  try {
    const body = new URLSearchParams({ ...fields, rows: "1", secret: form.elements.secret.value, back: form.elements.back.value });
    for (const id of fields.all ? ids : []) body.append("id", id);
    const answer = await fetch("/correct", { method: "POST", body });
    const page = parsed(await answer.text());
    if (!answer.ok) throw new Error(page.getElementById("failure")?.textContent ?? page.body.textContent);
    for (const fresh of page.querySelectorAll(".rows > li")) replace(document.getElementById(fresh.id), fresh);
    say(words, Boolean(fields.all));
  } catch (error) {
    ids.forEach((id) => fail(document.getElementById("m" + id), error));
  }
}

function replace(old, fresh) {
  if (!old) return;
  count(isDoubt(fresh) - isDoubt(old));
  const focused = old.contains(document.activeElement);
  old.replaceWith(fresh);
  if (current === old) current = fresh;
  if (focused) fresh.querySelector(".subject").focus();
}

const isDoubt = (row) => row.matches(".unsure:not(.corrected)");

// Updates the numbers of unsure and sure messages above the list.
function count(more) {
  document.querySelectorAll("#doubts b").forEach((number, at) => {
    number.textContent = (Number(number.textContent.replaceAll(",", "")) + (at ? -more : more)).toLocaleString("en");
  });
}

function fail(row, error) {
  if (!row) return;
  const why = error instanceof TypeError ? "not saved: the page has ended" : "not saved: " + error.message.trim();
  row.classList.remove("saving");
  const note = row.querySelector(".failed") ?? document.createElement("span");
  note.className = "failed";
  note.textContent = why;
  row.querySelector(".marks").append(note);
  say(why);
}

const chosen = () => rows().filter((row) => row.querySelector("input").checked);

function mark(label) {
  const all = chosen(), row = here() ?? rows()[0];
  const about = all.length ? all : row ? [row] : [];
  if (!about.length) return;
  if (loading && !all.length && row.classList.contains("saving")) return early.push(label);
  const ids = about.map(idOf);
  done.push([...ids]);
  about.forEach((each) => { each.querySelector("input").checked = false; });
  send(ids, { all: label }, ids.length === 1 ? "learned as " + named(label) : ids.length + " learned as " + named(label));
  if (!all.length) { current = row; step(1); }
}

function undo() {
  const row = here();
  const ids = done.pop() ?? (row?.classList.contains("corrected") ? [idOf(row)] : []);
  if (!ids.length) return say("nothing to undo");
  go(document.getElementById("m" + ids[0]));
  ids.forEach((id) => send([id], { undo: id }, ids.length === 1 ? "undone" : ids.length + " undone"));
}

// Shows how many rows are selected, and, if there are any, the buttons that apply to them.
function selection() {
  const count = chosen().length;
  form.classList.toggle("none", !count);
  document.querySelector("#selected b").textContent = count;
}

function select(is_on) {
  for (const row of rows()) row.querySelector("input").checked = is_on;
  selection();
}

// Notes the row that was opened in the address of the list, so that going back returns to this row.
function leave(row) {
  const there = new URL(location);
  there.searchParams.delete("after");
  there.searchParams.set("at", idOf(row));
  history.replaceState(null, "", there.pathname + there.search);
}

const named = (label) => label === "ham" ? "not spam" : label;

function closeMenus(but) {
  const open = [...document.querySelectorAll(".menu[open]")].filter((menu) => menu !== but);
  open.forEach((menu) => { menu.open = false; });
  return open[0]?.querySelector("summary");
}

const labels = () => [...document.querySelectorAll(".bar-below button[name=all]")].map((button) => button.value);

function inboxKey(key) {
  const all = labels();
  if (key === "j" || key === "ArrowDown") step(1);
  else if (key === "k" || key === "ArrowUp") step(-1);
  else if (key === "s" && all.includes("spam")) mark("spam");
  else if (key === "h" && all.includes("ham")) mark("ham");
  else if (key >= "1" && key <= "9" && all[key - 1]) mark(all[key - 1]);
  else if (key === "u") undo();
  else if (key === "x" && here()) { here().querySelector("input").click(); step(1); }
  else return false;
  return true;
}

function messageKey(key) {
  const button = [...one.querySelectorAll("[data-key]")].find((each) => each.dataset.key === key)
    ?? (key >= "1" && key <= "9" ? one.querySelectorAll("button")[key - 1] : null);
  button?.click();
  return Boolean(button);
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const field = event.target.closest("input:not([type=checkbox]), select, textarea");
  if (event.key === "Escape") {
    const menu = closeMenus();
    if (menu) menu.focus(); else if (field) field.blur(); else if (!document.querySelector(":popover-open")) document.getElementById("back")?.click();
    return;
  }
  if (field) return;
  let used = false;
  if (event.key === "/") { document.getElementById("search")?.focus(); used = Boolean(document.getElementById("search")); }
  else if (event.key === "?") { document.getElementById("keys")?.togglePopover(); used = true; }
  else if (event.key === "Enter" && form && event.target === document.body && here()) { here().querySelector(".subject").click(); used = true; }
  else if (form) used = inboxKey(event.key);
  else if (one) used = messageKey(event.key);
  if (used) event.preventDefault();
});

if (form) {
  form.addEventListener("submit", (event) => {
    const button = event.submitter;
    if (!button) return event.preventDefault();
    event.preventDefault();
    if (button.name === "all") return mark(button.value);
    if (button.name === "undo") return send([button.value], { undo: button.value }, "undone");
    const id = button.value.slice(0, button.value.indexOf(":")), label = button.value.slice(id.length + 1);
    done.push([id]);
    send([id], { all: label }, "learned as " + named(label));
  });
  form.addEventListener("change", selection);
  form.addEventListener("click", (event) => {
    const which = event.target.dataset?.select, subject = event.target.closest(".subject");
    if (which) select(which === "all");
    if (subject) leave(subject.closest("li"));
  });
  form.addEventListener("focusin", here);
  selection();
  go(document.getElementById("m" + new URLSearchParams(location.search).get("at")) ?? rows()[0]);
}

// With a fragment in the address, the browser would scroll by itself and take the focus from the row.
const back = document.getElementById("back");
if (back) back.hash = "";

document.querySelectorAll(".search select").forEach((choice) => {
  choice.addEventListener("change", () => choice.form.submit());
});

document.addEventListener("click", (event) => closeMenus(event.target.closest(".menu")));

const more = document.getElementById("more");
if (more) new IntersectionObserver((seen) => { if (seen.at(-1).isIntersecting) loadMore(); }, { rootMargin: "800px" }).observe(more);

// On other pages, the link to the list keeps its order and search; on the list itself, it shows all mail.
const list = document.querySelector("nav a"), kept = "list " + list.getAttribute("href");
if (location.pathname === "/") sessionStorage.setItem(kept, location.search.replace(/([?&])(at|after)=\w+/g, "$1"));
else if (sessionStorage.getItem(kept)) list.href = "/" + sessionStorage.getItem(kept);

const markWide = () => {
  document.querySelectorAll(".scroll").forEach((box) => box.classList.toggle("wide", box.scrollWidth > box.clientWidth));
};
addEventListener("resize", markWide);
markWide();

// Shows the chosen cutoff in the picture.
const choices = [...document.querySelectorAll(".cutoff input[type=radio]")];
if (choices.length) {
  const save = document.querySelector(".save button"), now = choices.findIndex((choice) => choice.checked);
  const line = [...document.querySelectorAll(".cutoff svg line.cutoff")].at(-1);
  const name = line?.nextElementSibling, band = document.querySelector(".cutoff svg rect.unsure");
  const show = () => {
    const choice = choices.find((each) => each.checked);
    save.disabled = choice === choices[now];
    if (!line) return;
    const x = Number(choice.dataset.x);
    line.setAttribute("x1", x);
    line.setAttribute("x2", x);
    const end = x > 260; // near the right edge, the name is left of the line
    name.setAttribute("x", end ? x - 4 : x + 4);
    name.setAttribute("text-anchor", end ? "end" : "start");
    name.textContent = choice.dataset.cutoff + " spam →";
    band.setAttribute("width", Math.max(x - Number(band.getAttribute("x")), 0));
  };
  choices.forEach((choice) => choice.addEventListener("change", show));
  show();
}
