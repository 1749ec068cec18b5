// Recipe, model, budget, format, and what to compare with.

import { html } from "../vendor/preact-htm.js";
import { visit } from "../address.js";
import { useAnswer } from "../load.js";
import { count } from "../words.js";
import { Choice } from "./compare.js";
import { NumberField, Select } from "./fields.js";

export function Controls({ params, context, at, id }) {
  const { data: recipes } = useAnswer("/recipes", {});
  const { data: models } = useAnswer("/models", {});
  const { data: formats } = useAnswer("/formats", {});
  const lists = {
    recipe: (recipes?.recipes ?? []).map((one) => one.name),
    model: (models?.models ?? []).map((one) => one.id),
    format: (formats?.formats ?? []).map((one) => one.name),
  };
  const choice = (name, label, value) => html`<${Select} label=${label} name=${name} value=${value} options=${lists[name]} pick=${(one) => visit({ [name]: one })} />`;
  return html`<div class="controls">
    ${choice("recipe", "Recipe", params.recipe ?? "default")}
    ${choice("model", "Model", params.model ?? context?.model ?? "")}
    <${NumberField} label="Budget" value=${params.budget} placeholder=${context ? count(context.ledger.budget) : ""} set=${(budget) => visit({ budget })} />
    ${choice("format", "Format", params.format ?? context?.format ?? "")}
    <${Choice} key=${params.with ? "" : "none"} params=${params} at=${at} lists=${lists} id=${id} />
  </div>`;
}
