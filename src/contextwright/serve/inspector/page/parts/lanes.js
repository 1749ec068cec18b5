// The map over time: what each request saw, its tokens, the price so far.

import { html, useEffect, useRef, useState } from "../vendor/preact-htm.js";
import { address } from "../address.js";
import { Cells, Head } from "./figures.js";
import { count, money, plural, share, time } from "../words.js";

const colours = () => {
  const style = getComputedStyle(document.documentElement);
  return (name) => style.getPropertyValue(`--${name}`).trim();
};

// Paints canvases, again when their size or the theme changes.
function usePaint(canvas, paint, on) {
  useEffect(() => {
    paint();
    const watch = new ResizeObserver(paint);
    watch.observe(canvas.current);
    addEventListener("theme", paint);
    return () => (watch.disconnect(), removeEventListener("theme", paint));
  }, on);
}

const Lane = ({ name, canvas, words, value, pick }) => html`<div class="lane">
  <span>${name}</span><canvas ref=${canvas} class=${name.toLowerCase()} role="img" aria-label=${words} onPointerDown=${pick} onPointerMove=${(event) => event.buttons && pick(event)}></canvas><span>${value}</span>
</div>`;

// The column under a pointer.
function columnAt(event, columns) {
  const box = event.currentTarget.getBoundingClientRect();
  return Math.min(Math.max(Math.floor(((event.clientX - box.left) / box.width) * columns), 0), columns - 1);
}

export function Lanes({ flight, other, cursor, pin, choose, compare }) {
  const seen = useRef(null), tokens = useRef(null), price = useRef(null);
  const requests = flight?.requests ?? [];
  usePaint(seen, () => {
    if (!flight) return;
    draw(seen.current, (...on) => drawSeen(...on, flight));
    draw(tokens.current, (...on) => drawTokens(...on, requests));
    draw(price.current, (...on) => drawPrice(...on, [running(requests), running(other?.requests ?? [])]));
    for (const canvas of [seen, tokens, price]) {
      drawCursor(canvas.current, requests.length, cursor);
      if (pin >= 0) drawCursor(canvas.current, requests.length, pin, [3, 3]);
    }
  }, [flight, other, cursor, pin]);
  const pick = (event) => requests.length && (event.shiftKey ? compare : choose)(columnAt(event, requests.length));
  const one = requests[cursor];
  const paid = running(requests).at(-1) ?? null;
  const compared = other && running(other.requests).at(-1);
  return html`<div class="lanes">
      <${Lane} name="Seen" canvas=${seen} words=${flight ? `What became of ${plural(flight.messages, "message")} in ${plural(requests.length, "request")}.` : "On its way."} value=${`message 1 to ${count(flight?.messages)}`} pick=${pick} />
      <${Lane} name="Tokens" canvas=${tokens} words=${`${plural(requests.filter((row) => row.again).length, "request")} paid for tokens again.`} value=${one && `of ${count(one.budget)}`} pick=${pick} />
      <${Lane} name="Price" canvas=${price} words=${`The input of these requests costs ${money(paid)}.`} value=${html`${money(paid)}${compared != null && html`<br />${money(compared)} compared`}`} pick=${pick} />
      <div class="lane">
        <span>${time(one?.time).slice(11)}</span>
        <input type="range" min="0" max=${Math.max(requests.length - 1, 0)} value=${cursor} disabled=${!requests.length} aria-label="Request"
          aria-valuetext=${one && `request ${cursor + 1}, after message ${one.at}`} onInput=${(event) => choose(Number(event.target.value))} />
        <span>${requests.length ? `${cursor + 1} of ${requests.length}` : ""}</span>
      </div>
    </div>
    <ul class="key" aria-label="Key">
      ${Object.entries(KEY).map(([words, name]) => html`<li><span class="swatch ${name}"></span>${words}</li>`)}
    </ul>
    ${flight?.earlier && html`<p class="muted">Earlier requests are not drawn.</p>`}
    <${Table} requests=${requests} />`;
}

const KEY = { kept: "kept", "kept, results cleared": "cleared", "replaced by the summary": "summarised", dropped: "dropped", "read from the cache": "cached", "new, paid once": "kept", "paid again": "again" };
const NUMBERS = ["After", "Tokens", "Cached", "Again", "Price"];

const Table = ({ requests }) => {
  const [open, setOpen] = useState(false);
  return html`<details onToggle=${(event) => setOpen(event.currentTarget.open)}><summary class="muted">As a table</summary>
    ${open && html`<div class="scroll"><table><${Head} names=${[...NUMBERS, "Break"]} numbers=${NUMBERS} />
      <tbody>${requests.map((one) => html`<tr><${Cells} of=${[one.at, count(one.tokens), count(one.read), count(one.again), money(one.price)]} /><td>${one.refused || one.cause || one.unread}</td></tr>`)}</tbody></table></div>`}
  </details>`;
};

export function running(requests) {
  let sum = 0;
  const found = [];
  for (const one of requests) {
    if (one.price == null) return [];
    found.push((sum += one.price));
  }
  return found;
}

// Recorded requests, oldest first: their tokens, the cached share, the price so far.
export function Plot({ rows }) {
  const tokens = useRef(null), cached = useRef(null), price = useRef(null);
  const requests = rows.map((row) => {
    const input = row.usage?.input ?? 0, read = row.usage?.cached ?? 0;
    return { tokens: input, read, again: row.prefix?.first_difference ? Math.max(Math.min(row.prefix.shared, input) - read, 0) : 0, budget: input, price: row.price ?? 0 };
  });
  usePaint(tokens, () => {
    draw(tokens.current, (...on) => drawTokens(...on, requests));
    draw(cached.current, (...on) => drawTokens(...on, requests.map(({ tokens: all, read }) => ({ tokens: read / all || 0, read: read / all || 0, again: 0, budget: 1 }))));
    draw(price.current, (...on) => drawPrice(...on, [running(requests)]));
  });
  const sum = (name) => requests.reduce((total, one) => total + one[name], 0);
  const all = count(sum("tokens")), part = share(sum("read"), sum("tokens")), paid = money(sum("price"));
  const open = (event) => (location.hash = address("r", String(rows[columnAt(event, rows.length)].number)));
  return html`<div class="lanes">
    <${Lane} name="Tokens" canvas=${tokens} words=${`${all} tokens in ${plural(rows.length, "request")}, ${count(sum("read"))} from the cache.`} value=${`${all} in all`} pick=${open} />
    <${Lane} name="Cached" canvas=${cached} words=${`${part} of the input came from the cache.`} value=${`${part} in all`} pick=${open} />
    <${Lane} name="Price" canvas=${price} words=${`Together ${paid}.`} value=${`${paid} in all`} pick=${open} />
  </div>`;
}

function draw(canvas, paint) {
  const scale = devicePixelRatio;
  const { width, height } = canvas.getBoundingClientRect();
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  paint(pen, width, height);
}

function pattern(pen, paper, ink, dotted) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 5;
  const brush = tile.getContext("2d");
  brush.fillStyle = paper;
  brush.fillRect(0, 0, 5, 5);
  brush.fillStyle = brush.strokeStyle = ink;
  if (dotted) brush.fillRect(2, 2, 1, 1);
  else for (const x of [-5, 0, 5]) {
    brush.beginPath();
    brush.moveTo(x, 5);
    brush.lineTo(x + 5, 0);
    brush.stroke();
  }
  return pen.createPattern(tile, "repeat");
}

function drawSeen(pen, width, height, { requests, messages }) {
  const colour = colours();
  const fills = {
    kept: colour("kept"),
    cleared: pattern(pen, colour("cleared"), colour("cleared-line")),
    summarised: pattern(pen, colour("told"), colour("told-line"), true),
    dropped: colour("dropped"),
  };
  const column = width / requests.length, row = height / messages;
  requests.forEach((request, place) => {
    for (const [first, last, action] of request.fates) {
      pen.fillStyle = fills[action] ?? fills.kept;
      // Half a pixel more on each side leaves no seam between columns.
      pen.fillRect(place * column - 0.5, (first - 1) * row, column + 1, Math.max((last - first + 1) * row, 0.5));
    }
  });
}

function drawTokens(pen, width, height, requests) {
  const colour = colours();
  const budget = Math.max(...requests.map((one) => Math.max(Math.min(one.budget, 4 * one.tokens), one.tokens)), 1);
  const floor = height - 6, column = width / requests.length, tall = (tokens) => (tokens / budget) * (floor - 4);
  const again = pattern(pen, colour("again"), colour("warm-paper"));
  pen.strokeStyle = colour("dropped-line");
  pen.setLineDash([2, 3]);
  const limit = floor - tall(requests.at(-1)?.budget ?? budget);
  if (limit >= 0) pen.strokeRect(0, limit, width, 0);
  requests.forEach((one, place) => {
    const wide = Math.max(column - (column > 4), 1), x = place * column;
    let y = floor;
    if (one.refused) pen.strokeRect(x, 0, wide, floor), pen.strokeText("×", x, floor / 2);
    for (const [tokens, fill] of [[one.read, colour("cached")], [one.again, again], [one.tokens - one.read - one.again, colour("kept")]]) {
      if (tokens <= 0) continue;
      pen.fillStyle = fill;
      pen.fillRect(x, y - tall(tokens), wide, tall(tokens));
      y -= tall(tokens);
    }
    if (one.again) {
      pen.fillStyle = colour("again");
      pen.fillRect(x, floor + 2, Math.max(wide, 3), 4);
    }
  });
}

function drawPrice(pen, width, height, lines) {
  const colour = colours();
  const most = Math.max(...lines.flat(), 1e-9);
  lines.forEach((line, number) => {
    pen.strokeStyle = colour(number ? "muted" : "ink");
    pen.lineWidth = 1.5;
    pen.setLineDash(number ? [3, 3] : []);
    pen.beginPath();
    line.forEach((paid, place) => pen.lineTo(((place + 0.5) / line.length) * width, height - 2 - (paid / most) * (height - 6)));
    pen.stroke();
  });
}

function drawCursor(canvas, columns, cursor, dash = []) {
  if (!columns) return;
  const pen = canvas.getContext("2d");
  const { width, height } = canvas.getBoundingClientRect();
  pen.strokeStyle = colours()("ink");
  pen.setLineDash(dash);
  pen.lineWidth = 1;
  pen.strokeRect(Math.round(((cursor + 0.5) / columns) * width) + 0.5, 0, 0, height);
}
