/** A package does the same in a process of its own and in that of its host, and one that does not is named. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { importDefinition } from "@millrace/extensions";
import {
  actionCode,
  adapterCode,
  extensionProject,
  packageFolder,
} from "@millrace/test-support/extension-project";
import { sharedFolder } from "@millrace/test-support/folder";
import { type ConformanceCase, type Fixture, isolationConformance } from "@millrace/testkit";
import { beforeAll, describe, expect, test } from "vitest";

const GOOD = `
import * as z from "zod";
import { defineAction, defineActionAdapter, defineExtension, defineNodeType, exit, jsonSchema, NodeError } from "@millrace/contracts";
const any = jsonSchema({ type: "object" });
const text = { title: "T", summary: "S" };
const action = (name, run, more = {}) => defineAction({ ...text, name, fields: any, output: any, effect: "read", run, ...more });
const actions = [
  defineAction({ ...text, name: "forecast", fields: z.object({ city: z.string().min(1), units: z.enum(["c", "f"]).default("c") }),
    output: z.object({ high: z.number(), units: z.string() }), effect: "read",
    run: (f) => f.city === "nowhere" ? { high: "none" } : { high: f.city.length, units: f.units } }),
  action("leave", () => exit("cold", { by: "x" }), { ports: [{ name: "out" }, { name: "cold" }] }),
  action("meaning", () => { throw new NodeError("weather_http", "answered 503", { retryable: true, status: 503, reason: "server" }); }),
  action("nonsense", () => { throw new Error("hunter2"); }),
  action("secret", async (_, ctx) => {
    const s = await ctx.credentials.secret("WEATHER_KEY");
    ctx.log("info", "key " + s.reveal(), { json: JSON.stringify(s), text: String(s) });
    return { key: s.reveal() };
  }, { needs: { secrets: ["WEATHER_KEY"] } }),
  action("files", async ({ path }, ctx) => {
    await ctx.files.write(path, new TextEncoder().encode("hello"), { mode: "replace" });
    return { text: new TextDecoder().decode((await ctx.files.read(path)).data) };
  }, { effect: "write" }),
  action("get", async ({ wait }, ctx) => {
    const r = await ctx.fetch("https://api.weather.example/v1", { method: "POST", body: "ping" });
    await ctx.sleep(wait);
    return { status: r.status, body: await r.json(), chance: [ctx.random(), ctx.random()], at: ctx.now(), on: new Date(ctx.now()).toISOString() };
  }),
  action("far", async (_, ctx) => { await ctx.fetch("https://other.example/"); return {}; }),
];
export default defineExtension({
  adapters: [defineActionAdapter({ id: "weather", title: "Weather", actions })],
  nodeTypes: [defineNodeType({ ...text, type: "approval.quorum", effect: "write", fields: any, output: any,
    run: async (_, ctx) => {
      ctx.progress(1, 2);
      const first = await ctx.step("count", () => 1);
      const answer = await ctx.confirm("ask", { prompt: "Go?" });
      return { first, outcome: answer.outcome };
    } })],
});
`;

const HEAD = 'import { readFileSync } from "node:fs";';
/** Bodies that do not do the same in both. */
const BAD: { readonly [id: string]: string } = {
  peeking:
    '() => { try { return { size: readFileSync("/etc/hostname").length > 0 }; } catch (error) { return { code: error.code }; } }',
  deaf: "async (_, ctx) => { await ctx.fetch('https://slow.example/').catch(() => {}); return new Promise((go) => setTimeout(() => go({}), 2500)); }",
  modest: "async (_, ctx) => ({ status: (await ctx.fetch('https://slow.example/')).status })",
};

const folder = sharedFolder();

beforeAll(async () => {
  mkdirSync(join(folder, "out"));
  writeFileSync(join(folder, "private.txt"), "private");
  const open = { net: ["api.weather.example:443"], secrets: ["WEATHER_KEY"] };
  const fs = { read: ["$project/out"], write: ["$project/out"] };
  const net = (id: string) =>
    id === "modest" ? {} : { permissions: { net: ["slow.example:443"] } };
  await extensionProject(
    [
      { name: "@acme/weather", code: GOOD, permissions: { ...open, fs } },
      ...Object.entries(BAD).map(([id, body]) => ({
        name: `@acme/${id}`,
        code: adapterCode(id, actionCode("go", body), HEAD),
        ...net(id),
      })),
    ],
    folder,
  );
});

async function casesOf(
  name: string,
  fixtures: { readonly [type: string]: readonly Fixture[] },
): Promise<readonly ConformanceCase[]> {
  const at = packageFolder(folder, name);
  const definition = await importDefinition(join(at, "dist/extension.js"));
  return isolationConformance(definition, { package: at, fixtures });
}

const http = [{ method: "POST", url: "https://api.weather.example/v1", json: { high: 7 } }];
const SUITE = ["every fixture has one log", "a body that is cancelled ends in both"];

test.each(SUITE)("an extension of both seams: %s", async (name) => {
  const cases = await casesOf("@acme/weather", {
    "weather.forecast": [
      { fields: { city: "Oslo" }, output: { high: 4, units: "c" } },
      { fields: { city: "nowhere" }, fails: "output_schema" },
    ],
    "weather.leave": [{ fields: {}, output: { by: "x" } }],
    "weather.meaning": [{ fields: {}, fails: "weather_http" }],
    "weather.nonsense": [{ fields: {}, fails: "extension_threw" }],
    "weather.secret": [{ fields: {}, output: { key: "[redacted]" } }],
    "weather.files": [
      { fields: { path: "out/a.txt" }, filesRoot: folder, output: { text: "hello" } },
      { fields: { path: "private.txt" }, filesRoot: folder, fails: "file_denied" },
    ],
    "weather.get": [{ fields: { wait: 20_000 }, http }],
    "weather.far": [{ fields: {}, fails: "egress_denied" }],
    "approval.quorum": [
      {
        fields: {},
        confirm: () => ({ decision: "approve" }),
        output: { first: 1, outcome: "approved" },
      },
    ],
  });
  await cases.find((each) => each.name.includes(name))?.run();
});

describe("what is not the same is named", () => {
  test.each([
    ["peeking", "every fixture", /it does not do the same in both/],
    ["deaf", "is cancelled", /deaf\.go in mode child[\s\S]*extension_ignored_abort/],
    ["modest", "every fixture", /modest\.go in mode child: capability_denied/],
  ])("%s", async (id, name, says) => {
    const fixtures = {
      [`${id}.go`]: [{ fields: {}, http: [{ url: "https://slow.example/" }] }],
    };
    const cases = await casesOf(`@acme/${id}`, fixtures);
    const found = cases.find((each) => each.name.includes(name));
    await expect(found?.run()).rejects.toThrow(says);
  });
});
