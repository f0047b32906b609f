// The endpoints, read from the OpenAPI schema.

import { $, el } from "./dom.js";

const schema = await (await fetch("/api/openapi.json")).json();
const name = (value) => {
  if (!value) return "";
  if (value.$ref) return value.$ref.split("/").pop();
  if (value.anyOf) return value.anyOf.map(name).join(" or ");
  if (value.oneOf) return value.oneOf.map(name).join(" or ");
  if (value.type === "array") return `list of ${name(value.items)}`;
  if (value.const) return JSON.stringify(value.const);
  return value.enum ? value.enum.map((one) => JSON.stringify(one)).join(" | ") : value.type || "anything";
};

const parts = [];
for (const [path, methods] of Object.entries(schema.paths)) {
  for (const [method, about] of Object.entries(methods)) {
    const body = about.requestBody?.content["application/json"].schema;
    const good = Object.entries(about.responses).find(([code]) => code.startsWith("2"));
    parts.push(
      el(
        "section",
        {},
        el("h2", {}, el("code", {}, `${method.toUpperCase()} ${path}`)),
        el("p", {}, about.description || about.summary),
        el("ul", {}, (about.parameters || []).map((one) => el("li", {}, el("code", {}, one.name), one.required ? "" : " (optional)", `: ${one.description || name(one.schema)}`)), body ? el("li", {}, `body: ${name(body)}`) : null, good ? el("li", {}, `answer: ${name(good[1].content?.["application/json"]?.schema) || Object.keys(good[1].content || {}).join(", ")}`) : null),
      ),
    );
  }
}
parts.push(el("h2", {}, "Objects"));
for (const [title, model] of Object.entries(schema.components.schemas)) {
  parts.push(el("section", {}, el("h3", {}, title), el("p", {}, model.description || ""), el("ul", {}, Object.entries(model.properties || {}).map(([key, value]) => el("li", {}, el("code", {}, key), `: ${name(value)}`, value.description ? `, ${value.description}` : "")))));
}
$("docs").replaceChildren(...parts);
