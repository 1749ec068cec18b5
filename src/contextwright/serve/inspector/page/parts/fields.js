// Fields for choices and numbers.

import { html } from "../vendor/preact-htm.js";

// One value of several; one that is not in the list is listed too.
export function Select({ label, name, value = "", options, pick }) {
  const rows = options.map((one) => (Array.isArray(one) ? one : [one, one]));
  if (value && !rows.some(([key]) => key === value)) rows.unshift([value, value]);
  return html`<label>${label} <select class=${name} value=${value} onChange=${(event) => pick(event.target.value)}>
    ${rows.map(([key, words]) => html`<option value=${key} selected=${key === value}>${words}</option>`)}</select></label>`;
}

// A number that somebody types: what is drawn meanwhile does not touch it.
export const NumberField = ({ label, value = "", placeholder, set }) => html`<label>${label} <input key=${value} type="number" min="1" defaultValue=${value} placeholder=${placeholder} onChange=${(event) => set(event.target.value)} /></label>`;
