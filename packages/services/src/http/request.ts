/** Fields to a request. Nothing is sent here. */
import type { FetchInit, Json, NodeContext } from "@millrace/contracts";
import { idempotencyKeyOf } from "../idempotency-key.ts";
import { invalidArgument } from "../refusals.ts";
import type { HttpFields, Scalar } from "./fields.ts";

const JSON_TYPE = "application/json";
const TEXT_TYPE = "text/plain;charset=utf-8";
const FORM_TYPE = "application/x-www-form-urlencoded";

/** URL and init of a request. Throws `field_invalid`. */
export function buildRequest(
  fields: HttpFields,
  ctx: Pick<NodeContext, "runId" | "node" | "idempotencyKey">,
): { url: string; init: FetchInit } {
  const headers: { [name: string]: string } = {};
  for (const [name, value] of Object.entries(fields.headers ?? {})) {
    headers[name.toLowerCase()] = String(value);
  }
  const content = contentOf(fields);
  if (content !== undefined) headers["content-type"] ??= content.type;
  const key = idempotencyKeyOf(ctx);
  if (key.isWritten) headers["idempotency-key"] ??= key.text;
  const init = { method: fields.method ?? "GET", headers };
  return {
    url: urlOf(fields),
    init: content === undefined ? init : { ...init, body: content.body },
  };
}

function urlOf(fields: HttpFields): string {
  if (!URL.canParse(fields.url)) {
    throw invalidArgument(
      "url",
      "not an absolute address; write one such as https://api.example/v1",
    );
  }
  const url = new URL(fields.url);
  const query = new URLSearchParams(pairsOf(fields.query ?? {})).toString();
  // Joined as text: through `searchParams` the query that the author wrote would be spelled anew.
  if (query !== "") url.search = url.search === "" ? query : `${url.search}&${query}`;
  return url.href;
}

function contentOf(fields: HttpFields): { type: string; body: string } | undefined {
  const { body = null, form } = fields; // validation refuses both together
  if (form !== undefined) {
    return { type: FORM_TYPE, body: new URLSearchParams(pairsOf(form)).toString() };
  }
  if (body === null) return undefined;
  return typeof body === "string"
    ? { type: TEXT_TYPE, body }
    : { type: JSON_TYPE, body: JSON.stringify(body satisfies Json) };
}

function pairsOf(from: {
  readonly [name: string]: Scalar | readonly Scalar[];
}): [string, string][] {
  return Object.entries(from).flatMap(([name, value]) =>
    (isList(value) ? value : [value])
      .filter((each) => each !== null)
      .map((each): [string, string] => [name, String(each)]),
  );
}

function isList(value: Scalar | readonly Scalar[]): value is readonly Scalar[] {
  return Array.isArray(value);
}
