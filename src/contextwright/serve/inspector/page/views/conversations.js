// All conversations, the last active first; or those that a search finds.

import { html, useEffect, useState } from "../vendor/preact-htm.js";
import { get } from "../api.js";
import { address, visit } from "../address.js";
import { latest, useAnswer, useTitle } from "../load.js";
import { Calm, Failed } from "../parts/notice.js";
import { ago, count, money, nameOf, plural, share, short } from "../words.js";

const FIRST = { rows: [] };

export function Conversations({ params, events }) {
  const { data, busy, error } = useAnswer("/conversations", { q: params.q, by: params.q && params.by }, latest(events));
  const [more, setMore] = useState(FIRST);
  useEffect(() => setMore(FIRST), [data]);
  useTitle(params.q);
  if (error) return html`<${Failed} error=${error} />`;
  const rows = [...(data?.conversations ?? []), ...more.rows];
  const next = more.next === undefined ? data?.next : more.next;
  const load = async () => {
    const page = await get("/conversations", { cursor: next });
    setMore({ rows: [...more.rows, ...page.conversations], next: page.next ?? null });
  };
  return html`
    <div class="line">
      <h1>${params.q ? `“${params.q}”` : "Conversations"}</h1>
      <span class="muted">${data ? plural(data.total, "conversation") : ""}</span>
    </div>
    ${params.q && html`<${Ways} by=${params.by ?? "words"} />`}
    ${data && !rows.length && html`<${Nothing} searched=${params.q} />`}
    ${rows.length > 0 && html`<div class=${busy && params.q ? "stale" : ""}><div class="list-head" aria-hidden="true">${["", "People", "Last active", "Messages", "Tokens", "Cached", "Price"].map((name, place) => html`<span class=${place > 2 ? "number" : ""}>${name}</span>`)}</div>
    <ul class="list">
      ${rows.map((row) => html`<li key=${row.id}><${Row} row=${row} />${(row.hits ?? []).slice(0, 3).map((hit) => html`<${Hit} row=${row} hit=${hit} />`)}</li>`)}
    </ul></div>`}
    ${next && html`<p><button class="plain" onClick=${load}>More</button></p>`}
  `;
}

const Ways = ({ by }) => html`<p class="muted ways" role="group" aria-label="Search by">
  Found by ${["words", "meaning"].map((way) => html`<button aria-pressed=${by === way} onClick=${() => visit({ by: way })}>${way}</button>`)}
</p>`;

// Tokens and price are those of recorded requests; without any, an estimate of what is stored.
function Row({ row }) {
  const paid = row.recorded;
  return html`<a class="row go" href=${address("c", row.id)}>
    <span class="clip"><b>${row.title || row.opening || row.id}</b>${row.parent && html` <span class="muted">fork of ${row.parent} after ${row.fork_at}</span>`}</span>
    <span class="clip muted">${row.people.map(nameOf).filter(Boolean).join(", ")}</span>
    <span class="muted" title=${row.active}>${ago(row.active)}</span>
    <span class="number">${count(row.messages)}<span class="hidden"> messages</span></span>
    <span class="number">${paid?.input ? short(paid.input + paid.output) : `≈ ${short(row.tokens)}`}<span class="hidden"> tokens</span></span>
    <span class="number muted">${paid?.input ? share(paid.cached, paid.input) : ""}</span>
    <span class="number">${paid?.price != null ? money(paid.price) : ""}</span>
  </a>`;
}

const Hit = ({ row, hit }) => html`<a class="hit clip" href=${address("c", row.id, { message: hit.seq })}>${hit.seq} · ${hit.text}</a>`;

const Nothing = ({ searched }) => html`<${Calm}>${searched
  ? "Nothing was found."
  : html`No conversations yet. Import some with <code>cw import FILE</code>, try <code>cw demo</code>, or point a client here: <code>ANTHROPIC_BASE_URL=${location.origin}</code>.`}<//>`;
