/**
 * AWS Signature Version 4 for S3: in a header, or in the query of a URL. Pure: the same request at the same time has the same
 * signature. What is signed is what the URL says: its path decoded and encoded once, as servers do it.
 * @see AWS Identity and Access Management User Guide, "Create a signed AWS API request"
 */
import { createHash, createHmac } from "node:crypto";

/** Who signs, and when. */
export interface Signing {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

const ALGORITHM = "AWS4-HMAC-SHA256";

/** The headers of a request with its signature; `headers` in lower case. All of them are signed. */
export function signedHeaders(
  signing: Signing,
  request: {
    readonly method: string;
    readonly url: URL;
    readonly headers: { readonly [name: string]: string };
    readonly body: Uint8Array;
  },
): { readonly [name: string]: string } {
  const { method, url, body } = request;
  const { time, credential } = scopeOf(signing);
  const hash = createHash("sha256").update(body).digest("hex");
  const headers = { ...request.headers, "x-amz-content-sha256": hash, "x-amz-date": time };
  const signed = Object.entries({ ...headers, host: url.host }).sort(byName);
  const names = signed.map(([name]) => name).join(";");
  const signature = signatureOf(signing, { method, url, signed, names, hash });
  const authorization = `${ALGORITHM} Credential=${credential}, SignedHeaders=${names}, Signature=${signature}`;
  return { ...headers, authorization };
}

/** The URL that does one request for so many seconds without a key. */
export function signedUrl(
  signing: Signing,
  { method, url, expiresIn }: { method: string; url: URL; expiresIn: number },
): URL {
  const { time, credential } = scopeOf(signing);
  const words = [
    `X-Amz-Algorithm=${ALGORITHM}`,
    `X-Amz-Credential=${encode(credential)}`,
    `X-Amz-Date=${time}`,
    `X-Amz-Expires=${expiresIn}`,
    "X-Amz-SignedHeaders=host",
  ];
  const unsigned = new URL(`${url.href}?${words.join("&")}`);
  const signed = [["host", url.host]] as const;
  const signature = signatureOf(signing, {
    ...{ method, url: unsigned, signed, names: "host", hash: "UNSIGNED-PAYLOAD" },
  });
  return new URL(`${unsigned.href}&X-Amz-Signature=${signature}`);
}

/** Everything but the unreserved characters of RFC 3986. */
export function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function scopeOf({ accessKeyId, region, now }: Signing) {
  const time = new Date(now).toISOString().replace(/[:-]|\.\d{3}/g, "");
  const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`;
  return { time, scope, credential: `${accessKeyId}/${scope}` };
}

function signatureOf(
  signing: Signing,
  request: {
    readonly method: string;
    readonly url: URL;
    readonly signed: readonly (readonly [name: string, value: string])[];
    readonly names: string;
    readonly hash: string;
  },
): string {
  const { method, url, signed, names, hash } = request;
  const { time, scope } = scopeOf(signing);
  const path = decodeURIComponent(url.pathname).split("/").map(encode).join("/");
  const query = [...url.searchParams]
    .map(([name, value]) => [encode(name), encode(value)] as const)
    .sort(byName)
    .map((pair) => pair.join("="))
    .join("&");
  const lines = signed.map(([name, value]) => `${name}:${value.trim().replace(/ +/g, " ")}\n`);
  const canonical = [method, path, query, lines.join(""), names, hash].join("\n");
  const digest = createHash("sha256").update(canonical).digest("hex");
  const key = scope.split("/").reduce<string | Buffer>(hmac, `AWS4${signing.secretAccessKey}`);
  return hmac(key, [ALGORITHM, time, scope, digest].join("\n")).toString("hex");
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}

/** By code units, as signatures want it. */
function byName([a]: readonly [string, string], [b]: readonly [string, string]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
