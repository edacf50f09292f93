/** `run --watch`: at every save the run that goes on is cancelled, and the flow runs again. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { events, lastSummary, scratch, start } from "./cli.ts";

const SLOW = "flow 1 slow\n\ninput who: string\n\nnode wait: delay {\n  for = 1h\n}\n";
const QUICK =
  "flow 1 quick\n\ninput who: string\n\nnode say: transform {\n  value = inputs.who\n}\n\noutput who: string = say.value\n";

test("a save of the flow or of a file of its inputs runs it again, one run at a time", async () => {
  const cwd = scratch({ "a.flow": SLOW, "who.txt": "Ada" });
  const watching = start(["run", "a.flow", "--watch", "--json", "-i", "who=@who.txt"], { cwd });
  const save = (name: string, text: string) => writeFileSync(join(cwd, name), text);
  await watching.until("node.waiting");
  save("a.flow", QUICK);
  await watching.until('"outputs":{"who":"Ada"}');
  save("other.txt", "nobody looks");
  save("who.txt", "Eve");
  await watching.until('"outputs":{"who":"Eve"}');
  save("a.flow", QUICK.replace("transform", "no.such"));
  await watching.until("FLOW3001");
  watching.child.kill("SIGINT");
  const { code, stdout } = await watching.ended;
  const summaries = events(stdout).filter(({ kind }) => kind === "summary");
  expect(summaries.map((each) => "status" in each && each.status)).toEqual([
    "cancelled",
    "succeeded",
    "succeeded",
    "invalid",
    "cancelled",
  ]);
  expect([code, lastSummary(stdout).exitCode]).toEqual([130, 130]);
});
