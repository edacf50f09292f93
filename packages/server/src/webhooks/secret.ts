/** Keys of signatures. They lie in the credential store, never in the database. */
import { ProblemError } from "../errors.ts";
import type { SecretStore } from "../ports.ts";

/** Reads the key of a webhook. Throws `credential_store_unavailable`, also when it is gone: unsigned calls stay out. */
export async function readSecret(
  store: SecretStore | undefined,
  webhookId: string,
): Promise<string> {
  const secret = await asProblem(store?.get(accountOf(webhookId)));
  if (typeof secret !== "string") throw new ProblemError("credential_store_unavailable");
  return secret;
}

/** Keeps the key of a webhook. Throws `credential_store_unavailable`. */
export async function keepSecret(
  store: SecretStore | undefined,
  webhookId: string,
  secret: string,
): Promise<void> {
  if (store === undefined) throw new ProblemError("credential_store_unavailable");
  await asProblem(store.set(accountOf(webhookId), secret));
}

/** Deletes the key of a webhook. Throws `credential_store_unavailable`. */
export async function forgetSecret(
  store: SecretStore | undefined,
  webhookId: string,
): Promise<void> {
  await asProblem(store?.delete(accountOf(webhookId)));
}

function accountOf(webhookId: string): string {
  return `webhook:${webhookId}`;
}

async function asProblem<T>(work: Promise<T> | undefined): Promise<T | undefined> {
  try {
    return await work;
  } catch (cause) {
    throw new ProblemError("credential_store_unavailable", { cause });
  }
}
