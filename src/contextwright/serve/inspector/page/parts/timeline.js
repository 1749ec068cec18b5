// Messages, of which only those in sight are in the page: 100,000 scroll as smoothly as ten.

import { html, useEffect, useLayoutEffect, useRef, useState } from "../vendor/preact-htm.js";
import { chat, get } from "../api.js";
import { count, nameOf, plural } from "../words.js";

const PAGE = 200, LINE = 20, PADDING = 8, AROUND = 400, PAGES_KEPT = 6;
const GUESS = LINE + PADDING, BORDER = 28;

// Heights follow from what a row shows, so that nothing has to be measured.
const linesOf = (part) => (part.kind === "text" && part.text.length > 90 ? 2 : 1);
const heightOf = (message) => PADDING + LINE * Math.max(1, message.parts.slice(0, 6).reduce((sum, part) => sum + linesOf(part), 0));

class Rows {
  constructor(total) {
    this.pages = new Map();
    this.heights = new Float64Array(0);
    this.grow(total);
  }

  grow(total) {
    const heights = new Float64Array(total).fill(GUESS);
    heights.set(this.heights.subarray(0, Math.min(total, this.heights.length)));
    this.heights = heights;
    this.total = total;
    this.sum();
  }

  sum() {
    this.tops = new Float64Array(this.total + 1);
    for (let row = 0; row < this.total; row++) this.tops[row + 1] = this.tops[row] + this.heights[row];
  }

  put(page, messages) {
    this.pages.delete(page);
    this.pages.set(page, new Map(messages.map((message) => [message.seq, message])));
    for (const message of messages) if (message.seq <= this.total) this.heights[message.seq - 1] = heightOf(message);
    if (this.pages.size > PAGES_KEPT) this.pages.delete(this.pages.keys().next().value);
    this.sum();
  }

  message = (seq) => this.pages.get(Math.floor((seq - 1) / PAGE))?.get(seq);

  // The row at a height, by halving.
  at(top) {
    let low = 0, high = this.total;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.tops[middle + 1] <= top) low = middle + 1;
      else high = middle;
    }
    return Math.min(low, Math.max(this.total - 1, 0));
  }
}

export function Timeline({ id, total, at, fates, tokens, shared, message, open, news }) {
  const box = useRef(null), rows = useRef(null), asked = useRef(new Set());
  const [, redraw] = useState(0);
  const [view, setView] = useState({ top: 0, height: 700 });
  if (!rows.current) rows.current = new Rows(total);
  if (rows.current.total !== total) rows.current.grow(total);
  const { tops } = rows.current;

  // A border stands after the last message of the request: what came later moves down.
  const top = (seq) => tops[seq - 1] + (seq > at ? BORDER : 0);
  const first = rows.current.at(Math.max(view.top - AROUND, 0));
  const last = total ? rows.current.at(view.top + view.height + AROUND) : -1;

  useEffect(() => {
    const wanted = [];
    for (let page = Math.floor(first / PAGE); page <= Math.floor(Math.max(last, 0) / PAGE); page++) wanted.push(page);
    for (const page of wanted) {
      const stale = rows.current.pages.get(page)?.size < Math.min(PAGE, total - page * PAGE);
      if ((rows.current.pages.has(page) && !stale) || asked.current.has(page)) continue;
      asked.current.add(page);
      get(`${chat(id)}/messages`, { from: page * PAGE + 1, count: PAGE, preview: 240 })
        .then(({ messages }) => {
          const anchor = rows.current.at(box.current.scrollTop), gap = box.current.scrollTop - rows.current.tops[anchor];
          rows.current.put(page, messages);
          box.current.scrollTop = rows.current.tops[anchor] + gap;
          redraw((old) => old + 1);
        })
        .finally(() => asked.current.delete(page));
    }
  }, [id, first, last, total, news]);

  const show = (seq) => {
    const begin = rows.current.tops[seq - 1], end = begin + rows.current.heights[seq - 1] + BORDER;
    const { scrollTop, clientHeight } = box.current;
    if (begin < scrollTop || end > scrollTop + clientHeight) box.current.scrollTop = begin - clientHeight / 2;
  };
  useLayoutEffect(() => {
    const measure = () => setView({ top: box.current.scrollTop, height: box.current.clientHeight });
    const watch = new ResizeObserver(measure);
    watch.observe(box.current);
    return () => watch.disconnect();
  }, []);
  useEffect(() => show(Math.min(message || at || total, total) || 1), [at, message, total > 0]);

  const fate = finder(fates);
  const shown = [];
  for (let row = first; row <= last; row++) shown.push(row + 1);
  return html`<div class="timeline" ref=${box} role="feed" aria-label="Messages" aria-busy=${asked.current.size > 0} tabindex="-1"
      onScroll=${(event) => setView({ top: event.currentTarget.scrollTop, height: event.currentTarget.clientHeight })}>
    <div style=${{ height: `${tops[total] + BORDER}px` }}></div>
    ${shown.map((seq) => html`<${Row} key=${seq} seq=${seq} total=${total} top=${top(seq)} height=${rows.current.heights[seq - 1]}
      message=${rows.current.message(seq)} fate=${seq <= at ? fate(seq) : null} tokens=${tokens?.get(seq)} cached=${shared && seq <= shared} current=${seq === message} open=${open} />`)}
    <div class="end" style=${{ top: `${tops[Math.min(at, total)]}px` }}>${at < total ? `the request after message ${count(at)} ends here; ${plural(total - at, "message")} came later` : "the last message"}</div>
  </div>`;
}

// The fate of a message, from runs in order.
export function finder(fates) {
  return (seq) => fates?.find(([first, last]) => first <= seq && seq <= last)?.[2] ?? null;
}

const OUT = { summarised: "told in the summary", dropped: "dropped", cleared: "cleared" };

function Row({ seq, total, top, height, message, fate, tokens, cached, current, open }) {
  const place = { top: `${top}px`, height: `${height}px` };
  if (!message) return html`<div class="message waiting" style=${place}><span class="seq">${seq}</span><span></span><span></span><span class="words"></span></div>`;
  const gone = message.visibility && message.visibility !== "public" ? message.visibility : "";
  const out = gone || fate === "dropped" || fate === "summarised";
  const press = (event) => event.key === "Enter" && open(seq);
  return html`<article class=${out ? "message out" : "message"} style=${place} tabindex="0" data-seq=${seq} aria-posinset=${seq} aria-setsize=${total}
      aria-current=${current ? "true" : undefined} onClick=${() => open(seq)} onKeyDown=${press}>
    <span class="seq">${seq}</span><span class="rail ${fate ?? ""}"></span><span class=${cached ? "cache cached" : "cache"}></span>
    <div class="words">${gone ? html`<div class="clip muted">${gone}</div>` : message.parts.slice(0, 6).map((part, place) => html`<${Part} part=${part} who=${place === 0 ? who(message) : ""} />`)}</div>
    <span class="muted number">${[OUT[fate], message.pinned && "pinned", tokens && count(tokens)].filter(Boolean).join(" · ")}</span>
  </article>`;
}

const who = (message) => nameOf(message.author) || { user: "User", assistant: "Assistant", system: "System", tool: "" }[message.role];

function Part({ part, who }) {
  const name = who && html`<span class="who">${who}</span>`;
  if (part.kind === "thinking") return html`<div class="clip thinking">${name}Thinking · ${part.text}</div>`;
  if (part.kind === "tool_call") return html`<div class="clip">${name}<span class="mono">${part.name}</span> ${part.text}</div>`;
  if (part.kind === "tool_result") return html`<div class="clip result muted">${part.is_error && html`<b class="warm">failed </b>`}${part.text}</div>`;
  if (part.kind === "media") return html`<div class="clip">${name}<span class="muted">[${part.name}${part.mime ? `, ${part.mime}` : ""}] ${part.text}</span></div>`;
  return html`<div class=${linesOf(part) === 2 ? "two" : "clip"}>${name}${part.text}</div>`;
}
