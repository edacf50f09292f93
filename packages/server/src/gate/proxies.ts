/**
 * Who calls through proxies that the operator has named.
 *   X1  `X-Forwarded-For` is believed as far as named proxies have written it: from its end on, up to the first address that is none of
 *       them. What a client says of itself counts for nothing.
 *   X2  The port that some proxies add to an address, such as that of Azure, is no part of it.
 */
import { BlockList, isIP } from "node:net";

/** The client of a request. `peer`: the other end of its connection; `forwarded`: its `X-Forwarded-For`. */
export type ClientOf = (peer: string | null, forwarded: string | undefined) => string | null;

const RANGE = /^([^/]+)(?:\/(\d{1,3}))?$/;
const MAPPED = /^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i;
const WITH_PORT = /^(?:\[([^\]]+)\]|([\d.]+(?=:)))(?::\d{1,5})?$/;

/** The problem of a list of proxies, addresses or ranges; undefined: none. */
export function proxiesProblem(proxies: readonly string[]): string | undefined {
  const bad = proxies.find((each) => !added(new BlockList(), each));
  return bad === undefined
    ? undefined
    : `must be addresses or ranges such as 10.0.0.0/8, unlike "${bad}"`;
}

/** Reads the client of requests that come through these proxies; undefined where there are none. */
export function clientThrough(proxies: readonly string[]): ClientOf | undefined {
  if (proxies.length === 0) return undefined;
  const trusted = new BlockList();
  for (const each of proxies) added(trusted, each);
  const isProxy = (address: string): boolean =>
    trusted.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
  return (peer, forwarded) => {
    let client = peer === null ? null : plain(peer);
    const path = forwarded?.split(",").map((each) => plain(withoutPort(each.trim()))) ?? [];
    while (client !== null && isProxy(client)) {
      const before = path.pop();
      if (before === undefined || isIP(before) === 0) break;
      client = before;
    }
    return client;
  };
}

/** An address of version 4 as such, also where a socket of version 6 names it. */
function plain(address: string): string {
  return address.replace(MAPPED, "");
}

/** The address in `203.0.113.9:4711`, `[fd00::7]:4711` or `[fd00::7]`. */
function withoutPort(address: string): string {
  const [, version6, version4] = WITH_PORT.exec(address) ?? [];
  return version6 ?? version4 ?? address;
}

function added(list: BlockList, range: string): boolean {
  const [, address = "", bits] = RANGE.exec(range.trim()) ?? [];
  const family = isIP(address) === 6 ? "ipv6" : "ipv4";
  if (isIP(address) === 0) return false;
  try {
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
    return true;
  } catch {
    return false; // a prefix that is too long
  }
}
