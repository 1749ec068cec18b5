// A conversation's flight: the map over time, the messages, and the request under the cursor.

import { html, useEffect, useRef, useState } from "../vendor/preact-htm.js";
import { chat } from "../api.js";
import { go } from "../address.js";
import { useAnswer } from "../load.js";
import { Lanes } from "../parts/lanes.js";
import { Message } from "../parts/message.js";
import { Calm, Failed } from "../parts/notice.js";
import { Request } from "../parts/request.js";
import { Timeline, finder } from "../parts/timeline.js";
import { count, money, nameOf, plural, share } from "../words.js";

export function Flight({ id, params, events }) {
  const news = events.filter((event) => event.conversation === id).length;
  const { data: info, error } = useAnswer(chat(id), {}, news);
  const setting = { recipe: params.recipe, model: params.model, budget: params.budget, format: params.format };
  const total = info?.messages ?? 0;
  const at = Math.min(Number(params.at) || total, total);
  const context = useAnswer(total ? `${chat(id)}/context` : null, { ...setting, at }, news);
  const [ready, setReady] = useState(false);
  useEffect(() => setReady((old) => old || Boolean(context.data)), [context.data]);
  const flight = useAnswer(ready ? `${chat(id)}/flight` : null, setting, news);
  const comparison = useAnswer(params.with && at ? `${chat(id)}/compare` : null, { ...setting, at, with: params.with });
  const other = useAnswer(otherSetting(params) ? `${chat(id)}/flight` : null, { ...setting, ...otherSetting(params) });
  const [pane, setPane] = useState("context");

  const requests = flight.data?.requests ?? [];
  const cursor = nearest(requests, at);
  const one = requests[cursor]?.at === at ? requests[cursor] : null;
  const choose = (place) => requests[place] && go({ at: requests[place].at });
  const open = (seq) => go({ message: seq });
  const message = Number(params.message) || 0;
  useKeys({ requests, cursor, choose, open, message, at, total });

  if (error) return html`<${Failed} error=${error} />`;
  if (!info) return html`<h1>${id}</h1>`;
  if (!total) return html`<h1>${info.title || id}</h1><${Calm}>No messages yet. Point a client here: <code>ANTHROPIC_BASE_URL=${location.origin}</code><//>`;
  const fates = one?.fates ?? context.data?.runs.map((run) => [run.first, run.last, run.action]);
  const fate = finder(fates)(message);
  const tokens = new Map(context.data?.sent.map((sent) => [sent.seq, sent.tokens]));
  return html`
    <div class="title">
      <div>
        <h1>${info.title || info.opening || id}</h1>
        <p class="muted">${[...info.people.map(nameOf).filter(Boolean).slice(0, 5), plural(total, "message"), requests.length && plural(requests.length, "request")].filter(Boolean).join(" · ")}</p>
        <${Controls} params=${params} context=${context.data} />
      </div>
      <${Figures} requests=${requests} earlier=${flight.data?.earlier} />
    </div>
    ${flight.error ? html`<${Failed} error=${flight.error} />` : html`<div class=${flight.busy && flight.data ? "stale" : ""}><${Lanes} flight=${flight.data} other=${other.data} cursor=${cursor} choose=${choose} /></div>`}
    <div class="tabs" role="group" aria-label="Panes">
      ${["context", "timeline"].map((name) => html`<button aria-pressed=${pane === name} onClick=${() => setPane(name)}>${name === "context" ? "Context" : "Timeline"}</button>`)}
    </div>
    <div class="panes" data-pane=${pane}>
      <div class="timeline-pane"><${Timeline} id=${id} total=${total} at=${at} fates=${fates} shared=${sharedUntil(one, requests[cursor - 1])} tokens=${tokens} message=${message} open=${open} news=${news} /></div>
      <div class="request-pane">
        ${message > 0 && html`<${Message} key=${message} id=${id} seq=${message} fate=${fate} close=${() => go({ message: "" })} />`}
        ${context.error && html`<${Failed} error=${context.error} />`}
        ${comparison.error && html`<${Failed} error=${comparison.error} />`}
        ${context.data && html`<${Request} number=${one ? cursor + 1 : null} one=${one} context=${context.data} comparison=${params.with ? comparison.data : null} busy=${context.busy} move=${(by) => choose(cursor + by)} open=${open} />`}
        <p class="hidden" role="status">${one ? `Request ${cursor + 1}: ${count(one.tokens)} tokens, ${count(one.read)} from the cache.` : ""}</p>
      </div>
    </div>`;
}

// How far the messages stand as they did in the request before: until where it ended, if nothing broke.
const sharedUntil = (one, before) => (one && before && !one.cause ? before.at : 0);

function otherSetting({ with: other }) {
  const [, name, value] = /^(recipe|model|budget|format):(.+)$/.exec(other ?? "") ?? [];
  return name && { [name]: value };
}

function nearest(requests, at) {
  let found = 0;
  requests.forEach((one, place) => one.at <= at && (found = place));
  return found;
}

function Figures({ requests, earlier }) {
  const total = (name) => requests.reduce((sum, one) => sum + (one[name] ?? 0), 0);
  const known = requests.length > 0 && requests.every((one) => one.price != null);
  const breaks = requests.filter((one) => one.cause).length;
  return html`<dl class="figures">
    <div><dt>Input</dt><dd>${known ? money(total("price")) : "–"}</dd><dd class="small">${known ? `${count(total("tokens"))} tokens` : requests.length ? "no price known for this model" : ""}</dd></div>
    <div><dt>From the cache</dt><dd>${share(total("read"), total("tokens"))}</dd><dd class="small">${share(total("shared"), total("tokens"))} could have been</dd></div>
    <div><dt>Paid again</dt><dd class=${total("again") ? "warm" : ""}>${known ? money(total("waste")) : count(total("again"))}</dd><dd class="small">${plural(breaks, "break")}${earlier ? ", drawn part only" : ""}</dd></div>
  </dl>`;
}

function Controls({ params, context }) {
  const { data: recipes } = useAnswer("/recipes", {});
  const { data: models } = useAnswer("/models", {});
  const { data: formats } = useAnswer("/formats", {});
  const pick = (name, chosen, options) => html`<label>${name[0].toUpperCase() + name.slice(1)} <select value=${chosen} onChange=${(event) => go({ [name]: event.target.value }, { quiet: false })}>
    ${!options.includes(chosen) && html`<option value=${chosen}>${chosen}</option>`}
    ${options.map((one) => html`<option value=${one} selected=${one === chosen}>${one}</option>`)}</select></label>`;
  const names = (recipes?.recipes ?? []).map((one) => one.name);
  const compared = ["", ...names.map((one) => `recipe:${one}`), ...(models?.models ?? []).slice(0, 30).map((one) => `model:${one.id}`)];
  return html`<div class="controls">
    ${pick("recipe", params.recipe ?? "default", names)}
    ${pick("model", params.model ?? context?.model ?? "", (models?.models ?? []).map((one) => one.id))}
    <label>Budget <input type="number" min="1" step="1000" value=${params.budget ?? ""} placeholder=${count(context?.ledger.budget)} onChange=${(event) => go({ budget: event.target.value }, { quiet: false })} /></label>
    ${pick("format", params.format ?? context?.format ?? "", (formats?.formats ?? []).map((one) => one.name))}
    <label>Compare <select value=${params.with ?? ""} onChange=${(event) => go({ with: event.target.value }, { quiet: false })}>
      ${!compared.includes(params.with ?? "") && html`<option value=${params.with}>${params.with}</option>`}
      ${compared.map((one) => html`<option value=${one} selected=${one === (params.with ?? "")}>${one || "nothing"}</option>`)}</select></label>
  </div>`;
}

// One cursor, everywhere the same moment. Nothing fires while somebody types.
function useKeys(now) {
  const state = useRef(now);
  state.current = now;
  useEffect(() => {
    const press = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || /SELECT|TEXTAREA/.test(event.target.tagName)) return;
      if (event.target.tagName === "INPUT" && event.target.type !== "range") return;
      if (!keys(state.current, event)) return;
      event.preventDefault();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}

function keys({ requests, cursor, choose, open, message, at, total }, event) {
  const broken = (from, by) => {
    for (let place = from + by; requests[place]; place += by) if (requests[place].again) return choose(place) ?? true;
    return true;
  };
  const row = (by) => {
    const seq = Math.min(Math.max((Number(document.activeElement?.dataset?.seq) || message || at) + by, 1), total);
    const found = document.querySelector(`[data-seq="${seq}"]`);
    if (found) found.focus();
    else open(seq);
    return true;
  };
  switch (event.key) {
    case "ArrowLeft": return choose(cursor - 1) ?? true;
    case "ArrowRight": return choose(cursor + 1) ?? true;
    case "Home": return choose(0) ?? true;
    case "End": return choose(requests.length - 1) ?? true;
    case "b": return broken(cursor, 1);
    case "B": return broken(cursor, -1);
    case "j": return row(1);
    case "k": return row(-1);
    case "c": return requests[cursor - 1] ? (go({ with: `at:${requests[cursor - 1].at}` }), true) : true;
    case "y": return document.getElementById("copy-payload")?.click() ?? true;
    case "Escape": return message ? (go({ message: "" }), true) : false;
    default: return false;
  }
}
