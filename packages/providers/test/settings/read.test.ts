/** What operators write. */
import { readFile } from "node:fs/promises";
import { ProvidersError, readAiSettings } from "@millrace/providers";
import { expect, test } from "vitest";

test("nothing at all is fine", () => {
  expect(readAiSettings({})).toEqual({ providers: {}, mcpServers: {}, prices: {} });
});

test("everything that the guide shows is read as it stands", () => {
  const providers = {
    openai: { credential: "env:OPENAI_API_KEY", api: "chat" },
    local: { kind: "openai-compatible", baseUrl: "http://127.0.0.1:8080/v1", modelId: "m" },
  };
  const mcpServers = {
    fs: {
      command: "mcp-fs",
      args: ["/data"],
      env: { LANG: "C" },
      secrets: { API_KEY: "ai:search" },
      cwd: "/data",
      tools: ["read_file"],
      trusted: ["read_file"],
      connectMs: 10_000,
    },
    crm: { url: "https://mcp.example/mcp", credential: "service:crm", tools: ["find"] },
  };
  const ai = {
    defaultProvider: "openai",
    circuit: { failures: 3 },
    prices: { "local/m": { input: 0, output: 0 } },
  };
  expect(readAiSettings({ providers, mcpServers, ai })).toEqual({ providers, mcpServers, ...ai });
});

test.each([
  [{ providers: [] }, "providers must be an object"],
  [{ providers: { acme: {} } }, "providers.acme.kind must be one of"],
  [{ providers: { Acme: { kind: "openai" } } }, "providers.Acme is no name"],
  [{ providers: { mock: {} } }, "providers.mock is always there"],
  [{ providers: { openai: { apiKey: "sk" } } }, "providers.openai.apiKey is unknown"],
  [{ providers: { openai: { baseUrl: "ftp://x" } } }, "providers.openai.baseUrl must be an http"],
  [{ providers: { openai: { baseUrl: "https://u:p@x" } } }, "providers.openai.baseUrl must be"],
  [{ providers: { openai: { credential: "OPENAI KEY" } } }, "providers.openai.credential must be"],
  [{ providers: { a: { kind: "openai-compatible" } } }, "providers.a.baseUrl is missing"],
  [
    {
      providers: {
        a: {
          kind: "openai-compatible",
          baseUrl: "https://x",
          headers: { Authorization: "Bearer x" },
        },
      },
    },
    "providers.a.headers.Authorization holds a key",
  ],
  [{ mcpServers: { a: { command: "x" } } }, "mcpServers.a.tools is missing"],
  [{ mcpServers: { a: { tools: [] } } }, "mcpServers.a.command is missing"],
  [
    { mcpServers: { a: { command: "x", tools: [], secrets: { K: "sk-live" } } } },
    "mcpServers.a.secrets.K must be",
  ],
  [
    { mcpServers: { a: { command: "x", tools: [], env: { "A B": "" } } } },
    "mcpServers.a.env.A B must be",
  ],
  [{ mcpServers: { a: { command: "x", tools: [], cwd: "here" } } }, "mcpServers.a.cwd must be"],
  [{ ai: { prices: { m: { input: -1, output: 0 } } } }, "ai.prices.m.input must be"],
  [{ ai: { model: "x" } }, "ai.model is unknown"],
])("%j is refused by name: %s", (values, message) => {
  const read = (): unknown => readAiSettings(values);
  expect(read).toThrow(ProvidersError);
  expect(read).toThrow(message);
});

test("the settings of the guide are right", async () => {
  const page = await readFile(new URL("../../../../docs/guide/ai.md", import.meta.url), "utf8");
  const text = /```json settings\.json\n([\s\S]*?)```/.exec(page)?.[1] ?? "";
  expect(readAiSettings(JSON.parse(text) as object)).toMatchObject({ defaultProvider: "local" });
});
