// One request: the budget that adds up, the cached prefix, why it broke, what is not in it.

import { html, useState } from "../vendor/preact-htm.js";
import { go } from "../address.js";
import { Places, Seq } from "./places.js";
import { Tree, copy, steps } from "./json.js";
import { OMITTED, count, dotted, money, plural, share, time } from "../words.js";

export function Request({ number, one, context, busy, move, params }) {
  const ledger = context.ledger;
  return html`<section class=${busy ? "sheet stale" : "sheet"} aria-label="The request">
    <div class="line">
      <div><h2>${number ? `Request ${number}` : "The request"}</h2><p class="muted">${dotted([`after message ${count(context.at)}`, time(one?.time)])}</p></div>
      <span><button onClick=${() => move(-1)} aria-label="Previous request">‹</button><button onClick=${() => move(1)} aria-label="Next request">›</button></span>
    </div>
    <div class="bigs">
      <div><b>${ledger.exact ? "" : "≈ "}${count(ledger.tokens)}</b><small>tokens of ${count(ledger.budget)}${ledger.at_least ? ", at least" : ""}</small></div>
      <div><b>${money(one?.price ?? context.price)}</b><small>${one ? "input, with the cache" : "input, nothing cached"}</small></div>
    </div>
    <${Budget} context=${context} />
    <hr />
    <${Prefix} one=${one} context=${context} />
    <hr />
    <${Absent} context=${context} />
    <${Places} title="Changes" rows=${context.changes} text=${(row) => row.reason} />
    <${Places} title="Problems" rows=${context.problems} text=${(row) => row.message} inPayload=${true} />
    <${Sections} sections=${context.sections} />
    <${Payload} payload=${context.payload} format=${context.format} params=${params} />
  </section>`;
}

function Budget({ context }) {
  const { ledger, runs, answer } = context;
  const of = (action) => runs.filter((run) => run.action === action);
  const sum = (found) => found.reduce((total, run) => total + (run.tokens ?? 0), 0);
  const size = (found) => found.reduce((total, run) => total + run.last - run.first + 1, 0);
  const lines = [
    ...Object.entries(ledger.sections).map(([name, tokens]) => ["system", `Section ${name}`, tokens]),
    ["system", "Wrappers", ledger.wrappers],
    ["tools", "Tools", ledger.tools],
    ["kept", `${plural(size(of("kept")), "message")} kept`, sum(of("kept"))],
    ["cleared", `${plural(size(of("cleared")), "message")} kept, cleared`, sum(of("cleared"))],
    ["summarised", "Summary and note", ledger.notes],
    ["doubt", `In doubt, ±${Math.round(100 * ledger.bound)} %`, ledger.most - ledger.tokens],
    ["free", "Free", Math.max(ledger.budget - ledger.most, 0)],
    ["answer", "Reserved for the answer", answer],
  ].filter(([, , tokens]) => tokens > 0);
  return html`<${Bar} lines=${lines} words=${`${count(ledger.most)} of ${count(ledger.budget)} tokens, and ${count(answer)} for the answer`} />`;
}

// Tokens by purpose, drawn to scale and listed.
export function Bar({ lines, words }) {
  const whole = Math.max(lines.reduce((sum, [, , tokens]) => sum + tokens, 0), 1);
  return html`<div class="budget" role="img" aria-label=${words}>
      ${lines.map(([name, , tokens]) => html`<span class=${name} style=${{ width: `${(100 * tokens) / whole}%` }}></span>`)}
    </div>
    <ul class="sums">${lines.map(([name, text, tokens]) => html`<li><span class="swatch ${name}"></span><span>${text}</span><span>${count(tokens)}</span></li>`)}</ul>`;
}

function Prefix({ one, context }) {
  if (!one) return html`<p class="muted">No request was made here: this is the one that would be.</p>`;
  const fresh = one.tokens - one.read - one.again;
  const broke = one.cause || one.unread;
  const reached = context.marks.map((end) => context.units.slice(0, end).reduce((sum, unit) => sum + unit.tokens, 0));
  return html`<h2>${one.cause ? "The cache broke" : one.again ? "Not cached" : "The cached prefix"}</h2>
    <${Ribbon} tokens=${one.tokens} read=${one.read} again=${one.again} shared=${broke ? one.shared : null} marks=${reached} />
    <p class="muted">${count(one.read)} read · ${one.again > 0 && html`<span class="warm">${count(one.again)} again</span> · `}${count(fresh)} new · ${plural(reached.length, "cache mark")}</p>
    ${one.again > 0 && broke && html`<p class="note"><b class="warm">${one.waste == null ? "Paid again." : `${money(one.waste)} more than needed.`}</b> ${sentence(one.cause)} ${share(one.shared, one.tokens)} of the request begins as before.${one.unread && ` Yet it was not read: ${one.unread}.`}</p>`}`;
}

// A request in reading order: what came from the cache, what was paid again, what is new.
export function Ribbon({ tokens, read, again, shared = null, marks = [] }) {
  const part = (some) => `${(100 * some) / Math.max(tokens, 1)}%`;
  const fresh = Math.max(tokens - read - again, 0);
  return html`<div class="reading">
    ${shared != null && html`<span class=${shared > tokens / 2 ? "same left" : "same"} style=${{ left: part(shared) }}><span>same up to here, ${count(shared)}</span></span>`}
    <div class="ribbon" role="img" aria-label=${`${count(read)} tokens read from the cache, ${count(again)} paid again, ${count(fresh)} new`}>
      <span class="cached" style=${{ width: part(read) }}></span><span class="again" style=${{ width: part(again) }}></span><span class="kept" style=${{ width: part(fresh) }}></span>
    </div>
    ${marks.map((reached) => html`<span class="mark" style=${{ left: part(reached) }}>▴</span>`)}
  </div>`;
}

export const sentence = (text) => (text ? `${text[0].toUpperCase()}${text.slice(1)}.` : "");

function Absent({ context }) {
  const found = context.runs.filter((run) => OMITTED[run.action]);
  if (!found.length) return html`<p class="muted">Every message is in the request.</p>`;
  return html`<h2>Not in the request</h2><ul class="sums">${found.slice(0, 50).map((run) => html`<li>
    <span class="swatch ${run.action}"></span>
    <span><${Seq} first=${run.first} last=${run.last} /> ${OMITTED[run.action]} <span class="why">· ${run.reason}</span></span>
    <span>${count(run.last - run.first + 1)}</span></li>`)}</ul>${found.length > 50 && html`<p class="muted">and ${found.length - 50} more</p>`}`;
}

const Sections = ({ sections }) =>
  sections.length > 0 && html`<details><summary>System text · ${plural(sections.length, "section")}</summary>${sections.map((one) => html`<div class="section"><div class="line"><b>${one.name}</b><span class="muted">${one.text ? count(one.tokens) : one.absence}</span></div>${one.text && html`<div class="whole">${one.text}</div>`}</div>`)}</details>`;

export function Payload({ payload, format, params }) {
  const [copied, setCopied] = useState(null);
  const put = async () => {
    await copy(JSON.stringify(payload, null, 2));
    setCopied(payload);
  };
  const open = params.part === "payload";
  const toggle = (event) => event.target === event.currentTarget && event.currentTarget.open !== open && go({ part: open ? "" : "payload", path: "" });
  return html`<details open=${open} onToggle=${toggle}><summary>Payload · ${format}</summary>
    ${open && html`<div class="tree mono"><${Tree} value=${payload} open=${true} path=${params.path ? steps(params.path) : null} /></div>`}</details>
    <p><button id="copy-payload" class="plain" onClick=${put}>${copied === payload ? "copied" : "copy payload"}</button></p>`;
}
