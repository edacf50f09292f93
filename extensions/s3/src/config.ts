/** What the operator says of the storage. The secret key is no part of it: it is the secret `S3_SECRET_ACCESS_KEY`. */
import { type JsonObject, type JsonSchemaOf, jsonSchema, NodeError } from "@millrace/contracts";

/** Name of the secret key among the secrets of extensions. */
export const SECRET_KEY = "S3_SECRET_ACCESS_KEY";

/** A storage as the actions use it. */
export interface Storage {
  /** Origin of the service, with no bucket in it. */
  readonly endpoint: URL;
  readonly region: string;
  readonly accessKeyId: string;
  readonly style: "virtual-host" | "path";
  /** Longest life of a signed URL, in seconds. */
  readonly maxPresignSeconds: number;
}

/** What Signature Version 4 allows: seven days. */
const MOST_PRESIGN_SECONDS = 604_800;

export const configSchema: JsonSchemaOf<JsonObject> = jsonSchema<JsonObject>({
  type: "object",
  required: ["accessKeyId"],
  additionalProperties: false,
  properties: {
    accessKeyId: {
      type: "string",
      minLength: 1,
      maxLength: 256,
      description: "Id of the key. It names the key in every signed URL; it is no secret.",
    },
    region: { type: "string", pattern: "^[a-z0-9-]{1,64}$", default: "us-east-1" },
    endpoint: {
      type: "string",
      maxLength: 256,
      description:
        "Origin such as https://storage.example:9000; default that of AWS in the region.",
    },
    style: {
      enum: ["virtual-host", "path"],
      default: "virtual-host",
      description: "Where the bucket stands: bucket.storage.example, or storage.example/bucket.",
    },
    maxPresignSeconds: {
      type: "integer",
      minimum: 1,
      maximum: MOST_PRESIGN_SECONDS,
      default: 3_600,
      description: "Longest life of a URL that presign may give.",
    },
  },
});

/** Reads the configuration. Throws `s3_config`. */
export function storageOf(config: JsonObject): Storage {
  const region = config["region"] ?? "us-east-1";
  const {
    accessKeyId,
    endpoint = `https://s3.${region}.amazonaws.com`,
    style = "virtual-host",
    maxPresignSeconds = 3_600,
  } = config as Partial<{ readonly [name in string]: string | number }>;
  if (typeof accessKeyId !== "string" || accessKeyId === "") {
    throw wrong("accessKeyId is missing");
  }
  const text = String(endpoint);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isOrigin =
    url !== undefined && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
  if (!isOrigin) throw wrong("endpoint is no origin such as https://storage.example:9000");
  return {
    endpoint: url,
    region: String(region),
    accessKeyId,
    style: style === "path" ? "path" : "virtual-host",
    maxPresignSeconds: Number(maxPresignSeconds),
  };
}

function wrong(what: string): NodeError {
  const text = `the configuration of s3 in millrace.json: ${what}`;
  return new NodeError("s3_config", text, { reason: "input", sent: false });
}
