/** Pushing the flows of a folder: all of them are stored, or none; nothing of somebody else is lost. */
import type { PushReport, Template } from "@millrace/contracts";
import type { RunningServer } from "@millrace/server";
import { openStore } from "@millrace/store";
import { casesOf } from "@millrace/test-support";
import { temporaryFolder } from "@millrace/test-support/folder";
import { expect, test } from "vitest";
import { invoke, post, problemOf, serve } from "./support/server.ts";

const COUNT = Math.max(1_000, casesOf(5_000));
const say = (word: string): string => `flow 1 say\n\nnode say: log {\n  message = "${word}"\n}\n`;
const flows = (count: number, word: string) =>
  Array.from({ length: count }, (_, at) => ({ slug: `f-${at}`, dsl: say(`${word} ${at}`) }));

type Flow = ReturnType<typeof flows>[number];

async function push(server: RunningServer, body: object): Promise<PushReport> {
  const response = await post(server, "/api/templates/push", { by: "repo", ...body });
  if (response.status !== 200) throw new Error(await response.text());
  return (await response.json()) as PushReport;
}

async function refusal(server: RunningServer, body: object) {
  return problemOf(await post(server, "/api/templates/push", { by: "repo", ...body }));
}

test("of many flows the wrong ones are named by their places, and none is stored; mended, all are", async () => {
  const server = await serve({ maxPushBytes: COUNT * 1_000 });
  const all = flows(COUNT, "a".repeat(300));
  const wrong = all.map((one, at) =>
    at === 7 || at === 500
      ? { ...one, dsl: "flow 1 x\n\nnode a: nothing {\n}\n" }
      : at === 999
        ? { ...one, dsl: "flow 1 x\nnode" }
        : one,
  );
  expect(await refusal(server, { flows: wrong })).toMatchObject({
    code: "flow_invalid",
    detail: `3 of ${COUNT} flows are wrong`,
    errors: [
      { pointer: expect.stringMatching(/^\/flows\/7\//), code: "FLOW3001", line: 3 },
      { pointer: expect.stringMatching(/^\/flows\/500\//) },
      { pointer: expect.stringMatching(/^\/flows\/999/), line: 2 },
    ],
  });
  expect(await invoke(server, "list_templates", {})).toMatchObject({ items: [] });
  const report = await push(server, { flows: all });
  expect([report.changes.length, report.same]).toEqual([COUNT, 0]);
  expect(await push(server, { flows: all })).toEqual({ changes: [], same: COUNT });
  const long = all.map((one) => ({ ...one, dsl: one.dsl.replace("a", "b".repeat(700)) }));
  expect(await refusal(server, { flows: long })).toMatchObject({ code: "body_too_large" });
});

test("what somebody else has changed, made or uses is refused by name, and replaced or kept as is asked", async () => {
  const server = await serve();
  const text = (slug: string) => invoke<{ text: string }>(server, "export_template", { slug });
  await push(server, { flows: flows(3, "one") });
  await invoke(server, "save_template", { slug: "f-1", dsl: say("edited"), ifMatch: "*" });
  await invoke(server, "save_template", { slug: "mine", dsl: say("mine") });
  const night = `${say("two 2")}\nschedule night {\n  cron = "0 3 * * *"\n}\n`;
  const two = [...flows(2, "two"), { slug: "f-2", dsl: night }];
  const next = [...two, { slug: "mine", dsl: say("theirs") }];
  expect(await refusal(server, { flows: next })).toMatchObject({
    code: "state_conflict",
    errors: [
      { pointer: "/flows/1", message: "f-1: version 2 was changed there" },
      { pointer: "/flows/3", message: "mine: version 1 was not made by a push" },
    ],
  });
  expect((await text("f-0")).text).toContain("one 0");
  expect(await refusal(server, { by: "other", flows: flows(1, "x") })).toMatchObject({
    errors: [{ message: "f-0: is pushed by repo" }],
  });
  const dry = await push(server, { flows: next, force: true, dryRun: true });
  expect(dry.changes[1]).toMatchObject({ slug: "f-1", change: "updated", version: 3 });
  expect(dry.changes[1]?.before).toContain("edited");
  expect((await text("mine")).text).toContain("mine");
  await push(server, { flows: next, force: true });
  expect((await text("mine")).text).toContain("theirs");

  await invoke(server, "create_schedule", { template: "f-2", name: "night", everyMs: 60_000 });
  const kept = await invoke<{ id: string }>(server, "create_schedule", {
    template: "f-1",
    name: "of-a-person",
    everyMs: 60_000,
  });
  expect(await refusal(server, { flows: next.slice(0, 1), prune: true })).toMatchObject({
    code: "in_use",
    errors: [{ message: `f-1: ${kept.id}` }],
  });
  const left = await push(server, { flows: next.slice(0, 2), prune: true });
  expect(left.changes.map(({ slug, change }) => [slug, change])).toEqual([
    ["f-2", "removed"],
    ["mine", "removed"],
  ]);
  expect(await invoke(server, "list_schedules", {})).toMatchObject({ items: [{ id: kept.id }] });
});

test("a flow that is a file of a folder is not taken from it, and what is as it was is noted in one go", async () => {
  const dataDir = temporaryFolder();
  const server = await serve({ store: dataDir });
  await using store = await openStore({ dir: dataDir });
  const [mine, file, old] = flows(3, "one") as [Flow, Flow, Flow];
  for (const { slug, dsl } of [mine, file, old]) {
    await invoke(server, "save_template", { slug, dsl });
  }
  const filed = { kind: "local", folder: "mark" } as const;
  const is = (await store.templates.get(file.slug)) as Template;
  await store.templates.save({ ...is, source: filed }, 1);
  const before = (await store.templates.list()).map(({ updatedAt }) => updatedAt);
  expect(await push(server, { flows: [mine, file, old] })).toEqual({ changes: [], same: 3 });
  const after = await store.templates.list();
  expect(after.map(({ updatedAt }) => updatedAt)).toEqual(before);
  const pushed = { by: "repo", text: expect.any(String) };
  expect(after.map(({ source }) => source)).toEqual([
    { kind: "local", pushed },
    filed,
    { kind: "local", pushed },
  ]);

  const changed = { ...file, dsl: say("changed") };
  expect(await refusal(server, { flows: [mine, changed] })).toMatchObject({
    detail: "1 flow is not as the last push left it",
    errors: [{ message: "f-1: is a file of a folder, as millrace studio keeps it" }],
  });
  await push(server, { flows: [mine, changed], force: true });
  expect((await store.templates.get(file.slug))?.source).toEqual({ ...filed, pushed });
});
