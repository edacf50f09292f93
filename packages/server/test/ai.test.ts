/** Flows that ask models, on a server. */
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { createServer } from "@millrace/server";
import { temporaryFolder } from "@millrace/test-support/folder";
import { expect, onTestFinished, test } from "vitest";
import { keepLog } from "./support/server.ts";
import { expectLegal, readEvents } from "./support/streams.ts";

const ASK = `flow 1 ask

node ask: ai {
  provider = "mock"
  modelId = "echo"
  input = "hello"
}
output text: string = ask.text
`;

async function run(options: Parameters<typeof createServer>[0], dsl: string) {
  const { app, close } = await createServer({ store: "memory", log: keepLog(), ...options });
  onTestFinished(() => close({ graceMs: 0 }));
  const response = await app.fetch(
    new Request("http://127.0.0.1:6455/api/run", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ dsl }),
    }),
  );
  return readEvents(response);
}

test("a model answers in the stream of a run, and the key of digests is kept for its owner alone", async () => {
  const store = temporaryFolder();
  const events = await run({ store, credentials: { store: "memory" } }, ASK);
  expectLegal(events);
  expect(events.find(({ kind }) => kind === "llm.started")).toMatchObject({
    audit: { hmac: expect.stringMatching(/^hmac:/) },
  });
  expect(events.at(-1)).toMatchObject({ status: "succeeded", outputs: { text: "hello" } });
  const key = join(store, "audit.key");
  expect(await readFile(key)).toHaveLength(32);
  expect((await stat(key)).mode & 0o777).toBe(0o600);
});

test("settings of providers are those of the option, and a bad one is refused by its name", async () => {
  const options = { store: "memory", credentials: { store: "memory" } } as const;
  const ai = { ai: { defaultProvider: "mock" } };
  const events = await run({ ...options, ai }, ASK.replace('  provider = "mock"\n', ""));
  expect(events.at(-1)).toMatchObject({ status: "succeeded" });
  const bad = createServer({ ...options, ai: { providers: { acme: {} } } });
  await expect(bad).rejects.toMatchObject({
    code: "option_invalid",
    message: expect.stringContaining("providers.acme.kind"),
  });
});
