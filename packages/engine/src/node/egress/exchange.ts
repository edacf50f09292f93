/** One hop: a request goes out on a checked connection, the head of the answer comes back. */
import * as http from "node:http";
import * as https from "node:https";
import { NodeError } from "@millrace/contracts";
import type { Call } from "./call.ts";
import type { Target } from "./egress-check.ts";
import { phaseOf } from "./pools.ts";
import { networkFailed, timedOut, tlsFailed } from "./refusal.ts";

/** Methods that may be sent a second time when a kept connection turns out to be closed (RFC 9110, 9.2.2). */
const IDEMPOTENT: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "PUT", "DELETE"]);

/** Faults of the transport; while TLS is being set up anything else is a fault of TLS. */
const TRANSPORT = /^(?:ECONN|ETIMEDOUT|EPIPE|EHOST|ENET)/;

export interface Hop {
  readonly url: URL;
  readonly target: Target;
  readonly method: string;
  readonly headers: { readonly [name: string]: string };
  readonly body: Uint8Array | undefined;
  readonly agent: http.Agent;
}

/** Resolves with the answer, its body unread. Rejects with `NodeError` or with the reason of the call. */
export async function exchange(hop: Hop, call: Call): Promise<http.IncomingMessage> {
  for (;;) {
    call.check();
    const sent = await once(hop, call);
    // A closed connection leaves the pool, so this ends with a new one at the latest.
    if (sent !== "stale") return sent;
  }
}

function once(hop: Hop, call: Call): Promise<http.IncomingMessage | "stale"> {
  const { url, target, method, headers, body, agent } = hop;
  const { request } = url.protocol === "https:" ? https : http;
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { "content-length": String(body.length) };
    const outgoing = request({
      agent,
      host: target.host,
      port: target.port,
      path: `${url.pathname}${url.search}`,
      method,
      headers: { "accept-encoding": "gzip, deflate, br", ...DEFAULTS, ...headers, ...length },
    });
    outgoing.on("error", (error: Error & { code?: string }) => {
      const closed = error.code === "ECONNRESET" || error.code === "EPIPE";
      if (outgoing.reusedSocket && closed && IDEMPOTENT.has(method)) resolve("stale");
      else reject(call.reason(explained(error, outgoing, target.host)));
    });
    outgoing.once("response", (answer) => {
      outgoing.setTimeout(0);
      call.hold(answer);
      resolve(answer);
    });
    outgoing.setTimeout(call.idleMs, () =>
      outgoing.destroy(timedOut("idle", call.idleMs, target.host)),
    );
    call.hold(outgoing);
    outgoing.end(body);
  });
}

const DEFAULTS = { accept: "*/*", "user-agent": "millrace" };

function explained(
  error: Error & { code?: string },
  from: http.ClientRequest,
  host: string,
): Error {
  if (NodeError.isInstance(error)) return error;
  const phase = phaseOf(from.socket);
  const code = error.code ?? (error as AggregateError).errors?.[0]?.code;
  if (phase === "securing" && !TRANSPORT.test(code ?? "")) return tlsFailed(host, error);
  return networkFailed(host, { code }, phase === "open");
}
