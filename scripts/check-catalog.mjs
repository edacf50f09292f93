// Compares packages/services-catalog with what is published for programs, and writes what it found to its test/published.json.
// Usage: node scripts/check-catalog.mjs [FOLDER] [SLUG …]. Packages are fetched with npm into FOLDER (default a temporary one)
// and only read, but for that of Notion, whose list of endpoints is a module. Run it by hand after a change of the catalog.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { all, CATALOG, filesBelow, read, SOURCES } from "./catalog-endpoints.mjs";

const PUBLISHED = join(CATALOG, "test/published.json");
const [folder = mkdtempSync(join(tmpdir(), "catalog-")), ...slugs] = process.argv.slice(2);

/** The folder of a package, fetched where it is not there yet. */
function packageFolder(name) {
  const dir = join(folder, name.replace(/(?<=.)@[^@]*$/, "").replaceAll(/[@/]/g, "_"));
  if (existsSync(dir)) return dir;
  mkdirSync(dir, { recursive: true });
  const options = { cwd: folder, encoding: "utf8" };
  const file = execFileSync("npm", ["pack", name, "--silent"], options).trim();
  execFileSync("tar", ["xzf", file, "-C", dir, "--strip-components=1"], options);
  return dir;
}

/** How credentials are sent, by name of a service, for each of ours; `slug-auth` is one of `otherAuth`. */
const AUTH_SOURCE = "@nangohq/providers@0.71.10";
const AUTH_NAMES = {
  github: "github",
  "github-token": "github-pat",
  gitlab: "gitlab",
  "gitlab-token": "gitlab-pat",
  slack: "slack",
  "discord-user": "discord",
  telegram: "telegram",
  notion: "notion",
  linear: "linear",
  jira: "jira-basic",
  "jira-oauth": "jira",
  asana: "asana",
  gmail: "google-mail",
  "google-calendar": "google-calendar",
  "google-drive": "google-drive",
  "google-sheets": "google-sheet",
  "microsoft-graph": "microsoft",
  dropbox: "dropbox",
  airtable: "airtable",
  "airtable-token": "airtable-pat",
  hubspot: "hubspot",
  twilio: "twilio",
  sendgrid: "sendgrid",
  shopify: "shopify-api-key",
  "shopify-oauth": "shopify",
  "zendesk-oauth": "zendesk",
  cloudflare: "cloudflare",
};

/** An entry of the list as our files say the same. `*` stands for what differs by account. */
function authOf({ auth_mode, authorization_url, token_url, proxy = {}, ...more }) {
  const common = (text) => text?.replace(/\$\{connectionConfig\.\w+\}/g, "*");
  const origin = /^https:\/\/[^/]+/.exec(common(proxy.base_url) ?? "")?.[0];
  const [header, value] =
    Object.entries(proxy.headers ?? {}).find(([, text]) =>
      /\$\{(?:apiKey|accessToken)\}/.test(text),
    ) ?? [];
  const prefix = value?.replace(/\$\{.*$/, "");
  if (auth_mode === "OAUTH2") {
    const [authorizeUrl, query = ""] = common(authorization_url).split("?");
    // Those that every consent has are no fact of a service.
    const {
      response_type: _,
      response_mode: _mode,
      access_type: _access,
      prompt: _prompt,
      ...params
    } = {
      ...Object.fromEntries(new URLSearchParams(query)),
      ...more.authorization_params,
    };
    const tokenUrl = common(token_url);
    const scopeSeparator = more.scope_separator ?? " ";
    const clientAuth = more.authorization_method === "header" ? "basic" : "post";
    const tokenHeader = value === "${accessToken}" ? header : undefined;
    return {
      scheme: "oauth2",
      origin,
      authorizeUrl,
      params,
      tokenUrl,
      scopeSeparator,
      clientAuth,
      tokenHeader,
    };
  }
  if (auth_mode === "BASIC") return { scheme: "basic", origin };
  if (prefix === "Bearer ") return { scheme: "bearer", origin };
  const inPath = /\/([^/]*)\$\{apiKey\}/.exec(proxy.base_url);
  return inPath === null
    ? { scheme: "apiKey", origin, in: "header", name: header, prefix: prefix || undefined }
    : { scheme: "apiKey", origin, in: "path", prefix: inPath[1] };
}

function writeAuth() {
  const dir = packageFolder(AUTH_SOURCE);
  const providers = parse(read(dir, "providers.yaml"));
  const scopes = parse(read(dir, "providers.scopes.yaml"));
  const ours = all(filesBelow(join(CATALOG, "services"), ".json"));
  const found = Object.entries(AUTH_NAMES).map(([name, key]) => {
    const { alias } = providers[key];
    const entry = { ...(alias === undefined ? {} : providers[alias]), ...providers[key] };
    const auth = authOf(entry);
    const known = (scopes[key] ?? scopes[alias])?.filter((scope) => ours.includes(`"${scope}"`));
    return [name, { ...auth, ...(auth.scheme === "oauth2" && known && { scopes: known }) }];
  });
  const on = new Date().toISOString().slice(0, 10);
  return { source: AUTH_SOURCE, on, services: Object.fromEntries(found) };
}

const published = existsSync(PUBLISHED)
  ? JSON.parse(readFileSync(PUBLISHED, "utf8"))
  : { operations: {} };
published.auth = writeAuth();
for (const [slug, [source, readEndpoints]] of Object.entries(SOURCES)) {
  if (slugs.length > 0 && !slugs.includes(slug)) continue;
  const { serviceIntegration } = JSON.parse(read(CATALOG, "services", `${slug}.json`));
  const { baseUrl, operations } = serviceIntegration;
  const base = /^https:\/\/[^/]+(.*)$/.exec(baseUrl)[1];
  const endpoints = readEndpoints(packageFolder(source));
  const found = {};
  for (const { id, method, path } of operations) {
    const endpoint = endpoints.get(method, base + path);
    if (endpoint === undefined)
      process.stdout.write(`${slug} ${id}: ${method} ${base}${path} is not there\n`);
    else found[id] = { method, path: base + path, ...endpoint };
  }
  published.operations[slug] = {
    source,
    on: new Date().toISOString().slice(0, 10),
    operations: found,
  };
  const { length } = Object.keys(found);
  process.stdout.write(`${slug}: ${length} of ${operations.length} operations are in ${source}\n`);
}
writeFileSync(PUBLISHED, JSON.stringify(published));
execFileSync("npx", ["biome", "format", "--write", PUBLISHED], { stdio: "ignore" });
