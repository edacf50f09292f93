/** The AI providers of a server as it names them. */
import type { ProviderInfo } from "@millrace/contracts";
import { type CreateServerOptions, createServer } from "@millrace/server";
import { expect, onTestFinished, test } from "vitest";
import { keepLog } from "./support/server.ts";

const KEY = "sk-a-key-that-nobody-may-see";

async function providersOf(options: CreateServerOptions) {
  const server = await createServer({
    store: "memory",
    credentials: { store: "memory" },
    log: keepLog(),
    ...options,
  });
  onTestFinished(() => server.close({ graceMs: 0 }));
  const response = await server.request("/api/providers");
  expect(response.status).toBe(200);
  const text = await response.text();
  const list = JSON.parse(text) as readonly ProviderInfo[];
  return { text, of: (name: string) => list.find((each) => each.name === name) };
}

test("each provider says whether its credential is there, and never what it is", async () => {
  const providers = {
    google: { credential: "env:OWN_KEY", modelId: "gemini-2.5-flash" },
    lab: { kind: "openai-compatible", baseUrl: "http://127.0.0.1:9/v1", modelId: "tiny" },
    team: { kind: "openai", credential: "team-key" },
    crm: { kind: "openai", credential: "service:crm" },
  } as const;
  const { text, of } = await providersOf({
    ai: { providers, env: { OPENAI_API_KEY: KEY, OWN_KEY: KEY } },
  });
  expect(of("openai")).toEqual({ name: "openai", kind: "openai", credential: "present" });
  expect(of("anthropic")).toMatchObject({ credential: "missing" });
  expect(of("google")).toEqual({
    name: "google",
    kind: "google",
    models: ["gemini-2.5-flash"],
    credential: "present",
  });
  expect(of("mock")).toEqual({
    name: "mock",
    kind: "mock",
    models: ["echo"],
    credential: "not_needed",
  });
  expect(of("lab")).toMatchObject({ kind: "openai-compatible", credential: "not_needed" });
  expect(of("team")).toMatchObject({ kind: "openai", credential: "missing" });
  expect(of("crm")).toMatchObject({ credential: "missing" });
  for (const secret of [KEY, "OWN_KEY", "team-key", "service:"]) expect(text).not.toContain(secret);
});

test("a credential store that cannot be read is no missing key", async () => {
  const broken = async (): Promise<never> => {
    throw new Error("the store is locked");
  };
  const store = { name: "broken", get: broken, set: broken, delete: broken };
  const { of } = await providersOf({ credentials: { store } as never, ai: { env: {} } });
  expect(of("openai")).toMatchObject({ credential: "unknown" });
  expect(of("mock")).toMatchObject({ credential: "not_needed" });
});
