/**
 * Files of a hub: below an https URL through the egress client, or below a folder of the operator.
 *   S1  Nothing outside of the hub is read: no other origin, no link out of the folder.
 *   S2  No more than the limit is taken in, whatever length the other side tells.
 */
import { type ErrorCode, type FetchLike, type Hub, NodeError } from "@millrace/contracts";
import { ProblemError } from "../errors.ts";
import type { ServerHost } from "../ports.ts";

/** Which file to read. `path` as `hubIndexSchema` takes it. */
export interface HubFile {
  readonly path: string;
  readonly maxBytes: number;
}

/** How long a hub may take for one file, in milliseconds. */
const READ_MS = 60_000;
/** Redirects within the hub's own origin. */
const MAX_REDIRECTS = 3;

/** Codes of the egress client and of the file port; what is not here is the network's fault. */
const CODES: ReadonlyMap<string, ErrorCode> = new Map([
  ["timeout", "upstream_timeout"],
  ["response_too_large", "hub_rejected"],
  ["file_too_large", "hub_rejected"],
  ["file_denied", "hub_rejected"],
]);
/** Rules of the egress client that a hub has broken, not its operator. */
const REDIRECTED = /^(?:connection-origin|redirects|redirect-downgrade):/;

/**
 * Reads a file of a hub. Throws `hub_rejected` for one that is larger than `maxBytes` or lies elsewhere, `upstream_failed`,
 * `upstream_timeout`.
 */
export async function readHubFile(
  hub: Hub,
  file: HubFile,
  { egress, hubFolders }: Pick<ServerHost, "egress" | "hubFolders">,
): Promise<Uint8Array> {
  const { maxBytes, path } = file;
  const limit = AbortSignal.timeout(READ_MS);
  try {
    if (hub.kind === "https") return await download(hub.url, file, { egress, limit });
    const folder = hubFolders.get(hub.id);
    if (folder === undefined) throw failed("The operator has taken the folder of the hub away");
    const { data } = await folder.read(path, { maxBytes, signal: limit });
    return data;
  } catch (error) {
    if (limit.aborted) throw new ProblemError("upstream_timeout", { cause: error });
    throw NodeError.isInstance(error) ? problemOf(error, file) : error;
  }
}

async function download(
  hubUrl: string,
  { path, maxBytes }: HubFile,
  { egress, limit }: { readonly egress: FetchLike; readonly limit: AbortSignal },
): Promise<Uint8Array> {
  const url = new URL(path, hubUrl.endsWith("/") ? hubUrl : `${hubUrl}/`);
  const done = new AbortController();
  try {
    const response = await egress(url.href, {
      signal: AbortSignal.any([limit, done.signal]),
      maxBytes,
      maxRedirects: MAX_REDIRECTS,
      sameOrigin: true,
    });
    if (response.status !== 200) throw failed(`The hub answered ${response.status} for ${path}`);
    return new Uint8Array(await response.arrayBuffer());
  } finally {
    done.abort(); // an answer that was not read to its end must not keep its socket
  }
}

function problemOf(error: NodeError, { path, maxBytes }: HubFile): ProblemError {
  const { code, message } = error;
  if (code === "egress_denied" && REDIRECTED.test(message)) {
    return rejected(`The hub sends ${path} elsewhere: ${message}`, { cause: error });
  }
  const known = CODES.get(code) ?? "upstream_failed";
  const detail = {
    response_too_large: `${path} has more than ${maxBytes} bytes`,
    file_too_large: `${path} has more than ${maxBytes} bytes`,
    file_denied: `${path} is not a plain file of the hub's folder`,
    file_not_found: `The hub has no ${path}`,
  }[code];
  return new ProblemError(known, { detail: detail ?? message, cause: error });
}

function failed(detail: string): ProblemError {
  return new ProblemError("upstream_failed", { detail });
}

/** The refusal of what a hub holds. */
export function rejected(
  detail: string,
  options: ConstructorParameters<typeof ProblemError>[1] = {},
): ProblemError {
  return new ProblemError("hub_rejected", { detail, ...options });
}
