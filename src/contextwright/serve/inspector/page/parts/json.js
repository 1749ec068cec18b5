// JSON as a tree that folds; every value is a text node.

import { html, useEffect, useRef, useState } from "../vendor/preact-htm.js";

const LONG = 4000;

// `path` leads to a value: the tree opens down to it, shows it and marks it.
export function Tree({ name, value, open = false, path = null }) {
  const here = path?.length === 0;
  const [opened, setOpened] = useState(open);
  const [all, setAll] = useState(false);
  const place = useRef(null);
  useEffect(() => {
    if (path) setOpened(true);
    if (here) place.current?.scrollIntoView({ block: "center" });
  }, [path?.join(".")]);
  const label = name === undefined ? "" : `${name}: `;
  const mark = here ? "here" : "";
  if (value === null || typeof value !== "object") {
    const text = JSON.stringify(value) ?? "null";
    return html`<div ref=${place} class=${mark}>${label}${text.length > LONG && !all ? html`${text.slice(0, LONG)}… <button class="plain" onClick=${() => setAll(true)}>all ${text.length} characters</button>` : text}</div>`;
  }
  const entries = Object.entries(value);
  const size = Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`;
  return html`<details ref=${place} open=${opened} class="node ${mark}" onToggle=${(event) => event.target === event.currentTarget && setOpened(event.currentTarget.open)}>
    <summary>${label}${size}${!opened && html` <span class="muted">${hint(value)}</span>`}</summary>
    ${opened && entries.map(([key, one]) => html`<${Tree} key=${key} name=${key} value=${one} path=${path?.[0] === key ? path.slice(1) : null} />`)}
  </details>`;
}

// What a folded value is about.
const hint = (value) => [value.role, value.type, value.name].filter((one) => typeof one === "string").join(" · ").slice(0, 60);

// The steps of a path such as messages[3].content[0].
export const steps = (path) => (path ?? "").split(/[.[\]]+/).filter(Boolean);

export const copy = (text) => navigator.clipboard.writeText(text);
