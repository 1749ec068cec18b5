// Figures: a few large ones with a line below each, and cells of tables.

import { html } from "../vendor/preact-htm.js";

export const Figures = ({ rows, start = false }) => html`<dl class=${start ? "figures start" : "figures"}>
  ${rows.map(([term, figure, below, warm]) => html`<div><dt>${term}</dt><dd class=${warm ? "warm" : ""}>${figure}</dd><dd class="small">${below}</dd></div>`)}
</dl>`;

export const Cells = ({ of }) => of.map((one) => html`<td class="number">${one}</td>`);

// The head of a table; names in `numbers` stand above figures.
export const Head = ({ names, numbers }) => html`<thead><tr>${names.map((name) => html`<th class=${numbers.includes(name) ? "number" : ""}>${name}</th>`)}</tr></thead>`;
