/** Conformance cases of credential stores, for any test runner. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import type { CredentialStore } from "../../types.ts";

/** One case: `run` settles, or rejects with an assertion error that says what the store did. */
export interface CredentialStoreCase {
  readonly name: string;
  readonly run: () => Promise<void>;
}

const BIG_VALUE_CHARACTERS = 100_000;
const MANY = 100;

/**
 * The cases, to be given to a test runner: `for (const { name, run } of credentialStoreCases(open)) test(name, run)`. `open`
 * gives a store for each case, empty or not: the cases only touch accounts that begin with `service:millrace-case-`, and
 * delete what they wrote. A store that is `AsyncDisposable` is disposed at the end of its case.
 */
export function credentialStoreCases(
  open: () => CredentialStore | Promise<CredentialStore>,
): readonly CredentialStoreCase[] {
  return Object.entries(CASES).map(([name, check], index) => ({
    name,
    async run() {
      const store = await open();
      const account = (label: string) => `service:millrace-case-${index}-${label}`;
      const used = new Set<string>();
      try {
        await check(recording(store, used), account);
      } finally {
        for (const name of used) await store.delete(name);
        await (store as Partial<AsyncDisposable>)[Symbol.asyncDispose]?.();
      }
    },
  }));
}

type Check = (store: CredentialStore, account: (label: string) => string) => Promise<void>;

const CASES: { readonly [name: string]: Check } = {
  async "what was set is got back"(store, account) {
    await store.set(account("a"), "value");
    strictEqual(await store.get(account("a")), "value");
  },
  async "an absent entry is null or undefined, and deleting it is false"(store, account) {
    isAbsent(await store.get(account("never")));
    strictEqual(await store.delete(account("never")), false);
  },
  async "a deleted entry is gone, and deleting it was true"(store, account) {
    await store.set(account("a"), "value");
    strictEqual(await store.delete(account("a")), true);
    isAbsent(await store.get(account("a")));
    strictEqual(await store.delete(account("a")), false);
  },
  async "an entry is overwritten, and there is one"(store, account) {
    await store.set(account("a"), "first");
    await store.set(account("a"), "second");
    strictEqual(await store.get(account("a")), "second");
    strictEqual(await store.delete(account("a")), true);
    isAbsent(await store.get(account("a")));
  },
  async "accounts do not touch each other"(store, account) {
    await store.set(account("a"), "of a");
    await store.set(account("a/b"), "of a/b");
    await store.set(account("A"), "of A");
    await store.delete(account("a"));
    isAbsent(await store.get(account("a")));
    strictEqual(await store.get(account("a/b")), "of a/b");
    strictEqual(await store.get(account("A")), "of A");
  },
  async "every character comes back, in the value and in the account"(store, account) {
    const value = `ä€😀\u0001\t\r\n"'\\{}%s $HOME\u2028\u200d\ufeff\ue000\uffff`;
    await store.set(account("ü😀 'x' \"y\" \\"), value);
    strictEqual(await store.get(account("ü😀 'x' \"y\" \\")), value);
  },
  async "a value of 100 kB comes back whole, and shrinks again"(store, account) {
    const value = Array.from({ length: BIG_VALUE_CHARACTERS }, (_, i) =>
      String.fromCharCode(0x21 + ((i * 7) % 94)),
    ).join("");
    await store.set(account("big"), value);
    ok((await store.get(account("big"))) === value, "the big value came back changed");
    await store.set(account("big"), "small");
    strictEqual(await store.get(account("big")), "small");
  },
  async "100 writes at once are all kept"(store, account) {
    const accounts = Array.from({ length: MANY }, (_, i) => account(`many-${i}`));
    await Promise.all(accounts.map((name, i) => store.set(name, `value ${i}`)));
    deepStrictEqual(
      await Promise.all(accounts.map((name) => store.get(name))),
      accounts.map((_, i) => `value ${i}`),
    );
  },
  async "a list, where there is one, holds the names and no values"(store, account) {
    if (!store.list) return;
    await store.set(account("a"), "value");
    await store.set(account("b"), "value");
    const prefix = account("");
    const names = (await store.list()).filter((name) => name.startsWith(prefix));
    deepStrictEqual(names.sort(), [account("a"), account("b")]);
  },
};

/** The store, with a note of every account that was written. */
function recording(store: CredentialStore, used: Set<string>): CredentialStore {
  const list = store.list?.bind(store);
  return {
    get: (name) => store.get(name),
    set: (name, value) => {
      used.add(name);
      return store.set(name, value);
    },
    delete: (name) => store.delete(name),
    ...(list && { list }),
  };
}

function isAbsent(value: string | null | undefined): void {
  ok(value === null || value === undefined, "an absent entry must be null or undefined");
}
