/** `s3.presign`: a URL by which anybody who has it reads or writes one object, until it expires. */
import { type ActionDefinition, defineAction, jsonSchema } from "@millrace/contracts";
import { SECRET_KEY, storageOf } from "./config.ts";
import { bucketField, keyField } from "./fields.ts";
import { urlOf } from "./object-url.ts";
import { badFields, signingOf } from "./send.ts";
import { signedUrl } from "./sign.ts";

const DEFAULT_SECONDS = 900;

export const presign: ActionDefinition = defineAction({
  name: "presign",
  title: "Sign a URL",
  summary: "Makes a URL that reads or writes one object without a key, until it expires.",
  fields: jsonSchema({
    type: "object",
    required: ["bucket", "key"],
    additionalProperties: false,
    properties: {
      bucket: bucketField,
      key: keyField,
      method: { enum: ["GET", "PUT"], default: "GET", description: "What the URL is for." },
      expiresIn: {
        type: "integer",
        minimum: 1,
        default: DEFAULT_SECONDS,
        description: "Life of the URL, in seconds; the operator sets the longest.",
      },
    },
  }),
  output: jsonSchema({
    type: "object",
    required: ["url", "method", "expiresAt"],
    properties: {
      url: {
        type: "string",
        description:
          "Whoever has it may use it: the log of the run keeps it, so keep its life short.",
      },
      method: { enum: ["GET", "PUT"] },
      expiresAt: { type: "string", format: "date-time" },
    },
  }),
  // It changes nothing by itself, but gives away what a key protects: models are to ask first.
  effect: "write",
  idempotent: true,
  needs: { secrets: [SECRET_KEY] },
  async run({ bucket, key, method = "GET", expiresIn = DEFAULT_SECONDS }, ctx) {
    const storage = storageOf(ctx.config);
    if (expiresIn > storage.maxPresignSeconds) {
      const text = `expiresIn: ${expiresIn} is more than maxPresignSeconds, ${storage.maxPresignSeconds}`;
      throw badFields(text);
    }
    const signing = await signingOf(ctx, storage);
    const { href: url } = signedUrl(signing, {
      method,
      url: urlOf(storage, { bucket, key }),
      expiresIn,
    });
    const signedAt = Math.floor(signing.now / 1_000); // what the URL says, in seconds
    const expiresAt = new Date((signedAt + expiresIn) * 1_000).toISOString();
    return { url, method, expiresAt };
  },
});
