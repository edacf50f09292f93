/** Webhooks as the store keeps them, and as commands show them. Of a token there is only the hash. */
import { createHash, createHmac } from "node:crypto";
import type { CommandResult, Json, ParsedArgs, Webhook } from "@millrace/contracts";
import type { Store, WebhookRow } from "@millrace/store";
import { type PageArgs, pageOf } from "../dispatch/pages.ts";
import { ProblemError } from "../errors.ts";
import type { ServerHost } from "../ports.ts";

type Secrets = Pick<ServerHost, "secrets">;

/** 256 bits cannot be guessed, so a plain hash needs no salt. */
const TOKEN_BYTES = 32;

export function newToken(random: (bytes: number) => Uint8Array): string {
  return Buffer.from(random(TOKEN_BYTES)).toString("base64url");
}

/** The hash by which the store finds a webhook. */
export function hashToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

/** The stored form of the arguments of a command: without the secret, but with a mark that there is one. */
export function toBody({ secret, ...args }: ParsedArgs<"create_webhook">): Json {
  return { ...args, ...(secret !== undefined && { secret: true }) } as unknown as Json;
}

/** A row as commands show it: without its token, of which only the hash is stored. */
export function readWebhook({ id, body }: WebhookRow): Webhook {
  return { ...(body as unknown as Omit<Webhook, "id">), id };
}

export async function listWebhooks(
  store: Store,
  page: PageArgs,
): Promise<CommandResult<"list_webhooks">> {
  const all = (await store.webhooks.list()).map(readWebhook);
  return pageOf(all, ({ id }) => id, page, { store, filter: { list: "webhooks" } });
}

const accountOf = (webhookId: string): string => `webhook:${webhookId}`;
/** Where the key is that the present one has replaced. */
const earlierOf = (webhookId: string): string => `webhook:${webhookId}:earlier`;

/**
 * Reads the keys of a webhook that are valid now, the present one first. Throws `credential_store_unavailable`, also when that one
 * is gone: unsigned calls stay out.
 */
export async function readSecrets(
  { secrets, now }: Pick<ServerHost, "secrets" | "now">,
  { id, earlierSecretUntil }: Pick<Webhook, "id" | "earlierSecretUntil">,
): Promise<readonly string[]> {
  const isEarlierValid = earlierSecretUntil !== undefined && now() < Date.parse(earlierSecretUntil);
  const [secret, earlier] = await asProblem(
    Promise.all([
      secrets.get(accountOf(id)),
      isEarlierValid ? secrets.get(earlierOf(id)) : undefined,
    ]),
  );
  if (typeof secret !== "string") throw new ProblemError("credential_store_unavailable");
  return typeof earlier === "string" ? [secret, earlier] : [secret];
}

/** Keeps the key of a webhook. Throws `credential_store_unavailable`. */
export async function keepSecret({ secrets }: Secrets, webhookId: string, secret: string) {
  await asProblem(secrets.set(accountOf(webhookId), secret));
}

/** Keeps the key that another is about to replace, or forgets the one before it. Throws `credential_store_unavailable`. */
export async function keepEarlierSecret({ secrets }: Secrets, id: string, secret: string | null) {
  if (secret === null) await asProblem(secrets.delete(earlierOf(id)));
  else await asProblem(secrets.set(earlierOf(id), secret));
}

/** The verify token for a sender that asks for one: it is derived from the key, so it need not be stored. */
export function verifyTokenOf({ id }: Pick<Webhook, "id">, secret: string): string {
  return createHmac("sha256", secret).update(`verify token of ${id}`).digest("base64url");
}

/** Deletes the key of a webhook. Throws `credential_store_unavailable`. */
export async function forgetSecret({ secrets }: Secrets, webhookId: string): Promise<void> {
  await asProblem(secrets.delete(accountOf(webhookId)));
  await asProblem(secrets.delete(earlierOf(webhookId)));
}

async function asProblem<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    throw new ProblemError("credential_store_unavailable", { cause });
  }
}
