/** An answer as the record of `http.request`. */
import type { Json, ResponseLike } from "@millrace/contracts";
import { toBase64 } from "@millrace/engine/pack";
import { undecodable } from "../refusals.ts";
import type { HttpFields, HttpRecord } from "./fields.ts";

/** Reads the body to its end. Throws `decode_failed` and what the host's client throws. */
export async function readAnswer(
  response: ResponseLike,
  how: NonNullable<HttpFields["response"]>,
): Promise<HttpRecord> {
  const headers: { [name: string]: string } = {};
  response.headers.forEach((value, name) => {
    const key = name.toLowerCase();
    // A cookie is a credential, and a flow holds none.
    if (key !== "set-cookie") headers[key] = value;
  });
  const bytes = new Uint8Array(await response.arrayBuffer());
  const body = bytes.length === 0 ? null : decode(bytes, headers["content-type"] ?? "", how);
  return { status: response.status, headers, body, url: response.url, bytes: bytes.length };
}

function decode(
  bytes: Uint8Array,
  contentType: string,
  how: NonNullable<HttpFields["response"]>,
): Json {
  const kind = how === "auto" ? kindOf(contentType) : how;
  if (kind === "base64") return toBase64(bytes);
  const text = textOf(bytes, contentType);
  if (kind === "text") return text;
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw undecodable(`the body is not JSON (content type "${contentType.slice(0, 100)}")`);
  }
}

function kindOf(contentType: string): "json" | "text" | "base64" {
  const type = (contentType.split(";")[0] as string).trim().toLowerCase();
  if (type === "application/json" || type.endsWith("+json")) return "json";
  const isText =
    type === "" ||
    type.startsWith("text/") ||
    type.endsWith("+xml") ||
    /^application\/(xml|javascript|x-www-form-urlencoded|x-ndjson|yaml|toml)$/.test(type);
  return isText ? "text" : "base64";
}

function textOf(bytes: Uint8Array, contentType: string): string {
  const charset = /;\s*charset="?([^\s;"]+)/i.exec(contentType)?.[1] ?? "utf-8";
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    throw undecodable(`the charset "${charset.slice(0, 40)}" is not known here; read it as base64`);
  }
}
