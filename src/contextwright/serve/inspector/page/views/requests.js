// What passed through the gateway: a waterfall of requests, and one of them.

import { html, useState } from "../vendor/preact-htm.js";
import { text } from "../api.js";
import { address, go } from "../address.js";
import { useAnswer } from "../load.js";
import { Plot } from "../parts/lanes.js";
import { Tree, copy } from "../parts/json.js";
import { Calm, Failed } from "../parts/notice.js";
import { Compared } from "../parts/request.js";
import { ago, count, money, seconds, share, time } from "../words.js";

export function Requests({ params, events }) {
  const news = events.filter((event) => event.name === "request").length;
  const { data, error } = useAnswer("/requests", { conversation: params.conversation, before: params.before, limit: 100 }, news);
  if (error) return html`<${Failed} error=${error} />`;
  const rows = data?.requests ?? [];
  const priced = rows.filter((row) => row.price != null);
  const longest = Math.max(...rows.map((row) => row.seconds ?? 0), 0.001);
  return html`
    <div class="line"><h1>Requests</h1><span class="muted">${priced.length > 0 && `${money(priced.reduce((sum, row) => sum + row.price, 0))} for those shown`}</span></div>
    ${params.conversation && html`<p class="muted">of <a href=${address("c", params.conversation)}>${params.conversation}</a> · <button class="plain" onClick=${() => go({ conversation: "" })}>all</button></p>`}
    ${data && !rows.length && html`<${Calm}>Nothing has passed through this gateway yet. Record a client: <code>cw record -- claude -p "hello"</code><//>`}
    ${rows.length > 1 && html`<${Plot} rows=${[...rows].reverse()} />`}
    ${rows.length > 0 && html`<div class="scroll"><table>
      <thead><tr><th class="number">No.</th><th>Conversation</th><th>Model</th><th>State</th><th class="number">Input</th><th class="number">Cached</th><th class="number">Price</th><th>Time</th><th>When</th></tr></thead>
      <tbody>${rows.map((row) => html`<${Row} key=${row.number} row=${row} longest=${longest} />`)}</tbody>
    </table></div>`}
    ${data?.next && html`<p><button class="plain" onClick=${() => go({ before: data.next }, { quiet: false })}>Older</button></p>`}
  `;
}

const Row = ({ row, longest }) => html`<tr>
  <td class="number"><a href=${address("r", String(row.number))}>${row.number}</a></td>
  <td>${row.conversation ? html`<a href=${address("c", row.conversation)}>${row.conversation}</a>` : html`<span class="muted">–</span>`}</td>
  <td>${row.model}${row.mode === "translated" && html` <span class="muted">→ ${row.sent_model}</span>`}</td>
  <td class=${row.state === "answered" || row.state === undefined ? "muted" : "warm"}>${row.state ?? "open"}${row.error && ` · ${row.error}`}</td>
  <td class="number">${count(row.usage?.input)}</td>
  <td class="number">${share(row.usage?.cached ?? 0, row.usage?.input)}</td>
  <td class="number">${money(row.price)}</td>
  <td><div class="fall" role="img" aria-label=${`first byte after ${seconds(row.first_byte)}, done after ${seconds(row.seconds)}`}>
    <i style=${{ left: 0, width: `${(100 * (row.first_byte ?? 0)) / longest}%` }}></i>
    <i style=${{ left: `${(100 * (row.first_byte ?? 0)) / longest}%`, width: `${(100 * ((row.seconds ?? 0) - (row.first_byte ?? 0))) / longest}%` }}></i>
  </div></td>
  <td class="muted" title=${row.started}>${ago(row.started)}</td>
</tr>`;

export function RequestView({ id, params }) {
  const path = `/requests/${encodeURIComponent(id)}`;
  const { data, error } = useAnswer(path, {});
  const { data: formats } = useAnswer("/formats", {});
  const replay = useAnswer(params.format && data ? `${path}/replay` : null, { format: params.format });
  const comparison = useAnswer(params.with && data ? `${path}/compare` : null, { with: params.with });
  const [copied, setCopied] = useState("");
  if (error) return html`<${Failed} error=${error} />`;
  if (!data) return html`<h1>Request ${id}</h1>`;
  const { request, payload, count: counted, problems } = data;
  const put = async (as) => {
    await copy(as === "JSON" ? JSON.stringify(payload, null, 2) : await text(`${path}/export`, { as }));
    setCopied(as);
  };
  const shown = replay.data?.payload ?? payload;
  return html`
    <div class="line"><h1>Request ${request.number}</h1>
      <span><a href=${address("r", String(request.number - 1))}>‹ previous</a> · <a href=${address("r", String(request.number + 1))}>next ›</a></span></div>
    <p class="muted">${[time(request.started), request.client, request.model, `${request.format} → ${request.upstream_format}`, request.mode, request.state].filter(Boolean).join(" · ")}
      ${request.conversation && html` · <a href=${address("c", request.conversation, { at: request.first ? request.first - 1 : undefined })}>${request.conversation}</a>`}</p>
    <dl class="figures">
      <div><dt>Input</dt><dd>${count(request.usage?.input ?? counted?.tokens)}</dd><dd class="small">${request.usage ? "as the provider counted" : "estimated"}</dd></div>
      <div><dt>From the cache</dt><dd>${share(request.usage?.cached ?? 0, request.usage?.input)}</dd><dd class="small">${request.prefix ? `${share(request.prefix.shared, request.prefix.tokens)} could have been` : "no request before it"}</dd></div>
      <div><dt>Price</dt><dd>${money(request.price)}</dd><dd class="small">${seconds(request.first_byte)} to the first byte, ${seconds(request.seconds)} in all</dd></div>
    </dl>
    ${request.prefix?.first_difference && html`<p class="note"><b class="warm">The prefix broke.</b> ${request.prefix.cause}, at ${request.prefix.first_difference}, byte ${count(request.prefix.byte)}. It costs ${money(request.prefix.cost)}.</p>`}
    ${request.fork && html`<p class="note calm">A fork of ${request.fork.parent} at message ${request.fork.at}: ${request.fork.reason}.</p>`}
    <p class="controls"><label>Compare with request <input type="number" min="1" value=${params.with ?? ""} placeholder=${request.previous ?? ""} onChange=${(event) => go({ with: event.target.value })} /></label></p>
    ${comparison.error && html`<${Failed} error=${comparison.error} />`}
    ${params.with && comparison.data && html`<${Compared} comparison=${comparison.data} />`}
    <${Entries} title="Changes" rows=${request.changes ?? []} text=${(one) => `${one.code} at ${one.path}: ${one.reason}`} />
    <${Entries} title="Problems" rows=${problems} text=${(one) => `${one.code} at ${one.path}: ${one.message}`} />
    ${payload && html`<section class="sheet payload">
      <div class="line"><h2>Payload</h2><span class="controls">
        <label>as <select value=${params.format ?? ""} onChange=${(event) => go({ format: event.target.value })}>
          <option value="">it was sent</option>${(formats?.formats ?? []).filter((one) => one.replies).map((one) => html`<option value=${one.name}>${one.name}</option>`)}
        </select></label>
        ${["JSON", "curl", "python", "test"].map((as) => html`<button class="plain" onClick=${() => put(as)}>${copied === as ? "copied" : `copy ${as}`}</button>`)}
      </span></div>
      ${replay.error && html`<${Failed} error=${replay.error} />`}
      <${Entries} title="What had to change" rows=${replay.data?.changes ?? []} text=${(one) => `${one.code} at ${one.path}: ${one.reason}`} />
      <div class="tree mono"><${Tree} value=${shown} open=${true} /></div>
    </section>`}
    ${!payload && html`<${Calm}>Only figures of this request were kept.<//>`}
  `;
}

const Entries = ({ title, rows, text }) => rows.length > 0 && html`<details><summary>${title} · ${rows.length}</summary><ul class="sums">${rows.map((one) => html`<li>${text(one)}</li>`)}</ul></details>`;
