/** Which credential store a server has, and that it never has another one. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Meta, ServiceInfo } from "@millrace/contracts";
import { ConfigError, type StartOptions } from "@millrace/server";
import { temporaryFolder } from "@millrace/test-support/folder";
import { expect, test } from "vitest";
import { invoke, post, problemOf, serve } from "../support/server.ts";
import { service } from "./support.ts";

const KEY = Buffer.alloc(32, 7).toString("base64");
const services = [service("mail", { scheme: "bearer" })];
const SECRET = { slug: "mail", service: "mail", value: "t0ken-s3cret" };

const statusOf = async (server: Awaited<ReturnType<typeof serve>>) =>
  (await invoke<ServiceInfo>(server, "get_service", { slug: "mail" })).connections[0];

test("an encrypted file outlives the server, under the key of the environment", async () => {
  const dir = temporaryFolder();
  const env = {
    MILLRACE_CREDENTIALS_STORE: "file",
    MILLRACE_CREDENTIAL_KEY: KEY,
    MILLRACE_HOME: dir,
  };
  const first = await serve({ services, env });
  expect(await invoke(first, "set_service_secret", SECRET)).toMatchObject({
    status: "connected",
    store: "file",
  });
  expect((await invoke<Meta>(first, "get_meta", {})).features.credentialStore).toBe("file");
  await first.close({ graceMs: 0 });
  expect(await readFile(join(dir, "credentials.json"), "utf8")).not.toContain(SECRET.value);
  const second = await serve({ services, env });
  expect(await statusOf(second)).toMatchObject({ status: "connected" });

  const other = Buffer.alloc(32, 8).toString("base64");
  const third = await serve({ services, env: { ...env, MILLRACE_CREDENTIAL_KEY: other } });
  expect(await statusOf(third)).toMatchObject({ status: "unavailable" });
  const refused = await problemOf(
    await post(third, "/api/invoke", { command: "set_service_secret", args: SECRET }),
  );
  expect(refused.code).toBe("credential_store_unavailable");
});

test("a damaged file is unavailable, and stays as it is", async () => {
  const dir = temporaryFolder();
  await writeFile(join(dir, "credentials.json"), "damaged", { mode: 0o600 });
  const key = { bytes: Buffer.from(KEY, "base64") };
  const server = await serve({ services, credentials: { store: "file", dir, key } });
  expect(await statusOf(server)).toMatchObject({ status: "unavailable" });
  expect(await readFile(join(dir, "credentials.json"), "utf8")).toBe("damaged");
});

test("memory ends with the server, which notes nothing of it elsewhere", async () => {
  const options: StartOptions = {
    services,
    credentials: { store: "memory" },
    store: temporaryFolder(),
  };
  const first = await serve(options);
  expect(await invoke(first, "set_service_secret", SECRET)).toMatchObject({ store: "memory" });
  expect(await statusOf(first)).toMatchObject({ status: "connected" });
  await first.close({ graceMs: 0 });
  expect(await statusOf(await serve(options))).toBeUndefined();
});

test.each([
  ["a store of another name", { credentials: { store: "keychain" } }, "store"],
  ["a file without a key", { credentials: { store: "file" } }, "MILLRACE_CREDENTIAL_KEY"],
  [
    "a key of another length",
    { env: { MILLRACE_CREDENTIALS_STORE: "file", MILLRACE_CREDENTIAL_KEY: "c2hvcnQ=" } },
    "32 bytes",
  ],
  [
    "an empty passphrase",
    { credentials: { store: "file", key: { passphrase: "" } } },
    "passphrase",
  ],
  ["a folder that is none", { credentials: { dir: 7 } }, "dir"],
  ["credentials that are none", { credentials: "os" }, "credentials"],
  ["a service that is none", { services: [{ slug: "mail" }] }, "defineService"],
  ["a service twice", { services: [...services, ...services] }, "mail"],
])("%s does not start a server", async (_what, options, named) => {
  const error = await serve(options as StartOptions).catch((reason: unknown) => reason);
  if (!ConfigError.isInstance(error)) throw error;
  expect(error.code).toBe("option_invalid");
  expect(error.message).toContain(named);
  expect(error.message).not.toContain("c2hvcnQ=");
});
