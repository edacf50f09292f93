/** `runs` and `replay`: looking back at runs, steering those that go on, and showing a log again. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ExecutionEvent, ndjson } from "@millrace/contracts";
import { expect, test } from "vitest";
import { ASKS, HELLO, transcript, type World, world } from "./api-world.ts";
import { events, example, lastSummary, scratch } from "./cli.ts";
import { inside, millrace, refusals } from "./inside.ts";

const TURNS =
  'flow 1 turns\n\nnode open: condition {\n  if = run.id == ""\n}\n\nnode b: join\n\nopen.true -> b\n';
const FAILS = 'flow 1 fails\n\nnode stop: fail {\n  message = "no\\u001b[31m"\n}\n';

async function ended(at: World, dsl: string, options: object = {}): Promise<string> {
  const answer = await at.invoke("run_and_wait", { dsl, waitMs: 10_000, options });
  return (JSON.parse(answer) as { runId: string }).runId;
}

/** The id of a run that asks and waits. */
async function asking(at: World): Promise<string> {
  return ended(at, ASKS);
}

test("runs are listed, shown, followed, repeated, stopped and deleted", async () => {
  const at = await world();
  const done = await ended(at, HELLO, { tags: { team: "fx" } });
  const failed = await ended(at, FAILS);
  const waits = await asking(at);
  const lines = [
    "list --status failed --status paused --status succeeded",
    `show ${failed}`,
    `show ${waits}`,
    `tail ${failed}`,
    `cancel ${waits}`,
    `retry ${done} --from say`,
    `delete ${done}`,
    "prune --before 0s",
  ];
  const tagged = await at.inside(["runs", "list", "--tag", "team=fx"]);
  expect([tagged.stdout.includes(done), tagged.stdout.includes(failed)]).toEqual([true, false]);
  const shown = await at.inside(["runs", "show", done]);
  expect(shown.stdout).toMatch(/tags +team=fx\n[\s\S]*{\n {2}"text": "world"\n}\n$/);
  const said = (some: readonly string[]) => transcript(at, some, "runs");
  const before = await said(lines.slice(0, -1));
  const live = { status: ["pending", "running", "cancelling"] };
  await expect.poll(() => at.invoke("list_runs", live)).toContain('"items":[]');
  expect(before + (await said(lines.slice(-1)))).toMatchInlineSnapshot(`
    "$ runs list --status failed --status paused --status succeeded [0]
    RUN  STATUS  FLOW  STARTED BY  CREATED  TOOK
    RUN  paused  asks  api  TIME  -
    RUN  failed  fails  api  TIME  TOOK  failed
    RUN  succeeded  hello  api  TIME  TOOK
    $ runs show RUN [0]
    run  RUN
    flow  fails
    started by  api
    created  TIME
    ended  TIME

    fails  RUN  ✗ failed TOOK
      ✗ stop  fail  failed: no�[31m  TOOK

    failed: no�[31m
    $ runs show RUN [0]
    run  RUN
    flow  asks
    started by  api
    created  TIME

    asks  RUN  ‖ paused TOOK
      ? ok  confirm  waits for a person
      ○ say  log
    | it asks: millrace confirm RUN ok --approve
    $ runs tail RUN [1]
    | CLOCK run.started  fails RUN nodes=1
    | CLOCK node.failed  stop failed no�[31m
    | CLOCK summary  failed TOOK nodes: 0 ok 1 failed 0 skipped failed: no�[31m
    $ runs cancel RUN [0]
    | RUN is cancelled
    $ runs retry RUN --from say [0]
    RUN
    | millrace runs tail RUN follows it
    $ runs delete RUN [0]
    | RUN is deleted
    $ runs prune --before TOOK [0]
    | 3 runs deleted
    "
  `);
  const turned = await at.inside(["runs", "show", await ended(at, TURNS)]);
  expect(turned.stdout).toMatch(/b +join +skipped \(open left by false\)\n/);
});

test("failed runs are worked off: acknowledged one by one or by template, and repeated together", async () => {
  const at = await world();
  await at.invoke("save_template", { slug: "broken", dsl: FAILS, ifNoneMatch: "*" });
  const kept = { template: "broken", waitMs: 10_000 };
  const [one, two] = [await ended(at, FAILS), await ended(at, FAILS)];
  for (let n = 0; n < 2; n += 1) await at.invoke("run_and_wait", kept);
  await ended(at, HELLO);
  const lines = [
    `ack ${one}`,
    `ack ${one}`,
    "ack --all --template broken",
    "list --failed --unacknowledged",
    "retry --failed --unacknowledged",
    "ack",
    "ack --all x",
    "retry",
    "retry --failed",
    `retry ${two} --unacknowledged`,
  ];
  expect(await transcript(at, lines, "runs")).toMatchInlineSnapshot(`
    "$ runs ack RUN [0]
    | 1 failed run acknowledged
    $ runs ack RUN [0]
    | nothing to acknowledge
    $ runs ack --all --template broken [0]
    | 2 failed runs acknowledged
    $ runs list --failed --unacknowledged [0]
    RUN  STATUS  FLOW  STARTED BY  CREATED  TOOK
    RUN  failed  fails  api  TIME  TOOK  failed
    $ runs retry --failed --unacknowledged [0]
    RUN repeats RUN
    $ runs ack [2]
    | error: runs ack takes runs, or --all
    $ runs ack --all x [2]
    | error: runs ack takes runs, or --all
    $ runs retry [2]
    | error: runs retry takes a run, or --failed --unacknowledged
    $ runs retry --failed [2]
    | error: runs retry takes a run, or --failed --unacknowledged
    $ runs retry RUN --unacknowledged [2]
    | error: a run that is named needs no --failed, --unacknowledged or --template
    "
  `);
  const { items } = JSON.parse(await at.invoke("list_runs", { retryOf: two }));
  expect(items).toHaveLength(1);
});

test("tail and replay write the events of a run as they are, and end as it ended", async () => {
  const at = await world();
  const runId = await ended(at, FAILS);
  const log = JSON.parse(await at.invoke("get_run_events", { runId })).items as ExecutionEvent[];
  const lines = log.map((event) => ndjson.line(event)).join("");
  const [tail, replay] = await Promise.all([
    at.spawned(`runs tail ${runId} --json`),
    at.spawned(`replay ${runId} --json`),
  ]);
  expect(tail).toEqual([1, lines, ""]);
  expect(replay).toEqual([1, lines, ""]);
  const whole = await at.spawned("replay - --json", lines);
  expect(whole).toEqual([1, lines, ""]);
});

test("a picture is that of a template, or of a run with the states of its nodes", async () => {
  const at = await world();
  const failed = await ended(at, FAILS);
  await at.invoke("save_template", { slug: "hi", dsl: HELLO, ifNoneMatch: "*" });
  const template = await at.inside(["graph", "hi"]);
  expect([template.code, template.stdout]).toEqual([0, expect.stringMatching(/^flowchart TD/)]);
  expect(template.stdout).not.toContain("style");
  const json = await at.inside(["graph", "--run", failed, "--json"]);
  expect(JSON.parse(json.stdout)).toMatchObject({ states: { stop: "failed" } });
  const shows = {
    svg: "stroke:#e5534b",
    dot: 'color="#e5534b"',
    mermaid: "style n0 stroke:#e5534b",
  };
  for (const [format, text] of Object.entries(shows)) {
    const told = await at.inside(["graph", "--run", failed, "-f", format]);
    expect([told.code, told.stdout]).toEqual([0, expect.stringContaining(text)]);
  }
  await refusals(
    (words) => at.inside(["graph", ...words]),
    [
      [[], 2, "graph draws one flow: a file, a template, or --run ID"],
      [["hi", "--run", failed], 2, "graph draws one flow"],
      [["none"], 6, "cannot read none: no such file, and no template has this name"],
      [["--run", "none"], 6, 'there is no run "none"'],
    ],
  );
});

test.each([
  "yesterday",
  "2026-02-30",
  "2026-13-45",
  "2026-01-01T00:00",
  "2026-02-30T00:00:00Z",
  "100000000d",
  "30",
])("runs are not pruned before %s, which is no time", async (time) => {
  const env = { MILLRACE_SERVER_URL: "http://127.0.0.1:1" };
  const told = await inside(["runs", "prune", "--before", time], { env });
  const says = `error: --before takes a time, found "${time}"; write it as 30d, 2026-01-31 or 2026-01-31T08:00:00Z\n`;
  expect([told.code, told.stderr]).toEqual([2, says]);
});

test("a run that goes on is followed until it ends, and a signal leaves it alone", async () => {
  const at = await world();
  const runId = await asking(at);
  const controller = new AbortController();
  const left = at.inside(["runs", "tail", runId, "--json"], { signal: controller.signal });
  const stays = at.inside(["runs", "tail", runId]);
  // At whatever moment the signal comes, it means the same.
  controller.abort("sigint");
  const { code, stdout, stderr } = await left;
  expect([code, lastSummary(stdout).status]).toEqual([130, "cancelled"]);
  expect(stderr).toContain("ended by sigint");
  expect(JSON.parse(await at.invoke("get_run", { runId })).status).toBe("paused");
  await at.invoke("resolve_confirmation", {
    runId,
    confirmationId: JSON.parse(await at.invoke("get_run", { runId })).confirmations[0].id,
    decision: "approve",
  });
  const { code: end, stderr: told } = await stays;
  expect([end, told]).toEqual([0, expect.stringContaining("summary         succeeded")]);
});

test("what cannot be done with a run is said with its id and its state", async () => {
  const at = await world();
  const done = await ended(at, HELLO);
  const waits = await asking(at);
  await refusals(
    (words) => at.inside(["runs", ...words]),
    [
      ["show nope", 6, 'there is no run "nope"; millrace runs list shows what there is'],
      ["tail nope", 6, 'there is no run "nope"'],
      ["show no/run", 2, "runId"],
      [`cancel ${done}`, 6, `${done} is succeeded, which does not allow that`],
      [`delete ${waits}`, 6, waits],
      [`retry ${waits}`, 6, waits],
      [`retry ${done} --from nope`, 2, "nope"],
      ["prune", 2, "without --before or --status"],
      ["prune --before 30", 2, "--before takes a time"],
      ["list --status broken", 2, "--status takes pending, running"],
      ["list --tag team", 2, "--tag takes name=value"],
    ],
  );
  await at.invoke("cancel_run", { runId: waits });
});

const LOG = readFileSync(join(example("03-csv-report"), "golden.ndjson"), "utf8");

/** A log of a file, made by a run of the example's first lines. */
async function logOf(): Promise<string> {
  const { stdout } = await inside(["run", "hello.flow", "--json"], {
    files: { "hello.flow": HELLO },
  });
  return stdout;
}

test("a file of events is shown again, at once or as slowly as it was, whole or up to a place", async () => {
  const log = await logOf();
  const files = { "log.ndjson": log };
  const plain = await inside(["replay", "log.ndjson"], { files });
  expect([plain.code, plain.stdout]).toEqual([0, '{\n  "text": "world"\n}\n']);
  expect(plain.stderr).toContain("node.succeeded  say");
  const slow = await inside(["replay", "log.ndjson", "--speed", "1", "--json"], { files });
  expect([slow.code, slow.stdout]).toEqual([0, log]);
  const live = await inside(["replay", "log.ndjson"], {
    files,
    terminal: true,
    env: { NO_COLOR: "1" },
  });
  expect(live.stderr).toMatch(/✓ say\s+log/);
  const part = await inside(["replay", "log.ndjson", "--until", "2", "--json"], { files });
  const [first, second, last] = events(part.stdout);
  expect([part.code, first?.seq, second?.seq, last?.kind, last?.seq]).toEqual([
    0,
    1,
    2,
    "summary",
    1,
  ]);
  expect(last?.runId).not.toBe(first?.runId);
});

test("a log that breaks an invariant is not shown: which, and where", async () => {
  const lines = (await logOf()).trimEnd().split("\n");
  const changed = (at: number, change: (event: Record<string, unknown>) => void): string =>
    lines
      .map((line, i) => {
        if (i !== at) return line;
        const event = JSON.parse(line) as Record<string, unknown>;
        change(event);
        return JSON.stringify(event);
      })
      .join("\n");
  const cut = lines.join("\n");
  const cases: readonly (readonly [log: string | Buffer, code: number, says: string])[] = [
    [lines.slice(0, -1).join("\n"), 1, "breaks I2 at seq"],
    [lines.toSpliced(1, 1).join("\n"), 1, "breaks I1 at seq 3: seq is 3 after 1"],
    [changed(2, (event) => Object.assign(event, { ts: 1 })), 1, "breaks I16 at seq 3"],
    [cut.slice(0, -20), 1, `line ${lines.length}: the event is not JSON`],
    [changed(1, (event) => Object.assign(event, { v: 2 })), 1, "only version 1"],
    [Buffer.from([0, 1, 2, 255, 10, 254]), 2, "is no log: line 1: the event is not JSON"],
    ["", 2, "holds no event"],
    [LOG.slice(0, LOG.indexOf("\n")), 2, "is no log"],
  ];
  const folder = scratch();
  for (const [log, code, says] of cases) {
    writeFileSync(join(folder, "log.ndjson"), log);
    const told = await inside(["replay", "log.ndjson", "--json"], { cwd: folder });
    const { exitCode } = lastSummary(told.stdout);
    expect([told.code, exitCode, told.stdout.split("\n").length]).toEqual([code, code, 2]);
    expect(told.stderr).toContain(says);
  }
  mkdirSync(join(folder, "folder"));
  await refusals(
    (words) => inside(["replay", ...words], { cwd: folder }),
    [
      ["none.ndjson", 2, "cannot read none.ndjson"],
      [".", 2, "cannot read ."],
      ["folder", 2, "cannot read folder: it is a folder, and no run has this id"],
      ["log.ndjson --until two", 2, "--until takes a whole number"],
      ["log.ndjson --speed 2", 2, "--speed takes 1 or max"],
    ],
  );
});

test("embedded, a repeated run is shown to its end, and one that waits for a person is left", async () => {
  const env = { MILLRACE_HOME: scratch() };
  const cwd = scratch({ "asks.flow": ASKS });
  const at = (...words: string[]) => inside(words, { cwd, env });
  const dsl = (text: string): string => JSON.stringify({ dsl: text });
  const first = await at("invoke", "start_run", dsl(HELLO), "--json");
  const { runId } = JSON.parse(first.stdout) as { runId: string };
  const again = await millrace(["runs", "retry", runId, "--from", "say"], { cwd, env });
  expect([again.code, again.stdout]).toEqual([0, '{\n  "text": "world"\n}\n']);
  expect(again.stderr).toContain("node.succeeded  say");
  const asks = await at("invoke", "start_run", dsl(ASKS), "--json");
  const waiting = (JSON.parse(asks.stdout) as { runId: string }).runId;
  expect([asks.code, JSON.parse(asks.stderr).detail]).toEqual([
    4,
    `"ok" waits for a person, and nobody can be asked here; millrace confirm ${waiting} ok --approve answers`,
  ]);
  const tail = await at("runs", "tail", waiting, "--json");
  expect([tail.code, lastSummary(tail.stdout).error?.code]).toEqual([4, "confirmation_required"]);
  expect(tail.stderr).toContain(`millrace confirm ${waiting} ok --approve`);
});
