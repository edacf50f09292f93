/** A disk that gets full under a run that is kept: it waits, says so, starts nothing, and Ctrl-C ends it. */
import { appendFileSync, mkdirSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { checkLog } from "@millrace/contracts";
import { testUnless } from "@millrace/test-support";
import { mountDisk, noMount } from "@millrace/test-support/disk";
import { expect, onTestFinished } from "vitest";
import { events, lastSummary, millrace, start } from "./cli.ts";
import { counter, ITEMS, MANY, project } from "./kept-runs.ts";

const diskTest = testUnless(noMount());

/** A disk of its own under the data folder, and how it is filled and emptied. */
function disk(dir: string) {
  mkdirSync(dir);
  mountDisk(dir, 24);
  const filler = join(dir, "filler");
  const fill = (): void => {
    const { bavail, bsize } = statfsSync(dir);
    try {
      if (bavail > 0) appendFileSync(filler, Buffer.alloc(bavail * bsize));
    } catch {
      // the run was quicker; what is left is taken next time
    }
  };
  let filling: NodeJS.Timeout | undefined;
  const empty = (): void => {
    clearInterval(filling);
    rmSync(filler, { force: true });
  };
  onTestFinished(empty);
  return {
    /** Takes all room. The reserve goes first: on a busy machine the run would be quicker than the filler when it is given back. */
    fill({ keepsReserve = false } = {}) {
      if (!keepsReserve) rmSync(join(dir, "reserve.bin"), { force: true });
      fill();
      if (!keepsReserve) filling = setInterval(fill, 2);
    },
    empty,
  };
}

diskTest(
  "on a full disk nothing starts, stderr says so, and Ctrl-C ends the run within its grace",
  async () => {
    const at = project({ "many.flow": MANY });
    const { fill, empty } = disk(at.env.MILLRACE_HOME);
    const server = await counter(8);
    const words = ["run", "many.flow", "--save", "--json", "--grace", "1s"];
    const run = start([...words, "-i", `url=${server.url}`], at);
    await server.isReached;
    fill();
    server.letGo(); // what was at work ends, and cannot be stored
    await run.until("the disk is full: the run waits for room");
    run.child.kill("SIGINT");
    const ended = await run.ended;
    const summary = lastSummary(ended.stdout);
    expect([ended.code, summary.exitCode, summary.error?.code]).toEqual([130, 130, "paused"]);
    expect(ended.stderr).toContain(`next: millrace resume ${summary.runId}\n`);
    expect(server.asked.length).toBeLessThan(ITEMS);
    empty();
    const resumed = await millrace(["resume", summary.runId, "--json"], at);
    expect([resumed.code, checkLog(events(resumed.stdout))]).toEqual([0, []]);
    expect(new Set(server.asked).size).toBe(ITEMS);
  },
);

diskTest(
  "a server that was killed is started again on a full disk, and waits for room",
  async () => {
    const at = project({});
    const { fill, empty } = disk(at.env.MILLRACE_HOME);
    const serve = async () => {
      const server = start(["serve", "--port", "0", "--json"], at);
      await server.until('"listening"');
      const { url } = JSON.parse(server.output()) as { readonly url: string };
      const ready = async () => {
        const answer = await fetch(`${url}/api/ready`);
        return ((await answer.json()) as { readonly status: string }).status;
      };
      return { ...server, ready };
    };
    const first = await serve();
    first.child.kill("SIGKILL");
    await first.ended;
    fill({ keepsReserve: true });
    const second = await serve();
    expect(await second.ready()).toBe("store");
    empty();
    await expect.poll(second.ready, { timeout: 20_000 }).toBe("ok");
    second.child.kill("SIGTERM");
    expect((await second.ended).code).toBe(0);
  },
);

diskTest("a run that waits for room goes on when there is some", async () => {
  const at = project({ "many.flow": MANY });
  const { fill, empty } = disk(at.env.MILLRACE_HOME);
  const server = await counter(8);
  const run = start(["run", "many.flow", "--save", "--json", "-i", `url=${server.url}`], at);
  await server.isReached;
  fill();
  server.letGo();
  await run.until("the disk is full: the run waits for room");
  expect(server.asked.length).toBeLessThan(ITEMS); // steps that only read wait for no disk, and would all have begun
  empty();
  const ended = await run.ended;
  expect([ended.code, checkLog(events(ended.stdout))]).toEqual([0, []]);
  expect(ended.stderr).toContain("there is room on the disk again: the run goes on\n");
  expect(server.asked).toHaveLength(ITEMS);
});
