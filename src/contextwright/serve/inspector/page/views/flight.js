// A conversation's flight: the map over time, the messages, and the request under the cursor.

import { html, useEffect, useMemo, useRef } from "../vendor/preact-htm.js";
import { chat } from "../api.js";
import { address, comparedWith, go } from "../address.js";
import { latest, useAnswer, useRest, useTitle } from "../load.js";
import { Compared } from "../parts/compare.js";
import { Controls } from "../parts/controls.js";
import { Figures } from "../parts/figures.js";
import { Lanes } from "../parts/lanes.js";
import { Message } from "../parts/message.js";
import { Calm, Failed } from "../parts/notice.js";
import { Request } from "../parts/request.js";
import { Rows } from "../parts/rows.js";
import { Timeline } from "../parts/timeline.js";
import { count, dotted, money, nameOf, plural, share } from "../words.js";

export function Flight({ id, params, events }) {
  const news = latest(events, (event) => event.conversation === id);
  const { data: info, error } = useAnswer(chat(id), {}, news);
  const setting = { recipe: params.recipe, model: params.model, budget: params.budget, format: params.format };
  const total = info?.messages ?? 0;
  const at = Math.min(Number(params.at) || total, total);
  const context = useAnswer(total ? `${chat(id)}/context` : null, { ...setting, at }, news);
  const shown = useRest(context.busy || !total ? null : JSON.stringify(setting), 300); // the map comes last
  const flight = useAnswer(shown && `${chat(id)}/flight`, JSON.parse(shown), news);
  const comparison = useAnswer(params.with && at ? `${chat(id)}/compare` : null, { ...setting, at, with: params.with });
  const other = useAnswer(otherSetting(params) ? `${chat(id)}/flight` : null, { ...setting, ...otherSetting(params) });

  const requests = flight.data?.requests ?? NONE;
  const cursor = nearest(requests, at);
  const one = requests[cursor]?.at === at ? requests[cursor] : null;
  const built = context.data?.at === at ? context.data : null;
  const choose = (place) => requests[place] && go({ at: requests[place].at });
  const message = Number(params.message) || 0;
  useKeys({ requests, cursor, choose, message, at, params });
  useTitle(info?.title || info?.opening || id);

  const fates = useMemo(() => one?.fates ?? built?.runs.map((run) => [run.first, run.last, run.action]), [one, built]);
  const tokens = useMemo(() => new Map(context.data?.sent.map((sent) => [sent.seq, sent.tokens])), [context.data]);
  const { paid, broken } = useMemo(() => cacheOf(one, built, requests[cursor - 1]), [one, built]);

  if (error) return html`<${Failed} error=${error} />`;
  if (info && !total) return html`<h1>${info.title || id}</h1><${Calm}>No messages yet. Point a client here: <code>ANTHROPIC_BASE_URL=${location.origin}</code><//>`;
  const pane = params.pane ?? "context";
  return html`
    <div class="title">
      <div>
        <h1>${info?.title || info?.opening || id}</h1>
        <p class="muted">${info ? dotted([...info.people.map(nameOf).filter(Boolean).slice(0, 5), plural(total, "message"), requests.length && plural(requests.length, "request")]) : "…"}
          ${info?.recorded && html` · <a href=${address("requests", undefined, { conversation: id })}>${plural(info.recorded.requests, "recorded request")}</a>`}</p>
      </div>
      <${Figures} rows=${sums(requests, other.data, flight.data?.earlier)} />
    </div>
    <${Controls} params=${params} context=${context.data} at=${at} id=${id} />
    ${flight.error ? html`<${Failed} error=${flight.error} />` : html`<div class=${flight.busy && flight.data ? "stale" : ""}><${Lanes} flight=${flight.data} other=${other.data} cursor=${cursor} pin=${pinned(params, requests)} choose=${choose} compare=${(place) => go({ with: `at:${requests[place].at}` })} /></div>`}
    <div class="tabs" role="group" aria-label="Panes">
      ${["context", "timeline"].map((name) => html`<button aria-pressed=${pane === name} onClick=${() => go({ pane: name })}>${name === "context" ? "Context" : "Timeline"}</button>`)}
    </div>
    <div class="panes" data-pane=${pane}>
      <div class="timeline-pane"><${Timeline} id=${id} info=${info} total=${total} at=${at} fates=${fates} paid=${paid} broken=${broken} tokens=${tokens} message=${message} news=${news} /></div>
      <div class="request-pane">
        ${message > 0 && html`<${Message} key=${message} id=${id} seq=${message} requests=${requests} news=${news} />`}
        ${params.with && comparison.data && html`<${Compared} comparison=${comparison.data} />`}
        ${[comparison, context].map(({ error: failed }) => failed && html`<${Failed} error=${failed} />`)}
        ${context.data && html`<${Request} number=${one ? cursor + 1 : null} one=${one} context=${context.data} busy=${context.busy} move=${(by) => choose(cursor + by)} params=${params} />`}
        ${!context.data && !context.error && html`<section class="sheet waiting" aria-label="The request"></section>`}
        <${Announce} words=${one ? `Request ${cursor + 1}: ${count(one.tokens)} tokens, ${count(one.read)} from the cache.${one.cause && ` The cache broke: ${one.cause}.`}` : ""} />
      </div>
    </div>`;
}

const NONE = [];

// One sentence for those who listen, once the cursor rests.
const Announce = ({ words }) => html`<p class="hidden" role="status">${useRest(words, 600)}</p>`;

// Which messages were read from the cache, which were paid again, and where the prefix broke.
function cacheOf(one, context, before) {
  if (!one || !context) return {};
  const firsts = [], kinds = [];
  let reached = 0, broken = null;
  for (const { seq, tokens } of context.units) {
    if (seq && reached >= one.shared && one.cause && !broken) broken = { seq, tokens: one.shared };
    reached += tokens;
    if (!seq) continue;
    firsts.push(seq);
    kinds.push(reached <= one.read ? "cached" : before && seq <= before.at && one.again ? "again" : "");
  }
  return { broken, paid: firsts.length ? (seq) => (seq < firsts[0] ? "" : kinds[Rows.last(firsts, firsts.length, seq)]) : null };
}

// The request that is compared with, if it is one of these.
function pinned(params, requests) {
  const [kind, value] = comparedWith(params);
  return kind === "at" ? requests.findIndex((one) => one.at === Number(value)) : -1;
}

// The setting of the other flight, if what is compared is one of its parts.
function otherSetting(params) {
  const [kind, value] = comparedWith(params);
  return /^(recipe|model|budget|format)$/.test(kind) && value && { [kind]: value };
}

const nearest = (requests, at) => Math.max(requests.findLastIndex((one) => one.at <= at), 0);

// The sums of all requests, and the price of the compared ones.
function sums(requests, other, earlier) {
  const total = (name, of = requests) => of.reduce((sum, one) => sum + (one[name] ?? 0), 0);
  const priced = (of) => of?.length > 0 && of.every((one) => one.price != null);
  const known = priced(requests);
  const more = known && priced(other?.requests) ? total("price", other.requests) - total("price") : null;
  const below = more != null ? `${more > 0 ? "+" : "−"}${money(Math.abs(more))} compared` : known ? `${count(total("tokens"))} tokens` : requests.length ? "no price known for this model" : "";
  return [
    ["Input", known ? money(total("price")) : "–", below],
    ["From the cache", share(total("read"), total("tokens")), `${share(total("shared"), total("tokens"))} could have been`],
    ["Paid again", known ? money(total("waste")) : count(total("again")), `${plural(requests.filter((one) => one.cause).length, "break")}${earlier ? ", drawn part only" : ""}`, total("again")],
  ];
}

// One cursor, everywhere the same moment. Nothing fires while somebody types.
function useKeys(now) {
  const state = useRef(now);
  state.current = now;
  useEffect(() => {
    const press = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || /SELECT|TEXTAREA/.test(event.target.tagName)) return;
      if (event.target.tagName === "INPUT" && event.target.type !== "range") return;
      if (keys(state.current, event)) event.preventDefault();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}

function keys({ requests, cursor, choose, message, at, params }, event) {
  const broken = (from, by) => {
    let place = from + by;
    while (requests[place] && !requests[place].again) place += by;
    return choose(place), true;
  };
  const row = (by) => {
    const rows = [...document.querySelectorAll(".timeline article, .timeline .fold")];
    const place = rows.indexOf(document.activeElement);
    const start = place < 0 ? rows.findLastIndex((one) => Number(one.dataset.seq) <= (message || at)) : place;
    rows[Math.min(Math.max(start + by, 0), rows.length - 1)]?.focus();
    return true;
  };
  const moves = { ArrowLeft: cursor - 1, ArrowRight: cursor + 1, Home: 0, End: requests.length - 1 };
  if (event.key in moves) return choose(moves[event.key]), true;
  switch (event.key) {
    case "b": return broken(cursor, 1);
    case "B": return broken(cursor, -1);
    case "j": return row(1);
    case "k": return row(-1);
    case "c": return go({ with: params.with ? "" : requests[cursor - 1] ? `at:${requests[cursor - 1].at}` : "" }), true;
    case "o": return dispatchEvent(new Event("fold"));
    case "y": return document.getElementById("copy-payload")?.click() ?? true;
    case "Escape": return message || params.with ? (go(message ? { message: "" } : { with: "" }), true) : false;
    default: return false;
  }
}
