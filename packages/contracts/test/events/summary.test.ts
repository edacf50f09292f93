import {
  checkLog,
  createView,
  cutText,
  EVENT_LIMITS,
  ExitCode,
  exitCodeFor,
  foldEvents,
  makeSummary,
  type RunEnd,
  type Summary,
} from "@millrace/contracts";
import { expect, test } from "vitest";
import { journal, NO_COUNTS, NO_USAGE, started, T0, type Words, words } from "./builder.ts";

const viewOf = (...words: Words[]) => {
  const view = createView();
  for (const event of journal(started({ nodeCount: 2 }), ...words)) foldEvents(view, event);
  return view;
};
const error = (code: string): RunEnd["error"] => ({ code, message: "m", retryable: false });

test.each<[number, Parameters<typeof exitCodeFor>]>([
  [0, [{ status: "succeeded" }]],
  [3, [{ status: "invalid", error: { code: "flow_invalid" } }]],
  [2, [{ status: "invalid", error: { code: "usage" } }]],
  [130, [{ status: "cancelled" }]],
  [130, [{ status: "cancelled" }, "user"]],
  [130, [{ status: "cancelled" }, "sigint"]],
  [130, [{ status: "cancelled" }, "disconnect"]],
  [143, [{ status: "cancelled" }, "sigterm"]],
  [143, [{ status: "cancelled" }, "shutdown"]],
  [124, [{ status: "cancelled" }, "timeout"]],
  [124, [{ status: "cancelled", error: { code: "run_timeout" } }]],
  [4, [{ status: "failed", error: { code: "confirmation_required" } }]],
  [4, [{ status: "failed", error: { code: "confirm_rejected" } }]],
  [4, [{ status: "failed", error: { code: "confirm_expired" } }]],
  [5, [{ status: "failed", error: { code: "credentials_missing" } }]],
  [5, [{ status: "failed", error: { code: "credentials_expired" } }]],
  [5, [{ status: "failed", error: { code: "no_refresh_token" } }]],
  [5, [{ status: "failed", error: { code: "ai_auth" } }]],
  [6, [{ status: "failed", error: { code: "unavailable" } }]],
  [6, [{ status: "failed", error: { code: "provider_unavailable" } }]],
  [6, [{ status: "failed", error: { code: "model_unavailable" } }]],
  [70, [{ status: "failed", error: { code: "internal" } }]],
  [1, [{ status: "failed", error: { code: "http_status" } }]],
  [1, [{ status: "failed", error: { code: "__proto__" } }]],
  [1, [{ status: "failed" }]],
])("the exit code is %i for %j", (code, args) => {
  expect(exitCodeFor(...args)).toBe(code);
  expect(Object.values(ExitCode)).toContain(code);
});

test("a summary says what the log says", () => {
  const view = viewOf(...words`begin@m node@m[0]/x end@m skip@b`);
  expect(makeSummary(view, { status: "succeeded", ts: T0 + 500, outputs: { a: 1 } })).toEqual({
    status: "succeeded",
    outputs: { a: 1 },
    counts: { succeeded: 1, failed: 0, skipped: 1, cancelled: 0 },
    bodyCounts: { ...NO_COUNTS, succeeded: 1 },
    usage: NO_USAGE,
    costUsd: 0,
    durationMs: 500,
    exitCode: 0,
  });
});

test("keys stand in wire order", () => {
  const outputRefs = {
    big: { ref: `sha256:${"0".repeat(64)}`, bytes: 9, mediaType: "text/plain" },
  };
  const view = viewOf({ kind: "node.skipped", node: "m[0]/x", why: "when" });
  expect(
    Object.keys(makeSummary(view, { status: "succeeded", ts: 0, outputs: {}, outputRefs })).join(),
  ).toBe("status,outputs,outputRefs,counts,bodyCounts,usage,costUsd,durationMs,exitCode");
  const diagnostics = [{ code: "FLOW1001", severity: "error" as const, message: "m", pointer: "" }];
  const invalid = makeSummary(createView("r"), {
    status: "invalid",
    ts: 0,
    error: error("flow_invalid") as never,
    diagnostics,
  });
  expect(Object.keys(invalid).slice(-3)).toEqual(["error", "diagnostics", "exitCode"]);
});

test("a failed run without an error of its own names its first failure", () => {
  const fail = (at: string, routed: string): Words[] => [
    { kind: "node.started", node: at, type: "t" },
    { kind: "node.failed", node: at, error: error(`${at}_broke`), routed },
  ];
  const view = viewOf(...fail("a", "port"), ...fail("b", "none"), ...fail("c", "none"));
  expect(makeSummary(view, { status: "failed", ts: T0 }).error).toEqual({
    code: "b_broke",
    message: "m",
    retryable: false,
    node: "b",
  });
  expect(makeSummary(createView(), { status: "failed", ts: T0 })).toMatchObject({
    error: { code: "internal" },
    exitCode: 70,
  });
});

test("the first failure is found behind a hundred that were caught", () => {
  const caught = Array.from({ length: 120 }, () => words`fail:port@n`).flat();
  const view = viewOf(...caught, ...words`fail:none@z`);
  expect(makeSummary(view, { status: "failed", ts: T0 }).error).toMatchObject({ node: "z" });
});

test("outputs belong to success, errors to what has none", () => {
  const outputs = { a: 1 };
  const summary = (end: Partial<RunEnd>, ...words: Words[]) =>
    makeSummary(viewOf(...words), { status: "failed", ts: T0, outputs, ...end });
  const given = error("x") as NonNullable<RunEnd["error"]>;
  expect(summary({ status: "failed", error: given })).toMatchObject({ outputs: {}, error: given });
  expect(summary({ status: "succeeded", error: given })).not.toHaveProperty("error");
  expect(summary({ status: "cancelled", error: given })).not.toHaveProperty("error");
  expect(summary({ status: "cancelled" }, ...words`cancel:timeout`)).toMatchObject({
    error: { code: "run_timeout" },
    exitCode: 124,
  });
});

test("only an invalid flow has diagnostics, at most a hundred", () => {
  const diagnostics = Array.from({ length: 101 }, () => ({
    code: "FLOW1001",
    severity: "error" as const,
    message: "m",
    pointer: "/nodes/0",
  }));
  const end: RunEnd = { status: "invalid", ts: T0, diagnostics };
  expect(makeSummary(createView("r"), end)).toMatchObject({
    error: { code: "flow_invalid" },
    durationMs: 0,
    exitCode: 3,
  });
  expect(makeSummary(createView("r"), end).diagnostics).toHaveLength(100);
  expect(makeSummary(createView("r"), { ...end, status: "failed" })).not.toHaveProperty(
    "diagnostics",
  );
});

test.each<[string, RunEnd]>([
  ["invalid", { status: "invalid", ts: T0, error: error("usage") as never }],
  ["failed", { status: "failed", ts: T0, error: error("unavailable") as never }],
  ["cancelled", { status: "cancelled", ts: T0 }],
])("a run that never began may be %s: one event is its whole log", (_status, end) => {
  const payload = makeSummary(createView("r1"), end);
  const only: Summary = { v: 1, kind: "summary", runId: "r1", seq: 1, ts: T0, ...payload };
  expect(checkLog([only])).toEqual([]);
});

test("a text is cut at a code point, and says how long it was", () => {
  expect(cutText("abc", 3)).toEqual({ text: "abc" });
  expect(cutText("abcd", 3)).toEqual({ text: "abc", truncated: 4 });
  expect(cutText("ab🙂", 3)).toEqual({ text: "ab", truncated: 4 });
  expect(cutText("a🙂b", 3)).toEqual({ text: "a🙂", truncated: 4 });
});

test("the limits are those of the wire", () => {
  expect(EVENT_LIMITS).toMatchObject({
    lineBytes: 262_144,
    snapshotBytes: 8 * 1024 * 1024,
    inlineBytes: 65_536,
    logText: 16_384,
    deltaText: 4_096,
    toolInlineBytes: 8_192,
    message: 2_048,
    prompt: 8_192,
    problems: 20,
    problemText: 512,
    diagnostics: 100,
  });
});
