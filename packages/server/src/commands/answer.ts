/** How the answer of a command goes over the wire. */
import type { RunBlob } from "@millrace/contracts";
import type { Exchange, HeaderRecord, Reply } from "../http/index.ts";
import { matchesEtag } from "./conditions.ts";
import type { Answer } from "./dispatch.ts";

/** Media type of routes that answer bytes. */
export const BYTES = "application/octet-stream";
/** Content type of every answer that is JSON and no problem. */
export const JSON_TYPE: HeaderRecord = { "Content-Type": "application/json" };

/** The result as JSON; 304 when the client has it already. */
export function jsonReply(exchange: Exchange, answer: Answer, status: number): Reply {
  const { value, headers } = answer;
  const chosen = answer.status ?? status;
  const { ETag } = headers;
  const known =
    exchange.method === "GET" &&
    ETag !== undefined &&
    matchesEtag(exchange.header("if-none-match"), `${ETag}`);
  if (known) return { status: 304, headers };
  if (chosen === 204) return { status: 204, headers };
  return { status: chosen, headers: { ...JSON_TYPE, ...headers }, body: JSON.stringify(value) };
}

/** By name a value travels as base64; over its route as the bytes themselves, never to be shown as a page. */
export function bytesReply(answer: Answer): Reply {
  const { base64 } = answer.value as RunBlob;
  return {
    status: 200,
    headers: { "Content-Type": BYTES, "Content-Disposition": "attachment", ...answer.headers },
    body: Buffer.from(base64, "base64"),
  };
}
