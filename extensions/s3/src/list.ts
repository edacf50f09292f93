/** `s3.list`: the objects of a bucket, page by page. */
import { type ActionDefinition, defineAction, jsonSchema } from "@millrace/contracts";
import { SECRET_KEY } from "./config.ts";
import { bucketField, isoDate, OBJECT, plainTag } from "./fields.ts";
import { refusalOf } from "./refusal.ts";
import { send } from "./send.ts";
import { elements, textIn } from "./xml.ts";

interface Listed {
  readonly key: string;
  readonly bytes: number;
  readonly etag: string;
  readonly modifiedAt: string;
}

interface ListRecord {
  readonly objects: readonly Listed[];
  readonly folders: readonly string[];
  readonly next: string | null;
}

const DEFAULT_LIMIT = 1_000;
const MAX_LIMIT = 10_000; // more does not fit into one output
const PAGE = 1_000; // Amazon S3 API Reference, ListObjectsV2, "max-keys"

export const list: ActionDefinition = defineAction({
  name: "list",
  title: "List objects",
  summary: "Lists the objects of a bucket in the order of their keys.",
  fields: jsonSchema({
    type: "object",
    required: ["bucket"],
    additionalProperties: false,
    properties: {
      bucket: bucketField,
      prefix: { type: "string", description: "Only keys that begin like this." },
      delimiter: {
        type: "string",
        minLength: 1,
        description: 'With "/" the keys of subfolders are given once, as folders.',
      },
      limit: {
        type: "integer",
        minimum: 1,
        maximum: MAX_LIMIT,
        default: DEFAULT_LIMIT,
        description: "Most objects and folders of one answer.",
      },
      after: { type: "string", description: "The next of the answer before." },
    },
  }),
  output: jsonSchema<ListRecord>({
    type: "object",
    required: ["objects", "folders", "next"],
    properties: {
      objects: {
        type: "array",
        items: { type: "object", required: Object.keys(OBJECT), properties: OBJECT },
        "x-millrace": { untrusted: true },
      },
      folders: {
        type: "array",
        items: { type: "string" },
        "x-millrace": { untrusted: true },
      },
      next: {
        type: ["string", "null"],
        description: "What after takes for the next page; null: there is none.",
      },
    },
  }),
  effect: "read",
  needs: { secrets: [SECRET_KEY] },
  async run({ bucket, prefix, delimiter, limit = DEFAULT_LIMIT, after }, ctx) {
    const objects: Listed[] = [];
    const folders: string[] = [];
    let next = after ?? null;
    do {
      const most = Math.min(PAGE, limit - objects.length - folders.length);
      const query = {
        "list-type": "2",
        "encoding-type": "url", // XML cannot hold every character that a key may have
        "max-keys": String(most),
        prefix,
        delimiter,
        "continuation-token": next ?? undefined,
      };
      const answer = await send(ctx, { method: "GET", bucket, query });
      const page = pageOf(await answer.text());
      objects.push(...page.objects);
      folders.push(...page.folders);
      next = page.next;
    } while (next !== null && objects.length + folders.length < limit);
    return { objects, folders, next };
  },
});

/** Throws `NodeError` for an answer that is no list. */
function pageOf(xml: string): ListRecord {
  if (elements(xml, "ListBucketResult").length === 0) throw refusalOf(xml, 200);
  const isEncoded = textIn(xml, "EncodingType") === "url";
  const name = (text = ""): string => (isEncoded ? decoded(text) : text);
  return {
    objects: elements(xml, "Contents").map((object) => ({
      key: name(textIn(object, "Key")),
      bytes: Number(textIn(object, "Size") ?? 0),
      etag: plainTag(textIn(object, "ETag")),
      modifiedAt: isoDate(textIn(object, "LastModified")),
    })),
    folders: elements(xml, "CommonPrefixes").map((folder) => name(textIn(folder, "Prefix"))),
    next:
      textIn(xml, "IsTruncated") === "true" ? (textIn(xml, "NextContinuationToken") ?? null) : null,
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}
