// The frame of the page: which view, the keyboard, light and dark, live events.

import { html, render, useEffect, useState } from "./vendor/preact-htm.js";
import { listen, token } from "./api.js";
import { address, takeToken, useAddress } from "./address.js";
import { Conversations } from "./views/conversations.js";
import { Flight } from "./views/flight.js";
import { Recall } from "./views/recall.js";
import { RequestView } from "./views/request.js";
import { Requests } from "./views/requests.js";

const VIEWS = { "": Conversations, c: Flight, requests: Requests, r: RequestView, recall: Recall };
const find = (selector) => document.querySelector(selector);

function App() {
  const { view, id, params } = useAddress();
  const [events, setEvents] = useState([]);
  useEffect(() => listen(calmly((some) => setEvents((old) => [...old, ...some].slice(-50)))), []);
  useEffect(() => mark(view, id), [view, id]);
  const View = VIEWS[view] ?? Conversations;
  return html`<${View} key=${view + id} id=${id} params=${params} events=${events} />`;
}

// Mark the view in the bar; a conversation has a place of its own there.
function mark(view, id) {
  for (const link of document.querySelectorAll("nav a")) {
    if (link.dataset.view === (view === "r" ? "requests" : view)) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const chat = find("nav [data-view=c]");
  chat.hidden = view !== "c";
  chat.textContent = id;
  chat.href = address(view, id);
}

function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || /INPUT|SELECT|TEXTAREA/.test(event.target.tagName)) return;
  if (event.key === "/") find(".search").focus();
  else if (event.key === "?") find("#help").showModal();
  else if (event.key === "t") turn();
  else if (/^[jk]$/.test(event.key) && find(".go")) step(event.key === "j" ? 1 : -1);
  else return;
  event.preventDefault();
}

// Events come in bursts: tell at once, then once a second at most.
function calmly(tell) {
  let waiting = [], timer = null, serial = 0;
  const send = () => {
    timer = waiting.length ? setTimeout(send, 1000) : null;
    if (waiting.length) tell(waiting);
    waiting = [];
  };
  return (name, data) => {
    waiting.push({ ...data, name, serial: ++serial });
    if (!timer) send();
  };
}

// From one entry to the next.
function step(by) {
  const entries = [...document.querySelectorAll(".go")];
  const place = entries.indexOf(document.activeElement);
  entries[Math.min(Math.max(place + by, 0), entries.length - 1)].focus();
}

function turn() {
  const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  localStorage.setItem("theme", next);
  document.documentElement.dataset.theme = next;
  dispatchEvent(new Event("theme"));
}

function start() {
  const main = find("#main"), known = Boolean(token.get());
  find(".bar").hidden = !known;
  main.replaceChildren();
  if (known) return render(html`<${App} />`, main);
  main.append(find("#login").content.cloneNode(true));
  main.querySelector("form").onsubmit = (event) => {
    event.preventDefault();
    token.set(event.target.elements.token.value.trim());
    start();
  };
}

find("#theme").onclick = turn;
find("#ask").onclick = () => find("#help").showModal();
find(".skip").onclick = (event) => (event.preventDefault(), find("#main").focus());
find(".search").onkeydown = (event) => {
  if (event.key === "Escape") event.target.blur();
};
find("form[role=search]").onsubmit = (event) => {
  event.preventDefault();
  location.hash = address("", undefined, { q: event.target.elements.q.value.trim() });
};
addEventListener("keydown", press);
addEventListener("hashchange", takeToken);
takeToken();
start();
