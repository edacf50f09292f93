/**
 * The files of the studio: sent without a token, as they hold no data. The page asks for a token itself.
 * @see the server page, "The studio"
 */
import { isUnchanged } from "../dispatch/index.ts";
import type { Exchange, HeaderRecord, Reply } from "../http/index.ts";
import { STUDIO, type StudioAsset, type StudioAssets } from "./assets.ts";

/** Content security policy of the page: its own files, requests to its own server, and one worker. Workers obey the policy of their file. */
const POLICY = [
  "default-src 'none'",
  ...["script", "style", "img", "font", "connect", "worker", "manifest"].map(
    (kind) => `${kind}-src 'self'`,
  ),
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types millrace-worker",
].join("; ");

const HEADERS: Readonly<HeaderRecord> = {
  "Content-Security-Policy": POLICY,
  "X-Frame-Options": "DENY",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
  Vary: "Accept-Encoding",
};

const ENCODINGS = ["br", "gzip"] as const;

/** The answer that leads to the page; it depends on the client. */
export function toStudio(): Reply {
  return { status: 303, headers: { Location: STUDIO, Vary: "Accept" }, body: "" };
}

/** Responses to GET for each path of the page. */
export function studioPages(
  assets: StudioAssets,
): ReadonlyMap<string, (exchange: Exchange) => Reply> {
  return new Map(
    [...assets].map(([path, asset]) => [path, (exchange) => toReply(asset, exchange)]),
  );
}

function toReply(asset: StudioAsset, exchange: Exchange): Reply {
  const { body, type, etag, immutable } = asset;
  const accepted = exchange.header("accept-encoding") ?? "";
  const encoding = ENCODINGS.find((each) => asset[each] !== undefined && accepts(accepted, each));
  const headers: HeaderRecord = {
    ...HEADERS,
    "Content-Type": type,
    // Two encodings of one file are two things to a cache.
    ETag: encoding === undefined ? etag : etag.replace(/"$/, `-${encoding}"`),
    "Cache-Control": immutable ? "public, max-age=31536000, immutable" : "no-cache",
    ...(encoding !== undefined && { "Content-Encoding": encoding }),
  };
  if (isUnchanged(exchange.header("if-none-match"), `${headers["ETag"]}`)) {
    return { status: 304, headers };
  }
  return { status: 200, headers, body: (encoding && asset[encoding]) ?? body };
}

/** Whether an `Accept-Encoding` names an encoding and does not refuse it. @see RFC 9110, section 12.5.3 */
function accepts(header: string, encoding: string): boolean {
  return header.split(",").some((part) => {
    // No pattern with spaces around a sign: over a header of spaces it takes the square of its length.
    const [name, ...parameters] = part.split(";").map((each) => each.trim().toLowerCase());
    return name === encoding && !parameters.some((each) => /^q=0(\.0*)?$/.test(each));
  });
}
