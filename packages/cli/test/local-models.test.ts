/** Flows that ask models of this machine, run by the built command: with a model, without it, and without the package. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describeUnless, noLocalEngine, notFull } from "@millrace/test-support";
import { tinyGguf } from "@millrace/test-support/gguf";
import { expect, test, vi } from "vitest";
import { events, millrace, scratch } from "./cli.ts";

// Loading the engine takes a second; where every processor has ten programs to run, a minute.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

const SAYS = "A model of this machine says so .";
const ASK = `flow 1 ask

node ask: ai {
  provider = "local"
  modelId = "tiny:chain"
  input = "say it"
  temperature = 0
  failover = [{ provider: "mock", modelId: "echo" }]
}

output text: string = ask.text
`;

/** Variables under which the package cannot be found, as where it was never installed. */
function withoutPackage(): Record<string, string> {
  const dir = scratch({
    "hide.mjs": `import { Module, register } from "node:module";
register("./hooks.mjs", import.meta.url);
const resolve = Module._resolveFilename;
Module._resolveFilename = function (name, ...rest) {
  if (name !== "@millrace/local-models") return resolve.call(this, name, ...rest);
  throw Object.assign(new Error("Cannot find module '" + name + "'"), { code: "MODULE_NOT_FOUND" });
};
`,
    "hooks.mjs": `export async function resolve(name, context, next) {
  if (name !== "@millrace/local-models") return next(name, context);
  throw Object.assign(new Error("Cannot find package '" + name + "'"), { code: "ERR_MODULE_NOT_FOUND" });
}
`,
  });
  return { NODE_OPTIONS: `--import=${pathToFileURL(join(dir, "hide.mjs")).href}` };
}

const run = (text: string, env: Record<string, string>) =>
  millrace(["run", "ask.flow", "--json"], { cwd: scratch({ "ask.flow": text }), env });

const reasons = (stdout: string) =>
  events(stdout).flatMap((event) => (event.kind === "llm.failed" ? [event.reason] : []));

test("without the package a local target is unknown, and the next one answers", async () => {
  const { code, stdout } = await run(ASK, withoutPackage());
  expect(code).toBe(0);
  expect(reasons(stdout)).toEqual(["not_found"]);
  expect(events(stdout).at(-1)).toMatchObject({ outputs: { text: "say it" } });
});

test("with no other target it fails with provider_unavailable, which is exit code 6", async () => {
  const { code, stdout } = await run(ASK.replace(/ {2}failover = .*\n/, ""), withoutPackage());
  expect(code).toBe(6);
  expect(events(stdout).at(-1)).toMatchObject({ error: { code: "provider_unavailable" } });
});

describeUnless(notFull ?? (await noLocalEngine()))("with the engine", () => {
  test("a model that lies in the data directory answers", async () => {
    const home = scratch();
    mkdirSync(join(home, "models/files/tiny"), { recursive: true });
    writeFileSync(join(home, "models/files/tiny/chain.gguf"), tinyGguf({ text: SAYS }));
    const { code, stdout, stderr } = await run(ASK, { MILLRACE_HOME: home });
    expect([code, stderr]).toEqual([0, ""]);
    expect(reasons(stdout)).toEqual([]);
    expect(events(stdout).at(-1)).toMatchObject({ outputs: { text: SAYS } });
  });
});
