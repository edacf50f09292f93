/**
 * Whether a policy permits a URL, and whether it permits the address that a name turned out to have.
 *   P1  `deny` and `selfOrigins` win over `allow`.
 *   P2  Of an address and the IPv4 address in it, each must be permitted.
 *   P3  A metadata address needs that very address in `allow`, not a range or a name.
 */
import type { EgressPolicy, EgressRule } from "../../host.ts";
import {
  type Address,
  type AddressRange,
  formsOf,
  inRange,
  isMetadata,
  isSpecial,
  parseAddress,
  parseRange,
} from "./address.ts";
import { type EgressRuleName, refused } from "./refusal.ts";

/** Where a connection goes. `host` as `hostOf` gives it. */
export interface Target {
  readonly host: string;
  readonly port: number;
}

/** Decisions of an egress policy, made without any connection. */
export interface EgressCheck {
  /** Throws `egress_denied`. `sent`: whether an earlier hop reached somebody. */
  url(url: URL, sent?: boolean): Target;
  /** The same for a TCP connection to a host, as its name or address is written. Throws `egress_denied`. */
  host(host: string, port: number): Target;
  /** The rule that refuses to connect to `address` for `target`, if one does. */
  address(address: string, target: Target): EgressRuleName | undefined;
}

/** Host of a URL for checks and connections: lower case, no brackets, no dot at the end. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
}

/** Reads a policy. Throws `TypeError` for one that cannot be read. */
export function createEgressCheck(policy: EgressPolicy): EgressCheck {
  const allow = rulesOf(policy.allow);
  const deny = rulesOf(policy.deny);
  const only = policy.only === undefined ? null : rulesOf(policy.only.map(hostRule));
  const self = (policy.selfOrigins ?? []).map((origin) => new URL(origin));

  const addressRule = (address: string, target: Target): EgressRuleName | undefined => {
    const parsed = parseAddress(address);
    if (parsed === null) return "private-address";
    const forms = formsOf(parsed);
    const within = (ranges: readonly AddressRange[]) =>
      forms.some((form) => ranges.some((range) => inRange(form, range)));
    if (within(deny.ranges)) return "deny-list";
    if (self.some((origin) => isSelf(origin, forms, target.port))) return "self-origin";
    if (forms.some(isMetadata)) {
      const exact = allow.ranges.filter((range) => range.prefix === range.base.length * 8);
      const isWritten = parseAddress(target.host) !== null && allow.names(target);
      return isWritten || within(exact) ? undefined : "metadata-address";
    }
    if (within(allow.ranges) || allow.names(target)) return undefined;
    return forms.some(isSpecial) ? "private-address" : undefined;
  };

  const urlRule = (url: URL, target: Target): EgressRuleName | undefined => {
    if (url.protocol !== "http:" && url.protocol !== "https:") return "scheme";
    if (url.username !== "" || url.password !== "") return "userinfo";
    return targetRule(target, (origin) => origin.origin === url.origin);
  };

  const targetRule = (
    target: Target,
    isOwn: (origin: URL) => boolean,
  ): EgressRuleName | undefined => {
    if (deny.names(target)) return "deny-list";
    if (only?.names(target) === false) return "not-granted";
    if (self.some(isOwn)) return "self-origin";
    if (parseAddress(target.host) !== null) return addressRule(target.host, target);
    return isLocalName(target.host) && !allow.names(target) ? "local-name" : undefined;
  };

  return {
    url(url, sent = false) {
      const target = { host: hostOf(url), port: portOf(url) };
      const rule = urlRule(url, target);
      if (rule !== undefined) throw refused(rule, explain(rule, url), sent);
      return target;
    },
    host(host, port) {
      const target = { host: targetHost(host), port };
      const isOwn = (origin: URL) => hostOf(origin) === target.host && portOf(origin) === port;
      const rule = target.host === "" ? "url" : targetRule(target, isOwn);
      if (rule !== undefined) throw refused(rule, explain(rule, `${host}:${port}`));
      return target;
    },
    address: addressRule,
  };
}

/** Message for the author; `origin` holds neither user info nor path. */
export function explain(rule: EgressRuleName, url: URL | string): string {
  const where = typeof url === "string" ? url : url.host === "" ? url.protocol : url.host;
  if (rule === "scheme") return `${where} is neither http: nor https:`;
  if (rule === "url") return `${where} is no host`;
  if (rule === "userinfo") return "the URL holds a user or a password; use a connection";
  if (rule === "not-granted") return `${where} is not among the hosts granted to this extension`;
  return `the egress policy does not permit ${where}; the operator can allow it with egress.allow`;
}

/** A host as `hostOf` gives it; "" for an invalid one. */
function targetHost(text: string): string {
  const url = `http://${parseAddress(text)?.length === 16 ? `[${text.replace(/%.*$/, "")}]` : text}`;
  const isHost = /^[^\s/@?#\\[\]]+$/.test(text) && URL.canParse(url);
  return isHost ? hostOf(new URL(url)) : "";
}

function portOf(url: URL): number {
  if (url.port !== "") return Number(url.port);
  return url.protocol === "https:" ? 443 : 80;
}

function isLocalName(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost") || host.endsWith(".internal");
}

/** Whether an address and a port are those of this very server, whichever name led there. */
function isSelf(origin: URL, forms: readonly Address[], port: number): boolean {
  if (portOf(origin) !== port) return false;
  const host = hostOf(origin);
  const own = host === "localhost" ? ["127.0.0.1", "::1"] : [host];
  return own.some((text) => {
    const address = parseAddress(text);
    if (address === null) return false;
    const range = { base: address, prefix: address.length * 8 };
    return forms.some((form) => inRange(form, range));
  });
}

interface Rules {
  readonly ranges: readonly AddressRange[];
  names(target: Target): boolean;
}

function rulesOf(rules: readonly EgressRule[] = []): Rules {
  const ranges = rules.flatMap((rule) => ("cidr" in rule ? [mapped(parseRange(rule.cidr))] : []));
  const names: { host: string; port: number | undefined }[] = [];
  for (const rule of rules) {
    if ("cidr" in rule) continue;
    const host = ruleHost(rule.host);
    names.push({ host, port: rule.port });
    const address = parseAddress(host);
    // An address written as a host permits, or denies, that address, and on any port where none is named.
    if (address !== null && rule.port === undefined) {
      ranges.push(mapped({ base: address, prefix: address.length * 8 }));
    }
  }
  return {
    ranges,
    names: (target) =>
      names.some(
        ({ host, port }) =>
          covers(host, target.host) && (port === undefined || port === target.port),
      ),
  };
}

/** A range of IPv4-mapped IPv6 addresses is one of IPv4 addresses. */
function mapped(range: AddressRange): AddressRange {
  const isMapped =
    range.base.length === 16 &&
    range.prefix >= 96 &&
    inRange(range.base, { base: MAPPED, prefix: 96 });
  return isMapped ? { base: range.base.slice(12), prefix: range.prefix - 96 } : range;
}

const MAPPED = new Uint8Array(16).fill(0xff, 10, 12); // ::ffff:0:0

/** `*.example.com` stands for every name below `example.com`. */
function covers(rule: string, host: string): boolean {
  return rule.startsWith("*.") ? host.endsWith(rule.slice(1)) : rule === host;
}

/** `api.example:443`, `*.example`, `[::1]:80`. */
function hostRule(text: string): EgressRule {
  const match = /^(.*[^:]):(\d{1,5})$/.exec(text);
  const host = (match?.[1] ?? text).replace(/^\[(.*)\]$/, "$1");
  return match?.[2] === undefined ? { host } : { host, port: Number(match[2]) };
}

function ruleHost(text: string): string {
  const wildcard = text.startsWith("*.");
  const name = wildcard ? text.slice(2) : text;
  const isAddress = parseAddress(name) !== null;
  const url = `http://${name.includes(":") && isAddress ? `[${name}]` : name}`;
  if ((!isAddress && !/^[^\s/@?#\\:[\]]+$/.test(name)) || !URL.canParse(url)) {
    throw new TypeError(`"${text}" is not a host; write one such as api.example or *.example`);
  }
  return `${wildcard ? "*." : ""}${hostOf(new URL(url))}`;
}
