// One request: the budget that adds up, the cached prefix, why it broke, what is not in it.

import { html, useState } from "../vendor/preact-htm.js";
import { Tree, copy } from "./json.js";
import { count, money, plural, share, time } from "../words.js";

const OUT = { summarised: "told in the summary", dropped: "dropped" };

export function Request({ number, one, context, comparison, busy, move, open }) {
  const ledger = context.ledger;
  return html`<section class=${busy ? "sheet stale" : "sheet"} aria-label="The request">
    <div class="line">
      <div><h2>Request ${number ?? ""}</h2><p class="muted">${[`after message ${count(context.at)}`, one?.time && time(one.time)].filter(Boolean).join(" · ")}</p></div>
      <span><button onClick=${() => move(-1)} aria-label="Previous request">‹</button><button onClick=${() => move(1)} aria-label="Next request">›</button></span>
    </div>
    <div class="bigs">
      <div><b>${ledger.exact ? "" : "≈ "}${count(ledger.tokens)}</b><small>tokens of ${count(ledger.budget)}${ledger.at_least ? ", at least" : ""}</small></div>
      <div><b>${money(one?.price ?? context.price)}</b><small>${one ? "input, with the cache" : "input, nothing cached"}</small></div>
    </div>
    <${Budget} context=${context} />
    <hr />
    <${Prefix} one=${one} context=${context} />
    ${comparison && html`<${Compared} comparison=${comparison} />`}
    <hr />
    <${Absent} context=${context} open=${open} />
    <${Places} title="Changes" rows=${context.changes} text=${(row) => `${row.code}: ${row.reason}`} open=${open} />
    <${Places} title="Problems" rows=${context.problems} text=${(row) => `${row.code}: ${row.message}`} open=${open} />
    <${Sections} sections=${context.sections} />
    <${Payload} payload=${context.payload} format=${context.format} />
  </section>`;
}

function Budget({ context }) {
  const { ledger, runs } = context;
  const of = (action) => runs.filter((run) => run.action === action);
  const sum = (found) => found.reduce((total, run) => total + (run.tokens ?? 0), 0);
  const size = (found) => found.reduce((total, run) => total + run.last - run.first + 1, 0);
  const sections = Object.values(ledger.sections).reduce((total, tokens) => total + tokens, 0);
  const lines = [
    ["kept", "System text and wrappers", sections + ledger.wrappers],
    ["kept", "Tools", ledger.tools],
    ["kept", `${plural(size(of("kept")), "message")} kept`, sum(of("kept"))],
    ["cleared", `${plural(size(of("cleared")), "message")} kept, cleared`, sum(of("cleared"))],
    ["summarised", "Summary and note", ledger.notes],
    ["doubt", `In doubt, ±${Math.round(100 * ledger.bound)} %`, ledger.most - ledger.tokens],
    ["free", "Free", Math.max(ledger.budget - ledger.most, 0)],
  ].filter(([, , tokens]) => tokens > 0);
  const whole = Math.max(ledger.budget, 1);
  return html`<div class="budget" role="img" aria-label=${`${count(ledger.most)} of ${count(ledger.budget)} tokens`}>
      ${lines.map(([name, , tokens]) => html`<span class=${name} style=${{ width: `${(100 * tokens) / whole}%` }}></span>`)}
    </div>
    <ul class="sums">${lines.map(([name, words, tokens]) => html`<li><span class="swatch ${name}"></span><span>${words}</span><span>${count(tokens)}</span></li>`)}</ul>`;
}

function Prefix({ one, context }) {
  if (!one) return html`<p class="muted">No request was made here: this is the one that would be.</p>`;
  const fresh = one.tokens - one.read - one.again;
  const part = (tokens) => ({ width: `${(100 * tokens) / Math.max(one.tokens, 1)}%` });
  const broke = one.cause || one.unread;
  return html`<div class="line"><h2>${one.cause ? "The cache broke" : one.again ? "Not cached" : "The cached prefix"}</h2><span class="muted">${plural(context.marks.length, "cache mark")}</span></div>
    <div class="ribbon" role="img" aria-label=${`${count(one.read)} tokens read from the cache, ${count(one.again)} paid again, ${count(fresh)} new`}>
      <span class="cached" style=${part(one.read)}></span><span class="again" style=${part(one.again)}></span><span class="kept" style=${part(fresh)}></span>
    </div>
    <p class="muted">${count(one.read)} read · ${one.again > 0 && html`<span class="warm">${count(one.again)} again</span> · `}${count(fresh)} new</p>
    ${one.again > 0 && broke && html`<p class="note"><b class="warm">${one.waste == null ? "Paid again." : `${money(one.waste)} more than needed.`}</b> ${sentence(one.cause)} ${share(one.shared, one.tokens)} of the request begins as before.${one.unread && ` Yet it was not read: ${one.unread}.`}</p>`}`;
}

const sentence = (text) => (text ? `${text[0].toUpperCase()}${text.slice(1)}.` : "");

const named = (one) => (one.request ? `request ${one.request}, ${one.model}` : `${one.recipe}, ${one.model}, after message ${count(one.at)}`);

export const Compared = ({ comparison }) => html`<div class="note calm" aria-label="Comparison">
  <b>Compared with ${named(comparison.other)}:</b>
  ${" "}${count(comparison.this.tokens)} tokens here, ${count(comparison.other.tokens)} there. ${count(comparison.shared)} (${share(comparison.shared, comparison.this.tokens)}) are the same.
  ${comparison.first_difference ? ` They part at ${comparison.first_difference}, byte ${count(comparison.byte)}: ${comparison.cause}. Reading the rest anew costs ${money(comparison.cost)}.` : ` ${sentence(comparison.cause)}`}
</div>`;

function Absent({ context, open }) {
  const found = context.runs.filter((run) => run.action === "dropped" || run.action === "summarised");
  if (!found.length) return html`<p class="muted">Every message is in the request.</p>`;
  return html`<h2>Not in the request</h2><ul class="sums">${found.slice(0, 50).map((run) => html`<li>
    <span class="swatch ${run.action}"></span>
    <span><button class="plain" onClick=${() => open(run.first)}>${run.first === run.last ? run.first : `${count(run.first)}–${count(run.last)}`}</button> ${OUT[run.action]} <span class="why">· ${run.reason}</span></span>
    <span>${count(run.last - run.first + 1)}</span></li>`)}</ul>${found.length > 50 && html`<p class="muted">and ${found.length - 50} more</p>`}`;
}

const Places = ({ title, rows, text, open }) =>
  rows.length > 0 && html`<details><summary>${title} · ${rows.length}</summary><ul class="sums">${rows.map((row) => html`<li><span></span><span>${text(row)} ${row.seq ? html`<button class="plain" onClick=${() => open(row.seq)}>message ${row.seq}</button>` : html`<span class="mono muted">${row.path}</span>`}</span></li>`)}</ul></details>`;

const Sections = ({ sections }) =>
  sections.length > 0 && html`<details><summary>System text · ${sections.length}</summary>${sections.map((one) => html`<div class="line" style=${{ marginTop: "8px" }}><b>${one.name}</b><span class="muted">${one.text ? count(one.tokens) : one.absence}</span></div>${one.text && html`<div class="whole">${one.text}</div>`}`)}</details>`;

function Payload({ payload, format }) {
  const [copied, setCopied] = useState(false);
  const [open, setOpen] = useState(false);
  const put = async () => {
    await copy(JSON.stringify(payload, null, 2));
    setCopied(true);
  };
  return html`<details onToggle=${(event) => setOpen(event.currentTarget.open)}><summary>Payload · ${format}</summary>
    ${open && html`<div class="tree mono"><${Tree} value=${payload} open=${true} /></div>`}</details>
    <p><button id="copy-payload" class="plain" onClick=${put}>${copied ? "copied" : "copy payload"}</button></p>`;
}
