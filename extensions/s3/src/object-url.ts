/**
 * The URL of a bucket or an object.
 *   U1  What a server decodes is the bucket and the key, sign by sign.
 *   U2  No URL parser changes it: of a key with a segment `.` or `..` the slashes are encoded, too, since a parser resolves
 *       such a segment, even an encoded one, wherever it stands between slashes.
 */
import { NodeError } from "@millrace/contracts";
import type { Storage } from "./config.ts";
import { encode } from "./sign.ts";

/** A bucket, and a key where an object is meant. */
export interface Place {
  readonly bucket: string;
  readonly key?: string;
}

const MAX_KEY_BYTES = 1_024; // of UTF-8: Amazon S3 User Guide, "Naming Amazon S3 objects"
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/; // ibid., "Bucket naming rules"

/** Where the bucket or the object is. Throws `s3_bucket_invalid`, `s3_key_invalid`, `s3_config`. */
export function urlOf(
  { endpoint, style }: Storage,
  { bucket, key }: Place,
  query: { readonly [name: string]: string | undefined } = {},
): URL {
  if (!BUCKET.test(bucket) || bucket.includes("..")) {
    const text = `"${bucket.slice(0, 64)}" is no name of a bucket: 3 to 63 of a-z, 0-9, "-" and "."`;
    throw new NodeError("s3_bucket_invalid", text, { reason: "input", sent: false });
  }
  const object = key === undefined ? "" : encodedKey(key);
  const { protocol, host } = endpoint;
  const at =
    style === "path"
      ? `${endpoint.origin}/${bucket}${key === undefined ? "" : `/${object}`}`
      : `${protocol}//${bucket}.${hostOf(endpoint, host)}/${object}`;
  const words = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${encode(name)}=${encode(value)}`],
  );
  return new URL(words.length === 0 ? at : `${at}?${words.join("&")}`);
}

function hostOf({ hostname }: URL, host: string): string {
  const isAddress = hostname.startsWith("[") || /^[\d.]+$/.test(hostname);
  if (!isAddress) return host;
  const text = 'an address as endpoint has no hosts of buckets: set "style": "path" for s3';
  throw new NodeError("s3_config", text, { reason: "input", sent: false });
}

function encodedKey(key: string): string {
  const segments = key.split("/");
  if (key === "" || key === "." || key === "..") throw badKey("is no key that a URL can name");
  if (/[\uD800-\uDFFF]/u.test(key)) throw badKey("holds half a character");
  if (new TextEncoder().encode(key).length > MAX_KEY_BYTES) {
    throw badKey(`has more than ${MAX_KEY_BYTES} bytes`);
  }
  const isResolved = segments.some((segment) => segment === "." || segment === "..");
  return segments.map(encode).join(isResolved ? "%2F" : "/");
}

function badKey(what: string): NodeError {
  return new NodeError("s3_key_invalid", `the key ${what}`, { reason: "input", sent: false });
}
