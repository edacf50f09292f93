/**
 * The rules of a service descriptor. A descriptor comes from strangers (an OpenAPI document, a hub), so whatever could
 * make a request leave its origin, forge a header or name an argument twice is refused here, before any request exists.
 */
import type { Diagnostic } from "../diagnostics.ts";
import type { JsonSchema } from "../json.ts";
import { isObject } from "../kit/objects.ts";
import { pointerSegment } from "../kit/pointer.ts";
import {
  integrationShape,
  type ServiceAuth,
  type ServiceIntegration,
  type ServiceOperation,
  type ServiceSpec,
  serviceShape,
} from "../service.ts";
import { problemsOf, type Shape } from "../shape/index.ts";
import { bodyFields, propertiesOf as properties } from "./service-arguments.ts";

const MAX_SERVICE_BYTES = 4 * 1024 * 1024; // one entry of the catalog; larger APIs are imported in parts
const MAX_SCHEMA_DEPTH = 32; // subschemas within each other; the depth that the schema checker takes

type Report = (pointer: string, code: ServiceFindingCode, message: string) => void;

/** Families of findings in a service descriptor. */
export type ServiceFindingCode =
  | "service_shape"
  | "service_size"
  | "service_url"
  | "service_path"
  | "service_header"
  | "service_argument"
  | "service_schema"
  | "service_pagination"
  | "service_retry";

/** All findings of a service, each with a JSON Pointer; an empty list: it may be loaded. Takes anything, never throws. */
export function checkService(spec: unknown): Diagnostic[] {
  const wrong = shapeFindings(spec, serviceShape);
  if (wrong.length > 0) return wrong;
  const service = spec as ServiceSpec;
  const bytes = new TextEncoder().encode(JSON.stringify(service)).length;
  if (bytes > MAX_SERVICE_BYTES) {
    const message = `has ${bytes} bytes; at most ${MAX_SERVICE_BYTES} are allowed`;
    return [finding("", "service_size", message)];
  }
  return ruleFindings(service.serviceIntegration, "/serviceIntegration");
}

/** The same for the descriptor alone; pointers begin at the descriptor. */
export function checkServiceIntegration(integration: unknown): Diagnostic[] {
  const wrong = shapeFindings(integration, integrationShape);
  return wrong.length > 0 ? wrong : ruleFindings(integration as ServiceIntegration, "");
}

/** The rules beyond the shape, for a descriptor whose shape is known to be right. */
function ruleFindings(integration: ServiceIntegration, pointer: string): Diagnostic[] {
  const findings: Diagnostic[] = [];
  const report: Report = (at, code, message) => findings.push(finding(pointer + at, code, message));
  checkUrl(integration.baseUrl, "/baseUrl", report);
  checkBase(integration.baseUrl, report);
  checkAuth(integration.auth, report);
  for (const [index, operation] of integration.operations.entries()) {
    const here: Report = (at, code, message) => report(`/operations/${index}${at}`, code, message);
    checkPath(operation, here);
    checkHeaders(operation, integration.auth, here);
    checkArguments(operation, integration.auth, here);
    checkSchemas(operation, here);
    checkPagination(operation, integration.auth, here);
    checkRetry(operation, here);
  }
  return findings;
}

function checkAuth(auth: ServiceAuth, report: Report): void {
  if (auth.scheme === "oauth2") {
    for (const member of ["authorizeUrl", "tokenUrl", "revocationUrl", "deviceUrl"] as const) {
      const url = auth[member];
      if (url !== undefined) checkUrl(url, `/auth/${member}`, report);
    }
    for (const name of Object.keys(auth.extraParams ?? {}).filter((key) => OUR_PARAMS.has(key))) {
      const at = `/auth/extraParams/${name}`;
      report(at, "service_argument", "is a parameter that the consent itself sends");
    }
    const problem = auth.tokenHeader === undefined ? undefined : headerProblem(auth.tokenHeader);
    if (problem !== undefined) report("/auth/tokenHeader", "service_header", problem);
  }
  // `Authorization` is refused to arguments because it belongs to the auth scheme: here it is at home.
  if (auth.scheme === "apiKey" && auth.in === "header" && !/^authorization$/i.test(auth.name)) {
    const problem = headerProblem(auth.name);
    if (problem !== undefined) report("/auth/name", "service_header", problem);
  }
  if (auth.scheme === "apiKey") checkHeaderText(auth.prefix ?? "", "/auth/prefix", report);
}

/** OAuth parameters that a descriptor may not set: secrets never stand in a descriptor, and the client sets the others. */
const OUR_PARAMS: ReadonlySet<string> = new Set(
  (
    "response_type client_id client_secret redirect_uri scope state access_type prompt code grant_type refresh_token " +
    "code_challenge code_challenge_method code_verifier resource"
  ).split(" "),
);

function checkUrl(text: string, pointer: string, report: Report): void {
  const problem = urlProblem(text);
  if (problem !== undefined) report(pointer, "service_url", problem);
}

/** Paths are joined to the base as text, so it must be what is sent: without a query, dot segments, unescaped characters. */
function checkBase(text: string, report: Report): void {
  if (text.includes("?")) {
    report("/baseUrl", "service_url", "must have no query");
  } else if (urlProblem(text) === undefined) {
    const path = /^[^/]*\/\/[^/]*(\/.*)?$/.exec(text)?.[1] ?? "/";
    if (new URL(text).pathname !== path) {
      report(
        "/baseUrl",
        "service_url",
        "must have a path without . and .. segments, percent-encoded",
      );
    }
  }
}

function urlProblem(text: string): string | undefined {
  // The parser forgives blanks and backslashes; a reader of the descriptor does not see what it made of them.
  const parsed = /[\s\\\p{Cc}]/u.test(text) || !URL.canParse(text) ? undefined : new URL(text);
  if (parsed === undefined || !/^https?:\/\//i.test(text)) return "must be an absolute https: URL";
  if (parsed.protocol === "http:" && !LOOPBACK.test(parsed.hostname)) {
    return "must be https: (http: only for 127.0.0.0/8, [::1] and localhost)";
  }
  if (/^[^/]*\/\/[^/?#]*@/.test(text)) return "must have no user info";
  if (text.includes("#")) return "must have no fragment";
  return undefined;
}

const LOOPBACK = /^(?:127\.\d+\.\d+\.\d+|\[::1\]|localhost)$/;

function checkPath(operation: ServiceOperation, report: Report): void {
  const { path } = operation;
  const holes = [...path.matchAll(/\{([^{}/]+)\}/g)].map((match) => match[1] as string);
  const text = path.replaceAll(/\{[^{}/]+\}/g, "x");
  // What is left after the holes is sent as it stands, so it holds characters of a path only (RFC 3986, section 3.3).
  if (!/^\/(?!\/)/.test(path)) report("/path", "service_path", "must begin with exactly one /");
  else if (text.includes("//")) report("/path", "service_path", "must not hold //");
  else if (!/^[A-Za-z0-9\-._~!$&'()*+,;=:@%/]*$/.test(text)) {
    report("/path", "service_path", "must hold characters of a URL path and {name} holes only");
  } else if (/%(?![0-9a-f]{2})/i.test(text) || /%(?:2e|2f|5c)/i.test(text)) {
    report("/path", "service_path", "must not hold a bare %, %2e, %2f or %5c");
  } else if (text.split("/").some((segment) => segment === "." || segment === "..")) {
    report("/path", "service_path", "must not hold the segments . and ..");
  }
  const declared = new Set(Object.keys(properties(operation.params)));
  for (const hole of holes) {
    if (!declared.has(hole)) {
      report("/path", "service_path", `hole {${hole}} is not declared in params`);
    }
  }
  for (const name of declared) {
    if (!holes.includes(name)) {
      report(`/params/properties${pointerSegment(name)}`, "service_path", "is no hole of the path");
    }
  }
}

function checkHeaders(operation: ServiceOperation, auth: ServiceAuth, report: Report): void {
  const seen = new Set<string>();
  for (const [name, schema] of Object.entries(properties(operation.headers))) {
    const at = `/headers/properties${pointerSegment(name)}`;
    const problem = headerProblem(name);
    if (problem !== undefined) report(at, "service_header", problem);
    if (isObject(schema) && typeof schema["const"] === "string") {
      checkHeaderText(schema["const"], `${at}/const`, report);
    }
    if (seen.has(name.toLowerCase())) {
      report(at, "service_header", "is there twice; header names are compared without case");
    }
    seen.add(name.toLowerCase());
  }
  const key = operation.idempotencyHeader;
  if (key === undefined) return;
  const carrier = carrierOf(auth, "header") ?? "";
  const isTaken = seen.has(key.toLowerCase()) || equalsIgnoreCase(key, carrier);
  const problem = isTaken ? "is already a header of the request" : headerProblem(key);
  if (problem !== undefined) report("/idempotencyHeader", "service_header", problem);
}

/** The header or the parameter that carries the credential; `undefined`: another place does. */
function carrierOf(auth: ServiceAuth, place: "header" | "query"): string | undefined {
  if (auth.scheme === "apiKey") return auth.in === place ? auth.name : undefined;
  return auth.scheme === "oauth2" && place === "header" ? auth.tokenHeader : undefined;
}

/** Text of a header must have no line end, which could start a second header. @see RFC 9110, section 5.5 */
function checkHeaderText(text: string, pointer: string, report: Report): void {
  if (/[^\t\x20-\x7e]/.test(text)) {
    report(pointer, "service_header", "must hold characters of a header value only");
  }
}

/** @see RFC 9110, section 5.1; the refused names frame the request, carry credentials, or speak for a proxy. */
function headerProblem(name: string): string | undefined {
  if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name)) return "must be a header name (RFC 9110 token)";
  return REFUSED_HEADERS.test(name) ? `header ${name} belongs to the client` : undefined;
}

const REFUSED_HEADERS =
  /^(?:authorization|cookie|set-cookie|forwarded|x-forwarded-.*|content-type|host|content-length|transfer-encoding|connection|upgrade|expect|te|trailer|keep-alive|proxy-.*|sec-.*)$/i;

/** Arguments of a call are flat, so each name belongs to one place; what is always sent (`const`) is no argument. */
function checkArguments(operation: ServiceOperation, auth: ServiceAuth, report: Report): void {
  const taken = new Set<string>();
  for (const place of ["params", "query", "headers"] as const) {
    for (const [name, schema] of Object.entries(properties(operation[place]))) {
      const at = `/${place}/properties${pointerSegment(name)}`;
      if (!isScalar(schema, place === "query")) {
        report(
          at,
          "service_schema",
          `must be a scalar${place === "query" ? " or a list of scalars" : ""}`,
        );
      }
      if (isObject(schema) && !EXPLODES.has(schema["explode"])) {
        report(`${at}/explode`, "service_schema", 'must be "repeat" or "comma"');
      }
      if (place !== "params") {
        const carrier = carrierOf(auth, place === "headers" ? "header" : place);
        const same = place === "headers" ? equalsIgnoreCase : Object.is;
        if (carrier !== undefined && same(name, carrier)) {
          report(at, "service_argument", "carries the credential");
        }
      }
      if (isObject(schema) && "const" in schema) continue;
      if (taken.has(name)) report(at, "service_argument", `argument "${name}" is there twice`);
      taken.add(name);
    }
  }
  for (const [name, at] of bodyArguments(operation)) {
    if (taken.has(name)) report(at, "service_argument", `argument "${name}" is there twice`);
  }
}

/** How a list in the query is written: the name again for each, or one text with commas. */
const EXPLODES = new Set<unknown>([undefined, "repeat", "comma"]);

/** Names of the arguments that make the body: its properties when it is an object, else `body`. */
function bodyArguments(operation: ServiceOperation): [name: string, pointer: string][] {
  if (operation.body === undefined) return [];
  const fields = bodyFields(operation);
  if (fields === undefined) return [["body", "/body"]];
  return Object.keys(fields).map((name) => [
    name,
    `/body/schema/properties${pointerSegment(name)}`,
  ]);
}

function checkSchemas(operation: ServiceOperation, report: Report): void {
  for (const place of ["params", "query", "headers"] as const) {
    const schema = operation[place];
    if (schema !== undefined && schema["type"] !== "object") {
      report(`/${place}/type`, "service_schema", 'must be "object"');
    }
    if (schema !== undefined) checkSchema(schema, `/${place}`, report);
  }
  if (operation.body?.schema) checkSchema(operation.body.schema, "/body/schema", report);
  if (operation.result) checkSchema(operation.result, "/result", report);
}

/** Depth and references; whether each keyword is of the supported subset is for the schema checker of the language to say. */
function checkSchema(root: JsonSchema, pointer: string, report: Report): void {
  const open = [{ value: root as unknown, at: pointer, depth: 1 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, at, depth } = next;
    if (depth > MAX_SCHEMA_DEPTH) {
      report(at, "service_schema", `is deeper than ${MAX_SCHEMA_DEPTH} schemas`);
      return;
    }
    const list = Array.isArray(value);
    if (!list && !isObject(value)) continue;
    for (const [key, inner] of list ? value.entries() : Object.entries(value)) {
      const here = `${at}${pointerSegment(key)}`;
      if (key === "$ref" && !(typeof inner === "string" && inner.startsWith("#/$defs/"))) {
        report(here, "service_schema", "must point into #/$defs/; nothing is fetched");
      }
      if (DATA_KEYWORDS.has(String(key)) || typeof inner !== "object" || inner === null) continue;
      const holder = Array.isArray(inner) || MAP_KEYWORDS.has(String(key));
      open.push({ value: inner, at: here, depth: holder ? depth : depth + 1 });
    }
  }
}

const DATA_KEYWORDS = new Set(["const", "enum", "default", "examples"]);
const MAP_KEYWORDS = new Set(["properties", "patternProperties", "$defs"]);

function isScalar(schema: unknown, lists: boolean): boolean {
  if (!isObject(schema)) return false;
  if ("const" in schema) return isPrimitive(schema["const"]);
  if (Array.isArray(schema["enum"])) return schema["enum"].every(isPrimitive);
  if (Array.isArray(schema["anyOf"])) return schema["anyOf"].every((each) => isScalar(each, lists));
  const types = [schema["type"]].flat();
  if (lists && types.length === 1 && types[0] === "array") return isScalar(schema["items"], false);
  return types.every((type) => SCALARS.has(type));
}

const SCALARS = new Set<unknown>(["string", "number", "integer", "boolean", "null"]);

function isPrimitive(value: unknown): boolean {
  return typeof value !== "object" || value === null;
}

/** The arguments of a page replace others, so they must not carry the credential or a fixed value. */
function checkPagination(operation: ServiceOperation, auth: ServiceAuth, report: Report): void {
  const { pagination } = operation;
  if (pagination === undefined) return;
  if (pagination.kind === "cursor" && pagination.in === "body") {
    const fields = bodyFields(operation) ?? {};
    if (operation.effect !== "read") {
      report("/pagination/in", "service_pagination", 'is for an operation with the effect "read"');
    } else if (!Object.hasOwn(fields, pagination.param)) {
      report("/pagination/param", "service_pagination", "is no member of the body");
    }
    return;
  }
  if (operation.method !== "GET") report("/pagination", "service_pagination", "is for GET only");
  if (pagination.kind === "link") return;
  const names: [member: string, name: string][] = [["param", pagination.param]];
  if (pagination.kind === "offset") names.push(["limitParam", pagination.limitParam]);
  const query = properties(operation.query);
  for (const [member, name] of names) {
    const schema = Object.hasOwn(query, name) ? query[name] : undefined;
    const problem =
      carrierOf(auth, "query") === name
        ? "carries the credential"
        : isObject(schema) && "const" in schema
          ? "is always the same"
          : member === "limitParam" && name === pagination.param
            ? "must not be that of param"
            : undefined;
    if (problem !== undefined) report(`/pagination/${member}`, "service_pagination", problem);
  }
}

function checkRetry(operation: ServiceOperation, report: Report): void {
  for (const [index, on] of (operation.retryOn ?? []).entries()) {
    if (!/^(?:network|timeout|5xx|[45]\d\d)$/.test(on) || on === "401") {
      const message = `must be network, timeout, 5xx, or a status 400 to 599 other than 401; found "${on.slice(0, 20)}"`;
      report(`/retryOn/${index}`, "service_retry", message);
    }
  }
}

function equalsIgnoreCase(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

/** Data has no getters: what survives this is read again without a thought. */
function shapeFindings(value: unknown, shape: Shape): Diagnostic[] {
  try {
    const problems = problemsOf(value, shape);
    return problems.map(({ pointer, message }) => finding(pointer, "service_shape", message));
  } catch {
    return [finding("", "service_shape", "must be data; something in it throws when it is read")];
  }
}

function finding(pointer: string, code: ServiceFindingCode, message: string): Diagnostic {
  return { code, severity: "error", message, pointer };
}
