/**
 * The server behind the page: the typed client, with the token of the tab and the state of the connection. Screens see nothing else.
 */
import { type Client, ClientError, createClient } from "@millrace/client";
import { isObject } from "@millrace/contracts/kit";
import { batch, type ReadonlySignal, signal } from "@preact/signals";
import { token } from "./session.ts";
import { newId } from "./state/new-id.ts";

/** The requests of screens to a server. */
export type Backend = Pick<Client, "invoke" | "call" | "runEvents" | "feed" | "modelEvents">;

/** Longest pause between two tries of a stream that was cut, in milliseconds: a server that is back is found within 5 s. */
const MAX_RETRY_MS = 2_000;
/** After so long without an answer the server counts as unreachable, in milliseconds. */
const UNREACHABLE_MS = 10_000;

/** Whether the server answers. */
export type ConnectionState = "Connected" | "Reconnecting…" | "Server unreachable";

const state = signal<ConnectionState>("Connected");
const lostAt = signal<number | undefined>(undefined);
let giveUp: ReturnType<typeof setTimeout> | undefined;
let nextProbe: ReturnType<typeof setTimeout> | undefined;

/** The state of the connection, as the page shows it. */
export const connection: ReadonlySignal<ConnectionState> = state;

/** Since when the server has not answered; undefined: it does. What is shown is as old as that. */
export const staleSince: ReadonlySignal<number | undefined> = lostAt;

/** Whether the server has said that it is shutting down; what it says next of itself replaces that. */
export const isDraining = signal(false);

/** Raised by an answer 401 to the token of the tab, or to none: it is missing, wrong or revoked. */
export const isUnauthorised = signal(false);

/** Address of the server: it sent the page, so it is the page's own, without `studio`. */
export const serverUrl: string =
  globalThis.location?.href.replace(/[?#].*$/, "").replace(/\/studio\/?$/, "") ?? "";

/** The server of this page. */
export const backend: Backend = backendWith(() => token.peek());

/** Keys of requests without a known outcome. */
const unanswered = new Map<string, string>();

/** Asks for what is to happen once: a request whose answer was lost has the same key when it is made again. */
export const invokeOnce: Backend["invoke"] = async (command, args, options) => {
  const what = JSON.stringify([command, args]);
  const idempotencyKey = unanswered.get(what) ?? newId();
  unanswered.set(what, idempotencyKey);
  try {
    const answer = await backend.invoke(command, args, { ...options, idempotencyKey });
    unanswered.delete(what);
    return answer;
  } catch (error) {
    if (!isUnreachable(error)) unanswered.delete(what);
    throw error;
  }
};

/** A client with the token that `tokenOf` gives at each request. */
export function backendWith(tokenOf: () => string | undefined): Backend {
  return createClient({
    url: serverUrl,
    fetch: (address, init) => send(address, init, tokenOf()),
    retry: { maxTries: Number.POSITIVE_INFINITY, maxDelayMs: MAX_RETRY_MS },
  });
}

async function send(
  address: string,
  init: RequestInit | undefined,
  secret: string | undefined,
): Promise<Response> {
  const headers = new Headers(init?.headers);
  if (secret !== undefined) headers.set("authorization", `Bearer ${secret}`);
  let response: Response;
  try {
    response = await fetch(address, { ...init, headers, credentials: "omit", redirect: "error" });
  } catch (error) {
    if (!init?.signal?.aborted) markLost();
    throw error;
  }
  markFound();
  if (response.status === 401 && secret === token.peek()) isUnauthorised.value = true;
  if (response.status === 503) void noteDraining(response.clone());
  return response;
}

function markLost(): void {
  if (lostAt.peek() !== undefined) return;
  batch(() => {
    lostAt.value = Date.now();
    state.value = "Reconnecting…";
  });
  giveUp = setTimeout(() => {
    state.value = "Server unreachable";
  }, UNREACHABLE_MS);
  probeLater();
}

/** Looks whether the server answers: streams that stayed open do not. */
export async function probe(): Promise<void> {
  await send(`${serverUrl}/api/health`, undefined, undefined).catch(() => {});
}

function probeLater(): void {
  clearTimeout(nextProbe); // a probe of an earlier loss may still be on its way
  nextProbe = setTimeout(async () => {
    await probe();
    if (lostAt.peek() !== undefined) probeLater();
  }, MAX_RETRY_MS);
}

function markFound(): void {
  clearTimeout(giveUp);
  clearTimeout(nextProbe);
  batch(() => {
    lostAt.value = undefined;
    state.value = "Connected";
  });
}

async function noteDraining(refused: Response): Promise<void> {
  const problem: unknown = await refused.json().catch(() => undefined);
  if (isObject(problem) && problem["code"] === "draining") isDraining.value = true;
}

/** Whether the server, or the way to it, failed with one of these codes. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return ClientError.isInstance(error) && codes.includes(error.code);
}

/** The server's details of a failure; undefined: none. */
export function detailOf(error: unknown): string | undefined {
  return ClientError.isInstance(error) ? error.problem?.detail : undefined;
}

/** Whether an error means that the connection is cut, which the page shows already. */
export function isUnreachable(error: unknown): boolean {
  return hasCode(error, "unreachable");
}
