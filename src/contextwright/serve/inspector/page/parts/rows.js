// Where each row of the timeline stands. Heights follow from what a row shows; nothing is measured.
// Runs of messages that the model does not see are folded into one row.

const PAGE = 200, LINE = 20, PADDING = 8, PAGES_KEPT = 8;
export const GUESS = LINE + PADDING, NOTE = 32, PARTS = 6;

export const linesOf = (part) => (part.kind === "text" && part.text.length > 90 ? 2 : 1);

const heightOf = (message) =>
  PADDING + LINE * ((message.reply_to ? 1 : 0) + Math.max(1, message.parts.slice(0, PARTS).reduce((sum, part) => sum + linesOf(part), 0)));

export class Rows {
  constructor() {
    this.pages = new Map();
    this.stale = new Set();
    this.heights = new Float64Array(0);
    this.calls = new Map();
    this.lay(0, [], []);
  }

  // Lay out messages 1 to `total` without those in `folds`, with room for a note after some of them.
  lay(total, folds, notes) {
    if (this.heights.length < total) {
      const heights = new Float64Array(total).fill(GUESS);
      heights.set(this.heights);
      this.heights = heights;
    }
    Object.assign(this, { total, folds, notes });
    const starts = new Int32Array(total + 1);
    let seq = 1, length = 0;
    for (const [first, last] of folds) {
      while (seq < first) starts[length++] = seq++;
      starts[length++] = first;
      seq = last + 1;
    }
    while (seq <= total) starts[length++] = seq++;
    starts[length] = total + 1;
    Object.assign(this, { starts, length });
    this.sum();
  }

  sum() {
    const { starts, heights, notes, length } = this;
    const tops = new Float64Array(length + 1), bottoms = new Float64Array(notes.length);
    let note = 0, top = 0;
    for (let row = 0; row <= length; row++) {
      for (; note < notes.length && notes[note].after < starts[row]; note++, top += NOTE) bottoms[note] = top;
      tops[row] = top;
      top += starts[row + 1] - starts[row] > 1 ? GUESS : heights[starts[row] - 1];
    }
    Object.assign(this, { tops, bottoms });
  }

  isFold = (row) => this.starts[row + 1] - this.starts[row] > 1;

  height = (row) => (this.isFold(row) ? GUESS : this.heights[this.starts[row] - 1]);

  // The last row that begins at or before a value of an ascending list.
  static last(list, length, value) {
    let low = 0, high = length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (list[middle] <= value) low = middle;
      else high = middle - 1;
    }
    return Math.max(low, 0);
  }

  rowAt = (top) => Rows.last(this.tops, this.length, top);

  rowOf = (seq) => Rows.last(this.starts, this.length, seq);

  // --- messages, by pages of the API ---

  message = (seq) => this.pages.get(Math.floor((seq - 1) / PAGE))?.get(seq);

  // The pages that some rows need and that are not here.
  lacking(first, last) {
    const wanted = new Set();
    for (let row = first; row <= last; row++) if (!this.isFold(row)) wanted.add(Math.floor((this.starts[row] - 1) / PAGE));
    return [...wanted].filter((page) => this.stale.has(page) || !(this.pages.get(page)?.size >= Math.min(PAGE, this.total - page * PAGE)));
  }

  static query = (page) => ({ from: page * PAGE + 1, count: PAGE, preview: 240 });

  put(page, messages) {
    this.stale.delete(page);
    this.pages.delete(page);
    this.pages.set(page, new Map(messages.map((message) => [message.seq, message])));
    for (const message of messages) {
      if (message.seq <= this.heights.length) this.heights[message.seq - 1] = heightOf(message);
      for (const { kind, call_id: id } of message.parts) if (id) this.note(id, kind, message.seq);
    }
    if (this.pages.size > PAGES_KEPT) this.pages.delete(this.pages.keys().next().value);
    this.sum();
  }

  // Messages may have changed: ask again for those in sight, and show the old ones meanwhile.
  doubt() {
    this.stale = new Set(this.pages.keys());
  }

  // --- calls and their results ---

  note(id, kind, seq) {
    if (!this.calls.has(id)) this.calls.set(id, { tool_call: new Set(), tool_result: new Set() });
    this.calls.get(id)[kind]?.add(seq);
  }

  // The message with the result of a call, or with the call of a result: the nearest, as ids may come again.
  partner({ kind, call_id: id }, seq) {
    const known = id && this.calls.get(id);
    if (!known) return 0;
    if (kind === "tool_call") return Math.min(...[...known.tool_result].filter((one) => one >= seq), Infinity);
    return Math.max(...[...known.tool_call].filter((one) => one <= seq), 0);
  }
}
