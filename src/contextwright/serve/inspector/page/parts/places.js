// Changes and problems, each with a link to the message or to the place in the payload.

import { html } from "../vendor/preact-htm.js";
import { go, openMessage } from "../address.js";

export const Places = ({ title, rows, text, inPayload = false }) =>
  rows.length > 0 && html`<details open=${rows.length < 4}><summary>${title} · ${rows.length}</summary><ul class="places">
    ${rows.map((row) => html`<li><b class=${row.level === "error" ? "warm" : "muted"}>${row.code}</b> ${text(row)} <${Where} ...${row} inPayload=${inPayload} /></li>`)}
  </ul></details>`;

export const Seq = ({ first, last = first, words = "" }) => html`<button class="plain" onClick=${() => openMessage(first)}>${words}${first === last ? first : `${first}–${last}`}</button>`;

function Where({ seq, path, inPayload }) {
  if (!inPayload) return seq ? html`<${Seq} first=${seq} words="message " />` : html`<span class="mono muted">${path}</span>`;
  return html`<button class="plain mono" onClick=${() => go({ part: "payload", path })}>${path}</button>${seq && html` · <${Seq} first=${seq} words="message " />`}`;
}
