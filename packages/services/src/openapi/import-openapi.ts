/**
 * An OpenAPI document as a service: data in, data out.
 *   O1  Nothing is fetched and nothing runs. A document that is not what it should be has diagnostics and no entry.
 *   O2  An entry passes `checkService`, and every schema in it can be checked.
 */
import {
  checkService,
  type Diagnostic,
  NotJsonError,
  type ServiceAuth,
  type ServiceOperation,
  type ServiceSpec,
  toJsonValue,
} from "@millrace/contracts";
import { isObject } from "@millrace/contracts/kit";
import { authOf } from "./auth.ts";
import { Findings } from "./findings.ts";
import { operationsOf } from "./operations.ts";
import { listOf, textOf, type Unknown } from "./plain.ts";
import { References } from "./references.ts";

const MAX_BYTES = 10 * 1024 * 1024; // the largest public documents have about eight
const MAX_OPERATIONS = 5_000; // of one service, see `checkService`
const MAX_TITLE = 120;
const MAX_SUMMARY = 300;

/** Options of an import. */
export interface ImportOpenApiOptions {
  /** Slug of the service; default made of the title. */
  readonly slug?: string;
  /** Where the operations are; default the first of `servers`, which must be absolute and without variables. */
  readonly baseUrl?: string;
  /** Operations to take: `tag:contacts,op:list_*` takes those with the tag and those whose id fits. Default all. */
  readonly only?: string;
}

/** Result of an import; a null entry comes with at least one error. */
export interface ImportedService {
  readonly entry: ServiceSpec | null;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Turns a parsed OpenAPI 3.0 or 3.1 document into a service: `servers`, security schemes, paths, parameters, bodies and the
 * first success of each operation. Local references are written out, patterns, examples and `x-…` members dropped; what has
 * no place in a service (cookies, multipart, callbacks) is a warning. Never throws, whatever the document; pointers of
 * diagnostics lead into it.
 * @see README of this package, "Services"
 */
export function importOpenApi(
  document: unknown,
  options: ImportOpenApiOptions = {},
): ImportedService {
  const findings = new Findings();
  const plain = readDocument(document, findings);
  const entry = plain === undefined ? null : entryOf(plain, options, findings);
  const { list } = findings;
  const isWrong = list.some(({ severity }) => severity === "error");
  return { entry: isWrong ? null : entry, diagnostics: list };
}

/** A copy that is JSON, not too large, and of a version that is known here. */
function readDocument(document: unknown, findings: Findings): Unknown | undefined {
  let value: unknown;
  try {
    value = toJsonValue(document).value;
  } catch (error) {
    const pointer = NotJsonError.isInstance(error) ? error.pointer : "";
    const isLarge = NotJsonError.isInstance(error) && error.code !== "output_not_json";
    const message = isLarge ? "is too deep or too large" : "is not JSON";
    findings.error(isLarge ? "openapi_limit" : "openapi_document", pointer, message);
    return undefined;
  }
  if (!isObject(value)) {
    findings.error("openapi_document", "", "must be an object");
    return undefined;
  }
  const bytes = new TextEncoder().encode(JSON.stringify(value)).length;
  if (bytes > MAX_BYTES) {
    findings.error("openapi_limit", "", `has ${bytes} bytes; at most ${MAX_BYTES} are read`);
    return undefined;
  }
  if (typeof value["openapi"] === "string" && /^3\.[01](?:\.|$)/.test(value["openapi"]))
    return value;
  const message =
    value["swagger"] === undefined
      ? "must be 3.0 or 3.1"
      : "is missing: this is Swagger 2; convert it to OpenAPI 3 first";
  findings.error("openapi_document", "/openapi", message);
  return undefined;
}

function entryOf(
  document: Unknown,
  options: ImportOpenApiOptions,
  findings: Findings,
): ServiceSpec | null {
  const references = new References(document, findings);
  const info = isObject(document["info"]) ? document["info"] : {};
  const title = textOf(info["title"], MAX_TITLE) ?? "Service";
  const slug = options.slug ?? slugOf(title);
  const baseUrl = baseUrlOf(document, options, findings);
  if (baseUrl === undefined) return null;
  const { auth, name: authName } = authOf(document, references, findings);
  const operations = operationsOf(document, {
    source: { references, findings },
    auth,
    authName,
    commonSecurity: document["security"],
    baseUrl,
    wants: filterOf(options.only),
  });
  if (operations.length === 0) {
    findings.error("openapi_operation", "/paths", "has no operation that can be called");
    return null;
  }
  if (operations.length > MAX_OPERATIONS) {
    const message = `has ${operations.length} operations; at most ${MAX_OPERATIONS} make a service: take a part with \`only\``;
    findings.error("openapi_limit", "/paths", message);
    return null;
  }
  const summary = textOf(info["description"], MAX_SUMMARY) ?? title;
  const needed = { ...auth, ...neededScopes(auth, operations) };
  const entry = { slug, title, summary, serviceIntegration: { baseUrl, auth: needed, operations } };
  for (const { pointer = "", message } of checkService(entry)) {
    findings.error("openapi_document", "", `the entry is no service: ${pointer} ${message}`);
  }
  return entry;
}

/** A person is asked for what the operations need; for all that the scheme knows where none of them says. */
function neededScopes(
  auth: ServiceAuth,
  operations: readonly ServiceOperation[],
): { readonly scopes?: readonly string[] } {
  if (auth.scheme !== "oauth2") return {};
  const wanted = new Set(operations.flatMap(({ scopes = [] }) => scopes));
  return wanted.size === 0 ? {} : { scopes: auth.scopes.filter((scope) => wanted.has(scope)) };
}

/** Letters and digits of a title, joined by `-`. */
function slugOf(title: string): string {
  const words = title
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^[^a-z]+/, "");
  return words.slice(0, 64).replace(/-+$/, "") || "service";
}

function baseUrlOf(
  document: Unknown,
  { baseUrl }: ImportOpenApiOptions,
  findings: Findings,
): string | undefined {
  const [server] = listOf(document["servers"]);
  const given = baseUrl ?? (isObject(server) ? server["url"] : undefined);
  const isAbsolute = typeof given === "string" && /^https?:\/\//i.test(given);
  if (isAbsolute && !given.includes("{")) return given.replace(/\/+$/, "");
  const what = isAbsolute ? "has variables" : "is not absolute";
  findings.error(
    "openapi_base_url",
    "/servers/0/url",
    `${what}; say where the service is with \`baseUrl\``,
  );
  return undefined;
}

/** Tests `tag:…` and `op:…` of a list with commas; `*` stands for any text. */
function filterOf(only: string | undefined): (id: string, tags: readonly string[]) => boolean {
  if (only === undefined || only.trim() === "") return () => true;
  const rules = only.split(",").map((rule) => rule.trim());
  return (id, tags) =>
    rules.some((rule) =>
      rule.startsWith("tag:")
        ? tags.some((tag) => fits(tag, rule.slice(4)))
        : fits(id, rule.replace(/^op:/, "")),
    );
}

function fits(text: string, pattern: string): boolean {
  const [start = "", ...others] = pattern.split("*");
  if (others.length === 0) return text === pattern;
  const end = others.pop() as string;
  if (!text.startsWith(start) || text.length < start.length + end.length || !text.endsWith(end)) {
    return false;
  }
  let at = start.length;
  for (const part of others) {
    const found = text.indexOf(part, at);
    if (found === -1 || found + part.length > text.length - end.length) return false;
    at = found + part.length;
  }
  return true;
}
