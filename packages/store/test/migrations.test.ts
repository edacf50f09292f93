import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "@millrace/store";
import { temporaryFolder } from "@millrace/test-support/folder";
import { expect, test } from "vitest";
import { prepareFile } from "../src/sqlite/database-file.ts";
import { chooseDriver } from "../src/sqlite/driver.ts";
import { MIGRATIONS } from "../src/sqlite/schema.ts";
import { appendAll, logOf } from "./logs.ts";

const later = (n: number): string[] =>
  Array.from({ length: n }, (_, i) => `CREATE TABLE later${i}(a)`);

function ask(path: string, sql: string): unknown {
  const db = chooseDriver().open(path);
  try {
    return Object.values(db.prepare(sql).get([]) ?? {})[0];
  } finally {
    db.close();
  }
}

async function madeStore(): Promise<string> {
  const dir = temporaryFolder();
  const store = await openStore({ dir });
  await appendAll(store.journal, logOf(1));
  await store.close();
  return join(dir, "millrace.db");
}

test("migrations go forward, each start has an epoch of its own, and the newest two backups stay", async () => {
  const path = await madeStore();
  const events = ask(path, "SELECT count(*) FROM journal");
  for (let n = 1; n <= 4; n += 1) {
    expect(prepareFile(chooseDriver(), path, [...MIGRATIONS, ...later(n)])).toBe(n + 1);
    expect(ask(path, "PRAGMA user_version")).toBe(MIGRATIONS.length + n);
    expect(ask(path, "SELECT count(*) FROM journal")).toBe(events);
  }
  const backups = readdirSync(join(path, "..")).filter((name) => name.includes(".bak-"));
  expect(backups.sort()).toEqual(["millrace.db.bak-4", "millrace.db.bak-5"]);
  expect(ask(`${path}.bak-5`, "PRAGMA user_version")).toBe(4);
  expect(ask(`${path}.bak-5`, "SELECT count(*) FROM journal")).toBe(events);
});

test("a migration that fails leaves the version before it, and a backup", async () => {
  const path = await madeStore();
  const broken = [...MIGRATIONS, "CREATE TABLE fine(a); CREATE TABLE fine(a)"];
  expect(() => prepareFile(chooseDriver(), path, broken)).toThrow(/already exists/);
  expect(ask(path, "PRAGMA user_version")).toBe(MIGRATIONS.length);
  expect(ask(path, "SELECT count(*) FROM sqlite_master WHERE name = 'fine'")).toBe(0);
  expect(existsSync(`${path}.bak-2`)).toBe(true);
});
