// Where endpoints of the services of packages/services-catalog are published, and how they are read from there.
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Folder of the catalog. */
export const CATALOG = fileURLToPath(new URL("../packages/services-catalog/", import.meta.url));

/** The text of a file. */
export const read = (...path) => readFileSync(join(...path), "utf8");
/** Files below a folder whose name ends so. */
export const filesBelow = (dir, end) =>
  readdirSync(dir, { recursive: true })
    .filter((name) => name.endsWith(end))
    .map((name) => join(dir, name));
/** `/a/{b}` and `/a/${b}` as `/a/{}`. */
const plain = (path) =>
  path
    .replaceAll(/\{\{\w+\}\}/g, "{}")
    .replace(/\$\{[^}]*\}\)?/g, "{}")
    .replace(/\{[^{}]*\}/g, "{}")
    .replace(/<\w+>/g, "{}");

/** What is known of an endpoint: `required` names parameters, `scopes` what it needs. */
class Endpoints {
  #all = new Map();
  add(method, path, facts = {}) {
    const key = `${method.toUpperCase()} ${plain(path)}`;
    if (!this.#all.has(key)) this.#all.set(key, { required: [], ...facts });
  }
  get(method, path) {
    return this.#all.get(`${method} ${plain(path)}`);
  }
}

/** All matches of a pattern in a text, as endpoints. */
function scan(text, pattern, toEndpoint) {
  const found = new Endpoints();
  for (const match of text.matchAll(pattern)) found.add(...toEndpoint(match));
  return found;
}

/** The texts of files. */
export const all = (files) => files.map((file) => read(file)).join("\n");

function openApi(file) {
  const document = JSON.parse(read(file));
  const resolve = (value) =>
    value?.$ref === undefined
      ? value
      : resolve(
          value.$ref
            .slice(2)
            .split("/")
            .reduce((at, key) => at?.[key], document),
        );
  const found = new Endpoints();
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(item)) {
      const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])].map(resolve);
      const content = resolve(operation.requestBody)?.content?.["application/json"];
      const body = resolve(content?.schema)?.required ?? [];
      const required = parameters.filter((one) => one.required).map(({ name }) => name);
      found.add(method, path, { required: [...required, ...body] });
    }
  }
  return found;
}

const google = (file) => (dir) =>
  scan(
    read(dir, file),
    /url: \(rootUrl \+\s+'([^']+)'\)[\s\S]{0,200}?method: '(\w+)'[\s\S]{0,400}?requiredParams: \[([^\]]*)\]/g,
    ([, path, method, names]) => [method, path, { required: names.match(/\w+/g) ?? [] }],
  );

function notion(dir) {
  const hole = new Proxy({}, { get: (_, name) => `{${String(name)}}` });
  const found = new Endpoints();
  const endpoints = createRequire(import.meta.url)(join(dir, "build/src/api-endpoints.js"));
  for (const endpoint of Object.values(endpoints)) {
    if (endpoint?.method) found.add(endpoint.method, `/v1/${endpoint.path(hole)}`);
  }
  return found;
}

/** Each class names its address, and then what it asks there. */
function twilio(dir) {
  const found = new Endpoints();
  for (const file of filesBelow(join(dir, "lib/rest/api/v2010/account"), ".js")) {
    for (const part of read(file).split(/(?=_uri = `)/)) {
      const [, path] = /^_uri = `([^`]+)`/.exec(part) ?? [];
      for (const call of path === undefined ? [] : part.split(/(?=method: ")/).slice(1)) {
        const [, method] = /^method: "(\w+)"/.exec(call);
        found.add(method, `/2010-04-01${path}`);
      }
    }
  }
  return found;
}

function asana(dir) {
  return scan(
    all(filesBelow(join(dir, "dist/api"), ".js")),
    /key: "\w+WithHttpInfo"([\s\S]*?)callApi\('([^']+)', '(\w+)'/g,
    ([, before, path, method]) => {
      const names = [...before.matchAll(/Missing the required parameter '(\w+)'/g)];
      const required = names.map(([, name]) => (name === "body" ? "data" : name));
      return [method, `/api/1.0${path}`, { required }];
    },
  );
}

function graph(dir) {
  const found = new Endpoints();
  for (const file of filesBelow(join(dir, "users/item"), "index.js")) {
    const text = read(file);
    const [, path] = /UriTemplate = "\{\+baseurl\}([^"]+)"/.exec(text) ?? [];
    const [, metadata = ""] = /RequestsMetadata = \{\n([\s\S]*?)\n\};/.exec(text) ?? [];
    // What must be given stands in the address itself.
    const required = [...(path ?? "").matchAll(/[?&](\w+)=/g)].map(([, name]) => name);
    for (const [, method] of metadata.matchAll(/^ {4}(\w+): \{/gm)) {
      const address = path.replace(/\{?\?.*$/, "").replace(/^\/users\/\{[^}]+\}/, "/me");
      found.add(method, `/v1.0${address}`, { required });
    }
  }
  return found;
}

function telegram(dir) {
  const found = new Endpoints();
  for (const [, name, args = ""] of read(dir, "methods.d.ts").matchAll(
    /^ {4}(\w+)\((?:args\??: \{\n([\s\S]*?)\n {4}\})?/gm,
  )) {
    const required = [...args.matchAll(/^ {8}(\w+): /gm)].map(([, each]) => each);
    for (const method of ["GET", "POST"]) found.add(method, `/${name}`, { required });
  }
  return found;
}

/** Every word of the queries must be one of the schema's. */
function linear(dir) {
  const words = new Set(all(filesBelow(join(dir, "dist"), "ts")).match(/\w+/g));
  const { operations } = JSON.parse(read(CATALOG, "services/linear.json")).serviceIntegration;
  const found = new Endpoints();
  const own = /^(?:query|mutation|Int|String|input|first|after|filter|id)$/;
  for (const { id, body } of operations) {
    const unknown = body.schema.properties.query.const
      .match(/\w+/g)
      .filter((word) => !own.test(word) && !words.has(word));
    if (unknown.length > 0) process.stderr.write(`linear ${id}: ${unknown.join(", ")}\n`);
    else found.add("POST", "/graphql");
  }
  return found;
}

function dropbox(dir) {
  return scan(
    read(dir, "lib/routes.js"),
    /request\('([^']+)', (?:arg|null), '[^']*', 'api', 'rpc', (?:'([^']*)'|null)\)/g,
    ([, path, scopes]) => ["POST", `/2/${path}`, { scopes: scopes?.split(" ") ?? [] }],
  );
}

/** The package of a service, its version, and how its endpoints are read from its folder. */
export const SOURCES = {
  github: ["@octokit/openapi@23.0.2", (dir) => openApi(join(dir, "generated/api.github.com.json"))],
  notion: ["@notionhq/client@5.26.0", notion],
  gmail: ["@googleapis/gmail@18.0.0", google("build/v1.js")],
  "google-calendar": ["@googleapis/calendar@16.0.0", google("build/v3.js")],
  "google-drive": ["@googleapis/drive@22.0.0", google("build/v3.js")],
  "google-sheets": ["@googleapis/sheets@14.0.0", google("build/v4.js")],
  dropbox: ["dropbox@10.34.0", dropbox],
  stripe: [
    "stripe@23.1.0",
    (dir) =>
      scan(
        all(filesBelow(join(dir, "cjs/resources"), ".js")),
        /_makeRequest\('(\w+)', ['`]([^'`]+)['`]/g,
        ([, method, path]) => [method, path],
      ),
  ],
  twilio: ["twilio@6.2.0", twilio],
  cloudflare: [
    "cloudflare@7.3.0",
    (dir) =>
      scan(
        all(filesBelow(join(dir, "resources"), ".js")),
        /_client\.(\w+)\((?:\(0, path_1\.path\) )?['`]([^'`]+)['`]/g,
        ([, method, path]) => [method.replace("getAPIList", "get"), `/client/v4${path}`],
      ),
  ],
  slack: [
    "@slack/web-api@8.2.0",
    (dir) => {
      const found = new Endpoints();
      for (const [, name] of read(dir, "dist/methods.js").matchAll(
        /bindApiCall\w*\(this, '([^']+)'/g,
      )) {
        for (const method of ["GET", "POST"]) found.add(method, `/api/${name}`);
      }
      return found;
    },
  ],
  discord: [
    "discord-api-types@0.38.57",
    (dir) =>
      scan(read(dir, "rest/v10/index.js"), /- (\w+) +`([^`]+)`/g, ([, method, path]) => [
        method,
        `/api/v10${path}`,
      ]),
  ],
  asana: ["asana@3.2.0", asana],
  hubspot: [
    "@hubspot/api-client@13.5.0",
    (dir) =>
      scan(
        all(filesBelow(join(dir, "lib/codegen/crm"), "Api.js")),
        /localVarPath = '([^']+)'[\s\S]{0,400}?HttpMethod\.(\w+)/g,
        ([, path, method]) => [method, path],
      ),
  ],
  shopify: [
    "@shopify/shopify-api@13.1.0",
    (dir) =>
      scan(
        all(filesBelow(join(dir, "dist/cjs/rest/admin/2026-04"), ".js")),
        /"http_method": "(\w+)".*?"path": "([^"]+)"/g,
        ([, method, path]) => [method, `/admin/api/2026-04/${path}`],
      ),
  ],
  gitlab: [
    "@gitbeaker/core@43.8.0",
    (dir) =>
      scan(
        read(dir, "dist/index.mjs"),
        /(?:RequestHelper\.(\w+)\(\)\(\s*this,\s*|url\d* = )(?:endpoint)?[`"]([^`"]+)[`"]/g,
        ([, method = "get", path]) => [method.replace("del", "delete"), `/api/v4/${path}`],
      ),
  ],
  jira: [
    "jira.js@5.4.0",
    (dir) =>
      scan(
        all(filesBelow(join(dir, "src/version3"), ".ts")),
        /url: ['`]([^'`]+)['`],\s+method: '(\w+)'/g,
        ([, path, method]) => [method, path],
      ),
  ],
  "microsoft-graph": ["@microsoft/msgraph-sdk-users@1.0.0-preview.90", graph],
  trello: [
    "trello.js@1.2.8",
    (dir) =>
      scan(
        all(filesBelow(join(dir, "src/api"), ".ts")),
        /url: ['`]([^'`]+)['`],\s+method: '(\w+)'/g,
        ([, path, method]) => [method, `/1${path}`],
      ),
  ],
  sendgrid: [
    "@sendgrid/client@8.1.6",
    (dir) =>
      scan(read(dir, "USAGE.md"), /^### (\w+) (\/\S+)$/gm, ([, method, path]) => [
        method,
        `/v3${path}`,
      ]),
  ],
  zendesk: [
    "node-zendesk@6.0.1",
    (dir) =>
      scan(
        read(dir, "dist/index.js"),
        /\.(get|post|put|delete|getAll)\(\[("\w+"(?:,(?:"\w+"|\w+))*)/g,
        ([, method, parts]) => [
          method.replace("getAll", "get"),
          `/api/v2/${parts
            .replace(/(?<=,)\w+/g, "{}")
            .replaceAll(",", "/")
            .replaceAll('"', "")}.json`,
        ],
      ),
  ],
  telegram: ["@grammyjs/types@5.0.0", telegram],
  linear: ["@linear/sdk@98.0.0", linear],
};
