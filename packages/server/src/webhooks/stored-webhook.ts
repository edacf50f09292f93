/** Webhooks as the store keeps them, and as commands show them. Of a token there is only the hash. */
import { createHash } from "node:crypto";
import type { Json, ParsedArgs, Webhook } from "@millrace/contracts";
import type { WebhookRow } from "@millrace/store";
import { ProblemError } from "../errors.ts";
import type { SecretStore } from "../ports.ts";

/** 256 bits cannot be guessed, so a plain hash needs no salt. */
const TOKEN_BYTES = 32;

/** A token for a URL. */
export function newToken(random: (bytes: number) => Uint8Array): string {
  return Buffer.from(random(TOKEN_BYTES)).toString("base64url");
}

/** What the store finds a webhook by. */
export function hashToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

/** What is stored of the arguments of a command: all but the secret, of which only is said that there is one. */
export function toBody({ secret, ...args }: ParsedArgs<"create_webhook">): Json {
  return { ...args, ...(secret !== undefined && { secret: true }) } as unknown as Json;
}

/** A row as commands show it: without its token, of which only the hash is stored. */
export function readWebhook({ id, body }: WebhookRow): Webhook {
  return { ...(body as unknown as Omit<Webhook, "id">), id };
}

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
