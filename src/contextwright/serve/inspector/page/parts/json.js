// JSON as a tree that folds; every value is a text node.

import { html } from "../vendor/preact-htm.js";

const LONG = 4000;

export function Tree({ name, value, open = false }) {
  const label = name === undefined ? "" : `${name}: `;
  if (value === null || typeof value !== "object") {
    const text = JSON.stringify(value) ?? "null";
    return html`<div>${label}${text.length > LONG ? `${text.slice(0, LONG)}… (${text.length} characters)` : text}</div>`;
  }
  const entries = Object.entries(value);
  const size = Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`;
  return html`<details open=${open} class="node">
    <summary>${label}${size}</summary>
    <${Lazy} entries=${entries} />
  </details>`;
}

const Lazy = ({ entries }) => entries.map(([key, value]) => html`<${Tree} key=${key} name=${key} value=${value} />`);

export function copy(text) {
  return navigator.clipboard.writeText(text);
}
