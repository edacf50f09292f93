/**
 * The one way out: `fetch` behind an egress policy.
 *   N1  Every hop passes the whole check: URL, all resolved addresses, the address of the socket.
 *   N2  A header that belongs to one origin never reaches another.
 *   N3  Options of a request lower the limits of the policy, they never raise them.
 */
import type { IncomingMessage } from "node:http";
import { type FetchInit, type FetchLike, NodeError } from "@millrace/contracts";
import type { EgressPolicy } from "../../host.ts";
import { toResponse } from "./answer.ts";
import { Call } from "./call.ts";
import { createEgressCheck, type EgressCheck, hostOf } from "./egress-check.ts";
import { exchange } from "./exchange.ts";
import { checkHeaders } from "./headers.ts";
import { type Resolve, systemResolve } from "./pinned-lookup.ts";
import { createPools, type Pools } from "./pools.ts";
import { refused } from "./refusal.ts";

const DEFAULTS = {
  maxRedirects: 5,
  connectMs: 10_000,
  idleMs: 30_000,
  totalMs: 300_000,
  maxResponseBytes: 67_108_864,
  maxRequestBytes: 10_485_760,
  perHost: 16,
} satisfies EgressPolicy;

type Limits = typeof DEFAULTS;

/** Methods that would open a tunnel or echo credentials. */
const REFUSED_METHODS: ReadonlySet<string> = new Set(["CONNECT", "TRACE", "TRACK"]);

const utf8 = new TextEncoder();

/** A request on its way; redirects change all of it. */
interface Journey {
  url: URL;
  method: string;
  headers: { [name: string]: string };
  body: Uint8Array | undefined;
}

/** An egress client with pools of its own. Throws `TypeError` for a policy that cannot be read. */
export function openFetch(policy: EgressPolicy, resolve: Resolve = systemResolve): FetchLike {
  const given = Object.entries(policy).filter((entry) => entry[1] !== undefined);
  const limits: Limits = { ...DEFAULTS, ...Object.fromEntries(given) };
  const check = createEgressCheck(policy);
  const pools = createPools({ ...limits, check, resolve });
  return async (url, init = {}) => {
    const journey = begin(url, init, limits);
    check.url(journey.url);
    const call = new Call({ ...limits, host: hostOf(journey.url), signal: init.signal });
    try {
      const answer = await follow(journey, call, { check, pools, init, limits });
      const maxBytes = Math.min(limits.maxResponseBytes, init.maxBytes ?? Number.MAX_SAFE_INTEGER);
      return toResponse(answer, { ...journey, call, maxBytes });
    } catch (error) {
      call.end();
      throw error;
    }
  };
}

function begin(text: string, init: FetchInit, limits: Limits): Journey {
  if (!URL.canParse(text)) throw refused("url", "the URL is not an absolute one");
  const method = (init.method ?? "GET").toUpperCase();
  if (!/^[A-Z]{1,32}$/.test(method) || REFUSED_METHODS.has(method)) {
    throw refused("method", `the method ${JSON.stringify(method.slice(0, 32))} is not sent`);
  }
  const body = typeof init.body === "string" ? utf8.encode(init.body) : init.body;
  if (body !== undefined && body.length > limits.maxRequestBytes) {
    const most = limits.maxRequestBytes;
    throw new NodeError(
      "limit_exceeded",
      `limit maxRequestBytes: the request has ${body.length} bytes, more than ${most}`,
      { reason: "limit", sent: false },
    );
  }
  return { url: new URL(text), method, headers: checkHeaders(init.headers), body };
}

async function follow(
  journey: Journey,
  call: Call,
  {
    check,
    pools,
    init,
    limits,
  }: {
    check: EgressCheck;
    pools: Pools;
    init: FetchInit;
    limits: Limits;
  },
): Promise<IncomingMessage> {
  const most = Math.min(limits.maxRedirects, init.maxRedirects ?? limits.maxRedirects);
  for (let redirects = 0; ; redirects += 1) {
    const target = check.url(journey.url, redirects > 0);
    const agent = pools.agent(journey.url.protocol);
    const answer = await exchange({ ...journey, target, agent }, call);
    const location = locationOf(answer);
    if (location === undefined || init.redirect === "manual") return answer;
    answer.destroy();
    if (redirects >= most) throw refused("redirects", `more than ${most} redirects`, true);
    turn(journey, { location, status: answer.statusCode as number, init });
  }
}

function locationOf(answer: IncomingMessage): string | undefined {
  const status = answer.statusCode as number;
  const isRedirect = status === 307 || status === 308 || (status >= 301 && status <= 303);
  return isRedirect ? answer.headers.location : undefined;
}

/** Follows a redirect: prepares the request of the next hop (RFC 9110, 15.4; WHATWG Fetch, HTTP-redirect fetch). */
function turn(
  journey: Journey,
  { location, status, init }: { location: string; status: number; init: FetchInit },
): void {
  if (!URL.canParse(location, journey.url.href)) {
    throw refused("url", "the server redirects to something that is not a URL", true);
  }
  const next = new URL(location, journey.url);
  if (journey.url.protocol === "https:" && next.protocol === "http:") {
    throw refused("redirect-downgrade", "the server redirects from https: to http:", true);
  }
  if (next.origin !== journey.url.origin) {
    if (init.sameOrigin === true) {
      throw refused("connection-origin", "the server redirects to another origin", true);
    }
    const bound = ["authorization", "cookie", ...(init.originHeaders ?? [])];
    for (const name of bound) delete journey.headers[name.toLowerCase()];
  }
  if (status <= 303 && journey.method !== "HEAD") {
    journey.method = "GET";
    journey.body = undefined;
    for (const name of Object.keys(journey.headers)) {
      if (name.startsWith("content-")) delete journey.headers[name];
    }
  }
  journey.url = next;
}
