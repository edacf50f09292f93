/** One native library as a store of entries, through the helper process. */
import { credentialFailure, OTHER_STORE } from "../credential-failure.ts";
import { type BackendName, type HelperProcess, NativeError } from "./helper-process.ts";
import type { Attributes } from "./secret-service.ts";

/** In order of preference: entries of the user that other programs wrote are keytar's, more often than not. */
export const BACKEND_NAMES: readonly BackendName[] = ["keytar", "napi"];

export interface Backend {
  get(account: string): Promise<string | undefined>;
  set(account: string, value: string): Promise<void>;
  delete(account: string): Promise<boolean>;
  list(): Promise<string[]>;
}

/** The libraries mark their items differently in the Secret Service, and so do not see each other's. */
const ACCOUNT_ATTRIBUTE: Readonly<Record<BackendName, string>> = {
  keytar: "account",
  napi: "username",
};

/** The attributes of an item in the Secret Service; without an account, those of all items of the service. */
export function attributesOf(name: BackendName, service: string, account: string): Attributes {
  return { service, [ACCOUNT_ATTRIBUTE[name]]: account };
}

/** The account of an item that this library wrote, if it did. */
export function accountIn(name: BackendName, attributes: Attributes): string | undefined {
  return attributes[ACCOUNT_ATTRIBUTE[name]];
}

/** The library in the helper. Throws `OAuthError` of kind `Credential`. */
export function helperBackend(
  helper: HelperProcess,
  backend: BackendName,
  service: string,
): Backend {
  const ask = async (
    op: "get" | "set" | "delete" | "list",
    more: object = {},
  ): Promise<unknown> => {
    try {
      return await helper.request({ op, backend, service, ...more });
    } catch (error) {
      throw error instanceof NativeError ? refused(backend, error) : error;
    }
  };
  return {
    async get(account) {
      const value = await ask("get", { account });
      return typeof value === "string" ? value : undefined;
    },
    async set(account, value) {
      await ask("set", { account, value });
    },
    async delete(account) {
      return (await ask("delete", { account })) === true;
    },
    async list() {
      return (await ask("list")) as string[];
    },
  };
}

/** The keyring is locked. `what` says more where there is more to say. */
export function locked(what = "the keyring is locked", cause?: unknown): Error {
  return credentialFailure(what, `Unlock it and try again; ${OTHER_STORE}`, {
    reason: "locked",
    cause,
  });
}

/** Error texts of the libraries and systems that mean "locked". */
const LOCKED = /\blocked\b|dismissed|prompt|interaction is not allowed/i;

/** The library's own words are the cause: they are not ours to vouch for. */
function refused(backend: BackendName, cause: NativeError): Error {
  if (LOCKED.test(cause.message)) return locked(undefined, cause);
  return credentialFailure(
    `${backend} could not ask the credential store of the system`,
    `Install gnome-keyring or KWallet and log in to a desktop session; ${OTHER_STORE}`,
    { reason: "unavailable", cause },
  );
}

/**
 * One call after the other: a keyring that a hundred clients ask at once makes mistakes, and of two changes of an entry the later
 * one counts. Calls behind one that timed out fail with it: otherwise the tenth call would wait for ten time limits.
 */
export class Turns {
  readonly #isTimeout: (error: unknown) => boolean;
  #last: Promise<void> = Promise.resolve();

  constructor(isTimeout: (error: unknown) => boolean) {
    this.#isTimeout = isTimeout;
  }

  async take<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work);
    const settled = mine.then(
      () => {},
      (error: unknown) => {
        if (this.#isTimeout(error)) throw error;
      },
    );
    settled.catch(() => {}); // the next call awaits it
    this.#last = settled;
    try {
      return await mine;
    } finally {
      if (this.#last === settled) this.#last = Promise.resolve();
    }
  }
}
