/** The rules of a ready descriptor, beyond those of every service. */
import { BlockList, isIP } from "node:net";
import type { ServiceSpec } from "@millrace/contracts";
import { checkService } from "@millrace/contracts/check-service";

/** Ranges that lead into somebody's own network or machine. */
const PRIVATE = new BlockList();
for (const [net, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
] as const) {
  PRIVATE.addSubnet(net, prefix, "ipv4");
}
for (const [net, prefix] of [
  ["::", 127],
  ["fc00::", 7],
  ["fe80::", 10],
] as const) {
  PRIVATE.addSubnet(net, prefix, "ipv6");
}
const PRIVATE_NAME = /(?:^|\.)(?:localhost|local|internal|intranet|lan|home|corp)$/;

/**
 * Why a service may not be offered to everybody, one sentence each; an empty list: it may. Its descriptor must be right, every
 * address `https:` and on the public internet, and every scope of an operation one that a consent can ask for.
 */
export function lintService(service: unknown): readonly string[] {
  const wrong = checkService(service);
  if (wrong.length > 0) return wrong.map(({ pointer, message }) => `${pointer} ${message}`);
  const { auth, baseUrl, operations } = (service as ServiceSpec).serviceIntegration;
  const problems: string[] = [];
  const addresses: [string, string | undefined][] = [["baseUrl", baseUrl]];
  if (auth.scheme === "oauth2") {
    const { authorizeUrl, tokenUrl, revocationUrl, deviceUrl } = auth;
    addresses.push(...Object.entries({ authorizeUrl, tokenUrl, revocationUrl, deviceUrl }));
    const { scopes, includes = {} } = auth;
    const known = new Set([...scopes, ...Object.keys(includes), ...Object.values(includes).flat()]);
    for (const { id, scopes: needed = [] } of operations) {
      for (const scope of needed.filter((each) => !known.has(each))) {
        problems.push(`operation ${id} needs the scope ${scope}, which auth does not know`);
      }
    }
  }
  for (const [name, address] of addresses) {
    const problem = address === undefined ? undefined : addressProblem(new URL(address));
    if (problem !== undefined) problems.push(`${name} ${problem}`);
  }
  return problems;
}

function addressProblem({ protocol, hostname }: URL): string | undefined {
  if (protocol !== "https:") return "must be https:";
  const host = hostname.replace(/^\[|\]$|\.$/g, "");
  const version = isIP(host);
  const isPrivate =
    version === 0
      ? !host.includes(".") || PRIVATE_NAME.test(host)
      : PRIVATE.check(host, version === 4 ? "ipv4" : "ipv6");
  return isPrivate ? `leads to ${host}, which is not on the public internet` : undefined;
}
