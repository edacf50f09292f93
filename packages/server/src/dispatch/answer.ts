/** What a command handler answers, and how the answer goes over HTTP. */
import type { CommandName, CommandResult, ParsedArgs, RunBlob } from "@millrace/contracts";
import type { Exchange, HeaderRecord, Reply } from "../http/index.ts";
import type { CommandCall, CommandHandler } from "../ports.ts";

/** Makes one entry of `CommandHandlers`, with the types of its command. */
export function wire<N extends CommandName>(
  name: N,
  handler: (
    args: ParsedArgs<N>,
    call: CommandCall,
  ) =>
    | CommandResult<N>
    | Answer<CommandResult<N>>
    | Promise<CommandResult<N> | Answer<CommandResult<N>>>,
): readonly [N, CommandHandler] {
  return [name, handler as CommandHandler];
}

/** A result with what HTTP says beside it. */
export class Answer<T = unknown> {
  readonly value: T;
  /** Replaces the status of the command's route. */
  readonly status: number | undefined;
  readonly headers: HeaderRecord;

  constructor(
    value: T,
    options: { readonly status?: number | undefined; readonly headers?: HeaderRecord } = {},
  ) {
    this.value = value;
    this.status = options.status;
    this.headers = options.headers ?? {};
  }
}

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

/** True when an `If-Match` or `If-None-Match` header names `etag`, or is `*`. */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.trim() === "*" || header.split(",").some((tag) => tag.trim() === etag);
}
