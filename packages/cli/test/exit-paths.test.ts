/** Every way a command can end: the last line under `--json` is a summary, and the exit code is the one it tells. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { lastSummary, millrace, scratch, start } from "./cli.ts";
import { inside } from "./inside.ts";

const flow = (body: string): string => `flow 1 x\n\n${body}`;
const CONFIRM = flow('node ask: confirm {\n  prompt = "Go on?"\n}\n');
const FAIL = flow('node stop: fail {\n  message = "no"\n}\n');
const WAIT = flow("node wait: delay {\n  for = 1h\n}\n");
const LOG = flow('node say: log {\n  message = "hi"\n}\n');
const NEEDS = flow("input name: string\n\nnode say: log {\n  message = inputs.name\n}\n");

const PATHS: readonly [
  name: string,
  words: string,
  code: number,
  status: string,
  error?: string,
][] = [
  ["a run that succeeds", "run log.flow", 0, "succeeded"],
  ["a run that fails", "run fail.flow", 1, "failed", "failed"],
  ["an unknown flag", "run log.flow --nope", 2, "invalid", "usage"],
  ["an unknown command", "rnu log.flow", 2, "invalid", "usage"],
  ["a file that is not there", "run none.flow", 2, "invalid", "usage"],
  ["a missing input", "run needs.flow", 2, "invalid", "usage"],
  ["an unknown input", "run log.flow -i x=1", 2, "invalid", "usage"],
  ["a bare number as duration", "run log.flow --timeout 5", 2, "invalid", "usage"],
  [
    "an event file that cannot be written",
    "run log.flow --events no/such/file",
    2,
    "invalid",
    "usage",
  ],
  ["text that is not a flow", "run prose.flow", 3, "invalid", "flow_invalid"],
  ["an unknown node type", "validate unknown.flow", 3, "invalid", "flow_invalid"],
  ["a flow that holds", "validate log.flow", 0, "succeeded"],
  [
    "a confirmation that nobody can answer",
    "run confirm.flow",
    4,
    "failed",
    "confirmation_required",
  ],
  [
    "a confirmation that is rejected and has no exit for it",
    "run confirm.flow --confirm ask=reject",
    4,
    "failed",
    "confirm_rejected",
  ],
  ["a confirmation that is approved", "run confirm.flow --yes", 0, "succeeded"],
  ["a timeout", "run wait.flow --timeout 50ms", 124, "cancelled", "run_timeout"],
  ["text that is not canonical", "fmt --check loose.flow", 1, "failed", "check_failed"],
  ["text that is canonical", "fmt --check log.flow", 0, "succeeded"],
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

test.each(PATHS)(
  "%s ends its command (%s) in exit code %i",
  async (_name, line, code, status, error) => {
    const cwd = scratch(FILES);
    const words = line.split(" ");
    const plain = await inside(words, { cwd });
    const json = await millrace([...words, "--json"], { cwd });
    const summary = lastSummary(json.stdout);
    expect([plain.code, json.code, summary.exitCode]).toEqual([code, code, code]);
    expect(summary.status).toBe(status);
    expect(summary.error?.code).toBe(error);
  },
);

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
  expect((await inside(["validate", "."], { cwd })).code).toBe(0);
  expect((await inside(["validate", "empty"], { cwd })).code).toBe(2);
});

test("a suggestion follows a misspelt command", async () => {
  const { stderr } = await inside(["rnu"]);
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
