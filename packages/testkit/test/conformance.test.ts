/** The suites find what is wrong, pass what is right, and our own built-ins go through them like everybody's. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  defineAction,
  defineActionAdapter,
  defineExtension,
  defineNodeType,
  type Effect,
  type ExtensionDefinition,
  type JsonObject,
  jsonSchema,
  type NodeContext,
  NodeError,
} from "@millrace/contracts";
import { crm, weather } from "@millrace/test-support/definitions";
import { sharedFolder } from "@millrace/test-support/folder";
import {
  type ConformanceOptions,
  conformance,
  credentialsConformance,
  type Fixture,
} from "@millrace/testkit";
import { describe, expect, test } from "vitest";
import { fileAdapter } from "../../engine/src/node/nodes/file/index.ts";
import { shellAdapter } from "../../engine/src/node/nodes/shell.ts";
import { httpAdapter } from "../../services/src/http/http-request.ts";

const order = defineAction({
  name: "order",
  title: "Order an umbrella",
  summary: "Once for each key.",
  fields: jsonSchema<object>({ type: "object", additionalProperties: false }),
  output: jsonSchema<{ id: string }>({ type: "object" }),
  effect: "write",
  idempotent: true,
  run: async (_, ctx) => {
    const headers = { "idempotency-key": ctx.idempotencyKey };
    const init = { method: "POST", headers, signal: ctx.signal };
    const r = await ctx.fetch("https://api.weather.example/v1/orders", init);
    return (await r.json()) as { id: string };
  },
});

const quorum = defineNodeType({
  type: "approval.quorum",
  title: "Quorum",
  summary: "Asks until enough people agree.",
  fields: jsonSchema<{ needed: number }>({
    type: "object",
    properties: { needed: { type: "integer", minimum: 1 } },
    required: ["needed"],
  }),
  output: jsonSchema<{ agreed: number }>({ type: "object" }),
  effect: "read",
  run: async ({ needed }, ctx) => {
    let agreed = 0;
    for (let asked = 0; asked < needed; asked += 1) {
      const answer = await ctx.confirm(`q${asked}`, { prompt: "Agreed?" });
      if (answer.outcome === "approved") agreed += 1;
      await ctx.step(`s${asked}`, () => agreed);
      await ctx.sleep(10);
    }
    return { agreed };
  },
});

const shop = defineActionAdapter({ id: "shop", title: "Shop", actions: [order] });

const good = defineExtension({
  adapters: [weather, shop],
  nodeTypes: [quorum],
  services: [crm],
});
const oslo = "https://api.weather.example/v1/Oslo?u=c";
const http = [{ url: oslo, json: { high: 7, low: -1 } }];
const orders = { method: "POST", url: "https://api.weather.example/v1/orders", json: { id: "o1" } };
const options: ConformanceOptions = {
  fixtures: {
    "weather.forecast": [
      { fields: { city: "Oslo" }, http, output: { high: 7, low: -1 } },
      { fields: { city: "Oslo" }, http: [{ url: oslo, status: 404 }], fails: "weather_http" },
    ],
    "shop.order": [{ fields: {}, http: [orders] }],
    "approval.quorum": [
      { fields: { needed: 2 }, confirm: () => ({ decision: "approve" }), output: { agreed: 2 } },
    ],
  },
};

describe("an extension of three seams", () => {
  for (const { name, run } of conformance(good, options)) test(name, run);
});

/** An action that does something it must not. */
function bad(
  run: (ctx: NodeContext) => Promise<unknown>,
  effect: Effect = "read",
): ExtensionDefinition {
  const action = defineAction({
    name: "bad",
    title: "Bad",
    summary: "Bad.",
    fields: jsonSchema<object>({ type: "object" }),
    output: jsonSchema<unknown>({}),
    effect,
    needs: { secrets: ["KEY"] },
    run: (_, ctx) => run(ctx),
  });
  const adapter = defineActionAdapter({ id: "weather", title: "Weather", actions: [action] });
  return defineExtension({ adapters: [adapter] });
}

type NodeTypeSpec = Parameters<typeof defineNodeType<JsonObject, unknown>>[0];

/** The same as a node type, which may ask people. */
function asking(run: NodeTypeSpec["run"], more: Partial<NodeTypeSpec> = {}): ExtensionDefinition {
  const nodeType = defineNodeType<JsonObject, unknown>({
    type: "weather.bad",
    title: "Bad",
    summary: "Bad.",
    fields: jsonSchema<JsonObject>({ type: "object" }),
    output: jsonSchema<unknown>({}),
    effect: "write",
    needs: { secrets: ["KEY"] },
    run,
    ...more,
  });
  return defineExtension({ nodeTypes: [nodeType] });
}

function busy(ms: number): void {
  const from = process.cpuUsage();
  for (let spent = 0; spent < ms; ) {
    for (let i = 0; i < 1e7; i += 1);
    const { user, system } = process.cpuUsage(from);
    spent = (user + system) / 1_000;
  }
}

let attempts = 0;

const SLOW = "https://slow.example/";
const keyOf = async ({ credentials }: NodeContext) => (await credentials.secret("KEY")).reveal();
const CANCEL = "abort: ends at once when it is cancelled while it waits";
const LOG = "events: its log is legal";
const SECRETS = "secrets: none";
const CHECK = "check: it says";

describe("what is wrong is named", () => {
  const wrongs: readonly (readonly [string, ExtensionDefinition, suite: string, RegExp])[] = [
    [
      "ignores abort",
      bad(async (ctx) => {
        await ctx.fetch(SLOW).catch(() => {});
        await new Promise((resolve) => setTimeout(resolve, 5_000));
        return {};
      }),
      CANCEL,
      /ignores abort/,
    ],
    [
      "answers although it was cancelled",
      bad((ctx) => ctx.fetch(SLOW).catch(() => ({}))),
      CANCEL,
      /a cancelled body rejects/,
    ],
    [
      "writes events after its end",
      bad(async (ctx) => {
        setTimeout(() => {
          try {
            ctx.log("info", "late");
          } catch {}
        }, 1);
        return {};
      }),
      LOG,
      /used its context after its end/,
    ],
    [
      "leaks a secret into its output",
      bad(async (ctx) => ({ echo: await keyOf(ctx) })),
      SECRETS,
      /the secret KEY is in its output/,
    ],
    [
      "leaks a secret into what it throws",
      bad(async (ctx) => {
        throw new NodeError("bad", "no", { cause: new Error(`refused ${await keyOf(ctx)}`) });
      }),
      SECRETS,
      /the secret KEY is in what it throws/,
    ],
    [
      "goes on in its second wait although it was cancelled",
      bad(async (ctx) => {
        await ctx.fetch(SLOW);
        await ctx.sleep(5_000).catch(() => {});
        return {};
      }),
      CANCEL,
      /a cancelled body rejects/,
    ],
    [
      "leaks a secret into one of many errors",
      bad(async (ctx) => {
        throw new AggregateError([new Error(`refused ${await keyOf(ctx)}`)], "all refused");
      }),
      SECRETS,
      /the secret KEY is in what it throws/,
    ],
    [
      "leaks a secret into a question",
      asking(async (_, ctx) => {
        await ctx.confirm("use", { prompt: `Use ${await keyOf(ctx)}?` });
        return {};
      }),
      SECRETS,
      /the secret KEY is in what it logs or asks/,
    ],
    [
      "calls itself pure and asks a server",
      bad(async (ctx) => (await ctx.fetch(SLOW)).status, "pure"),
      "effect: what is pure",
      /its result depends on more than its fields/,
    ],
    [
      "has a check that wants what a flow computes",
      asking(async () => ({}), {
        check: ({ cases }) => (Object.keys(cases as object).length > 9 ? [] : []),
      }),
      CHECK,
      /Cannot convert undefined/,
    ],
    [
      "has a check that refuses what a flow computes",
      asking(async () => ({}), {
        check: ({ cases }) =>
          cases === undefined
            ? [{ pointer: "/cases", code: "none", message: "needs cases", severity: "error" }]
            : [],
      }),
      CHECK,
      /refuses a field that a flow computes: \/cases/,
    ],
    [
      "blocks the loop",
      bad(async () => {
        busy(1_100);
        return {};
      }),
      "events: it does not hold",
      /blocks the event loop/,
    ],
    [
      "takes chance from elsewhere",
      bad(async () => {
        attempts += 1;
        return { attempts };
      }),
      "determinism: two runs",
      /take time and chance from ctx/,
    ],
    ["answers what is no JSON", bad(async () => ({ at: Number.NaN })), LOG, /no plain JSON/],
  ];

  test.each(wrongs)("%s", async (_, extension, suite, says) => {
    const fixture: Fixture = {
      fields: suite.startsWith("check") ? { cases: {} } : {},
      http: [{ url: SLOW }],
      confirm: () => ({ decision: "approve" }),
    };
    const fixtures = { "weather.bad": [fixture] };
    const found = conformance(extension, { fixtures }).find(({ name }) => name.includes(suite));
    await expect(found?.run()).rejects.toThrow(says);
  });

  test("what holds a circle, a large number or a member named then is not", async () => {
    const named = JSON.parse('{"then":1}') as JsonObject;
    const circle = Object.assign(new Error("no"), { size: 1n });
    const throws = bad(async () => {
      throw new NodeError("bad", "no", { cause: Object.assign(circle, { circle }) });
    });
    for (const [extension, fixture] of [
      [throws, { fields: {}, fails: "bad" }],
      [bad(async () => named), { fields: {}, output: named }],
    ] as const) {
      const fixtures = { "weather.bad": [fixture] };
      for (const { run } of conformance(extension, { fixtures })) await run();
    }
  });

  test("a type that nothing shows how to run", async () => {
    const [, , shown] = conformance(good);
    await expect(shown?.run()).rejects.toThrow(/nothing shows how to run/);
  });
});

describe("a package that lies", () => {
  const folder = sharedFolder();
  const millrace = {
    ...{ apiVersion: 1, entry: "./extension.js", catalog: "./catalog.json" },
    contributes: { nodes: ["weather.other"], providers: [], services: [] },
    ...{ permissions: {}, mode: "child" },
  };
  const manifest = { name: "lies", version: "1.0.0", type: "module", millrace };
  const code = 'globalThis.leak = 1; console.log("hello"); setInterval(() => {}, 1000);';
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
  writeFileSync(join(folder, "catalog.json"), "{}");
  writeFileSync(join(folder, "extension.js"), code);

  test.each([
    ["in its manifest", /the manifest says what/, /the manifest lies/],
    ["about its secrets", /asks for every secret/, /does not ask for these secrets/],
    ["in its catalog", /catalog\.json/, /the catalog is stale/],
    ["when it is imported", /importing it/, /leak/],
  ])("%s", async (_, name, says) => {
    const found = conformance(good, { ...options, package: folder }).find((each) =>
      name.test(each.name),
    );
    await expect(found?.run()).rejects.toThrow(says);
  });
});

test("a host that asks for a token for every call is named", async () => {
  const cases = credentialsConformance(crm, async ({ service, token }) => {
    const { auth } = service.serviceIntegration;
    const renew = async () => {
      const answer = await fetch((auth as { tokenUrl: string }).tokenUrl, {
        method: "POST",
        body: new URLSearchParams({ grant_type: "refresh_token", refresh_token: "again" }),
      });
      const { access_token: value = "" } = (await answer.json()) as { access_token?: string };
      return { scheme: "oauth2" as const, scopes: ["contacts.read"], reveal: () => value };
    };
    expect(token.refresh_token).toBe("again");
    return { credentials: { resolve: renew, renew, secret: async () => undefined } };
  });
  await expect(cases[0]?.run()).rejects.toThrow(/tokens that were asked for/);
});

describe("built in", () => {
  const folder = sharedFolder();
  writeFileSync(join(folder, "a.txt"), "hello");
  // Under names of their own: those of core are taken.
  const own = ({ title, actions }: typeof httpAdapter, id: string) =>
    defineActionAdapter({ id, title, actions });
  const extension = defineExtension({
    adapters: [
      own(httpAdapter, "own_http"),
      own(fileAdapter, "own_file"),
      own(shellAdapter, "own_shell"),
    ],
  });
  const filesRoot = folder;
  const fixtures = {
    "own_http.request": [
      { fields: { url: "https://a.example/" }, http: [{ url: "https://a.example/", json: {} }] },
    ],
    "own_file.read": [{ fields: { path: "a.txt" }, filesRoot }],
    "own_file.list": [{ fields: { path: "." }, filesRoot }],
    "own_file.write": [{ fields: { path: "b.txt", content: "b" }, filesRoot }],
    "own_shell.exec": [{ fields: { program: "none" }, fails: "capability_denied" }],
  };
  for (const { name, run } of conformance(extension, { fixtures })) test(name, run);
});
