/** Which key a provider gets. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type CredentialsPort, NodeError, type ServiceCredential } from "@millrace/contracts";
import { type AiCredentialsOptions, createAiCredentials } from "@millrace/providers";
import { secretVariable } from "@millrace/providers/secret-variables";
import { temporaryFolder } from "@millrace/test-support/folder";
import { expect, test } from "vitest";

const { signal } = new AbortController();

function port(
  stored: { readonly [name: string]: string },
  more: Partial<Omit<AiCredentialsOptions, "credentials">> = {},
) {
  const credentials: Pick<CredentialsPort, "secret" | "resolve"> = {
    secret: async (name) => stored[name],
    async resolve(slug) {
      const value = stored[`service:${slug}`];
      if (value === undefined) throw new NodeError("credentials_missing", `no ${slug}`);
      return { scheme: "oauth2", scopes: [], reveal: () => value } as ServiceCredential;
    },
  };
  return createAiCredentials({ settings: { providers: {} }, env: {}, credentials, ...more });
}

test("what a flow names is looked up in the store alone, and nothing stands in for it", async () => {
  const env = { OPENAI_API_KEY: "of-the-environment", mine: "no" };
  const keys = port({ "ai:openai": "stored", "ai:mine": "named" }, { env });
  const resolve = (reference: string) => keys.resolve({ provider: "openai", reference, signal });
  expect(await resolve("mine")).toEqual({ apiKey: "named" });
  for (const reference of ["other", "env:mine"]) {
    await expect(resolve(reference)).rejects.toMatchObject({
      code: "credentials_missing",
      message: expect.stringContaining(`"${reference}"`),
    });
  }
});

test("a connection gives its token, renewed by whoever renews it", async () => {
  const keys = port({ "service:crm": "token" });
  const found = keys.resolve({ provider: "openai", reference: "service:crm", signal });
  expect(await found).toEqual({ accessToken: "token" });
  const missing = keys.resolve({ provider: "openai", reference: "service:none", signal });
  await expect(missing).rejects.toMatchObject({ code: "credentials_missing" });
});

test("without a name: the setting, else the store, else the variable that everybody knows", async () => {
  const env = { OPENAI_API_KEY: "well-known", MY_KEY: "mine" };
  const get = (keys: ReturnType<typeof port>) => keys.resolve({ provider: "openai", signal });
  const settings = { providers: { openai: { credential: "env:MY_KEY" } } };
  expect(await get(port({ "ai:openai": "stored" }, { env, settings }))).toEqual({ apiKey: "mine" });
  expect(await get(port({ "ai:openai": "stored" }, { env }))).toEqual({ apiKey: "stored" });
  expect(await get(port({}, { env }))).toEqual({ apiKey: "well-known" });
  const named = { providers: { openai: { credential: "team" } } };
  await expect(get(port({}, { env, settings: named }))).rejects.toMatchObject({
    code: "credentials_missing",
    message: expect.stringContaining("ai:team"),
  });
  await expect(get(port({}, { settings }))).rejects.toMatchObject({
    message: expect.stringContaining("MY_KEY"),
  });
});

test("who may go without a key goes without one; who may not is told what to do", async () => {
  const settings = {
    providers: { local: { kind: "openai-compatible", baseUrl: "http://127.0.0.1/v1" } },
  } as const;
  const keys = port({}, { settings });
  expect(await keys.resolve({ provider: "local", signal })).toEqual({});
  expect(await keys.resolve({ provider: "mock", signal })).toEqual({});
  await expect(keys.resolve({ provider: "anthropic", signal })).rejects.toMatchObject({
    code: "credentials_missing",
    message: expect.stringContaining("millrace secrets set ai:anthropic"),
  });
});

test("`mock` works where there is no store", async () => {
  const refused = async () => {
    throw new NodeError("unavailable", "no store");
  };
  const credentials = { secret: refused, resolve: refused };
  const keys = createAiCredentials({ settings: { providers: {} }, env: {}, credentials });
  expect(await keys.resolve({ provider: "mock", signal })).toEqual({});
  await expect(keys.resolve({ provider: "openai", signal })).rejects.toMatchObject({
    code: "unavailable",
  });
});

test("a store that cannot be asked is in nobody's way who needs none of it", async () => {
  const broken = new NodeError("unavailable", "the store is locked");
  const credentials = {
    secret: () => Promise.reject(broken),
    resolve: () => Promise.reject(broken),
  };
  const settings = {
    providers: { local: { kind: "openai-compatible", baseUrl: "http://127.0.0.1/v1" } },
  } as const;
  const keys = createAiCredentials({ settings, credentials, env: { OPENAI_API_KEY: "known" } });
  expect(await keys.resolve({ provider: "local", signal })).toEqual({});
  expect(await keys.resolve({ provider: "openai", signal })).toEqual({ apiKey: "known" });
  for (const request of [{ provider: "google" }, { provider: "openai", reference: "team" }]) {
    await expect(keys.resolve({ ...request, signal })).rejects.toBe(broken);
  }
});

test("a secret of a variable may be in the file that NAME_FILE names, and no message has it", async () => {
  const folder = temporaryFolder();
  const file = (name: string, text: string | Uint8Array): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const read = (env: { readonly [name: string]: string }) => secretVariable(env, "KEY");
  expect(read({ KEY_FILE: file("key", "planted \n\n") })).toBe("planted \n");
  expect([read({ KEY: "planted", KEY_FILE: "" }), read({})]).toEqual(["planted", undefined]);
  const both = { KEY: "planted", KEY_FILE: file("key", "planted") };
  expect(() => read(both)).toThrow("KEY and KEY_FILE are both set; keep one of the two");
  const missing = join(folder, "none");
  expect(() => read({ KEY_FILE: missing })).toThrow(`KEY_FILE: cannot read ${missing} (ENOENT)`);
  expect(() => read({ KEY_FILE: file("empty", "\n") })).toThrow("is empty");
  const bytes = file("bytes", Uint8Array.of(0x70, 0xff));
  expect(() => read({ KEY_FILE: bytes })).toThrow(`cannot read ${bytes} (no UTF-8 text)`);
  const env = { OPENAI_API_KEY_FILE: file("key", "planted\r\n") };
  expect(await port({}, { env }).resolve({ provider: "openai", signal })).toEqual({
    apiKey: "planted",
  });
  await expect(
    port({}, { env: { OPENAI_API_KEY_FILE: missing } }).resolve({ provider: "openai", signal }),
  ).rejects.toMatchObject({ code: "credentials_missing" });
});
