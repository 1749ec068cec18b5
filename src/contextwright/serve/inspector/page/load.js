// What a view has asked for: the answer, whether a newer one is on its way, and what went wrong.

import { useEffect, useState } from "./vendor/preact-htm.js";
import { get } from "./api.js";

export function useAnswer(path, params, again = 0) {
  const [state, setState] = useState({ data: null, busy: true, error: null });
  const key = path && JSON.stringify([path, params]);
  useEffect(() => {
    if (!key) return setState({ data: null, busy: false, error: null });
    const stop = new AbortController();
    setState((old) => ({ ...old, busy: true }));
    get(path, params, stop.signal).then(
      (data) => setState({ data, busy: false, error: null, key }),
      (error) => error.name === "AbortError" || setState((old) => ({ ...old, busy: false, error })),
    );
    return () => stop.abort();
  }, [key, again]);
  return state;
}
