/** `s3.put` and `s3.delete`: what changes a bucket. */
import {
  type ActionDefinition,
  defineAction,
  type Json,
  jsonSchema,
  type NodeContext,
  NodeError,
} from "@millrace/contracts";
import { SECRET_KEY } from "./config.ts";
import { bucketField, keyField, pathField, plainTag } from "./fields.ts";
import { PART_BYTES } from "./get.ts";
import type { Place } from "./object-url.ts";
import { refusalOf } from "./refusal.ts";
import { badFields, type S3Request, send } from "./send.ts";
import { elements, escaped, textIn } from "./xml.ts";

interface PutFields {
  readonly bucket: string;
  readonly key: string;
  readonly text?: string;
  readonly json?: Json;
  readonly base64?: string;
  readonly path?: string;
  readonly contentType?: string;
}

interface PutRecord {
  readonly key: string;
  readonly bytes: number;
  readonly etag: string;
}

const MAX_PARTS = 10_000; // Amazon S3 User Guide, "Amazon S3 multipart upload limits"

export const put: ActionDefinition = defineAction({
  name: "put",
  title: "Write object",
  summary: "Writes a text, a value or a file as an object, in the place of any of its key.",
  fields: jsonSchema<PutFields>({
    type: "object",
    required: ["bucket", "key"],
    additionalProperties: false,
    properties: {
      bucket: bucketField,
      key: keyField,
      text: { type: "string", description: "Content, as text." },
      json: { description: "Content, as a value that is written as JSON." },
      base64: { type: "string", description: "Content, as base64." },
      path: { ...pathField, description: "Content: this file below the root, of any size." },
      contentType: {
        type: "string",
        pattern: "^[\\x20-\\x7e]{1,256}$",
        description: "Media type; default by the kind of content.",
      },
    },
  }),
  output: jsonSchema({
    type: "object",
    required: ["key", "bytes", "etag"],
    properties: {
      key: { type: "string" },
      bytes: { type: "integer", description: "Bytes that were written." },
      etag: { type: "string" },
    },
  }),
  effect: "write",
  idempotent: true,
  needs: { secrets: [SECRET_KEY] },
  defaults: { policy: { timeoutMs: 600_000 } },
  async run(fields, ctx) {
    const { bucket, key, path } = fields;
    const given = ["text", "json", "base64", "path"].filter((name) => Object.hasOwn(fields, name));
    if (given.length !== 1) {
      throw badFields(
        `give one of text, json, base64 and path, not ${given.join(" and ") || "none"}`,
      );
    }
    const place = { bucket, key };
    const headers = { "content-type": fields.contentType ?? defaultType(fields) };
    if (path === undefined) return putWhole(ctx, { ...place, headers, body: bytesOf(fields) });
    const first = await ctx.files.read(path, { range: { offset: 0, length: PART_BYTES } });
    if (first.data.length < PART_BYTES) {
      return putWhole(ctx, { ...place, headers, body: first.data });
    }
    return putParts(ctx, { place, headers, path, first });
  },
});

export const remove: ActionDefinition = defineAction({
  name: "delete",
  title: "Delete object",
  summary: "Deletes an object; one that is not there counts as deleted.",
  fields: jsonSchema({
    type: "object",
    required: ["bucket", "key"],
    additionalProperties: false,
    properties: { bucket: bucketField, key: keyField },
  }),
  output: jsonSchema({
    type: "object",
    required: ["key"],
    properties: { key: { type: "string" } },
  }),
  effect: "destructive",
  idempotent: true,
  needs: { secrets: [SECRET_KEY] },
  async run({ bucket, key }, ctx) {
    await send(ctx, { method: "DELETE", bucket, key });
    return { key };
  },
});

async function putWhole(
  ctx: NodeContext,
  request: Omit<S3Request, "method"> & { readonly key: string; readonly body: Uint8Array },
): Promise<PutRecord> {
  const answer = await send(ctx, { ...request, method: "PUT" });
  const { key, body } = request;
  return { key, bytes: body.length, etag: plainTag(answer.headers.get("etag")) };
}

interface Upload {
  readonly place: Place & { readonly key: string };
  readonly headers: { readonly [name: string]: string };
  readonly path: string;
  readonly first: { readonly data: Uint8Array; readonly modifiedAt: string };
}

/** A file in several requests, of which nobody sees anything before the last; one that fails is given up. */
async function putParts(ctx: NodeContext, upload: Upload): Promise<PutRecord> {
  const { place, headers } = upload;
  const begun = await send(ctx, { ...place, method: "POST", query: { uploads: "" }, headers });
  const uploadId = textIn(await begun.text(), "UploadId");
  if (uploadId === undefined) throw new NodeError("s3_refused", "the storage began no upload");
  try {
    const { tags, bytes } = await sendParts(ctx, upload, uploadId);
    const etag = await complete(ctx, place, { uploadId, tags });
    return { key: place.key, bytes, etag };
  } catch (error) {
    // Parts that stay behind cost money; where this cannot be sent any more, a rule of the bucket has to end them.
    await send(ctx, { ...place, method: "DELETE", query: { uploadId } }).catch(() => {});
    throw error;
  }
}

async function sendParts(
  ctx: NodeContext,
  { place, path, first }: Upload,
  uploadId: string,
): Promise<{ readonly tags: readonly string[]; readonly bytes: number }> {
  const tags: string[] = [];
  let bytes = 0;
  for (let part = first; part.data.length > 0; ) {
    if (part.modifiedAt !== first.modifiedAt) {
      throw new NodeError("file_changed", "the file was written while it was read");
    }
    if (tags.length === MAX_PARTS) {
      const text = `limit parts: the file has more than ${MAX_PARTS} parts of ${PART_BYTES} bytes`;
      throw new NodeError("limit_exceeded", text, { reason: "limit" });
    }
    const query = { partNumber: String(tags.length + 1), uploadId };
    const answer = await send(ctx, { ...place, method: "PUT", query, body: part.data });
    tags.push(answer.headers.get("etag") ?? "");
    bytes += part.data.length;
    ctx.progress(bytes);
    if (part.data.length < PART_BYTES) break;
    part = await ctx.files.read(path, { range: { offset: bytes, length: PART_BYTES } });
  }
  return { tags, bytes };
}

async function complete(
  ctx: NodeContext,
  place: Place,
  { uploadId, tags }: { readonly uploadId: string; readonly tags: readonly string[] },
): Promise<string> {
  const parts = tags.map(
    (tag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${escaped(tag)}</ETag></Part>`,
  );
  const body = `<CompleteMultipartUpload>${parts.join("")}</CompleteMultipartUpload>`;
  const answer = await send(ctx, {
    ...place,
    method: "POST",
    query: { uploadId },
    headers: { "content-type": "application/xml" },
    body: new TextEncoder().encode(body),
  });
  // The status is sent before the parts are joined, so that an error may follow a 200.
  const xml = await answer.text();
  if (elements(xml, "Error").length > 0) throw refusalOf(xml, 500);
  return plainTag(textIn(xml, "ETag"));
}

function defaultType({ text, json, path }: PutFields): string {
  if (text !== undefined) return "text/plain; charset=utf-8";
  if (json !== undefined) return "application/json";
  return (
    TYPES.get(/\.([a-z]+)$/i.exec(path ?? "")?.[1]?.toLowerCase() ?? "") ??
    "application/octet-stream"
  );
}

/** Media types of the files that flows make most. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ["csv", "text/csv"],
  ["html", "text/html"],
  ["json", "application/json"],
  ["md", "text/markdown"],
  ["pdf", "application/pdf"],
  ["png", "image/png"],
  ["txt", "text/plain"],
  ["xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"],
]);

function bytesOf({ text, json, base64 = "" }: PutFields): Uint8Array {
  if (text !== undefined) return new TextEncoder().encode(text);
  if (json !== undefined) return new TextEncoder().encode(JSON.stringify(json));
  const isBase64 = base64.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(base64);
  if (!isBase64) throw badFields("base64: not base64");
  return new Uint8Array(Buffer.from(base64, "base64"));
}
