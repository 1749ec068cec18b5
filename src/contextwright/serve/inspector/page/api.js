// Calls to the API of /openapi.json. The token comes with the link of `cw inspect`.

const BASE = "/api/v1";

export const token = {
  get: () => sessionStorage.getItem("token") ?? "",
  set: (value) => sessionStorage.setItem("token", value),
};

export class Failure extends Error {
  constructor(status, { message, hint, minimum } = {}) {
    super([message ?? `the gateway answered ${status}`, hint].filter(Boolean).join("; "));
    this.status = status;
    this.minimum = minimum;
  }
}

// A name as one step of a path: browsers would resolve names of dots.
export const step = (name) => encodeURIComponent(/^~*\.{1,2}$/.test(name) ? `~${name}` : name);

export const chat = (id) => `/conversations/${step(id)}`;

async function answer(path, params, signal) {
  const known = Object.entries(params ?? {}).filter(([, value]) => value !== undefined && value !== "");
  const query = known.length ? `?${new URLSearchParams(known)}` : "";
  const headers = { authorization: `Bearer ${token.get()}` };
  const response = await fetch(BASE + path + query, { headers, signal });
  if (response.ok) return response;
  const body = await response.json().catch(() => ({}));
  throw new Failure(response.status, body.error);
}

export const get = async (path, params, signal) => (await answer(path, params, signal)).json();

export const text = async (path, params) => (await answer(path, params)).text();

// Server-sent events by fetch: an EventSource shows no token. "again" comes after a pause.
export function listen(onEvent) {
  const stop = new AbortController();
  (async () => {
    for (let again; !stop.signal.aborted; again = true) {
      try {
        const response = await answer("/events", {}, stop.signal);
        if (again) onEvent("again");
        await read(response.body.pipeThrough(new TextDecoderStream()).getReader(), onEvent);
      } catch (error) {
        if (error.status === 401) return;
      }
      await new Promise((resume) => setTimeout(resume, 3000));
    }
  })();
  return () => stop.abort();
}

async function read(reader, onEvent) {
  let waiting = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const events = (waiting + value).split("\n\n");
    waiting = events.pop();
    for (const event of events) {
      const name = /^event: (.*)$/m.exec(event)?.[1];
      const data = /^data: (.*)$/m.exec(event)?.[1];
      if (name && data) onEvent(name, JSON.parse(data));
    }
  }
}
