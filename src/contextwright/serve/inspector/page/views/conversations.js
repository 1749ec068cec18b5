// All conversations, the last active first; or those that a search finds.

import { html, useEffect, useState } from "../vendor/preact-htm.js";
import { get } from "../api.js";
import { address, go } from "../address.js";
import { useAnswer } from "../load.js";
import { Calm, Failed } from "../parts/notice.js";
import { ago, count, nameOf, plural } from "../words.js";

export function Conversations({ params, events }) {
  const changes = events.filter((event) => event.name !== "request").length;
  const { data, error } = useAnswer("/conversations", { q: params.q, by: params.by }, changes);
  const [more, setMore] = useState({ rows: [], next: undefined });
  useEffect(() => setMore({ rows: [], next: undefined }), [data]);
  if (error) return html`<${Failed} error=${error} />`;
  if (!data) return html`<h1>Conversations</h1>`;
  const rows = [...data.conversations, ...more.rows];
  const next = more.next === undefined ? data.next : more.next;
  const load = async () => {
    const page = await get("/conversations", { cursor: next });
    setMore({ rows: [...more.rows, ...page.conversations], next: page.next ?? null });
  };
  return html`
    <div class="line">
      <h1>${params.q ? `“${params.q}”` : "Conversations"}</h1>
      <span class="muted">${plural(data.total, "conversation")}</span>
    </div>
    ${params.q && html`<${Ways} by=${params.by ?? "words"} />`}
    ${!rows.length && html`<${Nothing} searched=${params.q} />`}
    <ul class="list">
      ${rows.map((row) => html`<li key=${row.id}><${Row} row=${row} />${(row.hits ?? []).slice(0, 3).map((hit) => html`<${Hit} row=${row} hit=${hit} />`)}</li>`)}
    </ul>
    ${next && html`<p><button class="plain" onClick=${load}>More</button></p>`}
  `;
}

const Ways = ({ by }) => html`<p class="muted">
  Found by ${["words", "meaning"].map((way) => html` <button class="plain" aria-pressed=${by === way} disabled=${by === way} onClick=${() => go({ by: way })}>${way}</button>`)}
</p>`;

const Row = ({ row }) => html`<a class="row" href=${address("c", row.id)}>
  <span class="clip"><b>${row.title || row.opening || row.id}</b>${row.parent && html` <span class="muted">fork of ${row.parent} at ${row.fork_at}</span>`}</span>
  <span class="clip muted">${row.people.map(nameOf).filter(Boolean).join(", ")}</span>
  <span class="muted" title=${row.active}>${ago(row.active)}</span>
  <span class="number">${count(row.messages)}<span class="hidden"> messages</span></span>
</a>`;

const Hit = ({ row, hit }) => html`<a class="hit clip" href=${address("c", row.id, { message: hit.seq })}>${hit.seq} · ${hit.text}</a>`;

const Nothing = ({ searched }) =>
  searched
    ? html`<${Calm}>Nothing was found.<//>`
    : html`<${Calm}>No conversations yet. Import some with <code>cw import FILE</code>, try <code>cw demo</code>, or point a client here: <code>ANTHROPIC_BASE_URL=${location.origin}</code>.<//>`;
