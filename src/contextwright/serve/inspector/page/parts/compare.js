// Two requests side by side: where they first differ, why, and what that costs.

import { html, useState } from "../vendor/preact-htm.js";
import { comparedWith, go, visit } from "../address.js";
import { useAnswer } from "../load.js";
import { Seq } from "./places.js";
import { sentence } from "./request.js";
import { Cells, Head } from "./figures.js";
import { NumberField, Select } from "./fields.js";
import { count, money, share } from "../words.js";

const KINDS = { at: "another moment", recipe: "another recipe", model: "another model", budget: "another budget", format: "another format", request: "a recorded request" };

// What to compare with: its kind, then its value.
export function Choice({ params, at, lists, id }) {
  const [kind, value] = comparedWith(params);
  const [picked, setPicked] = useState(kind);
  const shown = kind || picked;
  const recorded = useAnswer(shown === "request" ? "/requests" : null, { conversation: id, limit: 100 });
  const options = shown === "request" ? (recorded.data?.requests ?? []).map((one) => String(one.number)) : lists[shown];
  const set = (one) => visit({ with: one ? `${shown}:${one}` : "" });
  const choose = (one) => {
    setPicked(one);
    visit({ with: one === "at" && at > 1 ? `at:${at - 1}` : "" });
  };
  return html`<${Select} label="Compare" value=${shown} options=${[["", "with nothing"], ...Object.entries(KINDS)]} pick=${choose} />
    ${options && html`<${Select} label="With" value=${value} options=${[["", "choose"], ...options]} pick=${set} />`}
    ${shown && !options && html`<${NumberField} label=${shown === "at" ? "After message" : "Tokens"} value=${value} set=${set} />`}`;
}

const named = (one) => (one.request ? `request ${one.request}, ${one.model}` : `${one.recipe}, ${one.model}, after message ${count(one.at)}`);

export function Compared({ comparison }) {
  const { this: mine, other, words } = comparison;
  const whole = Math.max(mine.tokens, other.tokens, 1);
  const fields = [...new Set([...Object.keys(mine.parts), ...Object.keys(other.parts)])];
  return html`<section class="sheet compared" aria-label="Comparison">
    <div class="line"><h2>Compared with ${named(other)}</h2><button onClick=${() => go({ with: "" })} aria-label="Stop comparing">✕</button></div>
    <div class="ribbons" role="img" aria-label=${`${count(comparison.shared)} of ${count(mine.tokens)} tokens are the same; the other has ${count(other.tokens)}.`}>
      ${[["this", mine], ["other", other]].map(([name, one]) => html`<span class="muted">${name}</span><div class="ribbon">
        <span class="cached" style=${{ width: `${(100 * comparison.shared) / whole}%` }}></span><span class=${name === "this" ? "kept" : "dropped"} style=${{ width: `${(100 * Math.max(one.tokens - comparison.shared, 0)) / whole}%` }}></span></div>`)}
    </div>
    <p>${count(comparison.shared)} tokens (${share(comparison.shared, mine.tokens)}) are the same. ${comparison.first_difference
      ? html`They part at <span class="mono">${comparison.first_difference}</span>${comparison.seq && html`, <${Seq} first=${comparison.seq} words="message " />`}, byte ${count(words?.byte ?? comparison.byte)}: <b>${comparison.cause}</b>. <span class="warm">Reading the rest anew costs ${money(comparison.cost)}.</span>`
      : sentence(comparison.cause)}</p>
    <table class="sides">
      <${Head} names=${["", "this", "other", "more"]} numbers=${["this", "other", "more"]} />
      <tbody>
        ${fields.map((name) => html`<${Side} name=${name} mine=${mine.parts[name] ?? 0} theirs=${other.parts[name] ?? 0} />`)}
        <${Side} name="all tokens" mine=${mine.tokens} theirs=${other.tokens} />
        ${mine.price != null && other.price != null && html`<${Side} name="input, nothing cached" mine=${mine.price} theirs=${other.price} words=${money} />`}
      </tbody>
    </table>
    <${Only} title="Only in this" ranges=${mine.only} /><${Only} title="Only in the other" ranges=${other.only} />
    ${words && html`<dl class="words">${["this", "other"].map((name) => html`<dt>${name}</dt><dd class="mono"><span class="muted">…${words.before.slice(-60)}</span><mark>${words[name]}</mark></dd>`)}</dl>`}
  </section>`;
}

const Side = ({ name, mine, theirs, words = count }) => html`<tr><td>${name}</td><${Cells} of=${[words(mine), words(theirs), mine === theirs ? "0" : `${mine > theirs ? "+" : "−"}${words(Math.abs(mine - theirs))}`]} /></tr>`;

const Only = ({ title, ranges }) =>
  ranges.length > 0 && html`<p class="muted">${title}: messages ${ranges.slice(0, 12).map(([first, last], place) => html`${place > 0 && ", "}<${Seq} first=${first} last=${last} />`)}${ranges.length > 12 && " …"}</p>`;
