/** A stored token, an endpoint that answers from a list, and the call that renews the one at the other. */
import { ensureFreshToken, type Lock, type OAuthError, type OAuthToken } from "@millrace/oauth";
import { memoryCredentialStore } from "@millrace/oauth/store/memory";
import { expect, vi } from "vitest";

export type Ensure = Parameters<typeof ensureFreshToken>[0];

const NOW = new Date("2026-01-01T00:00:00.000Z");
export const FRESH = "2026-01-01T01:00:00.000Z";
export const EXPIRED = "2026-01-01T00:00:30.000Z";
export const ACCOUNT = "service:tracker";

export const stored = (
  access_token: string,
  expires_at: string,
  more: object = { refresh_token: "r0" },
) => JSON.stringify({ access_token, ...more, expires_at, token_type: "", scope: "" });

/** A token endpoint as a function: the answers in order, the last one again and again. */
export function endpoint(...answers: (object | Response | Promise<Response>)[]) {
  const forms: URLSearchParams[] = [];
  const send: typeof fetch = async (_url, init) => {
    forms.push(new URLSearchParams(String(init?.body)));
    const answer = await answers[Math.min(forms.length, answers.length) - 1];
    return answer instanceof Response ? answer.clone() : Response.json(answer);
  };
  return { send, forms };
}

export const renewed = { access_token: "a1", refresh_token: "r1", expires_in: 3600 };
export const invalidGrant = () => Response.json({ error: "invalid_grant" }, { status: 400 });

export function setUp(entry: string | undefined, ...answers: Parameters<typeof endpoint>) {
  const store = memoryCredentialStore(entry === undefined ? {} : { [ACCOUNT]: entry });
  const { send, forms } = endpoint(...(answers.length > 0 ? answers : [renewed]));
  const ensure = (options: Partial<Ensure> = {}): Promise<OAuthToken | undefined> =>
    ensureFreshToken({
      tokenUrl: "https://as.example/token",
      clientId: "c",
      clientSecret: "s",
      fetch: send,
      now: () => NOW,
      store,
      slug: "tracker",
      ...options,
    });
  return { store, forms, ensure };
}

/** A promise to be settled from outside. */
export function later<T>() {
  let resolve = (_value: T): void => {};
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

export const errorOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error as OAuthError,
  );

/** Asks, leaves once `reached` no longer throws, and is told so at once. */
export async function leaveDuring(
  ensure: (options: Partial<Ensure>) => Promise<unknown>,
  reached: () => void,
): Promise<void> {
  const controller = new AbortController();
  const ended = errorOf(ensure({ signal: controller.signal }));
  await vi.waitFor(reached, 30_000);
  controller.abort("enough");
  expect(await ended).toBe("enough");
}

/** Lets every promise that can go on go on. */
export const settle = () => new Promise((resolve) => setImmediate(resolve));

/** A lock that writes down what is done with it; `held` gives the answers in order, then true. */
export function recordingLock(log: string[], held: boolean[] = []): Lock {
  return {
    acquire: async (key, { timeoutMs }) => {
      log.push(`acquire ${key} ${timeoutMs}`);
      return {
        held: async () => {
          log.push("held");
          return held.shift() ?? true;
        },
        release: async () => {
          log.push("release");
        },
      };
    },
  };
}
