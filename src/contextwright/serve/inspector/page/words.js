// Numbers, money and times in words. An unknown one is a dash.

export const count = (number) => (number == null ? "–" : Math.round(number).toLocaleString("en"));

export const money = (dollars) => {
  if (dollars == null) return "–";
  if (dollars === 0) return "$0";
  return `$${dollars < 1 ? dollars.toFixed(dollars < 0.01 ? 5 : 4) : dollars.toFixed(2)}`;
};

export const share = (part, whole) => (whole ? `${Math.round((100 * part) / whole)} %` : "–");

export const plural = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;

export function time(text) {
  if (!text) return "";
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) return "";
  return date.toLocaleString("sv", { dateStyle: "short", timeStyle: "medium" });
}

export function ago(text) {
  const date = new Date(text ?? "");
  if (Number.isNaN(date.getTime())) return "";
  const minutes = (Date.now() - date) / 60000;
  if (minutes < 1) return "just now";
  if (minutes < 60) return plural(Math.floor(minutes), "minute") + " ago";
  if (minutes < 1440) return plural(Math.floor(minutes / 60), "hour") + " ago";
  if (minutes < 43200) return plural(Math.floor(minutes / 1440), "day") + " ago";
  return time(text).slice(0, 10);
}

export const seconds = (number) => (number == null ? "–" : number < 1 ? `${Math.round(number * 1000)} ms` : `${number.toFixed(1)} s`);

export const nameOf = (author) => author?.name ?? author?.username ?? author?.id ?? "";
