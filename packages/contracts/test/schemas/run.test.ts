import { type Run, type RunSummary, type Settings, startedBy } from "@millrace/contracts";
import {
  eventSchema,
  modelIdSchema,
  runIdSchema,
  runRequestSchema,
  runSchema,
  runSummarySchema,
  settingsSchema,
  slugSchema,
  tagsSchema,
} from "@millrace/contracts/schemas";
import { describe, expect, test } from "vitest";

const dsl = "flow 1 x";
const FIRE = { scheduleId: "sch_1", fireTime: "2026-01-05T10:00:00.000Z" };

describe("a run request", () => {
  test.each<[string, object]>([
    ["text", { dsl }],
    ["a template", { template: "fx-rates", version: 3 }],
    ["a graph", { graph: { version: 1, id: "x", nodes: [] } }],
    [
      "inputs and all options",
      {
        dsl,
        inputs: { base: "EUR" },
        options: {
          runId: "r-1",
          timeoutMs: 1,
          onDisconnect: "continue",
          confirm: "approve",
          events: ["llm.delta"],
          tags: { team: "fx" },
        },
      },
    ],
  ])("of %s passes", (_, request) => {
    expect(runRequestSchema.safeParse(request).success).toBe(true);
  });

  test.each<[string, object, string[]]>([
    ["none of the three", {}, [""]],
    ["two of them", { template: "a", dsl }, ["dsl"]],
    [
      "all of them",
      { graph: { version: 1, id: "x", nodes: [] }, template: "a", dsl },
      ["template", "dsl"],
    ],
  ])("of %s is a conflict", (_, request, paths) => {
    const issues = runRequestSchema.safeParse(request).error?.issues ?? [];
    expect(issues.map((issue) => issue.path.join("."))).toEqual(paths);
    for (const issue of issues)
      expect(issue).toMatchObject({ params: { problem: "run_input_conflict" } });
  });

  test.each<[string, object]>([
    ["null, which counts as present", { template: null }],
    ["a version without a template", { dsl, version: 1 }],
    ["a member nobody knows", { dsl, path: "/etc/passwd" }],
    ["an option nobody knows", { dsl, options: { trigger: "cli" } }],
    ["a kind nobody knows", { dsl, options: { events: ["llm.deltas"] } }],
    ["an id with a slash", { dsl, options: { runId: "a/b" } }],
    [
      "seventeen tags",
      {
        dsl,
        options: { tags: Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`t${n}`, ""])) },
      },
    ],
  ])("with %s is refused", (_, request) => {
    expect(runRequestSchema.safeParse(request).success).toBe(false);
  });
});

test("slugs, ids and tags keep their limits", () => {
  const passes = (schema: typeof slugSchema, values: string[]) =>
    values.filter((value) => schema.safeParse(value).success);
  expect(
    passes(slugSchema, ["a", "a-b", "a".repeat(64), "a".repeat(65), "-a", "a-", "A", "a_b", ""]),
  ).toEqual(["a", "a-b", "a".repeat(64)]);
  expect(passes(runIdSchema, ["run_01", "A-b", "a".repeat(65), "", "a.b"])).toEqual([
    "run_01",
    "A-b",
  ]);
  expect(
    passes(modelIdSchema, [
      "qwen3-4b:q4_k_m",
      "a.b",
      "a..b",
      "../x",
      "/x",
      "a:",
      "A",
      "a".repeat(300),
    ]),
  ).toEqual(["qwen3-4b:q4_k_m", "a.b"]);
  expect(tagsSchema.safeParse({ ["k".repeat(129)]: "" }).success).toBe(false);
});

test("a run is its summary with nodes and confirmations", () => {
  const run: Run = {
    runId: "run_1",
    status: "paused",
    flow: { id: "fx-rates", hash: `sha256:${"0".repeat(64)}` },
    template: { slug: "fx-rates", version: 3 },
    trigger: "schedule",
    source: FIRE,
    tags: {},
    createdAt: "2026-01-05T10:00:00.000Z",
    startedAt: "2026-01-05T10:00:00.000Z",
    endedAt: null,
    lastSeq: 41,
    retryOf: null,
    summary: null,
    nodes: { "pages[3]/get": { state: "waiting", attempt: 1 } },
    confirmations: [
      {
        id: "k1",
        runId: "run_1",
        node: "ok",
        status: "requested",
        prompt: "Send?",
        schema: {},
        deadline: null,
        requestedAt: "2026-11-25T10:00:00.000Z",
      },
    ],
  };
  const { nodes: _nodes, confirmations: _confirmations, ...summary } = run;
  expect(runSchema.parse(run)).toEqual(run);
  expect(runSummarySchema.parse(summary)).toEqual(summary);
  expect(runSummarySchema.safeParse(run).success).toBe(false);
});

test("an event of a newer writer passes with its members, a broken envelope does not", () => {
  const event = { v: 1, kind: "tree.grown", runId: "r", seq: 1, ts: 0, leaves: 3 };
  expect(eventSchema.parse(event)).toEqual(event);
  for (const broken of [{ v: 2 }, { kind: "Tree" }, { seq: 0 }, { ts: "now" }]) {
    expect(eventSchema.safeParse({ ...event, ...broken }).success).toBe(false);
  }
});

describe("settings", () => {
  test("of a fresh installation are the defaults", () => {
    expect(settingsSchema.parse({})).toEqual({
      run: { timeoutMs: null, onFailure: "stop", concurrency: 16, confirm: "ask" },
      notify: { to: null, windowMs: 3_600_000, secret: null },
      retention: {
        journalDays: 30,
        journalRuns: 10_000,
        journalBytes: 5 * 1024 ** 3,
        runDays: 365,
        feedDays: 7,
        fireDays: 90,
      },
      ai: {
        defaultProvider: null,
        defaultModels: {},
        keepContent: true,
        circuit: { failures: 5, windowMs: 60_000, coolDownMs: 30_000 },
      },
      revokedTokens: [],
    } satisfies Settings);
  });

  test("take a key of webhooks as Standard Webhooks writes it, and no URL without one", () => {
    const at = (notify: object) => settingsSchema.safeParse({ notify }).success;
    const secret = `whsec_${Buffer.alloc(24).toString("base64")}`;
    expect([at({ to: "ops" }), at({ to: "https://a.test", secret })]).toEqual([true, true]);
    expect(at({ to: "https://a.test", secret: { $secret: true } })).toBe(true);
    for (const wrong of [{ to: "https://a.test" }, { to: "No Slug" }, { secret: "abc" }]) {
      expect(at(wrong)).toBe(false);
    }
  });

  test("are completed from a part, and hold nothing that widens a sandbox", () => {
    expect(settingsSchema.parse({ ai: { circuit: { failures: 1 } } })).toMatchObject({
      ai: { circuit: { failures: 1, windowMs: 60_000 } },
    });
    for (const key of [
      "egress",
      "files",
      "shell",
      "providers",
      "tokens",
      "hosts",
      "mcpServers",
      "models",
      "credentials",
    ]) {
      expect(settingsSchema.safeParse({ [key]: {} }).success).toBe(false);
    }
  });
});

test.each<[Pick<RunSummary, "trigger" | "source" | "retryOf">, string]>([
  [{ trigger: "mcp", retryOf: null }, "mcp"],
  [{ trigger: "api", retryOf: "run_1" }, "retry of run_1"],
  [{ trigger: "webhook", source: { webhookId: "whk_1" }, retryOf: null }, "webhook whk_1"],
  [{ trigger: "notify", source: { failedRunId: "run_1" }, retryOf: null }, "notify of run_1"],
  [
    { trigger: "schedule", source: { ...FIRE, name: "nightly" }, retryOf: null },
    "schedule nightly",
  ],
  [{ trigger: "api", source: FIRE, retryOf: null }, "schedule sch_1, now"],
])("a run that %j has started is said to be started by %s", (run, said) => {
  expect(startedBy(run)).toBe(said);
});
