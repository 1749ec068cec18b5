// What a region says when there is nothing to show: it failed, it is empty, it is on its way.

import { html } from "../vendor/preact-htm.js";

export function Failed({ error, retry }) {
  const words = error.status === 401 ? "The token is not the gateway's. Open the page with cw inspect." : error.message;
  return html`<p class="note" role="alert">${words} ${retry && html`<button class="plain" onClick=${retry}>Retry</button>`}</p>`;
}

export const Calm = ({ children }) => html`<p class="note calm">${children}</p>`;
