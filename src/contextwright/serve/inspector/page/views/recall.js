// A question: what would be recalled for it, with scores and what speaks for each.

import { html } from "../vendor/preact-htm.js";
import { address, visit } from "../address.js";
import { useAnswer, useTitle } from "../load.js";
import { Calm, Failed } from "../parts/notice.js";
import { count, plural } from "../words.js";

export function Recall({ params }) {
  const asked = params.q ? { q: params.q, conversation: params.conversation, budget: params.budget || 2000 } : null;
  const { data, busy, error } = useAnswer(asked && "/recall", asked);
  useTitle(params.q || "Recall");
  const ask = (event) => {
    event.preventDefault();
    const { q, conversation } = event.target.elements;
    visit({ q: q.value.trim(), conversation: conversation.value.trim() });
  };
  return html`
    <h1>Recall</h1>
    <p class="muted">Which of all past messages does a question need? No model is asked.</p>
    <form class="ask" onSubmit=${ask}>
      <input name="q" aria-label="Question" placeholder="What can't Alice eat?" key=${params.q} defaultValue=${params.q ?? ""} required />
      <input name="conversation" aria-label="Conversation" placeholder="In all conversations" key=${params.conversation} defaultValue=${params.conversation ?? ""} />
      <button class="primary">Recall</button>
    </form>
    ${error && html`<${Failed} error=${error} />`}
    ${data && !data.hits.length && html`<${Calm}>Nothing was found.<//>`}
    ${data && data.hits.length > 0 && html`<div class=${busy ? "scroll stale" : "scroll"}>
      <p class="muted">${plural(data.hits.length, "message")}, ${count(data.tokens)} of ${count(data.budget)} tokens, by words${data.by_meaning ? " and meaning" : ""}. ${data.trouble}</p>
      <table>
        <thead><tr><th>Score</th><th>Message</th><th>Words, and what speaks for them</th><th class="number">Tokens</th></tr></thead>
        <tbody>${[...data.hits].sort((a, b) => b.score - a.score).map((hit) => html`<${Hit} hit=${hit} />`)}</tbody>
      </table>
      <details class="text"><summary>The text that a model would get</summary><div class="whole">${data.text}</div></details>
    </div>`}
  `;
}

function Hit({ hit }) {
  const place = hit.seq ? html`<a class="go" href=${address("c", hit.conversation, { message: hit.seq })}>${hit.conversation} ${hit.seq}</a>` : "memory";
  return html`<tr>
    <td class="scored"><span class="score" style=${{ width: `${Math.max(2, 80 * hit.score)}px` }}></span> ${hit.score.toFixed(2)}</td>
    <td>${place}</td>
    <td>${hit.line}<div class="reasons">${hit.reasons.map(({ name, adds }) => html`<span class=${adds > 0 ? "for" : "against"}>${name} ${adds > 0 ? "+" : "−"}${Math.abs(adds).toFixed(1)}</span>`)}</div></td>
    <td class="number">${count(hit.tokens)}</td>
  </tr>`;
}
