/** `shell.exec` with real programs: this very Node, under the names that a test allows. */
import { mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { EncodedEvent, FlowGraph } from "@millrace/contracts";
import { parseEvent } from "@millrace/contracts";
import {
  compileFlow,
  createEngine,
  createMemoryJournal,
  createPortableHost,
  createRegistry,
  type EngineOptions,
  type ShellPolicy,
} from "@millrace/engine";
import { createNodeHost, nodePack } from "@millrace/engine/node";
import { runNode } from "@millrace/test-support/flows";
import { temporaryFolder } from "@millrace/test-support/folder";
import { graphWith } from "@millrace/test-support/graph";
import { expect, onTestFinished, test } from "vitest";

const NODE = { programs: { node: process.execPath } };

/** Runs a script of Node as `node -e`. */
function script(
  source: string,
  fields: Parameters<typeof runNode>[1] = {},
  options: EngineOptions & Parameters<typeof runNode>[2] = {},
) {
  const { args = [], ...more } = fields as { args?: string[] };
  return runNode(
    "shell.exec",
    { program: "node", args: ["-e", source, ...args], ...more },
    { shell: NODE, ...options },
  );
}

const logs = (events: Awaited<ReturnType<typeof script>>["events"]): string[] =>
  events.flatMap((event) => (event.kind === "log" ? [event.text] : []));

test("a program answers with its exit code and what it wrote", async () => {
  const { output, events } = await script(
    'process.stdout.write("out ü"); process.stderr.write("err")',
  );
  expect(output).toEqual({ exitCode: 0, stdout: "out ü", stderr: "err", truncated: false });
  expect(logs(events)).toEqual([]);
});

test("arguments arrive as they are: nothing in them is special", async () => {
  const args = ["$HOME", "a b", "; exit 7", "*", "`id`", "", "ü\n"];
  const { output } = await script("console.log(JSON.stringify(process.argv.slice(1)))", { args });
  expect(JSON.parse((output as { stdout: string }).stdout)).toEqual(args);
});

test("the program reads what stdin says, and nothing where it says nothing", async () => {
  const echo = "process.stdin.pipe(process.stdout)";
  expect((await script(echo, { stdin: "three\nlines\n" })).output).toMatchObject({
    stdout: "three\nlines\n",
  });
  expect((await script(echo)).output).toMatchObject({ stdout: "" });
});

test("a program that does not read its long input is no failure", async () => {
  const { output } = await script("process.stdin.destroy(); console.log(1)", {
    stdin: "x".repeat(4_000_000),
  });
  expect(output).toMatchObject({ exitCode: 0, stdout: "1\n" });
});

test("the environment is empty but for what the operator passes on and the flow sets", async () => {
  process.env["MILLRACE_TEST_SEEN"] = "seen";
  process.env["MILLRACE_TEST_HIDDEN"] = "hidden";
  onTestFinished(() => {
    delete process.env["MILLRACE_TEST_SEEN"];
    delete process.env["MILLRACE_TEST_HIDDEN"];
  });
  const list = "console.log(JSON.stringify(process.env))";
  const seen = async (policy: Partial<ShellPolicy>, env: Record<string, string> = {}) => {
    const { output } = await script(list, { env }, { shell: { ...NODE, ...policy } });
    return JSON.parse((output as { stdout: string }).stdout);
  };
  expect(await seen({})).toEqual({});
  expect(await seen({ env: ["MILLRACE_TEST_SEEN", "MILLRACE_TEST_NONE"] }, { A: "1" })).toEqual({
    MILLRACE_TEST_SEEN: "seen",
    A: "1",
  });
  expect(
    await seen({ env: ["MILLRACE_TEST_SEEN"] }, { MILLRACE_TEST_SEEN: "flow", __proto: "x" }),
  ).toEqual({ MILLRACE_TEST_SEEN: "flow", __proto: "x" });
});

test.each(["PATH", "LD_PRELOAD", "DYLD_INSERT_LIBRARIES", "NODE_OPTIONS", "A=B", ""])(
  "a flow cannot set the variable %j",
  async (name) => {
    const { error } = await script("", { env: { [name]: "x" } });
    expect(error).toMatchObject({ code: "program_denied", retryable: false });
  },
);

test.each(["git", process.execPath, "../node", "constructor", "__proto__"])(
  "the program %j is not on the list, so it is denied",
  async (program) => {
    const { error } = await runNode("shell.exec", { program }, { shell: NODE });
    expect(error).toMatchObject({ code: "program_denied", retryable: false });
  },
);

test("a program of the list that is not on the disk, or is no program, cannot be started", async () => {
  const cwd = temporaryFolder();
  const text = join(cwd, "text");
  writeFileSync(text, "no program");
  const programs = { gone: join(cwd, "gone"), text };
  for (const [program, why] of [
    ["gone", "ENOENT"],
    ["text", "EACCES"],
  ] as const) {
    const { error } = await runNode("shell.exec", { program }, { shell: { programs } });
    expect(error).toEqual({
      code: "spawn_failed",
      message: `${program} could not be started: ${why}`,
      retryable: false,
    });
  }
});

test("programs are off without a policy, and unsupported where the host has none", async () => {
  const off = await runNode("shell.exec", { program: "node" });
  expect(off.error?.code).toBe("capability_denied");
  const none = await runNode(
    "shell.exec",
    { program: "node" },
    { shell: NODE, host: createPortableHost() },
  );
  expect(none.error?.code).toBe("host_unsupported");
});

test("an exit code beside okExit fails, and the log has what the program said last", async () => {
  const failing = 'console.error("no such branch"); process.exitCode = 3';
  const { error, events } = await script(failing);
  expect(error).toEqual({ code: "exit_status", message: "node exited with 3", retryable: false });
  expect(logs(events)).toEqual(["no such branch"]);
  const { output } = await script(failing, { okExit: [0, 3] });
  expect(output).toMatchObject({ exitCode: 3, stderr: "no such branch\n" });
});

test("a program that a signal ended has no exit code, so it fails", async () => {
  const { error } = await script("process.kill(process.pid, 'SIGKILL')", { okExit: [0, 137] });
  expect(error).toMatchObject({ code: "exit_status", message: "node was ended by SIGKILL" });
});

test("output beyond maxBytes is dropped for each stream, and said; the program is not held up", async () => {
  const long = 'process.stdout.write("ü".repeat(500_000)); process.stderr.write("err")';
  const { output, events } = await script(long, { maxBytes: 5 });
  expect(output).toEqual({ exitCode: 0, stdout: "üü", stderr: "err", truncated: true });
  expect(logs(events)).toEqual([]); // half a character is no fault of the program
  const exact = await script('process.stdout.write("12345")', { maxBytes: 5 });
  expect(exact.output).toMatchObject({ stdout: "12345", truncated: false });
  const none = await script('process.stdout.write("1")', { maxBytes: 0 });
  expect(none.output).toMatchObject({ stdout: "", truncated: true });
});

test("a stream holds one MiB unless the flow says more", async () => {
  const bytesOf = async (fields: { maxBytes?: number }) => {
    const { events } = await script('process.stdout.write("x".repeat(2_000_000))', fields);
    return events.flatMap((event) => (event.kind === "node.succeeded" ? [event.outputRef] : []));
  };
  const around = (truncated: boolean): number =>
    JSON.stringify({ exitCode: 0, stdout: "", stderr: "", truncated }).length;
  expect(await bytesOf({})).toMatchObject([{ bytes: 1_048_576 + around(true) }]);
  expect(await bytesOf({ maxBytes: 3_000_000 })).toMatchObject([
    { bytes: 2_000_000 + around(false) },
  ]);
});

test("output that is not UTF-8 is replaced, and the log says so", async () => {
  const { output, events } = await script("process.stdout.write(Buffer.from([0x61, 0xff, 0x62]))");
  expect(output).toMatchObject({ stdout: "a\ufffdb" });
  expect(logs(events)).toEqual(["stdout of node is not UTF-8; bytes were replaced"]);
});

test("a program runs in the operator's folder, or below it where the flow says so", async () => {
  const root = temporaryFolder();
  mkdirSync(join(root, "a/b"), { recursive: true });
  const shell = { ...NODE, cwdRoot: root };
  const where = async (fields: { cwd?: string }) =>
    (await script("console.log(process.cwd())", fields, { shell })).output;
  expect(await where({})).toMatchObject({ stdout: `${realpathSync(root)}\n` });
  expect(await where({ cwd: "a/b" })).toMatchObject({ stdout: `${realpathSync(root)}/a/b\n` });
  expect(await where({ cwd: "./a/" })).toMatchObject({ stdout: `${realpathSync(root)}/a\n` });
});

test("no cwd leads out of the folder: not up, not absolute, not by a link", async () => {
  const base = temporaryFolder();
  const root = join(base, "root");
  mkdirSync(join(base, "outside"));
  mkdirSync(root);
  symlinkSync(join(base, "outside"), join(root, "link"));
  writeFileSync(join(root, "file"), "");
  const shell = { ...NODE, cwdRoot: root };
  const codeOf = async (cwd: string) => (await script("", { cwd }, { shell })).error?.code;
  for (const cwd of ["..", "../outside", "a/../../outside", "/", base, "link", "a\0b", "a\\b"]) {
    expect([cwd, await codeOf(cwd)]).toEqual([cwd, "program_denied"]);
  }
  expect(await codeOf("none")).toBe("spawn_failed");
  expect(await codeOf("file")).toBe("spawn_failed");
});

test("NUL in an argument is refused before anything starts", async () => {
  const { error } = await script("", { args: [{ $: '"a\\u0000b"' }] as never });
  expect(error?.code).toBe("field_invalid");
});

test("a failed program is repeated only where the flow allows that it ran before", async () => {
  const attempts = async (policy: object) => {
    const retry = { max: 1, delayMs: 1, on: ["exit_status", "spawn_failed"] };
    const { events } = await script("process.exit(1)", {}, { policy: { retry, ...policy } });
    return events.filter(({ kind }) => kind === "node.retrying").length;
  };
  expect(await attempts({})).toBe(0);
  expect(await attempts({ delivery: "atLeastOnce" })).toBe(1);
  const gone = { programs: { gone: join(temporaryFolder(), "gone") } };
  const policy = { retry: { max: 1, delayMs: 1, on: ["spawn_failed"] } };
  const { events } = await runNode("shell.exec", { program: "gone" }, { shell: gone, policy });
  expect(events.filter(({ kind }) => kind === "node.retrying")).toHaveLength(1);
});

/** A flow of one program. */
function graphOf(fields: object): FlowGraph {
  return graphWith({
    id: "one",
    inputs: [{ name: "name", schema: { type: "string" }, default: "" }],
    nodes: [{ id: "a", type: "shell.exec", fields: fields as never }],
  });
}

test("a program that was at work when its process died is not started again: the node fails interrupted", async () => {
  const file = join(temporaryFolder(), "ran");
  const source = `require("fs").appendFileSync(${JSON.stringify(file)}, "x")`;
  const compiled = await compileFlow(graphOf({ program: "node", args: ["-e", source] }), {
    registry: createRegistry([nodePack()]),
  });
  if (!compiled.ok) throw new Error("the flow does not compile");
  const { plan } = compiled;
  const options = { host: createNodeHost(), shell: NODE };
  const journal = createMemoryJournal();
  const whole = createEngine({ ...options, journal }).run(plan, {}, { runId: "r" });
  expect((await whole.result).status).toBe("succeeded");

  const until: EncodedEvent[] = [];
  for await (const page of journal.read("r", 0)) {
    for (const stored of page) {
      const event = parseEvent(new TextDecoder().decode(stored.line)) as EncodedEvent["event"];
      if (event.seq <= 2) until.push({ ...stored, event });
    }
  }
  expect(until.at(-1)?.event.kind).toBe("node.started");
  const cut = createMemoryJournal();
  const state = await journal.load("r");
  if (state === null) throw new Error("the run is not there");
  const { epoch } = await cut.create(state);
  await cut.append("r", 0, until, { epoch, sync: true });
  await cut.release("r", epoch);
  const resumed = await createEngine({ ...options, journal: cut }).resume("r", { plan });
  expect((await resumed.result).error).toMatchObject({ code: "interrupted", node: "a" });
  expect(readFileSync(file, "utf8")).toBe("x");
});

test("the catalog says what shell.exec is, and a plan that it needs the shell", async () => {
  const registry = createRegistry([nodePack()]);
  expect(registry.require("shell.exec").entry).toMatchObject({
    kind: "action",
    effect: "write",
    defaults: { policy: { timeoutMs: 60_000, delivery: "atMostOnce" } },
  });
  const plan = (program: unknown) => compileFlow(graphOf({ program }), { registry });
  const good = await plan("git");
  expect(good.ok && good.plan.needs).toEqual(["shell"]);
  const bad = await plan({ $: "inputs.name" });
  expect([bad.ok, bad.diagnostics.map(({ code }) => code)]).toEqual([
    false,
    expect.arrayContaining(["FLOW6002"]),
  ]);
});

test.each([
  [{ programs: { git: "git" } }, 'the path of the program "git" is not absolute'],
  [{ programs: null }, "programs is not an object"],
  [{ programs: {}, env: "PATH" }, "env is not a list"],
  [{ programs: {}, cwdRoot: "here" }, "is not an absolute path"],
])("the policy %j is refused when the engine is made", (policy, why) => {
  expect(() => createNodeHost().openSpawn(policy as never)).toThrow(why);
});
