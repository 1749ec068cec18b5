// What passed through the gateway: a waterfall of requests, their usage and their price.

import { html } from "../vendor/preact-htm.js";
import { address, go, visit } from "../address.js";
import { latest, useAnswer, useTitle } from "../load.js";
import { Cells, Figures, Head } from "../parts/figures.js";
import { Plot } from "../parts/lanes.js";
import { Calm, Failed } from "../parts/notice.js";
import { ago, count, money, plural, seconds, share } from "../words.js";

const NUMBERS = ["Input", "Cached", "Output", "Price", "So far"];

export function Requests({ params, events }) {
  const query = { conversation: params.conversation, before: params.before, limit: 100 };
  const { data, error } = useAnswer("/requests", query, latest(events, (event) => event.name === "request"));
  useTitle("Requests");
  if (error) return html`<${Failed} error=${error} />`;
  const rows = data?.requests ?? [];
  const places = waterfall(rows);
  return html`
    <div class="line"><h1>Requests</h1><span class="muted">${data ? plural(rows.length, "request") : ""}${params.before && " before the newest"}</span></div>
    ${params.conversation && html`<p class="muted">of <a href=${address("c", params.conversation)}>${params.conversation}</a> · <button class="plain" onClick=${() => go({ conversation: "" })}>show all</button></p>`}
    ${data && !rows.length && html`<${Calm}>Nothing has passed through this gateway yet. Record a client: <code>cw record -- claude -p "hello"</code><//>`}
    ${rows.length > 0 && html`<${Figures} rows=${totals(rows)} start=${true} />`}
    ${rows.length > 1 && html`<${Plot} rows=${[...rows].reverse()} />`}
    ${rows.length > 0 && html`<div class="scroll"><table class="requests">
      <${Head} names=${["No.", "Conversation", "Model", "State", ...NUMBERS, "Waterfall", "First byte", "In all", "When"]} numbers=${["No.", "First byte", "In all", ...NUMBERS]} />
      <tbody>${rows.map((row) => html`<${Row} key=${row.number} row=${row} place=${places.get(row.number)} />`)}</tbody>
    </table></div>`}
    ${data?.next && html`<p><button class="plain" onClick=${() => visit({ before: data.next })}>Older</button></p>`}
  `;
}

function totals(rows) {
  const sum = (of) => rows.reduce((total, row) => total + (of(row) ?? 0), 0);
  const input = sum((row) => row.usage?.input);
  const priced = rows.some((row) => row.price != null);
  const broken = rows.filter((row) => row.prefix?.first_difference).length;
  return [
    ["Price", priced ? money(sum((row) => row.price)) : "–", priced ? "of those shown" : "no price known"],
    ["From the cache", share(sum((row) => row.usage?.cached), input), `of ${count(input)} input tokens`],
    ["Output", count(sum((row) => row.usage?.output)), "tokens"],
    ["Prefix broke", count(broken), broken === 1 ? "time" : "times", broken],
  ];
}

// Where each request stands in time, with pauses cut short, and the price so far.
function waterfall(rows) {
  const timed = [...rows].reverse().map((row) => ({ row, start: Date.parse(row.started) / 1000 || 0, length: row.seconds ?? 0 }));
  const longest = Math.max(...timed.map((one) => one.length), 0.001);
  const places = new Map();
  let left = 0, end = timed[0]?.start ?? 0, paid = 0;
  for (const one of timed) {
    const pause = Math.min(one.start - end, longest / 8);
    left = Math.max(left + pause, 0);
    paid += one.row.price ?? 0;
    places.set(one.row.number, { left, first: one.row.first_byte ?? one.length, length: one.length, paid });
    left += one.length;
    end = one.start + one.length;
  }
  const whole = Math.max(...[...places.values()].map((one) => one.left + one.length), 0.001);
  for (const one of places.values()) one.whole = whole;
  return places;
}

// Forks of a session differ in the end of their names, which stays where the name is cut.
function Name({ id }) {
  const [start, fork] = id.split(/(?=~\d+$)/);
  return html`<a class="named" title=${id} href=${address("requests", undefined, { conversation: id })}><span class="clip">${start}</span>${fork}</a>`;
}

function Row({ row, place }) {
  const part = (some) => `${(100 * some) / place.whole}%`;
  return html`<tr>
    <td class="number"><a class="go" href=${address("r", String(row.number))}>${row.number}</a></td>
    <td>${row.conversation ? html`<${Name} id=${row.conversation} />` : html`<span class="muted">–</span>`}</td>
    <td>${row.model}${row.mode === "translated" && html` <span class="muted">→ ${row.sent_model}</span>`}</td>
    <td class=${(row.state ?? "answered") === "answered" ? "muted" : "warm"}>${row.state ?? "open"}${row.error && ` · ${row.error}`}${row.prefix?.first_difference && html` <span class="warm">· prefix broke</span>`}</td>
    <${Cells} of=${[count(row.usage?.input), share(row.usage?.cached ?? 0, row.usage?.input), count(row.usage?.output), money(row.price), money(place.paid)]} />
    <td><div class="fall" role="img" aria-label=${`first byte after ${seconds(row.first_byte)}, done after ${seconds(row.seconds)}`}>
      <i style=${{ left: part(place.left), width: part(place.first) }}></i><i style=${{ left: part(place.left + place.first), width: part(Math.max(place.length - place.first, 0)) }}></i>
    </div></td>
    <${Cells} of=${[seconds(row.first_byte), seconds(row.seconds)]} />
    <td class="muted" title=${row.started}>${ago(row.started)}</td>
  </tr>`;
}
