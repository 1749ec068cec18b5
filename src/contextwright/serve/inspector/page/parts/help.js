// The keys, in a dialog.

import { html, useEffect, useRef } from "../vendor/preact-htm.js";

const KEYS = [
  ["← →", "previous, next request"],
  ["b B", "next, previous cache break"],
  ["Home End", "first, last request"],
  ["j k", "next, previous message"],
  ["Enter", "open the message"],
  ["Esc", "close it"],
  ["c", "compare with the request before"],
  ["y", "copy the payload"],
  ["/", "search"],
  ["t", "light or dark"],
  ["?", "this help"],
];

export function Help({ open, close }) {
  const dialog = useRef(null);
  useEffect(() => {
    if (open) dialog.current.showModal();
    else dialog.current.close();
  }, [open]);
  return html`<dialog ref=${dialog} onClose=${close} aria-labelledby="help">
    <div class="line"><h2 id="help">Keys</h2><button onClick=${close} aria-label="Close">✕</button></div>
    <dl>${KEYS.map(([key, does]) => html`<dt><kbd>${key}</kbd></dt><dd>${does}</dd>`)}</dl>
  </dialog>`;
}
