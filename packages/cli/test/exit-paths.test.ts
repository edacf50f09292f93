/** Every way a command can end: the last line under `--json` is a summary, and the exit code is the one it tells. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { lastSummary, millrace, scratch, start } from "./cli.ts";

const flow = (body: string): string => `flow 1 x\n\n${body}`;
const CONFIRM = flow('node ask: confirm {\n  prompt = "Go on?"\n}\n');
const FAIL = flow('node stop: fail {\n  message = "no"\n}\n');
const WAIT = flow("node wait: delay {\n  for = 1h\n}\n");
const LOG = flow('node say: log {\n  message = "hi"\n}\n');
const NEEDS = flow("input name: string\n\nnode say: log {\n  message = inputs.name\n}\n");

const PATHS: readonly {
  name: string;
  words: readonly string[];
  code: number;
  status: string;
  error?: string;
}[] = [
  { name: "a run that succeeds", words: ["run", "log.flow"], code: 0, status: "succeeded" },
  {
    name: "a run that fails",
    words: ["run", "fail.flow"],
    code: 1,
    status: "failed",
    error: "failed",
  },
  {
    name: "an unknown flag",
    words: ["run", "log.flow", "--nope"],
    code: 2,
    status: "invalid",
    error: "usage",
  },
  {
    name: "an unknown command",
    words: ["rnu", "log.flow"],
    code: 2,
    status: "invalid",
    error: "usage",
  },
  {
    name: "a file that is not there",
    words: ["run", "none.flow"],
    code: 2,
    status: "invalid",
    error: "usage",
  },
  {
    name: "a missing input",
    words: ["run", "needs.flow"],
    code: 2,
    status: "invalid",
    error: "usage",
  },
  {
    name: "an unknown input",
    words: ["run", "log.flow", "-i", "x=1"],
    code: 2,
    status: "invalid",
    error: "usage",
  },
  {
    name: "a bare number as duration",
    words: ["run", "log.flow", "--timeout", "5"],
    code: 2,
    status: "invalid",
    error: "usage",
  },
  {
    name: "an event file that cannot be written",
    words: ["run", "log.flow", "--events", "no/such/file"],
    code: 2,
    status: "invalid",
    error: "usage",
  },
  {
    name: "text that is not a flow",
    words: ["run", "prose.flow"],
    code: 3,
    status: "invalid",
    error: "flow_invalid",
  },
  {
    name: "an unknown node type",
    words: ["validate", "unknown.flow"],
    code: 3,
    status: "invalid",
    error: "flow_invalid",
  },
  { name: "a flow that holds", words: ["validate", "log.flow"], code: 0, status: "succeeded" },
  {
    name: "a confirmation that nobody can answer",
    words: ["run", "confirm.flow"],
    code: 4,
    status: "failed",
    error: "confirmation_required",
  },
  {
    name: "a confirmation that is rejected and has no exit for it",
    words: ["run", "confirm.flow", "--confirm", "ask=reject"],
    code: 4,
    status: "failed",
    error: "confirm_rejected",
  },
  {
    name: "a confirmation that is approved",
    words: ["run", "confirm.flow", "--yes"],
    code: 0,
    status: "succeeded",
  },
  {
    name: "a timeout",
    words: ["run", "wait.flow", "--timeout", "50ms"],
    code: 124,
    status: "cancelled",
    error: "run_timeout",
  },
  {
    name: "text that is not canonical",
    words: ["fmt", "--check", "loose.flow"],
    code: 1,
    status: "failed",
    error: "check_failed",
  },
  {
    name: "text that is canonical",
    words: ["fmt", "--check", "log.flow"],
    code: 0,
    status: "succeeded",
  },
];

const FILES: Record<string, string> = {
  "confirm.flow": CONFIRM,
  "fail.flow": FAIL,
  "log.flow": LOG,
  "loose.flow": LOG.replace("  message", "message"),
  "needs.flow": NEEDS,
  "prose.flow": "Dear reader,\nthis is a letter.\n",
  "unknown.flow": flow("node a: htpp.request {\n}\n"),
  "wait.flow": WAIT,
};

test.each(PATHS)("$name ends in exit code $code", async ({ words, code, status, error }) => {
  const cwd = scratch(FILES);
  const plain = await millrace(words, { cwd });
  const json = await millrace([...words, "--json"], { cwd });
  const summary = lastSummary(json.stdout);
  expect({ plain: plain.code, json: json.code, told: summary.exitCode }).toEqual({
    plain: code,
    json: code,
    told: code,
  });
  expect(summary.status).toBe(status);
  expect(summary.error?.code).toBe(error);
});

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)(
  "%s cancels the run, and the summary says so with exit code %i",
  async (signal, code) => {
    const run = start(["run", "wait.flow", "--json"], { cwd: scratch(FILES) });
    await run.until('"kind":"node.waiting"');
    run.child.kill(signal);
    const ended = await run.ended;
    const summary = lastSummary(ended.stdout);
    expect([ended.code, summary.exitCode, summary.status]).toEqual([code, code, "cancelled"]);
  },
);

test("a folder stands for every flow below it", async () => {
  const cwd = scratch({ "a.flow": LOG });
  mkdirSync(join(cwd, "empty"));
  expect((await millrace(["validate", "."], { cwd })).code).toBe(0);
  expect((await millrace(["validate", "empty"], { cwd })).code).toBe(2);
});

test("a suggestion follows a misspelt command", async () => {
  const { stderr } = await millrace(["rnu"]);
  expect(stderr).toContain("unknown command 'rnu'");
  expect(stderr).toContain("run");
});

test("a reader that leaves ends the run quietly with exit code 1, and the event file still has its summary", async () => {
  const cwd = scratch(FILES);
  const run = start(["run", "wait.flow", "--json", "--events", "all.ndjson"], { cwd });
  await run.until('"kind":"node.waiting"');
  run.child.stdout?.destroy();
  run.child.kill("SIGINT");
  const ended = await run.ended;
  expect([ended.code, ended.stderr]).toEqual([1, ""]);
});
