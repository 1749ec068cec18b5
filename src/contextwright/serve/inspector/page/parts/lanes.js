// The map over time: what each request saw, its tokens, the price so far. Three canvases, one cursor.

import { html, useEffect, useRef, useState } from "../vendor/preact-htm.js";
import { count, money, plural, time } from "../words.js";

const colours = () => {
  const style = getComputedStyle(document.documentElement);
  return (name) => style.getPropertyValue(`--${name}`).trim();
};

export function Lanes({ flight, other, cursor, choose }) {
  const seen = useRef(null), tokens = useRef(null), price = useRef(null);
  const [tick, setTick] = useState(0);
  useEffect(() => {
    const again = () => setTick((old) => old + 1);
    const watch = new ResizeObserver(again);
    watch.observe(seen.current);
    addEventListener("theme", again);
    return () => (watch.disconnect(), removeEventListener("theme", again));
  }, []);
  useEffect(() => {
    if (!flight) return;
    draw(seen.current, (pen, width, height) => drawSeen(pen, width, height, flight));
    draw(tokens.current, (pen, width, height) => drawTokens(pen, width, height, flight));
    draw(price.current, (pen, width, height) => drawPrice(pen, width, height, flight, other));
    for (const canvas of [seen, tokens, price]) drawCursor(canvas.current, flight.requests.length, cursor);
  }, [flight, other, cursor, tick]);
  const requests = flight?.requests ?? [];
  const pick = (event) => {
    if (!requests.length || (event.type === "pointermove" && !event.buttons)) return;
    const box = event.currentTarget.getBoundingClientRect();
    const place = Math.floor(((event.clientX - box.left) / box.width) * requests.length);
    choose(Math.min(requests.length - 1, Math.max(0, place)));
  };
  const one = requests[cursor];
  const spent = running(requests);
  const paid = spent[spent.length - 1] ?? null;
  const compared = other ? running(other.requests).at(-1) : null;
  const lane = (name, ref, words, value) => html`<div class="lane">
    <span>${name}</span><canvas ref=${ref} class=${name.toLowerCase()} role="img" aria-label=${words} onPointerDown=${pick} onPointerMove=${pick}></canvas><span>${value}</span>
  </div>`;
  return html`<div class="lanes">
      ${lane("Seen", seen, seenWords(flight), `message 1 to ${count(flight?.messages)}`)}
      ${lane("Tokens", tokens, tokenWords(requests), one ? `of ${count(one.budget)}` : "")}
      ${lane("Price", price, `The input of these requests costs ${money(paid)}.`, [money(paid), compared != null && `, ${money(compared)} compared`])}
      <div class="lane">
        <span>${one?.time ? time(one.time).slice(11) : ""}</span>
        <input type="range" min="0" max=${Math.max(requests.length - 1, 0)} value=${cursor} disabled=${!requests.length} aria-label="Request"
          aria-valuetext=${one ? `request ${cursor + 1}, after message ${one.at}` : "none"} onInput=${(event) => choose(Number(event.target.value))} />
        <span>${requests.length ? `${cursor + 1} of ${requests.length}` : ""}</span>
      </div>
    </div>
    <ul class="key" aria-label="Key">
      ${[["kept", "kept"], ["cleared", "kept, results cleared"], ["summarised", "told in the summary"], ["dropped", "dropped"], ["cached", "read from the cache"], ["kept", "new, paid once"], ["again", "paid again"]].map(([name, words]) => html`<li><span class="swatch ${name}"></span>${words}</li>`)}
    </ul>
    ${flight?.earlier && html`<p class="muted">Earlier requests are not drawn.</p>`}
    <${Table} requests=${requests} />`;
}

const Table = ({ requests }) => {
  const [open, setOpen] = useState(false);
  return html`<details onToggle=${(event) => setOpen(event.currentTarget.open)}><summary class="muted">As a table</summary>
    ${open && html`<div class="scroll"><table><thead><tr><th class="number">After</th><th class="number">Tokens</th><th class="number">Cached</th><th class="number">Again</th><th class="number">Price</th><th>Break</th></tr></thead>
      <tbody>${requests.map((one) => html`<tr><td class="number">${one.at}</td><td class="number">${count(one.tokens)}</td><td class="number">${count(one.read)}</td><td class="number">${count(one.again)}</td><td class="number">${money(one.price)}</td><td>${one.cause || one.unread}</td></tr>`)}</tbody></table></div>`}
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

// Recorded requests, oldest first: input tokens with what came from the cache, and the price so far.
export function Plot({ rows }) {
  const tokens = useRef(null), price = useRef(null);
  const requests = rows.map((row) => {
    const input = row.usage?.input ?? 0, read = row.usage?.cached ?? 0;
    return { tokens: input, read, again: row.prefix?.first_difference ? Math.max(row.prefix.shared - read, 0) : 0, budget: input, price: row.price };
  });
  useEffect(() => {
    const paint = () => {
      draw(tokens.current, (pen, width, height) => drawTokens(pen, width, height, { requests }));
      draw(price.current, (pen, width, height) => drawPrice(pen, width, height, { requests: requests.filter((one) => one.price != null) }));
    };
    paint();
    addEventListener("theme", paint);
    addEventListener("resize", paint);
    return () => (removeEventListener("theme", paint), removeEventListener("resize", paint));
  });
  const sum = (name) => requests.reduce((total, one) => total + (one[name] ?? 0), 0);
  return html`<div class="lanes">
    <div class="lane"><span>Input</span><canvas ref=${tokens} class="tokens" role="img" aria-label=${`${count(sum("tokens"))} tokens in ${plural(rows.length, "request")}, ${count(sum("read"))} from the cache.`}></canvas><span>${count(sum("tokens"))} tokens</span></div>
    <div class="lane"><span>Price</span><canvas ref=${price} class="price" role="img" aria-label=${`Together ${money(sum("price"))}.`}></canvas><span>${money(sum("price"))}</span></div>
  </div>`;
}

const seenWords = (flight) => (flight ? `What became of ${plural(flight.messages, "message")} in ${plural(flight.requests.length, "request")}.` : "On its way.");
const tokenWords = (requests) => `${plural(requests.filter((one) => one.again).length, "request")} paid for tokens again.`;

function draw(canvas, paint) {
  const scale = devicePixelRatio || 1;
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
  const column = width / Math.max(requests.length, 1), row = height / Math.max(messages, 1);
  requests.forEach((request, place) => {
    for (const [first, last, action] of request.fates) {
      pen.fillStyle = fills[action] ?? fills.kept;
      // Half a pixel more on each side leaves no seam between columns.
      pen.fillRect(place * column - 0.5, (first - 1) * row, column + 1, Math.max((last - first + 1) * row, 0.5));
    }
  });
}

function drawTokens(pen, width, height, { requests }) {
  const colour = colours();
  const budget = Math.max(...requests.map((one) => Math.min(one.budget, 4 * one.tokens)), ...requests.map((one) => one.tokens), 1);
  const floor = height - 6, column = width / Math.max(requests.length, 1), tall = (tokens) => (tokens / budget) * (floor - 4);
  const again = pattern(pen, colour("again"), colour("warm-paper"));
  pen.strokeStyle = colour("dropped-line");
  pen.setLineDash([2, 3]);
  const limit = floor - tall(requests.at(-1)?.budget ?? budget);
  if (limit >= 0) pen.strokeRect(0, limit, width, 0);
  requests.forEach((one, place) => {
    const wide = Math.max(column - (column > 4 ? 1 : 0), 1), x = place * column;
    let y = floor;
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

function drawPrice(pen, width, height, flight, other) {
  const colour = colours();
  const lines = [running(flight.requests), other ? running(other.requests) : []];
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

function drawCursor(canvas, columns, cursor) {
  if (!columns) return;
  const pen = canvas.getContext("2d");
  const { width, height } = canvas.getBoundingClientRect();
  pen.strokeStyle = colours()("ink");
  pen.setLineDash([]);
  pen.lineWidth = 1;
  pen.strokeRect(Math.round(((cursor + 0.5) / columns) * width) + 0.5, 0, 0, height);
}
