/** Signals and kept runs: the first one pauses, the second one ends at once, and what had ended is never done again. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkLog } from "@millrace/contracts";
import { serveHttp } from "@millrace/test-support/loopback";
import { isAlive } from "@millrace/test-support/processes";
import { expect, test } from "vitest";
import { events, lastSummary, millrace, start } from "./cli.ts";
import { counter, ITEMS, MANY, project } from "./kept-runs.ts";

/** The run that was paused comes to its end, with one legal log. */
async function goesOn(runId: string, at: Parameters<typeof millrace>[1]): Promise<void> {
  const resumed = await millrace(["resume", runId, "--json"], at);
  expect([resumed.code, checkLog(events(resumed.stdout))]).toEqual([0, []]);
}

test("a signal pauses a kept run at once, and resume makes just the items that are missing", async () => {
  const at = project({ "many.flow": MANY });
  const server = await counter(20);
  const words = ["run", "many.flow", "--save", "--json", "-i", `url=${server.url}`];
  const run = start(words, at);
  await server.isReached;
  run.child.kill("SIGTERM");
  const ended = await run.ended;
  const log = events(ended.stdout);
  const summary = lastSummary(ended.stdout);
  expect([ended.code, summary.exitCode, summary.error?.code, checkLog(log)]).toEqual([
    143,
    143,
    "paused",
    [],
  ]);
  expect(ended.stderr).toBe(`next: millrace resume ${summary.runId}\n`);
  const done = log.filter(({ kind }) => kind === "node.succeeded").length;
  expect(done).toBe(20);
  server.letGo();
  server.asked.length = 0;
  const resumed = await millrace(["resume", summary.runId, "--json"], at);
  const whole = events(resumed.stdout);
  expect([resumed.code, checkLog(whole)]).toEqual([0, []]);
  expect(whole.slice(0, log.length - 1)).toEqual(log.slice(0, -1));
  expect(lastSummary(resumed.stdout)).toMatchObject({
    status: "succeeded",
    outputs: { n: ITEMS },
  });
  expect(new Set(server.asked).size).toBe(ITEMS - done);
  expect(server.asked).toHaveLength(ITEMS - done);
});

test("a person reads how to stop now and how to go on; a run that was resumed is paused again", async () => {
  const at = project({ "many.flow": MANY }, { history: true });
  const server = await counter(8);
  const first = start(["run", "many.flow", "-i", `url=${server.url}`], at);
  await server.isReached;
  first.child.kill("SIGINT");
  const told = await first.ended;
  const next = /^next: millrace resume (run_\w+)$/m.exec(told.stderr);
  expect(told.stderr).toMatch(/^pausing: .*; press Ctrl-C again to stop now$/m);
  expect(told.stderr).toMatch(/ summary +paused /);
  const runId = next?.[1] ?? "";
  const again = start(["resume", runId], at);
  await again.until("run.resumed");
  again.child.kill("SIGTERM");
  const paused = await again.ended;
  expect([told.code, paused.code, paused.stderr]).toEqual([
    130,
    143,
    expect.stringMatching(new RegExp(`^next: millrace resume ${runId}$`, "m")),
  ]);
  server.letGo();
  await goesOn(runId, at);
});

const SHELL = `flow 1 shell

node wait: shell.exec {
  program = "node"
  args = ["-e", "process.on('SIGTERM', () => {}); require('fs').writeFileSync('pid', String(process.pid)); setInterval(() => {}, 1000)"]
}
`;

async function untilFile(path: string): Promise<string> {
  while (!existsSync(path) || readFileSync(path, "utf8") === "") {
    await new Promise((next) => setTimeout(next, 20));
  }
  return readFileSync(path, "utf8");
}

test.each([["--save"], ["--json"]])(
  "a second Ctrl-C ends at once, and a program that ignores SIGTERM does not survive (%s)",
  async (flag) => {
    const shell = { programs: { node: process.execPath } };
    const at = project({ "shell.flow": SHELL }, { shell });
    const run = start(["run", "shell.flow", "--grace", "1h", flag], at);
    const pid = Number(await untilFile(join(at.cwd, "pid")));
    run.child.kill("SIGINT");
    if (flag === "--save") await run.until("press Ctrl-C again");
    else await run.until("run.cancelling");
    expect(isAlive(pid)).toBe(true);
    run.child.kill("SIGINT");
    expect((await run.ended).code).toBe(130);
    while (isAlive(pid)) await new Promise((next) => setTimeout(next, 20));
  },
);

test("a step that may not be done twice has the grace to end before the run is paused", async () => {
  const config = { shell: { programs: { node: process.execPath } } };
  const script =
    "const fs = require('fs'); fs.writeFileSync('pid', '1'); const t = setInterval(() => { if (fs.existsSync('go')) { clearInterval(t); fs.appendFileSync('done', 'x') } }, 20)";
  const flow = `flow 1 x

node one: shell.exec {
  program = "node"
  args = ["-e", "${script}"]
}

node two: log {
  message = "on"
}

one -> two
`;
  const at = project({ "x.flow": flow }, config);
  const run = start(["run", "x.flow", "--save"], at);
  await untilFile(join(at.cwd, "pid"));
  run.child.kill("SIGINT");
  await run.until("press Ctrl-C again");
  writeFileSync(join(at.cwd, "go"), "");
  const told = await run.ended;
  expect([told.code, told.stderr]).toEqual([130, expect.stringMatching(/node\.succeeded +one/)]);
  const runId = /millrace resume (run_\w+)/.exec(told.stderr)?.[1] ?? "";
  await goesOn(runId, at);
  expect(readFileSync(join(at.cwd, "done"), "utf8")).toBe("x");
});

test("a reader that leaves pauses a kept run too", async () => {
  const at = project({ "many.flow": MANY });
  const server = await counter(8);
  const run = start(["run", "many.flow", "--save", "--json", "-i", `url=${server.url}`], at);
  await server.isReached;
  run.child.stdout?.destroy();
  server.letOneGo(); // what it leads to is written to nobody
  const ended = await run.ended;
  const runId = /^next: millrace resume (run_\w+)\n$/.exec(ended.stderr)?.[1] ?? "";
  expect([ended.code, runId]).toEqual([1, expect.stringMatching(/^run_/)]);
  server.letGo();
  await goesOn(runId, at);
});

test("runs retry asks only for the items of a map that had not succeeded", async () => {
  const at = project({ "many.flow": MANY });
  const asked: string[] = [];
  let isBroken = true;
  const server = await serveHttp((request, response) => {
    asked.push(request.url ?? "");
    if (isBroken && request.url === "/33") response.statusCode = 404;
    response.end('"ok"');
  });
  const url = server.url;
  const failed = await millrace(["run", "many.flow", "--save", "--json", "-i", `url=${url}`], at);
  const log = events(failed.stdout);
  const done = log.filter(({ kind }) => kind === "node.succeeded").length;
  expect([failed.code, done]).toEqual([1, expect.any(Number)]);
  isBroken = false;
  asked.length = 0;
  const retried = await millrace(["runs", "retry", log[0]?.runId ?? ""], at);
  expect([retried.code, JSON.parse(retried.stdout)]).toEqual([0, { n: ITEMS }]);
  expect(asked).toHaveLength(ITEMS - done);
  expect(new Set(asked).size).toBe(ITEMS - done);
});
