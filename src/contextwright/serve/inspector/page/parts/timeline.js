// Messages, of which only those in sight are in the page: 100,000 scroll as smoothly as ten.

import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../vendor/preact-htm.js";
import { chat, get } from "../api.js";
import { address } from "../address.js";
import { count, plural } from "../words.js";
import { Fold, Row } from "./row.js";
import { Rows } from "./rows.js";

const AROUND = 200, LEAST = 4;

export function Timeline({ id, info, total, at, fates, tokens, paid, broken, message, news }) {
  const box = useRef(null), rows = useRef(null), asked = useRef(new Set()), known = useRef(0), held = useRef(null);
  const [version, redraw] = useState(0);
  const [view, setView] = useState({ top: 0, height: 700 });
  const [shown, setShown] = useState({ all: false, runs: new Set() });
  rows.current ??= new Rows();
  const list = rows.current;

  const fate = useMemo(() => finder(fates), [fates]);
  const folds = useMemo(() => foldsOf(fates, shown, message), [fates, shown, message]);
  const notes = useMemo(() => notesOf({ info, total, at, broken }), [info, total, at, broken]);
  useMemo(() => {
    held.current = hold(box.current, list);
    list.lay(total, folds, notes);
  }, [total, folds, notes]);
  const { tops, starts, length } = list;
  const first = list.rowAt(Math.max(view.top - AROUND, 0));
  const last = length ? list.rowAt(view.top + view.height + AROUND) : -1;

  useEffect(() => list.doubt(), [news]);
  useEffect(() => {
    for (const page of list.lacking(first, last)) {
      if (asked.current.has(page)) continue;
      asked.current.add(page);
      get(`${chat(id)}/messages`, Rows.query(page))
        .then(({ messages }) => {
          if (!box.current) return;
          held.current = hold(box.current, list);
          list.put(page, messages);
          redraw((old) => old + 1);
        })
        .catch(() => {}) // asked for again when it is next in sight
        .finally(() => asked.current.delete(page));
    }
  }, [id, first, last, total, news, folds]);

  const show = (seq) => {
    const row = list.rowOf(seq), begin = list.tops[row], end = list.tops[row + 1];
    const { scrollTop, clientHeight } = box.current;
    if (begin < scrollTop || end > scrollTop + clientHeight) box.current.scrollTop = begin - clientHeight / 2;
  };
  const measure = () => setView({ top: box.current.scrollTop, height: box.current.clientHeight });
  useLayoutEffect(() => {
    const watch = new ResizeObserver(measure);
    watch.observe(box.current);
    const fold = () => setShown((old) => ({ all: !old.all, runs: new Set() }));
    addEventListener("fold", fold);
    return () => (watch.disconnect(), removeEventListener("fold", fold));
  }, []);
  // The heights are in the page now: what stood at the top of the view stands there again.
  useLayoutEffect(() => restore(box.current, list, held.current), [total, folds, notes, version]);
  useEffect(() => show(Math.min(message || broken?.seq || at || total, total) || 1), [at, message, broken?.seq, total > 0]);

  // New messages do not move those in sight: a button leads to them.
  const below = length > 0 && view.top + view.height < tops[length] - 40;
  if (!below || !known.current) known.current = total;
  const fresh = total - known.current;
  const visible = [];
  for (let row = first; row <= last; row++) visible.push(row);
  return html`<div class="timeline" ref=${box} role="feed" aria-label="Messages" tabindex="-1" onScroll=${measure}>
    <div style=${{ height: `${tops[length]}px` }}></div>
    ${visible.map((row) => {
      const seq = starts[row], place = { top: `${tops[row]}px`, height: `${list.height(row)}px` };
      if (list.isFold(row)) return html`<${Fold} key=${`fold ${seq}`} first=${seq} last=${starts[row + 1] - 1} fate=${fate(seq)} place=${place} unfold=${() => setShown((old) => ({ ...old, runs: new Set(old.runs).add(seq) }))} />`;
      return html`<${Row} key=${seq} seq=${seq} total=${total} place=${place} message=${list.message(seq)} people=${info?.people} fate=${seq <= at ? fate(seq) : null}
        tokens=${tokens?.get(seq)} paid=${seq <= at && paid ? paid(seq) : ""} current=${seq === message} partner=${(part) => list.partner(part, seq)} />`;
    })}
    ${notes.map((note, number) => html`<div class="between ${note.kind}" key=${number} style=${{ top: `${list.bottoms[number]}px` }}>
      ${note.id === undefined ? note.words : html`<a href=${address("c", note.id, note.params)}>${note.words}</a>`}</div>`)}
    ${fresh > 0 && html`<button class="fresh" onClick=${() => (box.current.scrollTop = tops[length])}>${plural(fresh, "new message")} ↓</button>`}
  </div>`;
}

// What stands at the top of the view, before the layout changes.
function hold(box, rows) {
  if (!box || !rows.length) return null;
  const row = rows.rowAt(box.scrollTop);
  const atEnd = box.scrollTop > 0 && box.scrollTop + box.clientHeight >= rows.tops[rows.length] - 4;
  return { seq: rows.starts[row], gap: box.scrollTop - rows.tops[row], atEnd };
}

function restore(box, rows, held) {
  if (!held) return;
  const top = held.atEnd ? rows.tops[rows.length] - box.clientHeight : rows.tops[rows.rowOf(held.seq)] + held.gap;
  if (Math.abs(top - box.scrollTop) > 1) box.scrollTop = top;
}

const UNSEEN = new Set(["dropped", "summarised"]);

// Runs of unseen messages, but not one that was opened or that holds the chosen message.
function foldsOf(fates, { all, runs }, message) {
  if (all) return [];
  const joined = [];
  for (const [first, last, action] of fates ?? []) {
    const before = joined.at(-1);
    if (before && before[1] === first - 1 && before[2] === action) before[1] = last;
    else joined.push([first, last, action]);
  }
  return joined.filter(([first, last, action]) => UNSEEN.has(action) && last - first + 1 >= LEAST && !runs.has(first) && !(first <= message && message <= last));
}

// What stands between messages: where the prefix broke, where the request ends, where forks begin.
function notesOf({ info, total, at, broken }) {
  const notes = (info?.forks ?? []).map((fork) => ({
    after: fork.at, kind: "fork", id: fork.id, words: `fork after message ${count(fork.at)} → ${fork.id} · ${plural(fork.messages, "message")} of its own`,
  }));
  if (info?.parent) notes.push({ after: info.fork_at, kind: "fork", id: info.parent, params: { message: info.fork_at }, words: `forked here from → ${info.parent}` });
  if (broken) notes.push({ after: broken.seq - 1, kind: "broke", words: `as before up to here · ${count(broken.tokens)} tokens` });
  if (total) notes.push({ after: at, kind: "sent", words: at < total ? `the request after message ${count(at)} ends here · ${plural(total - at, "message")} came later` : "the last message" });
  return notes.sort((a, b) => a.after - b.after);
}

// The fate of a message, from runs in order.
export function finder(fates) {
  const firsts = (fates ?? []).map(([first]) => first);
  return (seq) => {
    const found = fates?.[Rows.last(firsts, firsts.length, seq)];
    return found && found[0] <= seq && seq <= found[1] ? found[2] : null;
  };
}
