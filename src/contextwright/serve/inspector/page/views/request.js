// A recorded request: what was sent, what the cache held of it, in any format, as a program.

import { html, useState } from "../vendor/preact-htm.js";
import { text } from "../api.js";
import { address, go } from "../address.js";
import { latest, useAnswer, useTitle } from "../load.js";
import { Compared } from "../parts/compare.js";
import { Figures } from "../parts/figures.js";
import { Tree, copy, steps } from "../parts/json.js";
import { Calm, Failed } from "../parts/notice.js";
import { Places } from "../parts/places.js";
import { Bar, Ribbon, sentence } from "../parts/request.js";
import { NumberField, Select } from "../parts/fields.js";
import { count, dotted, money, seconds, share, time } from "../words.js";

export function RequestView({ id, params, events }) {
  const path = `/requests/${encodeURIComponent(id)}`;
  const { data, error } = useAnswer(path, {}, latest(events, (event) => event.name === "request" && String(event.number) === id));
  const { data: formats } = useAnswer("/formats", {});
  const replay = useAnswer(params.format && data ? `${path}/replay` : null, { format: params.format });
  const comparison = useAnswer(params.with && data ? `${path}/compare` : null, { with: params.with });
  useTitle(`Request ${id}`);
  if (error) return html`<${Failed} error=${error} />`;
  if (!data) return html`<h1>Request ${id}</h1>`;
  const { request, payload, problems } = data;
  const shown = params.format ? replay.data?.payload : payload;
  return html`
    <div class="line"><h1>Request ${request.number}</h1>
      <span>${request.number > 1 && html`<a href=${address("r", String(request.number - 1))}>‹ previous</a> · `}<a href=${address("r", String(request.number + 1))}>next ›</a></span></div>
    <p class="muted">${dotted([time(request.started), request.client, request.model, [...new Set([request.format, request.upstream_format])].join(" → "), request.mode, request.state])}
      ${request.conversation && html` · <a href=${address("c", request.conversation, { at: request.first ? request.first - 1 || undefined : undefined, with: `request:${request.number}` })}>${request.conversation}</a>`}</p>
    <${Figures} rows=${figures(data)} start=${true} />
    <div class="panes recorded">
      <div>
        ${comparison.error && html`<${Failed} error=${comparison.error} />`}
        ${params.with && comparison.data && html`<${Compared} comparison=${comparison.data} />`}
        ${payload ? html`<section class="sheet"><div class="line"><h2>Payload</h2><span class="controls">
            <${Select} label="as" value=${params.format} options=${[["", "it was sent"], ...(formats?.formats ?? []).filter((one) => one.replies).map((one) => one.name)]} pick=${(format) => go({ format })} /></span></div>
          ${replay.error && html`<${Failed} error=${replay.error} />`}
          <${Places} title="What had to change" rows=${replay.data?.changes ?? []} text=${(one) => one.reason} />
          <${Exports} path=${path} payload=${shown} />
          ${shown && html`<div class="tree mono tall"><${Tree} key=${params.format} value=${shown} open=${true} path=${params.path ? steps(params.path) : null} /></div>`}
        </section>` : html`<${Calm}>Only figures of this request were kept.<//>`}
      </div>
      <section class="sheet" aria-label="The request">
        <${Reading} data=${data} />
        ${request.fork && html`<p class="note calm">A fork of <a href=${address("c", request.fork.parent, { message: request.fork.at || undefined })}>${request.fork.parent}</a> at message ${request.fork.at}: ${request.fork.reason}.</p>`}
        <p class="controls"><${NumberField} label="Compare with request" value=${params.with} placeholder=${request.previous} set=${(other) => go({ with: other })} />
          ${request.previous && html`<button class="plain" onClick=${() => go({ with: request.previous })}>the one before</button>`}</p>
        <${Places} title="Changes" rows=${request.changes ?? []} text=${(one) => one.reason} />
        <${Places} title="Problems" rows=${problems} text=${(one) => one.message} inPayload=${true} />
      </section>
    </div>`;
}

const figures = ({ request: { usage, prefix, price, finish, first_byte, seconds: length }, count: counted }) => [
  ["Input", count(usage?.input ?? counted?.tokens), usage ? "as the provider counted" : "estimated"],
  ["From the cache", share(usage?.cached ?? 0, usage?.input), prefix ? `${share(prefix.shared, prefix.tokens)} could have been` : "no request before it"],
  ["Output", count(usage?.output), finish || "tokens"],
  ["Price", money(price), `${seconds(first_byte)} to the first byte, ${seconds(length)} in all`],
];

// The request in reading order: its tokens by field, and what the cache held of it.
function Reading({ data: { request, units, count: counted } }) {
  const fields = new Map();
  for (const { place, tokens } of units) {
    const [field] = place.split("[");
    fields.set(field, (fields.get(field) ?? 0) + tokens);
  }
  const lines = [...fields].map(([name, tokens]) => [name === "tools" ? "tools" : /system|instructions/.test(name) ? "system" : "kept", name, tokens]).filter(([, , tokens]) => tokens > 0);
  const prefix = request.prefix, read = request.usage?.cached ?? 0, input = request.usage?.input ?? counted?.tokens ?? 0;
  const broke = prefix?.first_difference;
  const again = broke ? Math.max(Math.min(prefix.shared, input) - read, 0) : 0;
  return html`${lines.length > 0 && html`<h2>What was sent</h2><${Bar} lines=${lines} words=${`${count(counted?.tokens)} tokens`} />`}
    ${input > 0 && html`<h2>${broke ? "The prefix broke" : "The cached prefix"}</h2><${Ribbon} tokens=${input} read=${read} again=${again} shared=${broke ? Math.min(prefix.shared, input) : null} />`}
    ${broke && html`<p class="note"><b class="warm">It costs ${money(prefix.cost)}.</b> ${sentence(prefix.cause)} At <button class="plain mono" onClick=${() => go({ path: broke })}>${broke}</button>, byte ${count(prefix.byte)}.</p>`}`;
}

// What is copied is what is sent, never what is drawn.
function Exports({ path, payload }) {
  const [copied, setCopied] = useState("");
  const [shown, setShown] = useState(null);
  const put = async (as) => {
    const program = as === "JSON" ? JSON.stringify(payload, null, 2) : await text(`${path}/export`, { as });
    setShown(as === "JSON" ? null : program);
    await copy(program);
    setCopied(as);
  };
  return html`<p class="links">${["JSON", "curl", "python", "test"].map((as) => html`<button class="plain" onClick=${() => put(as)}>${copied === as ? "copied" : `copy ${as}`}</button>`)}</p>
    ${shown && html`<pre class="whole">${shown}</pre>`}`;
}
