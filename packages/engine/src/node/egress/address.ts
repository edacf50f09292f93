/** IP addresses as bytes, and the ranges that lead somewhere else than the public internet. */
import { isIPv4, isIPv6 } from "node:net";

/** 4 bytes of IPv4 or 16 of IPv6. */
export type Address = Uint8Array;

export interface AddressRange {
  readonly base: Address;
  readonly prefix: number;
}

/** The bytes of a textual address, without its zone; null for anything else. */
export function parseAddress(text: string): Address | null {
  const plain = text.replace(/%.*$/, "");
  if (isIPv4(plain)) return Uint8Array.from(plain.split("."), Number);
  if (!isIPv6(plain)) return null;
  const [head = "", tail] = plain.split("::");
  const left = groupsOf(head);
  const right = tail === undefined ? [] : groupsOf(tail);
  const bytes = new Uint8Array(16);
  bytes.set(left);
  bytes.set(right, 16 - right.length);
  return bytes;
}

function groupsOf(text: string): number[] {
  if (text === "") return [];
  return text.split(":").flatMap((group) => {
    if (group.includes(".")) return group.split(".").map(Number);
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}

/** `10.0.0.0/8`, `fd00::/8` or one address. Throws `TypeError` for anything else: a policy must not be weaker than it reads. */
export function parseRange(cidr: string): AddressRange {
  const [text = "", size, ...rest] = cidr.split("/");
  const base = parseAddress(text);
  const bits = (base?.length ?? 0) * 8;
  const prefix = size === undefined ? bits : /^\d{1,3}$/.test(size) ? Number(size) : -1;
  if (base === null || rest.length > 0 || prefix < 0 || prefix > bits) {
    throw new TypeError(`"${cidr}" is not an address range; write one such as 10.0.0.0/8`);
  }
  return { base, prefix };
}

export function inRange(address: Address, { base, prefix }: AddressRange): boolean {
  if (address.length !== base.length) return false;
  const whole = prefix >> 3;
  for (let i = 0; i < whole; i += 1) if (address[i] !== base[i]) return false;
  const bits = prefix & 7;
  if (bits === 0) return true;
  const mask = 0xff00 >> bits;
  return ((address[whole] as number) & mask) === ((base[whole] as number) & mask);
}

/** The address and, for an IPv6 address that carries an IPv4 one, that too: both must be fit to connect to. */
export function formsOf(address: Address): readonly Address[] {
  if (address.length === 4 || isOwnIpv6(address)) return [address];
  if (EMBEDDED_LAST().some((range) => inRange(address, range))) return [address, address.slice(12)];
  if (SIX_TO_FOUR().some((range) => inRange(address, range))) return [address, address.slice(2, 6)];
  return [address];
}

/** Whether a packet to this address stays in a machine or in a private network, or the range is reserved. */
export function isSpecial(address: Address): boolean {
  return SPECIAL().some((range) => inRange(address, range));
}

/** Where clouds hand out credentials of the machine. */
export function isMetadata(address: Address): boolean {
  return METADATA().some((range) => inRange(address, range));
}

/** Read when first asked for: most processes ask for no address. */
function ranges(...texts: readonly string[]): () => readonly AddressRange[] {
  let read: readonly AddressRange[] | undefined;
  return () => {
    read ??= texts.map(parseRange);
    return read;
  };
}

function isOwnIpv6(address: Address): boolean {
  return OWN_IPV6().some((range) => inRange(address, range));
}

const OWN_IPV6 = ranges("::", "::1"); // not IPv4 in IPv6, though they lie in ::/96

// IPv4-mapped, IPv4-compatible, NAT64: the IPv4 address is in the last four bytes.
const EMBEDDED_LAST = ranges("::ffff:0:0/96", "::/96", "64:ff9b::/96");

const SIX_TO_FOUR = ranges("2002::/16");

const METADATA = ranges("169.254.169.254", "fd00:ec2::254", "100.100.100.200");

// IANA special-purpose registries (RFC 6890 and successors), the deprecated 6to4 relay and site-local ranges included.
const SPECIAL = ranges(
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
  "::/128",
  "::1/128",
  "64:ff9b:1::/48", // NAT64 of a local network: it may lead to private IPv4 (RFC 8215)
  "fc00::/7",
  "fe80::/10",
  "fec0::/10",
  "ff00::/8",
  "100::/64",
  "2001::/23",
  "2001:db8::/32",
);
