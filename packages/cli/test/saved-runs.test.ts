/** Runs that are kept: a killed process loses nothing, a question waits, and one process at a time works on a run. */
import { mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkLog } from "@millrace/contracts";
import { openLocal } from "@millrace/server/local";
import { expect, onTestFinished, test } from "vitest";
import { events, lastSummary, scratch, start } from "./cli.ts";
import { inside, millrace, type Told, type World } from "./inside.ts";

const STEPS = `flow 1 steps

node first: file.write {
  path = "first.txt"
  content = "x"
  mode = "append"
}

node wait: delay {
  for = 700ms
}

node last: file.write {
  path = "last.txt"
  content = "x"
  mode = "append"
}

first -> wait
wait -> last

output path: string = last.path
`;
const ASKS = `flow 1 asks

node one: confirm {
  prompt = "One?"
}

node two: confirm {
  prompt = "Two?"
}

node after: log {
  message = "on"
}

one.approved -> after
two.approved -> after
`;
const HELLO =
  'flow 1 hello\n\nnode say: transform {\n  value = "hello"\n}\n\noutput text: string = say.value\n';
const CALLS =
  'flow 1 calls\n\nnode call: subflow {\n  flow = "hello"\n}\n\noutput text: string = call.outputs.text\n';

/** The command in this process, over one data folder. */
function here(files: Record<string, string>): {
  readonly cwd: string;
  readonly env: { readonly MILLRACE_HOME: string };
  run(words: string, more?: World): Promise<Told>;
} {
  const cwd = scratch(files);
  const env = { MILLRACE_HOME: join(cwd, "home") };
  return {
    cwd,
    env,
    run: (words, more = {}) =>
      inside(words.split(" "), { cwd, ...more, env: { ...env, ...more.env } }),
  };
}

test("a run that is killed goes on where it was, and no step that had ended runs again", async () => {
  const at = here({ "steps.flow": STEPS });
  const { cwd, env } = at;
  const killed = start(["run", "steps.flow", "--save", "--json"], { cwd, env });
  await killed.until("node.waiting");
  killed.child.kill("SIGKILL");
  const before = events((await killed.ended).stdout);
  const runId = before[0]?.runId ?? "";
  const resumed = await millrace(["resume", runId, "--json", "--events", "all.ndjson"], {
    cwd,
    env,
  });
  const log = events(resumed.stdout);
  expect([resumed.code, resumed.stderr, checkLog(log)]).toEqual([0, "", []]);
  expect(log.slice(0, before.length)).toEqual(before);
  expect(readFileSync(join(cwd, "all.ndjson"), "utf8")).toBe(resumed.stdout);
  expect(readFileSync(join(cwd, "first.txt"), "utf8")).toBe("x");
  expect(readFileSync(join(cwd, "last.txt"), "utf8")).toBe("x");

  const ended = await at.run(`resume ${runId} --json`);
  expect([ended.code, lastSummary(ended.stdout).error?.code]).toEqual([1, "check_failed"]);
  const none = await at.run("resume run_nope --json");
  expect([none.code, lastSummary(none.stdout).error?.code]).toEqual([6, "unavailable"]);
});

test("a run that was taken up ends on a signal as any other", async () => {
  const { cwd, env } = here({ "steps.flow": STEPS.replace("700ms", "1h") });
  const killed = start(["run", "steps.flow", "--save", "--json"], { cwd, env });
  await killed.until("node.waiting");
  killed.child.kill("SIGKILL");
  const runId = events((await killed.ended).stdout)[0]?.runId ?? "";
  const running = start(["resume", runId, "--json"], { cwd, env });
  await running.until('"recovered"');
  running.child.kill("SIGTERM");
  const ended = await running.ended;
  const { status, exitCode } = lastSummary(ended.stdout);
  expect([ended.code, exitCode, status]).toEqual([143, 143, "cancelled"]);
});

test("a run goes on with the flows that it called when it was started", async () => {
  const at = here({ "calls.flow": CALLS, "hello.flow": `${ASKS}\noutput text: string = "old"\n` });
  const parked = await at.run("run calls.flow --save --json");
  const { runId } = lastSummary(parked.stdout);
  expect(parked.code).toBe(4);
  rmSync(join(at.cwd, "hello.flow"));
  const resumed = await at.run(`resume ${runId} --json --yes`);
  expect([resumed.code, lastSummary(resumed.stdout).outputs]).toEqual([0, { text: "old" }]);
});

test("a question waits in the store; several are told apart, and an answer is given once", async () => {
  const at = here({ "asks.flow": ASKS });
  const parked = await at.run("run asks.flow --save --json");
  const log = events(parked.stdout);
  const { runId, error, exitCode } = lastSummary(parked.stdout);
  expect([parked.code, exitCode, error?.code]).toEqual([4, 4, "confirmation_required"]);
  expect(log.map(({ kind }) => kind)).toContain("confirm.requested");
  expect(error?.message).toMatch(new RegExp(`millrace confirm ${runId} (?:one|two) --approve`));

  const which = await at.run(`confirm ${runId} --approve`);
  expect([which.code, which.stderr]).toEqual([2, expect.stringMatching(/k1 {2}one {2}One\?/)]);
  const first = await at.run(`confirm ${runId} one --approve --json`);
  // The run goes on, and asks the other question.
  expect([first.code, JSON.parse(first.stdout)]).toEqual([
    4,
    expect.objectContaining({ node: "one", status: "approved", by: "cli" }),
  ]);
  const again = await at.run(`confirm ${runId} one --reject --json`);
  expect([again.code, again.stdout, JSON.parse(again.stderr).detail]).toEqual([
    1,
    "",
    expect.stringMatching(/^k1 one: approved by cli at \d{4}-\d\d-\d\dT/),
  ]);
  const nobody = await at.run(`confirm ${runId} three --approve`);
  expect(nobody.code).toBe(6);
  const tail = await at.run(`runs tail ${runId}`);
  const answers = `millrace confirm ${runId} two --approve`;
  expect([tail.code, tail.stderr.match(/^it asks: .*/gm)]).toEqual([4, [`it asks: ${answers}`]]);
  expect(tail.stderr).toContain(`error: "two" waits for a person; ${answers} answers\n`);
  const rest = await at.run(`resume ${runId} --json --confirm two=approve`);
  expect([rest.code, checkLog(events(rest.stdout)), lastSummary(rest.stdout).status]).toEqual([
    0,
    [],
    "succeeded",
  ]);
});

test("without --save nothing is kept; the configuration may keep every run", async () => {
  const at = here({ "hello.flow": HELLO, "asks.flow": ASKS });
  expect((await at.run("run hello.flow")).code).toBe(0);
  const gone = await at.run("run asks.flow --json");
  expect(lastSummary(gone.stdout).error?.message).toContain("--save");
  writeFileSync(join(at.cwd, "millrace.json"), '{ "history": true }');
  expect((await at.run("run hello.flow --tag team=fx --timeout 1m")).code).toBe(0);
  const part = await at.run("run hello.flow --only say");
  expect([part.code, part.stderr]).toEqual([0, expect.stringContaining("not kept: --only")]);
  const local = await openLocal({
    store: at.env.MILLRACE_HOME,
    readonly: true,
    credentials: { store: "memory" },
  });
  onTestFinished(() => local.close());
  const { items } = await local.invoke("list_runs", {});
  expect(items).toMatchObject([{ flow: { id: "hello" }, trigger: "cli", tags: { team: "fx" } }]);
  for (const flag of ["--only say", "--fixtures ."]) {
    const both = await at.run(`run hello.flow --save ${flag}`);
    expect([both.code, both.stderr]).toEqual([2, expect.stringContaining("do not go together")]);
  }
});

test("a template runs by its slug, a file of that name wins, and a subflow is found in that order", async () => {
  const at = here({ "calls.flow": CALLS });
  const local = await openLocal({
    store: at.env.MILLRACE_HOME,
    credentials: { store: "memory" },
  });
  await local.invoke("save_template", { slug: "hello", dsl: HELLO });
  await local.close();
  const folder = join(at.cwd, "hello"); // is no flow
  mkdirSync(folder);
  const stored = await at.run("run hello --json");
  rmdirSync(folder);
  expect(lastSummary(stored.stdout).outputs).toEqual({ text: "hello" });
  expect(events(stored.stdout)[0]).toMatchObject({ template: "hello" });
  const called = await at.run("run calls.flow --json");
  expect(lastSummary(called.stdout).outputs).toEqual({ text: "hello" });
  writeFileSync(join(at.cwd, "hello.flow"), HELLO.replace('"hello"', '"beside"'));
  expect(lastSummary((await at.run("run calls.flow --json")).stdout).outputs).toEqual({
    text: "beside",
  });
  writeFileSync(join(at.cwd, "hello"), HELLO.replace('"hello"', '"file"'));
  expect(lastSummary((await at.run("run hello --json")).stdout).outputs).toEqual({ text: "file" });
  const none = await at.run("run nothing-here --json");
  const message = (found: string) => `${found}, and no template has this name`;
  expect([none.code, lastSummary(none.stdout).error?.message]).toEqual([
    6,
    message("cannot read nothing-here: no such file"),
  ]);
  mkdirSync(join(at.cwd, "nothing-there"));
  const drawn = await at.run("graph nothing-there");
  expect([drawn.code, drawn.stderr]).toEqual([
    6,
    expect.stringContaining(message("cannot read nothing-there: it is a folder")),
  ]);
});

test("what is no file cannot be watched", async () => {
  const at = here({ "hello.flow": HELLO });
  for (const words of ["-", "hello.flow -i who=@-", "some-template", "nowhere/x.flow"]) {
    const { code, stderr } = await at.run(`run ${words} --watch`);
    expect([code, stderr], words).toEqual([2, expect.stringMatching(/--watch|cannot watch/)]);
  }
});
