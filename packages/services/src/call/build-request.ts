/**
 * An operation and its arguments as a request. Pure: nothing is sent, no credential is looked up.
 *   R1  No argument reaches origin, method, credential or a header that is always the same.
 *   R2  What cannot be said in its place is refused with `field_invalid`; the message never quotes a value.
 */
import {
  type Json,
  type JsonObject,
  NodeError,
  type ServiceIntegration,
  type ServiceOperation,
  serviceArguments,
} from "@millrace/contracts";
import { authorize, percentEncode, schemaProblems } from "@millrace/engine/pack";
import { invalidArgument } from "../refusals.ts";
import { bodyOf, scalarsOf } from "./request-body.ts";

/** A request as it would be sent. Header names are in lower case. */
export interface ServiceRequest {
  readonly method: ServiceOperation["method"];
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  readonly body?: string | Uint8Array;
}

/** Options of one call. */
export interface ServiceCallOptions {
  /** Id of the operation. */
  readonly operation: string;
  /** Arguments by name; default none. */
  readonly args?: JsonObject;
  /** The credential as it is stored; absent: the request carries none. */
  readonly credential?: string;
  /** Slug of the connection, for messages; default that of no connection. */
  readonly connection?: string;
  /** Sent when the operation declares a header for it. */
  readonly idempotencyKey?: string;
  /** Parameters that choose a page; they replace arguments of the same name. */
  readonly page?: { readonly [name: string]: string };
}

/**
 * The request of one call: path values percent-encoded to unreserved bytes, lists in the query repeated or joined by commas,
 * what is always sent (`const`) sent, the credential where the service wants it. Throws `NodeError`: `operation_unknown`,
 * `field_invalid` for an argument that is missing, unknown, of the wrong type or not to be said in its place,
 * `credentials_expired` for a credential that no header could carry.
 */
export function buildServiceRequest(
  integration: ServiceIntegration,
  options: ServiceCallOptions,
): ServiceRequest {
  const operation = operationOf(integration, options.operation);
  const args = options.args ?? {};
  checkArguments(operation, args);
  const body = bodyOf(operation, args);
  const headers = headersOf(operation, args);
  if (body !== undefined) headers["content-type"] = body.type;
  const key = options.idempotencyKey;
  if (operation.idempotencyHeader !== undefined && key !== undefined) {
    headers[operation.idempotencyHeader.toLowerCase()] = headerValue(key, "idempotencyKey");
  }
  const plain = { url: urlOf(integration, operation, { args, page: options.page ?? {} }), headers };
  const { credential, connection = "SLUG" } = options;
  const { url, headers: all } =
    credential === undefined
      ? plain
      : authorize(plain, integration.auth, { credential, connection });
  const request = { method: operation.method, url, headers: all };
  return body === undefined ? request : { ...request, body: body.content };
}

/** An operation by its id. Throws `operation_unknown`. */
export function operationOf(integration: ServiceIntegration, id: string): ServiceOperation {
  const found = integration.operations.find((operation) => operation.id === id);
  if (found !== undefined) return found;
  const ids = integration.operations.slice(0, MAX_LISTED).map((operation) => operation.id);
  const more = integration.operations.length > MAX_LISTED ? ", …" : "";
  throw new NodeError(
    "operation_unknown",
    `there is no operation "${id.slice(0, 100)}"; there are ${ids.join(", ")}${more}`,
    { reason: "input", sent: false },
  );
}

const MAX_LISTED = 20;

/** Names, presence and types; members of a body are checked together with it. */
function checkArguments(operation: ServiceOperation, args: JsonObject): void {
  const { known, open } = serviceArguments(operation);
  for (const [name, value] of Object.entries(args)) {
    const where = `args.${name.slice(0, 100)}`;
    const argument = known.get(name);
    if (argument === undefined) {
      if (!open) throw invalidArgument(where, `${operation.id} has no such argument`);
      continue;
    }
    if (value === undefined || argument.place === "field" || argument.place === "body") continue;
    if (value === null && !argument.required) continue; // the same as not given
    const problem = schemaProblems(argument.schema, value)[0];
    if (problem !== undefined) {
      throw invalidArgument(where + problem.pointer.replaceAll("/", "."), problem.message);
    }
  }
  for (const [name, { required }] of known) {
    if (required && (!Object.hasOwn(args, name) || args[name] === undefined)) {
      throw invalidArgument(`args.${name}`, "is missing");
    }
  }
}

function urlOf(
  { baseUrl }: ServiceIntegration,
  operation: ServiceOperation,
  { args, page }: { args: JsonObject; page: { readonly [name: string]: string } },
): string {
  const path = pathOf(operation, args);
  const text = baseUrl.replace(/\/+$/, "") + path;
  const base = new URL(baseUrl);
  const parsed = URL.canParse(text) ? new URL(text) : undefined;
  const whole = base.pathname.replace(/\/+$/, "") + path;
  if (parsed?.origin !== base.origin || parsed.pathname !== whole) {
    throw invalidArgument("args", `make another path than ${operation.path}`);
  }
  const query = queryOf(operation, args, page);
  return query === "" ? text : `${text}?${query}`;
}

function pathOf(operation: ServiceOperation, args: JsonObject): string {
  const values = placed(operation, "params", args);
  return operation.path.replace(/\{([^{}/]+)\}/g, (_, name: string) => {
    const [text = ""] = scalarsOf(values.get(name)?.value, `args.${name}`);
    if (text === "" || text === "." || text === "..") {
      throw invalidArgument(`args.${name}`, "must not be empty, . or ..");
    }
    return percentEncode(text);
  });
}

function queryOf(
  operation: ServiceOperation,
  args: JsonObject,
  page: { readonly [name: string]: string },
): string {
  const pairs: string[] = [];
  for (const [name, { value, schema }] of placed(operation, "query", args)) {
    if (Object.hasOwn(page, name)) continue;
    const texts = scalarsOf(value, `args.${name}`).map(percentEncode);
    if (texts.length === 0) continue;
    const isJoined = Array.isArray(value) && schema["explode"] === "comma";
    for (const text of isJoined ? [texts.join(",")] : texts) {
      pairs.push(`${percentEncode(name)}=${text}`);
    }
  }
  for (const [name, value] of Object.entries(page)) {
    pairs.push(`${percentEncode(name)}=${percentEncode(value)}`);
  }
  return pairs.join("&");
}

function headersOf(operation: ServiceOperation, args: JsonObject): { [name: string]: string } {
  const headers: { [name: string]: string } = {};
  if ((operation.resultType ?? "json") === "json") headers["accept"] = "application/json";
  for (const [name, { value }] of placed(operation, "headers", args)) {
    const [text] = scalarsOf(value, `args.${name}`);
    if (text !== undefined) headers[name.toLowerCase()] = headerValue(text, `args.${name}`);
  }
  return headers;
}

/** @see RFC 9110, section 5.5; bytes above ASCII mean something else to every server. */
function headerValue(text: string, where: string): string {
  if (/^[\t\x20-\x7e]*$/.test(text)) return text;
  throw invalidArgument(
    where,
    "must hold printable ASCII characters only, as it goes into a header",
  );
}

/** Values for one place of the request: the arguments, and those that are always sent. */
function placed(
  operation: ServiceOperation,
  place: "params" | "query" | "headers",
  args: JsonObject,
): Map<string, { value: Json | undefined; schema: JsonObject }> {
  const properties = (operation[place]?.["properties"] ?? {}) as { [name: string]: JsonObject };
  const found = Object.entries(properties).map(([name, schema]) => {
    const own = Object.hasOwn(args, name) ? args[name] : undefined;
    return [name, { value: "const" in schema ? schema["const"] : own, schema }] as const;
  });
  return new Map(found);
}
