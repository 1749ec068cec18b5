// One message, whole, and what became of it.

import { html } from "../vendor/preact-htm.js";
import { chat } from "../api.js";
import { openMessage, visit } from "../address.js";
import { useAnswer } from "../load.js";
import { OMITTED, dotted, nameOf, time } from "../words.js";
import { Tree } from "./json.js";
import { Failed } from "./notice.js";
import { finder } from "./timeline.js";

export function Message({ id, seq, requests, news }) {
  const { data, error } = useAnswer(`${chat(id)}/messages/${seq}`, {}, news);
  const message = data?.message;
  return html`<section class="sheet" aria-label=${`Message ${seq}`}>
    <div class="line"><h2>Message ${seq}</h2><button onClick=${() => openMessage("")} aria-label="Close the message" title="Esc">✕</button></div>
    ${error && html`<${Failed} error=${error} />`}
    ${message && html`<p class="muted">${dotted([nameOf(message.author) || message.role, time(message.sent_at ?? data.stored_at), message.visibility !== "public" && message.visibility, message.pinned && "pinned"])}</p>
      ${message.reply_to && html`<p class="reply">↩ ${[nameOf(message.reply_to.author), message.reply_to.excerpt].filter(Boolean).join(": ")}</p>`}
      ${(message.parts ?? []).map((part) => html`<${Part} part=${part} />`)}
      <p class="muted">${life(seq, requests)}</p>
      <p class="links"><button class="plain" onClick=${() => visit({ at: seq })}>what was seen after it</button>
        <button class="plain" onClick=${() => visit({ with: `at:${seq}` })}>compare with then</button></p>`}
  </section>`;
}

function Part({ part }) {
  if (part.type === "text") return html`<div class="whole">${part.text}</div>`;
  if (part.type === "thinking") return html`<details><summary>Thinking</summary><div class="whole">${part.text || "not readable"}</div></details>`;
  if (part.type === "tool_result" && typeof part.content === "string") return html`<div><b class=${part.is_error ? "warm" : "muted"}>${part.is_error ? "Failed" : "Result"}</b><div class="whole">${part.content}</div></div>`;
  return html`<div class="tree mono"><${Tree} value=${part} open=${true} /></div>`;
}

// Its fate over all requests: kept from request 3, cleared from 12, dropped from 32.
function life(seq, requests) {
  const fates = requests.map((one) => finder(one.fates)(seq));
  const changes = fates.map((fate, place) => fate && fate !== fates[place - 1] && `${OMITTED[fate] ?? fate} from request ${place + 1}`).filter(Boolean);
  return changes.join(", ");
}
