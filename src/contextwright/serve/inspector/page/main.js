// The frame of the page: which view, the keyboard, light and dark, live events.

import { html, render, useEffect, useRef, useState } from "./vendor/preact-htm.js";
import { listen, token } from "./api.js";
import { address, go, takeToken, useAddress } from "./address.js";
import { Conversations } from "./views/conversations.js";
import { Flight } from "./views/flight.js";
import { Recall } from "./views/recall.js";
import { RequestView, Requests } from "./views/requests.js";
import { Help } from "./parts/help.js";

const VIEWS = { "": Conversations, c: Flight, requests: Requests, r: RequestView, recall: Recall };

function theme() {
  const chosen = localStorage.getItem("theme");
  if (chosen) return chosen;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

function App() {
  const place = useAddress();
  const [events, setEvents] = useState([]);
  const [help, setHelp] = useState(false);
  const [known, setKnown] = useState(Boolean(token.get()));
  const search = useRef(null);

  useEffect(() => (known ? listen((name, data) => setEvents((old) => [...old.slice(-49), { name, ...data }])) : undefined), [known]);

  useEffect(() => {
    const press = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || /INPUT|SELECT|TEXTAREA/.test(event.target.tagName)) return;
      if (event.key === "/") search.current?.focus();
      else if (event.key === "?") setHelp(true);
      else if (event.key === "t") turn();
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);

  if (!known) return html`<${Login} done=${() => setKnown(true)} />`;
  const View = VIEWS[place.view] ?? Conversations;
  return html`
    <header class="bar">
      <a class="name" href="#/"><img src="inspector/icon.svg" width="16" height="16" alt="" /> contextwright</a>
      <nav aria-label="Views">
        <a href="#/" aria-current=${place.view === "" ? "page" : undefined}>Conversations</a>
        ${place.view === "c" && html`<a class="clip" href=${location.hash} aria-current="page">${place.id}</a>`}
        <a href="#/requests" aria-current=${/^r/.test(place.view) && place.view !== "recall" ? "page" : undefined}>Requests</a>
        <a href="#/recall" aria-current=${place.view === "recall" ? "page" : undefined}>Recall</a>
      </nav>
      <form role="search" onSubmit=${find}>
        <input ref=${search} class="search" name="q" type="search" placeholder="Search messages  /" aria-label="Search messages" onKeyDown=${leave} />
      </form>
      <button onClick=${turn} aria-label="Light or dark" title="Light or dark (t)">◐</button>
      <button onClick=${() => setHelp(true)} aria-label="Help" title="Help (?)">?</button>
    </header>
    <main><${View} key=${place.view + place.id} id=${place.id} params=${place.params} events=${events} /></main>
    <${Help} open=${help} close=${() => setHelp(false)} />
  `;
}

function turn() {
  const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  localStorage.setItem("theme", next);
  document.documentElement.dataset.theme = next;
  dispatchEvent(new Event("theme"));
}

function find(event) {
  event.preventDefault();
  location.hash = address("", undefined, { q: event.target.elements.q.value.trim() });
}

const leave = (event) => event.key === "Escape" && event.target.blur();

function Login({ done }) {
  const enter = (event) => {
    event.preventDefault();
    token.set(event.target.elements.token.value.trim());
    done();
  };
  return html`<main>
    <h1>contextwright</h1>
    <p class="note calm">
      This page shows your conversations to those who know the gateway's token. <code>cw inspect</code> opens it with the
      token; or paste the token here. <code>cw serve</code> says in which file it is.
    </p>
    <form class="ask" onSubmit=${enter}>
      <input name="token" type="password" autocomplete="off" aria-label="Token" placeholder="Token" required />
      <button class="primary">Open</button>
    </form>
  </main>`;
}

takeToken();
addEventListener("hashchange", takeToken);
document.documentElement.dataset.theme = theme();
render(html`<${App} />`, document.getElementById("app"));
