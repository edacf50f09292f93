/**
 * Secrets that flows read as `secrets.NAME`, in the credential store beside everything else that is secret.
 *   N1  The secret of an environment counts over the one of all environments.
 *   N2  Nothing here answers a value but `readSecret`, which is for runs.
 */
import { OAuthError } from "@millrace/oauth";
import type { SecretStore } from "../ports.ts";

/** A secret without its value. */
export interface NamedSecret {
  readonly name: string;
  readonly environment?: string;
  /** When it was set, RFC 3339. */
  readonly setAt: string;
}

type Name = { readonly name: string; readonly environment?: string | undefined };

const ACCOUNT = /^secret:(?:([^/]+)\/)?([^/]+)$/;
const accountOf = ({ name, environment }: Name): string =>
  `secret:${environment === undefined ? "" : `${environment}/`}${name}`;

/** The value for a run in an environment; undefined: it is not set. */
export async function readSecret(
  store: SecretStore,
  { name, environment }: Name,
): Promise<string | undefined> {
  const own = environment === undefined ? undefined : await read(store, { name, environment });
  return (own ?? (await read(store, { name })))?.value;
}

/** Sets a secret. */
export async function setSecret(
  store: SecretStore,
  secret: Name & { readonly value: string },
  now: number,
): Promise<NamedSecret> {
  const { value, name, environment } = secret;
  const setAt = new Date(now).toISOString();
  await store.set(accountOf(secret), JSON.stringify({ setAt, value }));
  return { name, ...(environment !== undefined && { environment }), setAt };
}

/** Whether there was one. */
export function deleteSecret(store: SecretStore, name: Name): Promise<boolean> {
  return store.delete(accountOf(name));
}

/** Names and dates, sorted by both names. */
export async function listSecrets(store: SecretStore): Promise<readonly NamedSecret[]> {
  const accounts = ((await store.list?.()) ?? []).filter((account) => ACCOUNT.test(account));
  const found: NamedSecret[] = [];
  for (const account of accounts) {
    const [, environment, name = ""] = ACCOUNT.exec(account) ?? [];
    const secret = { name, ...(environment !== undefined && { environment }) };
    const kept = await read(store, secret);
    if (kept !== undefined) found.push({ ...secret, setAt: kept.setAt });
  }
  const order = ({ name, environment = "" }: Name): string => `${name}/${environment}`;
  return found.sort((a, b) => (order(a) < order(b) ? -1 : 1));
}

async function read(
  store: SecretStore,
  name: Name,
): Promise<{ readonly setAt: string; readonly value: string } | undefined> {
  const text = await store.get(accountOf(name));
  if (!text) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    const { name: of } = name; // no cause: the words of the parser quote what they stand in
    throw new OAuthError("Credential", `the entry of the secret ${of} is damaged; set it again`);
  }
}
