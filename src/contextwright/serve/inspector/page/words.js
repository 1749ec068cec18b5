// Numbers, money and times in words. An unknown one is a dash.

export const count = (number) => (number == null ? "–" : Math.round(number).toLocaleString("en"));

// 1,234,567 as 1.2 M: where a column is narrow.
export const short = (number) => (number < 10000 ? count(number) : number < 999500 ? `${count(number / 1000)} k` : `${(number / 1e6).toFixed(1)} M`);

export const money = (dollars) =>
  dollars == null ? "–" : dollars === 0 ? "$0" : `$${dollars.toFixed(dollars < 0.01 ? 5 : dollars < 1 ? 4 : 2)}`;

export const share = (part, whole) => (whole ? `${Math.round((100 * part) / whole)} %` : "–");

export const plural = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;

export function time(text) {
  const date = new Date(text || NaN);
  return isNaN(date) ? "" : date.toLocaleString("sv", { dateStyle: "short", timeStyle: "medium" });
}

const UNITS = [[1440, "day"], [60, "hour"], [1, "minute"]];

export function ago(text) {
  const minutes = (Date.now() - new Date(text ?? "")) / 60000;
  if (!(minutes < 43200)) return time(text).slice(0, 10);
  const [unit, noun] = UNITS.find(([unit]) => minutes >= unit) ?? [];
  return unit ? `${plural(Math.floor(minutes / unit), noun)} ago` : "just now";
}

export const seconds = (number) => (number == null ? "–" : number < 1 ? `${Math.round(number * 1000)} ms` : `${number.toFixed(1)} s`);

export const nameOf = (author) => author?.name ?? author?.username ?? author?.id ?? "";

export const OMITTED = { summarised: "replaced by the summary", dropped: "dropped" };

export const dotted = (some) => some.filter(Boolean).join(" · ");
