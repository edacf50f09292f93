/**
 * The token of this tab. It is typed once and kept in `sessionStorage`, never in a cookie, an address or `localStorage`. A new tab asks
 * the others for it, so that a link opens there without signing in again.
 */
import { type ReadonlySignal, signal } from "@preact/signals";

const KEY = "millrace.token";
/** How long a new tab waits for the others, in milliseconds. */
const SIBLINGS_MS = 300;

type Message = { readonly kind: "ask" } | { readonly kind: "token"; readonly token: string };

const current = signal<string | undefined>(globalThis.sessionStorage?.getItem(KEY) ?? undefined);

/** The token; undefined: none is known. */
export const token: ReadonlySignal<string | undefined> = current;

/** Keeps a token that the server has accepted. */
export function keepToken(accepted: string): void {
  sessionStorage.setItem(KEY, accepted);
  current.value = accepted;
}

/** Forgets the token. */
export function forgetToken(): void {
  sessionStorage.removeItem(KEY);
  current.value = undefined;
}

const channel =
  globalThis.BroadcastChannel === undefined ? undefined : new BroadcastChannel("millrace.session");

/** Answers other tabs of this origin. Called once. */
export function answerSiblings(): void {
  channel?.addEventListener("message", ({ data }: MessageEvent<Message>) => {
    const known = current.peek();
    if (data.kind === "ask" && known !== undefined) {
      channel.postMessage({ kind: "token", token: known } satisfies Message);
    }
  });
}

/** The token of another tab; undefined: none answered in time. */
export function askSiblings(): Promise<string | undefined> {
  return new Promise((resolve) => {
    const listener = ({ data }: MessageEvent<Message>): void => {
      if (data.kind === "token") end(data.token);
    };
    const timer = setTimeout(() => end(undefined), SIBLINGS_MS);
    const end = (found: string | undefined): void => {
      clearTimeout(timer);
      channel?.removeEventListener("message", listener);
      resolve(found);
    };
    channel?.addEventListener("message", listener);
    channel?.postMessage({ kind: "ask" } satisfies Message);
  });
}
