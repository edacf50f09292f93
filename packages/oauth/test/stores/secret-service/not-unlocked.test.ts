import { type AddressInfo, createServer, type Socket } from "node:net";
import { pathToFileURL } from "node:url";
import { describeCredentialBackends } from "@millrace/oauth/store/os";
import { describe, expect, onTestFinished, test } from "vitest";
import { listen } from "../fake-bus.ts";
import { lockKeyring, startEmptySession, startSession, unlockKeyring } from "./session.ts";
import { keytarFolder, openStore, useSession, withSecretService } from "./suite.ts";

const ACCOUNT = "service:millrace-locked";
const NO_HELPER = { helperUrl: pathToFileURL("/nonexistent/helper.js") };
type Store = ReturnType<typeof openStore>;

withSecretService("a locked keyring", () => {
  describe.each(["keytar", "napi"] as const)("with an entry of %s", (backend) => {
    test("is locked, and what is not in it is absent", async () => {
      await startLocked(openStore({ backends: [backend] }));
      const store = openStore(NO_HELPER);
      for (const call of [() => store.get(ACCOUNT), () => store.delete(ACCOUNT)]) {
        expect(await failureOf(call())).toMatchObject({ kind: "Credential", reason: "locked" });
      }
      expect(await failureOf(store.set(ACCOUNT, "v"))).toMatchObject({ reason: "locked" });
      expect(await failureOf(store.list?.())).toMatchObject({ reason: "locked" });
      expect(await store.get("service:never")).toBeUndefined();
      expect(await store.delete("service:never")).toBe(false);
    });

    test("stays locked when nobody answers the prompt", async () => {
      await startLocked(openStore({ backends: [backend] }));
      const store = openStore({ backends: [backend], unlock: "prompt" });
      const calls = [() => store.get(ACCOUNT), () => store.delete(ACCOUNT)];
      for (const call of [...calls, () => store.set(ACCOUNT, "v")]) {
        expect(await failureOf(call())).toMatchObject({ kind: "Credential", reason: "locked" });
      }
    });
  });

  test("is described as locked", async () => {
    await startLocked(openStore());
    for (const backend of await describeCredentialBackends({ resolveFrom: keytarFolder })) {
      expect(backend).toMatchObject({ importable: true, state: "locked" });
    }
  });

  async function startLocked(store: Store): Promise<void> {
    const env = await startSession();
    useSession(env);
    await unlockKeyring(env);
    await store.set(ACCOUNT, "value");
    await store[Symbol.asyncDispose]();
    await lockKeyring(env);
  }
});

withSecretService("a home without a keyring", () => {
  test("has no entry, and cannot be written", async () => {
    useSession(await startSession());
    const store = openStore(NO_HELPER);
    expect(await store.get(ACCOUNT)).toBeUndefined();
    expect(await store.delete(ACCOUNT)).toBe(false);
    const error = await failureOf(store.set(ACCOUNT, "v"));
    expect(error).toMatchObject({ kind: "Credential", reason: "unavailable" });
    expect(String(error)).toContain("there is no keyring to write to");
    const [keytar] = await describeCredentialBackends({ resolveFrom: keytarFolder });
    expect(keytar).toMatchObject({ importable: true, state: "unavailable" });
  });
});

withSecretService("a session without a Secret Service", () => {
  test("is an error for every call, with and without a prompt", async () => {
    useSession(await startEmptySession());
    for (const unlock of ["never", "prompt"] as const) {
      const store = openStore({ ...NO_HELPER, unlock });
      const calls = [() => store.get(ACCOUNT), () => store.set(ACCOUNT, "v")];
      for (const call of [...calls, () => store.delete(ACCOUNT)]) {
        const error = await failureOf(call());
        expect(error).toMatchObject({ kind: "Credential", reason: "unavailable" });
        expect(String(error)).toContain("no secret service runs in this session. Install");
      }
    }
  });
});

withSecretService("a bus that is silent", () => {
  test("is noticed before a library hangs on it", async () => {
    useSession({ DBUS_SESSION_BUS_ADDRESS: `unix:path=${await listen(() => {})}` });
    const error = await failureOf(openStore(NO_HELPER).get(ACCOUNT));
    expect(error).toMatchObject({ kind: "Credential", reason: "unavailable" });
  });

  test.each(["keytar", "napi"] as const)(
    "and on which %s hangs is an error at the limit",
    async (name) => {
      // An address that is left to the libraries.
      const address = `tcp:host=127.0.0.1,port=${await startSilentPort()}`;
      useSession({ DBUS_SESSION_BUS_ADDRESS: address });
      const store = openStore({ backends: [name], timeoutMs: 2000 });
      expect(await failureOf(store.get(ACCOUNT))).toMatchObject({
        kind: "Credential",
        reason: "helper_timeout",
        retryable: true,
      });
    },
  );
});

async function startSilentPort(): Promise<number> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

function failureOf(call: Promise<unknown> | undefined): Promise<unknown> {
  return Promise.resolve(call).then(
    () => undefined,
    (error: unknown) => error,
  );
}
