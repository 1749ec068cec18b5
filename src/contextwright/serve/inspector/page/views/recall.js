// A question: what would be recalled for it, with scores and what speaks for each.

import { html, useState } from "../vendor/preact-htm.js";
import { address, go } from "../address.js";
import { useAnswer } from "../load.js";
import { Calm, Failed } from "../parts/notice.js";
import { count, plural } from "../words.js";

export function Recall({ params }) {
  const asked = params.q ? { q: params.q, conversation: params.conversation, budget: params.budget || 2000 } : null;
  const { data, busy, error } = useAnswer(asked && "/recall", asked);
  const [open, setOpen] = useState(null);
  const ask = (event) => {
    event.preventDefault();
    const { q, conversation } = event.target.elements;
    go({ q: q.value.trim(), conversation: conversation.value.trim() }, { quiet: false });
  };
  return html`
    <h1>Recall</h1>
    <p class="muted">Which of all past messages does a question need? No model is asked.</p>
    <form class="ask" onSubmit=${ask}>
      <input name="q" aria-label="Question" placeholder="What can't Alice eat?" value=${params.q ?? ""} required />
      <input name="conversation" aria-label="Conversation" placeholder="In all conversations" value=${params.conversation ?? ""} />
      <button class="primary">Recall</button>
    </form>
    ${error && html`<${Failed} error=${error} />`}
    ${data && !data.hits.length && html`<${Calm}>Nothing was found.<//>`}
    ${data && data.hits.length > 0 && html`<div class=${busy ? "scroll stale" : "scroll"}>
      <p class="muted">${plural(data.hits.length, "message")}, ${count(data.tokens)} of ${count(data.budget)} tokens, by words${data.by_meaning ? " and meaning" : ""}. ${data.trouble}</p>
      <table>
        <thead><tr><th>Score</th><th>Message</th><th>Words</th><th class="number">Tokens</th></tr></thead>
        <tbody>${[...data.hits].sort((a, b) => b.score - a.score).map((hit) => html`<${Hit} hit=${hit} open=${open} setOpen=${setOpen} />`)}</tbody>
      </table>
    </div>`}
  `;
}

function Hit({ hit, open, setOpen }) {
  const key = `${hit.conversation} ${hit.seq} ${hit.line}`;
  const place = hit.seq ? html`<a href=${address("c", hit.conversation, { message: hit.seq })}>${hit.conversation} ${hit.seq}</a>` : "memory";
  return html`<tr>
      <td><span class="score" style=${{ width: `${Math.max(2, 80 * hit.score)}px` }}></span> ${hit.score.toFixed(2)}</td>
      <td>${place}</td>
      <td><button class="plain" aria-expanded=${open === key} onClick=${() => setOpen(open === key ? null : key)}>${hit.line}</button></td>
      <td class="number">${count(hit.tokens)}</td>
    </tr>
    ${open === key && html`<tr><td colspan="4" class="muted">${hit.reasons.map(({ name, adds }) => `${name} ${adds > 0 ? "+" : ""}${adds.toFixed(1)}`).join(" · ")}</td></tr>`}`;
}
