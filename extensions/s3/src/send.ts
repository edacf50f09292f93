/** Signs a request and sends it by the host's client, under its egress rules. What the storage refuses becomes a `NodeError`. */
import { type NodeContext, NodeError, type ResponseLike } from "@millrace/contracts";
import { SECRET_KEY, type Storage, storageOf } from "./config.ts";
import { type Place, urlOf } from "./object-url.ts";
import { refusal } from "./refusal.ts";
import { type Signing, signedHeaders } from "./sign.ts";

/** One request to the storage. */
export interface S3Request extends Place {
  readonly method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  readonly query?: { readonly [name: string]: string | undefined };
  /** Names in lower case. */
  readonly headers?: { readonly [name: string]: string };
  readonly body?: Uint8Array;
  /** Largest answer, in bytes. */
  readonly maxBytes?: number;
}

/** Sends a signed request. Throws a `NodeError` for an answer that is no success. */
export async function send(ctx: NodeContext, request: S3Request): Promise<ResponseLike> {
  const { method, query, headers = {}, body, maxBytes } = request;
  const storage = storageOf(ctx.config);
  const url = urlOf(storage, request, query);
  const signing = await signingOf(ctx, storage);
  const answer = await ctx.fetch(url.href, {
    method,
    headers: signedHeaders(signing, { method, url, headers, body: body ?? new Uint8Array() }),
    sameOrigin: true, // a signature is for one host
    ...(body !== undefined && { body }),
    ...(maxBytes !== undefined && { maxBytes }),
  });
  if (answer.ok) return answer;
  throw await refusal(answer, method);
}

/** The key of the operator, and the time of the run. */
export async function signingOf(
  ctx: NodeContext,
  { accessKeyId, region }: Storage,
): Promise<Signing> {
  const secret = await ctx.credentials.secret(SECRET_KEY);
  return { accessKeyId, secretAccessKey: secret.reveal(), region, now: ctx.now() };
}

/** The error of an action for fields that cannot be meant. */
export function badFields(message: string): NodeError {
  return new NodeError("field_invalid", message, { reason: "input", sent: false });
}
