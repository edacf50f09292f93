/**
 * The page of the API: every operation and every schema of the OpenAPI document, as one static file without a script.
 *   D1  The page loads nothing: its style is inside it, and its policy allows that style alone.
 *   D2  Every text of the document is escaped.
 */
import { createHash } from "node:crypto";
import type { Json, JsonObject } from "@millrace/contracts";

/** The style of the page, inlined so that it needs nothing else. */
const STYLE = `:root { color-scheme: light dark; --line: #8884; --soft: #8882; --link: #0a58ca; }
@media (prefers-color-scheme: dark) { :root { --link: #8ab4f8; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; overflow-wrap: anywhere; }
a { color: var(--link); }
h1 { margin-bottom: 0; }
h2 { border-bottom: 1px solid var(--line); margin-top: 2.5rem; text-transform: capitalize; }
h3 { font-size: 1rem; margin: 1rem 0 0.25rem; }
code, pre { font: 0.875rem/1.45 ui-monospace, monospace; }
pre { background: var(--soft); border-radius: 4px; overflow: auto; padding: 0.75rem; max-height: 30rem; }
nav a { display: inline-block; margin-right: 1rem; }
details { border: 1px solid var(--line); border-radius: 4px; margin: 0.5rem 0; padding: 0 0.75rem; }
details[open] { padding-bottom: 0.75rem; }
summary { cursor: pointer; padding: 0.5rem 0; }
summary b { display: inline-block; font: 700 0.75rem ui-monospace, monospace; min-width: 4.5em; }
summary span { opacity: 0.8; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { border-bottom: 1px solid var(--line); padding: 0.25rem 0.75rem 0.25rem 0; text-align: left; vertical-align: top; }
td:nth-child(-n+2) { white-space: nowrap; }
`;

export const PAGE_POLICY: string = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly JsonObject[];
  readonly requestBody?: { readonly content: { readonly [media: string]: JsonObject } };
  readonly responses: { readonly [status: string]: JsonObject };
  readonly "x-millrace-command"?: string;
  readonly "x-millrace-effect"?: string;
  readonly "x-millrace-when"?: { readonly query: string; readonly command: string };
}

interface Row {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

interface OpenApi {
  readonly info: { readonly version: string; readonly description: string };
  readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } };
  readonly components: {
    readonly schemas: { readonly [name: string]: JsonObject };
    readonly responses: { readonly [name: string]: { readonly description: string } };
  };
}

export function renderDocs(document: JsonObject): string {
  const { info, paths, components } = document as unknown as OpenApi;
  const groups = new Map<string, Row[]>();
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const [tag = ""] = operation.tags;
      groups.set(tag, [...(groups.get(tag) ?? []), { method, path, operation }]);
    }
  }
  const sections = [...groups].map(
    ([tag, rows]) =>
      `<section id="${escapeHtml(tag)}"><h2>${escapeHtml(tag)}</h2>${rows.map((row) => renderRow(row, components)).join("")}</section>`,
  );
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) =>
      `<details id="schema-${escapeHtml(name)}"><summary><code>${escapeHtml(name)}</code></summary>${renderJson(schema)}</details>`,
  );
  const links = [...groups.keys(), "schemas"].map(
    (tag) => `<a href="#${escapeHtml(tag)}">${escapeHtml(tag)}</a>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Millrace API</title>
<style>${STYLE}</style>
</head>
<body>
<h1>Millrace API</h1>
<p>Version ${escapeHtml(info.version)}. The same as a document: <code>/api/openapi.json</code>.</p>
<p>${inline(info.description)}</p>
<p>With tokens, send <code>Authorization: Bearer &lt;token&gt;</code>. Roles: <code>read</code> reads, <code>run</code> also starts and steers runs, <code>admin</code> does everything.</p>
<nav>${links.join("")}</nav>
${sections.join("\n")}
<section id="schemas"><h2>schemas</h2>${schemas.join("")}</section>
</body>
</html>
`;
}

function renderRow({ method, path, operation }: Row, components: OpenApi["components"]): string {
  const { parameters = [], requestBody, responses } = operation;
  const command = operation["x-millrace-command"];
  const when = operation["x-millrace-when"];
  const parts = [
    command === undefined
      ? ""
      : `<p>Command <code>${escapeHtml(command)}</code>, effect ${escapeHtml(operation["x-millrace-effect"] ?? "")}.</p>`,
    when === undefined
      ? ""
      : `<p>With <code>?${escapeHtml(when.query)}=</code> it is the command <code>${escapeHtml(when.command)}</code>.</p>`,
    parameters.length === 0 ? "" : `<h3>Parameters</h3>${renderParameters(parameters)}`,
    requestBody === undefined ? "" : `<h3>Body</h3>${renderContent(requestBody.content)}`,
    "<h3>Answers</h3>",
    ...Object.entries(responses).map(([status, response]) =>
      renderResponse(status, response, components),
    ),
  ];
  return `<details id="${escapeHtml(operation.operationId)}"><summary><b>${escapeHtml(method.toUpperCase())}</b> <code>${escapeHtml(path)}</code> <span>${escapeHtml(operation.summary)}</span></summary>${parts.join("")}</details>`;
}

function renderParameters(parameters: readonly JsonObject[]): string {
  const rows = parameters.map(
    ({ name, in: place, required, schema, description }) =>
      `<tr><td><code>${escapeHtml(`${name}`)}</code></td><td>${escapeHtml(`${place}`)}${required === true ? ", required" : ""}</td><td>${description === undefined ? "" : `${inline(`${description}`)}<br>`}<code>${linked(JSON.stringify(schema))}</code></td></tr>`,
  );
  return `<table><thead><tr><th>Name</th><th>In</th><th>Value</th></tr></thead><tbody>${rows.join("")}</tbody></table>`;
}

function renderResponse(
  status: string,
  response: JsonObject,
  components: OpenApi["components"],
): string {
  const { $ref, description, content } = response;
  if (typeof $ref === "string") {
    const shared = components.responses[$ref.slice($ref.lastIndexOf("/") + 1)];
    return `<p><b>${escapeHtml(status)}</b> ${inline(shared?.description ?? "")}</p>`;
  }
  const shown =
    content === undefined ? "" : renderContent(content as { readonly [media: string]: JsonObject });
  return `<p><b>${escapeHtml(status)}</b> ${inline(`${description}`)}</p>${shown}`;
}

function renderContent(content: { readonly [media: string]: JsonObject }): string {
  return Object.entries(content)
    .map(
      ([media, { schema = {} }]) => `<p><code>${escapeHtml(media)}</code></p>${renderJson(schema)}`,
    )
    .join("");
}

function renderJson(value: Json): string {
  return `<pre>${linked(JSON.stringify(value, null, 2))}</pre>`;
}

/** JSON text in which a reference leads to its schema. */
function linked(json: string): string {
  return escapeHtml(json).replace(
    /#\/components\/schemas\/(\w+)/g,
    (_, name: string) => `<a href="#schema-${name}">${name}</a>`,
  );
}

/** Text in which what stands between backticks is code. */
function inline(text: string): string {
  return escapeHtml(text).replace(/`([^`]*)`/g, "<code>$1</code>");
}

const ESCAPES: { readonly [char: string]: string } = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (char) => ESCAPES[char] ?? char);
}
