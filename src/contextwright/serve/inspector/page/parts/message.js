// One message, whole.

import { html } from "../vendor/preact-htm.js";
import { chat } from "../api.js";
import { useAnswer } from "../load.js";
import { nameOf, time } from "../words.js";
import { Tree } from "./json.js";
import { Failed } from "./notice.js";

export function Message({ id, seq, fate, close }) {
  const { data, error } = useAnswer(`${chat(id)}/messages/${seq}`, {});
  const message = data?.message;
  return html`<section class="sheet" aria-label=${`Message ${seq}`}>
    <div class="line"><h2>Message ${seq}</h2><button onClick=${close} aria-label="Close the message" title="Esc">✕</button></div>
    ${error && html`<${Failed} error=${error} />`}
    ${message && html`<p class="muted">${[nameOf(message.author) || message.role, time(message.sent_at ?? data.stored_at), message.visibility !== "public" && message.visibility, fate].filter(Boolean).join(" · ")}</p>
      ${(message.parts ?? []).map((part) => (part.type === "text" && typeof part.text === "string" ? html`<div class="whole">${part.text}</div>` : html`<div class="tree mono"><${Tree} value=${part} open=${true} /></div>`))}`}
  </section>`;
}
