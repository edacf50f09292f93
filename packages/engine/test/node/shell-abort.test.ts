/** What is left of a program after an abort, a timeout or its own end: nothing. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { SpawnPort } from "@millrace/contracts";
import { createNodeHost } from "@millrace/engine/node";
import { runNode } from "@millrace/test-support/flows";
import { temporaryFolder } from "@millrace/test-support/folder";
import { isAlive } from "@millrace/test-support/processes";
import { expect, test } from "vitest";

const NODE = { programs: { node: process.execPath } };

/** A place where a script writes the number of each process that is ready. */
function pids() {
  const folder = temporaryFolder();
  const file = (name: string): string => join(folder, name);
  const of = async (name: string): Promise<number> => {
    while (!existsSync(file(name)) || readFileSync(file(name), "utf8") === "") await pause(5);
    return Number(readFileSync(file(name), "utf8"));
  };
  const write = (name: string): string =>
    `require("fs").writeFileSync(${JSON.stringify(file(name))}, String(process.pid));`;
  return { file, of, write };
}

const FOREVER = "setInterval(() => {}, 1000);";
const DEAF = 'process.on("SIGTERM", () => {});';

/** A script that starts another one in its group and goes on. */
function starting(source: string, stdio: "ignore" | "inherit", then = FOREVER): string {
  const child = `require("child_process").spawn(process.execPath, ["-e", ${JSON.stringify(source)}], { stdio: "${stdio}" })`;
  return `const child = ${child}; child.unref(); ${then}`;
}

function start(port: SpawnPort, source: string) {
  const stop = new AbortController();
  const ended = port.run("node", { args: ["-e", source], signal: stop.signal }).then(
    (end) => end,
    (reason: unknown) => ({ reason }),
  );
  return { ended, stop: () => stop.abort("stop") };
}

const open = (): SpawnPort => createNodeHost().openSpawn(NODE);

test("an abort ends the program and what it has started", async () => {
  const { of, write } = pids();
  const { ended, stop } = start(
    open(),
    write("parent") + starting(write("child") + FOREVER, "inherit"),
  );
  const both = await Promise.all([of("parent"), of("child")]);
  stop();
  expect(await ended).toEqual({ reason: "stop" });
  await expect.poll(() => both.map(isAlive)).toEqual([false, false]);
});

test("what does not listen to SIGTERM is killed, the children of a program that did too", async () => {
  const { of, write } = pids();
  const source = write("parent") + starting(DEAF + write("child") + FOREVER, "ignore");
  const { ended, stop } = start(open(), source);
  const both = await Promise.all([of("parent"), of("child")]);
  stop();
  expect(await ended).toEqual({ reason: "stop" });
  // A killed process is dead when the system next gives it time.
  await expect.poll(() => both.map(isAlive)).toEqual([false, false]);
});

test("a program gets SIGTERM first and may put things in order; the abort stays an abort", async () => {
  const { of, write } = pids();
  const tidy = `process.on("SIGTERM", () => { ${write("tidied")} process.exit(0); });`;
  const { ended, stop } = start(open(), tidy + write("ready") + FOREVER);
  await of("ready");
  stop();
  expect(await ended).toEqual({ reason: "stop" });
  expect(await of("tidied")).toBeGreaterThan(0);
});

test("what a program leaves behind ends with it, and its output is still read", async () => {
  const { file, of, write } = pids();
  const source = starting(
    write("child") + FOREVER,
    "inherit",
    `const look = setInterval(() => { if (require("fs").existsSync(process.argv[1])) { clearInterval(look); console.log("done"); } }, 5);`,
  );
  const args = ["-e", source, file("child")];
  const ended = open().run("node", { args });
  const child = of("child");
  const pid = await child;
  const end = await ended;
  expect([end.exitCode, new TextDecoder().decode(end.stdout)]).toEqual([0, "done\n"]);
  expect(isAlive(pid)).toBe(false);
});

test("an abort before the start starts nothing", async () => {
  const { file, write } = pids();
  const signal = AbortSignal.abort("early");
  const source = write("never");
  await expect(open().run("node", { args: ["-e", source], signal })).rejects.toBe("early");
  expect(existsSync(file("never"))).toBe(false);
});

test("the timeout of the node ends the program", async () => {
  const { of, write } = pids();
  const ended = runNode(
    "shell.exec",
    { program: "node", args: ["-e", write("program") + FOREVER] },
    { shell: NODE, policy: { timeoutMs: 1_000 } },
  );
  const { error } = await ended;
  expect(error).toMatchObject({ code: "timeout", retryable: true });
  expect(isAlive(await of("program"))).toBe(false);
});
