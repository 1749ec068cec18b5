// Every state is in the address: #/c/ID?at=327&recipe=… Back works, and a link opens the same view.

import { useEffect, useState } from "./vendor/preact-htm.js";
import { token } from "./api.js";

export function parse(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?");
  const params = Object.fromEntries(new URLSearchParams(query));
  const [view = "", ...rest] = path.split("/");
  return { view, id: decode(rest.join("/")), params };
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function address(view, id, params = {}) {
  const known = Object.entries(params).filter(([, value]) => value !== undefined && value !== "");
  const query = known.length ? `?${new URLSearchParams(known)}` : "";
  return `#/${[view, id === undefined ? undefined : encodeURIComponent(id)].filter(Boolean).join("/")}${query}`;
}

// What is compared with, as kind and value: at:320, recipe:aya, request:7 …
export const comparedWith = (params) => (/^(\w+):(.*)$/.exec(params.with ?? "") ?? ["", "", ""]).slice(1);

// Change some parameters of the address; `visit` also adds a step for the Back button.
export const visit = (changes) => go(changes, "pushState");

export function go(changes, way = "replaceState") {
  const { view, id, params } = parse(location.hash);
  history[way](null, "", address(view, id || undefined, { ...params, ...changes }));
  dispatchEvent(new HashChangeEvent("hashchange"));
}

export const openMessage = (seq) => go({ message: seq });

// Take the token out of the address, so that no link and no history shows it.
export function takeToken() {
  const found = /[#?&]token=([\w-]+)/.exec(location.hash);
  if (!found) return;
  token.set(found[1]);
  const left = location.hash.replace(/([#?&])token=[\w-]+&?/, "$1").replace(/[?&]$/, "");
  history.replaceState(null, "", left.length > 1 ? left : "#/");
}

export function useAddress() {
  const [place, setPlace] = useState(() => parse(location.hash));
  useEffect(() => {
    const change = () => setPlace(parse(location.hash));
    addEventListener("hashchange", change);
    return () => removeEventListener("hashchange", change);
  }, []);
  return place;
}
