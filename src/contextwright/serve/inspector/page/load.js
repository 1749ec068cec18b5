// What a view asked for: the answer, whether a newer one comes, and what went wrong.

import { useEffect, useState } from "./vendor/preact-htm.js";
import { get } from "./api.js";

const EMPTY = { data: null, busy: false, error: null };

export function useAnswer(path, params, news = 0) {
  const [state, setState] = useState({ ...EMPTY, busy: true });
  const key = path && JSON.stringify([path, params]);
  useEffect(() => {
    if (!key) return setState(EMPTY);
    const stop = new AbortController();
    setState((old) => ({ ...old, busy: true }));
    get(path, params, stop.signal).then(
      (data) => setState({ data, busy: false, error: null }),
      (error) => error.name === "AbortError" || setState({ data: null, busy: false, error }),
    );
    return () => stop.abort();
  }, [key, news]);
  return state;
}

// A value once it rests.
export function useRest(value, ms) {
  const [rested, rest] = useState(null);
  useEffect(() => {
    const timer = value != null && setTimeout(rest, ms, value);
    return () => clearTimeout(timer);
  }, [value]);
  return rested;
}

// The newest event of some kind: when it grows, ask again.
export const latest = (events, test = () => 1) => events.findLast((one) => one.name === "again" || test(one))?.serial ?? 0;

export function useTitle(words) {
  useEffect(() => {
    document.title = words ? `${words} · contextwright` : "contextwright";
  }, [words]);
}
