// What a region says when there is nothing to show: it failed, it is empty, it is on its way.

import { html } from "../vendor/preact-htm.js";
import { go } from "../address.js";
import { count } from "../words.js";

export function Failed({ error }) {
  const words = error.status === 401 ? "The token is not the gateway's. Open the page with cw inspect." : error.message;
  return html`<p class="note" role="alert">${words} ${error.minimum
    ? html`<button class="plain" onClick=${() => go({ budget: error.minimum })}>Use ${count(error.minimum)}, the smallest that works</button>`
    : error.status !== 401 && html`<button class="plain" onClick=${() => location.reload()}>Retry</button>`}</p>`;
}

export const Calm = ({ children }) => html`<p class="note calm">${children}</p>`;
