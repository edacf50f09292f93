/** What is loaded when. A vendor's package costs 17 MB of memory, so none is there before it is used. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { bundleProgram } from "@millrace/test-support/program";
import { expect, test } from "vitest";

/** Tells every module that is asked for, one a line. */
const HOOK = `data:text/javascript,${encodeURIComponent(`
  import { register } from "node:module";
  register("data:text/javascript," + encodeURIComponent(\`
    import { writeSync } from "node:fs";
    export async function resolve(specifier, context, next) {
      const [, name] = /.*\\\\/node_modules\\\\/(@(?:ai-sdk|modelcontextprotocol)\\\\/[^/]+)/.exec("/node_modules/" + specifier) ?? [];
      if (name !== undefined) writeSync(1, name + "\\\\n");
      return next(specifier, context);
    }
  \`));
`)}`;

async function loadedBy(script: string): Promise<readonly string[]> {
  const path = await bundleProgram(script, import.meta.url);
  const { stdout } = await promisify(execFile)(process.execPath, ["--import", HOOK, path]);
  return stdout.split("\n").filter((line) => line.startsWith("@"));
}

test("importing, setting up and asking for abilities load no package of a vendor and none of the protocol", async () => {
  const loaded = await loadedBy(`
    import { createProviders, readAiSettings } from "@millrace/providers";
    import { createMcpSource } from "@millrace/providers/mcp";
    const servers = { a: { command: "x", tools: [] } };
    createMcpSource({ servers, credentials: {}, references: {}, fetch: async () => {} });
    const providers = createProviders(readAiSettings({ providers: { a: { kind: "openai-compatible", baseUrl: "https://a.example" } } }));
    for (const provider of providers) await provider.capabilities("m");
    const context = { credentials: {}, signal: new AbortController().signal };
    await providers.find(({ id }) => id === "mock").languageModel("echo", context);
  `);
  expect(loaded).toEqual([]);
});

test("a model loads the package of its maker and no other", async () => {
  const loaded = await loadedBy(`
    import { createProviders } from "@millrace/providers";
    const context = { credentials: { apiKey: "k" }, signal: new AbortController().signal };
    await createProviders({ providers: {} }).find(({ id }) => id === "anthropic").languageModel("m", context);
  `);
  expect(loaded.filter((name) => !/provider(-utils)?$/.test(name))).toEqual(["@ai-sdk/anthropic"]);
});
