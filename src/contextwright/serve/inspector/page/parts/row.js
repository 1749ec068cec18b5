// A row of the timeline: a message in one or a few lines, or a run of messages that are folded.

import { html } from "../vendor/preact-htm.js";
import { openMessage } from "../address.js";
import { count, dotted, nameOf, plural } from "../words.js";
import { PARTS, linesOf } from "./rows.js";

const OUT = { summarised: "summarised", dropped: "dropped", cleared: "cleared" };
const ROLES = { user: "User", assistant: "Assistant", system: "System", tool: "" };
const TONES = 6, LINE = 150;

export function Row({ seq, total, place, message, people, fate, tokens, paid, current, partner }) {
  if (!message) return html`<div class="message waiting" style=${place}><span class="seq">${seq}</span><span></span><span></span><span class="words"></span></div>`;
  const gone = message.visibility && message.visibility !== "public" ? message.visibility : "";
  const out = gone || fate === "dropped" || fate === "summarised";
  const press = (event) => event.key === "Enter" && event.target === event.currentTarget && openMessage(seq);
  return html`<article class=${out ? "message out" : "message"} style=${place} tabindex="0" data-seq=${seq} aria-posinset=${seq} aria-setsize=${total}
      aria-label=${`Message ${seq}`} aria-current=${current ? "true" : undefined} onClick=${() => openMessage(seq)} onKeyDown=${press}>
    <span class="seq">${seq}</span><span class="rail ${fate ?? ""}"></span><span class="cache ${paid}"></span>
    <div class="words">
      ${message.reply_to && html`<div class="clip reply">↩ ${[nameOf(message.reply_to.author), message.reply_to.excerpt].filter(Boolean).join(": ") || "an earlier message"}</div>`}
      ${gone ? html`<div class="clip gone">${nameOf(message.author)} ${gone}</div>` : message.parts.slice(0, PARTS).map((part, number) => html`<${Part} part=${part} who=${number === 0 ? html`<${Who} message=${message} people=${people} />` : ""} seq=${seq} partner=${partner(part)} />`)}
    </div>
    <span class="muted number">${dotted([OUT[fate], message.pinned && "pinned", message.damage && "damaged", message.parts.length > PARTS && `+${message.parts.length - PARTS} parts`, tokens && count(tokens)])}</span>
  </article>`;
}

// People have a colour each once there are several; everybody else is plain.
function Who({ message, people }) {
  const name = nameOf(message.author) || ROLES[message.role];
  const speakers = (people ?? []).filter((one) => nameOf(one));
  const tone = speakers.length > 1 ? speakers.findIndex((one) => nameOf(one) === nameOf(message.author)) : -1;
  return name && html`<span class=${tone < 0 ? "who" : `who tone-${tone % TONES}`}>${name}</span>`;
}

function Part({ part, who, seq, partner }) {
  const text = linesOf(part) === 2 ? part.text : part.text.slice(0, LINE); // what nobody sees is not laid out
  const tie = partner > 0 && partner < Infinity && partner !== seq && html`<${Tie} seq=${partner} words=${part.kind === "tool_call" ? "result" : "call"} sign=${part.kind === "tool_call" ? "↓" : "↑"} />`;
  if (part.kind === "thinking") return html`<div class="clip thinking">${who}Thinking · ${text}</div>`;
  if (part.kind === "tool_call") return html`<div class="tied"><span class="clip">${who}<span class="mono">${part.name}</span> <span class="muted">${text}</span></span>${tie}</div>`;
  if (part.kind === "tool_result") return html`<div class="tied"><span class="clip result muted">${part.is_error && html`<b class="warm">failed </b>`}${text || "nothing"}</span>${tie}</div>`;
  if (part.kind !== "text") return html`<div class="clip">${who}<span class="marker">${part.name}</span> <span class="muted">${dotted([part.mime, text])}</span></div>`;
  return html`<div class=${linesOf(part) === 2 ? "two" : "clip"}>${who}${text}</div>`;
}

const Tie = ({ seq, words, sign }) => html`<button class="tie" aria-label=${`Its ${words} is message ${seq}`} onClick=${(event) => (event.stopPropagation(), openMessage(seq))}>${sign} ${seq}</button>`;

export const Fold = ({ first, last, fate, place, unfold }) => html`<button class="message fold" style=${place} onClick=${unfold}>
  <span class="seq">⋯</span><span class="rail ${fate ?? ""}"></span><span></span>
  <span class="words muted">${plural(last - first + 1, "message")} ${OUT[fate] ?? ""} · ${count(first)}–${count(last)}</span><span class="muted">show</span>
</button>`;
