/** Reads the address to which an authorization server sent a person back. */

import type { ServiceInfo } from "@millrace/contracts";

/** A code with its state, or why there is none. */
export type Redirected =
  | { readonly code: string; readonly state: string }
  | { readonly refused: string };

/** Reads an address; undefined: it is no answer to a consent. */
export function readRedirect(address: string): Redirected | undefined {
  if (!URL.canParse(address.trim())) return undefined;
  const { searchParams } = new URL(address.trim());
  const refused = searchParams.get("error");
  if (refused !== null && refused !== "") return { refused };
  const [code, state] = [searchParams.get("code"), searchParams.get("state")];
  return code && state ? { code, state } : undefined;
}

/** An address on the machine of the reader: what the service wants of it, else on a port that hardly anything uses. */
export function callerRedirectUri(
  { port, path = "/callback" }: NonNullable<ServiceInfo["redirect"]> = {},
  random: () => number = Math.random,
): string {
  const [first, last] = [49_152, 65_535]; // the ports that nobody owns. @see RFC 6335, section 6
  return `http://127.0.0.1:${port ?? first + Math.floor(random() * (last - first + 1))}${path}`;
}
