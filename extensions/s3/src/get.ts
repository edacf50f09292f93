/** `s3.get` and `s3.download`: the content of an object, as a value or in a file. */
import {
  type ActionDefinition,
  defineAction,
  type Json,
  jsonSchema,
  type NodeContext,
  NodeError,
} from "@millrace/contracts";
import { SECRET_KEY } from "./config.ts";
import { bucketField, isoDate, keyField, OBJECT, pathField, plainTag } from "./fields.ts";
import { send } from "./send.ts";

interface ObjectRecord {
  readonly key: string;
  readonly bytes: number;
  readonly etag: string;
  readonly modifiedAt: string;
  readonly contentType: string;
}

interface GetRecord extends ObjectRecord {
  readonly content: Json;
}

const MAX_CONTENT = 4_194_304; // the largest output of a node

const CONTENT_TYPE = { type: "string", description: "Media type that the storage has for it." };

export const get: ActionDefinition = defineAction({
  name: "get",
  title: "Read object",
  summary: "Reads an object as text, JSON or base64.",
  fields: jsonSchema({
    type: "object",
    required: ["bucket", "key"],
    additionalProperties: false,
    properties: {
      bucket: bucketField,
      key: keyField,
      encoding: {
        enum: ["utf8", "json", "base64"],
        default: "utf8",
        description: "How the bytes are given: as text, as data, or as base64.",
      },
      maxBytes: {
        type: "integer",
        minimum: 0,
        maximum: MAX_CONTENT,
        default: MAX_CONTENT,
        description: "Largest object; s3.download takes larger ones.",
      },
    },
  }),
  output: jsonSchema<GetRecord>({
    type: "object",
    required: [...Object.keys(OBJECT), "contentType", "content"],
    properties: {
      ...OBJECT,
      contentType: CONTENT_TYPE,
      content: {
        description: "A string, or any value with encoding json.",
        "x-millrace": { untrusted: true, aliases: ["data", "text", "body", "json"] },
      },
    },
  }),
  effect: "read",
  needs: { secrets: [SECRET_KEY] },
  async run({ bucket, key, encoding = "utf8", maxBytes = MAX_CONTENT }, ctx) {
    const answer = await send(ctx, { method: "GET", bucket, key, maxBytes });
    const data = new Uint8Array(await answer.arrayBuffer());
    return { ...about(key, data.length, answer.headers), content: contentOf(data, encoding) };
  },
});

interface DownloadRecord extends ObjectRecord {
  readonly path: string;
}

/** Bytes of one request, and of one write: a message between an extension and its host holds no more than 11 MiB. */
export const PART_BYTES = 8_388_608;

export const download: ActionDefinition = defineAction({
  name: "download",
  title: "Save object to a file",
  summary: "Writes an object to a file, part by part.",
  fields: jsonSchema({
    type: "object",
    required: ["bucket", "key", "path"],
    additionalProperties: false,
    properties: {
      bucket: bucketField,
      key: keyField,
      path: pathField,
      mode: {
        enum: ["create", "replace"],
        default: "create",
        description: "create fails where a file is.",
      },
    },
  }),
  output: jsonSchema<DownloadRecord>({
    type: "object",
    required: [...Object.keys(OBJECT), "contentType", "path"],
    properties: { ...OBJECT, contentType: CONTENT_TYPE, path: { type: "string" } },
  }),
  effect: "write",
  needs: { secrets: [SECRET_KEY] },
  defaults: { policy: { timeoutMs: 600_000 } },
  async run({ bucket, key, path, mode = "create" }, ctx) {
    const head = await send(ctx, { method: "HEAD", bucket, key });
    const bytes = Number(head.headers.get("content-length") ?? Number.NaN);
    const etag = head.headers.get("etag");
    // The client of the host unpacks what says that it is packed; the length and the parts are of what is stored.
    const isPacked = head.headers.get("content-encoding") !== null;
    if (!Number.isSafeInteger(bytes)) {
      throw new NodeError("s3_refused", "the storage does not say how long the object is");
    }
    let written = "";
    for (let from = 0; from === 0 || from < bytes; from += PART_BYTES) {
      const to = Math.min(from + PART_BYTES, bytes);
      const data =
        to === 0 ? new Uint8Array() : await part(ctx, { bucket, key, etag, isPacked, from, to });
      const file = await ctx.files.write(path, data, { mode: from === 0 ? mode : "append" });
      written = file.path;
      ctx.progress(to, bytes);
    }
    return { ...about(key, bytes, head.headers), path: written };
  },
});

/** Bytes of the object that was looked at, and of no other that has taken its place. */
async function part(
  ctx: NodeContext,
  at: {
    readonly bucket: string;
    readonly key: string;
    readonly etag: string | null;
    readonly isPacked: boolean;
    readonly from: number;
    readonly to: number;
  },
): Promise<Uint8Array> {
  const { bucket, key, etag, isPacked, from, to } = at;
  const answer = await send(ctx, {
    method: "GET",
    bucket,
    key,
    ...(isPacked && { query: { "response-content-encoding": "identity" } }),
    headers: { range: `bytes=${from}-${to - 1}`, ...(etag !== null && { "if-match": etag }) },
    maxBytes: to - from,
  });
  const data = new Uint8Array(await answer.arrayBuffer());
  if (data.length === to - from) return data;
  throw new NodeError(
    "s3_changed",
    `the object is not what it was: it has no bytes ${from} to ${to}`,
  );
}

function about(
  key: string,
  bytes: number,
  headers: { get(name: string): string | null },
): ObjectRecord {
  return {
    key,
    bytes,
    etag: plainTag(headers.get("etag")),
    modifiedAt: isoDate(headers.get("last-modified")),
    contentType: headers.get("content-type") ?? "",
  };
}

function contentOf(data: Uint8Array, encoding: "utf8" | "json" | "base64"): Json {
  if (encoding === "base64") return Buffer.from(data).toString("base64");
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(data);
  } catch {
    throw notDecoded('the object is not UTF-8 text; read it with encoding "base64"');
  }
  if (encoding === "utf8") return text;
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw notDecoded("the object is not JSON");
  }
}

function notDecoded(message: string): NodeError {
  return new NodeError("decode_failed", message, { reason: "output" });
}
