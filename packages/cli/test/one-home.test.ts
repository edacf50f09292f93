/** Several commands and a server on one home, at the same time. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { notFull, testUnless } from "@millrace/test-support";
import { expect } from "vitest";
import { events, type Running, urlOf } from "./cli.ts";
import { serviceWorld } from "./service-world.ts";

const FLOWS = {
  "slow.flow": "flow 1 slow\n\nnode wait: delay {\n  for = 1h\n}\n",
  "ask.flow": 'flow 1 ask\n\nnode ask: confirm {\n  prompt = "Go on?"\n}\n',
  "quick.flow": 'flow 1 quick\n\nnode say: transform {\n  value = "hello"\n}\n',
};
const CONNECT = ["connect", "tracker", "--client-id", "client", "--secret-stdin"];

/** Commands that begin at once. */
const AT_ONCE = 10;

testUnless(notFull)(
  "a server, runs that are kept and a connect share one home; a live run is told, and one of a killed process taken up",
  async () => {
    const world = await serviceWorld();
    for (const [name, text] of Object.entries(FLOWS)) writeFileSync(join(world.cwd, name), text);
    const here = async (...words: readonly string[]) => {
      const { code, stdout, stderr } = await world.here(words, {});
      return { code, stdout, stderr };
    };
    const server = world.start(["serve", "--port", "0", "--json"]);
    const url = await urlOf(server);

    const quick = () => world.start(["run", "quick.flow", "--save"]);
    const all = [
      ...Array.from({ length: AT_ONCE }, quick),
      world.start(CONNECT, { stdin: "client-secret\n" }),
    ];
    const slow = world.start(["run", "slow.flow", "--save", "--json"]);
    for (const { code, stderr } of await Promise.all(all.map(({ ended }) => ended))) {
      expect(code, stderr).toBe(0);
    }
    expect((await here("connections", "list")).stdout).toContain("tracker  connected");
    expect(await here("serve")).toMatchObject({
      code: 6,
      stderr: expect.stringMatching(
        new RegExp(`served by process ${server.child.pid} .*--server ${url}`),
      ),
    });

    const first = await waiting(slow);
    expect(await here("resume", first)).toMatchObject({
      code: 6,
      stderr: expect.stringContaining(`process ${slow.child.pid} on`),
    });
    expect(await here("runs", "cancel", first, "--server", url)).toMatchObject({ code: 0 });
    expect((await slow.ended).code).toBe(130);

    const killed = world.start(["run", "slow.flow", "--save", "--json"]);
    const second = await waiting(killed);
    killed.child.kill("SIGKILL");
    await killed.ended;
    expect(await here("runs", "cancel", second)).toMatchObject({ code: 0 });

    const asked = (await here("run", "ask.flow", "--server", url, "--detach")).stdout.trim();
    await expect.poll(async () => (await here("runs", "show", asked)).stdout).toContain("paused");
    expect(await here("confirm", asked, "ask", "--approve")).toMatchObject({ code: 0 });
    const list = async (...words: readonly string[]) =>
      JSON.parse((await here("runs", "list", "--json", ...words)).stdout).items as readonly {
        readonly runId: string;
        readonly status: string;
      }[];
    const [done] = await list("--status", "succeeded", "--flow", "quick");
    expect(await here("runs", "retry", done?.runId ?? "")).toMatchObject({ code: 0 });

    const items = await list();
    expect(items).toHaveLength(AT_ONCE + 4);
    const listed = new Map(items.map(({ runId, status }) => [runId, status]));
    expect([first, second, asked].map((id) => listed.get(id))).toEqual([
      "cancelled",
      "cancelled",
      "succeeded",
    ]);
    const served = await fetch(`${url}/api/runs?limit=200`);
    expect(((await served.json()) as { items: unknown[] }).items).toEqual(items);
  },
);

/** The id of a run that has come to its delay. */
async function waiting(run: Running): Promise<string> {
  await run.until('"node.waiting"');
  return events(run.output())[0]?.runId ?? "";
}
