/**
 * The token of this tab. It is typed once and kept in `sessionStorage`, never in a cookie, an address or `localStorage`. A new tab asks
 * the others for it, so that a link opens there without signing in again; signing out ends all of them.
 */
import { type ReadonlySignal, signal } from "@preact/signals";
import { keptByTab } from "./state/storage.ts";

const KEY = "millrace.token";
/** How long a new tab waits for the others, in milliseconds. */
const SIBLINGS_MS = 300;

type Message =
  | { readonly kind: "ask" | "sign-out" }
  | { readonly kind: "token"; readonly token: string };

const current = signal<string | undefined>(keptByTab.get(KEY) ?? undefined);

/** The token; undefined: none is known. */
export const token: ReadonlySignal<string | undefined> = current;

/** Keeps a token that the server has accepted. */
export function keepToken(accepted: string): void {
  keptByTab.set(KEY, accepted);
  current.value = accepted;
}

/** Forgets the token. */
export function forgetToken(): void {
  keptByTab.remove(KEY);
  current.value = undefined;
}

/** Tells the other tabs to forget it, too: one of them would give it back to this tab. */
export function endSiblings(): void {
  channel?.postMessage({ kind: "sign-out" } satisfies Message);
}

const channel =
  globalThis.BroadcastChannel === undefined ? undefined : new BroadcastChannel("millrace.session");

/** Answers other tabs of this origin; `onSignOut`: one of them has signed out. Called once. */
export function answerSiblings(onSignOut: () => void): void {
  channel?.addEventListener("message", ({ data }: MessageEvent<Message>) => {
    const known = current.peek();
    if (data.kind === "ask" && known !== undefined) {
      channel.postMessage({ kind: "token", token: known } satisfies Message);
    }
    if (data.kind === "sign-out" && known !== undefined) onSignOut();
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
