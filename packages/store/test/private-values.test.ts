/** Private values: unreadable in the files of a store, and gone when their run has ended. */
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "@millrace/store";
import { temporaryFolder } from "@millrace/test-support/folder";
import { logOf, startRun } from "@millrace/test-support/store";
import { expect, test } from "vitest";
import { newStore } from "./new-store.ts";

/** Names of the files of a folder that hold a text. */
const filesWith = (dir: string, text: string): string[] =>
  readdirSync(dir).filter((name) => readFileSync(join(dir, name)).includes(text));

test("private values are unreadable in the files, and gone after the summary", async () => {
  const dir = temporaryFolder();
  const store = await newStore({ dir });
  const { epoch } = await store.journal.create(startRun(1));
  const log = logOf(1);
  await store.journal.append("r1", 0, log.slice(0, -1), { epoch, sync: true });
  await store.journal.putValue("r1", "a#1", "hush-hush-hush", { private: true });
  expect(filesWith(dir, "hush-hush-hush")).toEqual([]);
  expect((await store.journal.load("r1"))?.privateValues).toEqual({ "a#1": "hush-hush-hush" });
  await store.journal.append("r1", log.length - 1, log.slice(-1), { epoch, sync: true });
  expect((await store.journal.load("r1"))?.privateValues).toEqual({});
});

const SECRET_INPUT = [{ name: "pin", schema: { type: "string", writeOnly: true } }];

test("secret inputs are unreadable in the files and in a backup, and are there for a retry", async () => {
  const dir = temporaryFolder();
  const store = await newStore({ dir });
  const graph = { ...startRun(1).graph, inputs: [...SECRET_INPUT, { name: "plain" }] };
  const inputs = { pin: "hush-hush-hush", plain: "seen" };
  const { epoch } = await store.journal.create(startRun(1, { graph, inputs }));
  await store.journal.append("r1", 0, logOf(1), { epoch, sync: true });
  await store.backup(join(dir, "copy.db"));
  expect(filesWith(dir, "hush-hush-hush")).toEqual([]);
  expect((await store.runs.header("r1"))?.inputs).toEqual(inputs);
  expect((await store.journal.load("r1"))?.inputs).toEqual(inputs);
  const shown = { ...inputs, pin: "[redacted]" };
  expect((await store.runs.header("r1", { private: false }))?.inputs).toEqual(shown);
  expect((await store.journal.load("r1", { private: false }))?.inputs).toEqual(shown);
});

test("private values that are kept stay after the summary, unreadable in the files", async () => {
  const dir = temporaryFolder();
  const store = await newStore({ dir });
  const { epoch } = await store.journal.create(startRun(1));
  await store.journal.putValue("r1", "a#1#c", "hush-hush-hush", { private: true, kept: true });
  await store.journal.append("r1", 0, logOf(1), { epoch, sync: true });
  expect((await store.journal.load("r1"))?.privateValues).toEqual({ "a#1#c": "hush-hush-hush" });
  expect(filesWith(dir, "hush-hush-hush")).toEqual([]);
});

test("with another key, what is private is refused by a sentence that names the file; the rest is read", async () => {
  const dir = temporaryFolder();
  const first = await openStore({ dir });
  const graph = { ...startRun(1).graph, inputs: SECRET_INPUT };
  await first.journal.create(startRun(1, { graph, inputs: { pin: "hush-hush-hush" } }));
  await first.close();
  rmSync(join(dir, "key"));
  const store = await newStore({ dir });
  const refused = { code: "store_corrupt", message: expect.stringContaining('the file "key"') };
  await expect(store.journal.load("r1")).rejects.toMatchObject(refused);
  await expect(store.runs.header("r1")).rejects.toThrow('the file "key"');
  expect((await store.runs.header("r1", { private: false }))?.graph).toEqual(graph);
});
