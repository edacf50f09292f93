/** Names of connections, and a connection as one line. */
import type { ConnectionStatus } from "@millrace/contracts";
import { usage } from "../errors.ts";
import { clean } from "../output/text.ts";
import type { UndescribedConnection } from "./api.ts";

const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;

/** Checks the slug of a connection. */
export function readSlug(text = ""): string {
  if (SLUG.test(text)) return text;
  throw usage(
    `"${clean(text)}" is no name of a connection`,
    "it has up to 64 small letters, digits and dashes, such as payments-eu",
  );
}

/** `payments-eu  connected  service payments, scopes refunds:write, until 2026-01-01T00:00:00.000Z, in file`. */
export function statusLine(status: ConnectionStatus): string {
  const { slug, service, scopes, expires_at, refreshable, store, lastError } = status;
  const about = [
    `service ${service}`,
    scopes.length === 0 ? "" : `scopes ${scopes.join(" ")}`,
    expires_at === undefined
      ? ""
      : `until ${expires_at}${refreshable ? ", renewed by itself" : ""}`,
    store === undefined ? "" : `in ${store}`,
    lastError === undefined ? "" : `last error ${lastError.code} at ${lastError.at}`,
  ];
  return clean(`${slug}  ${status.status}  ${about.filter((word) => word !== "").join(", ")}`);
}

/** A connection whose service is described elsewhere, or no more. */
export function undescribedLine({ slug, service }: UndescribedConnection): string {
  return clean(
    `${slug}  not described here  service ${service}: no services/${service}.json counts in this folder`,
  );
}
