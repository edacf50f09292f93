import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "@millrace/store";
import { temporaryFolder } from "@millrace/test-support/folder";
import { bundleProgram } from "@millrace/test-support/program";
import { appendAll, linesOf, linesOfText, logOf, startRun } from "@millrace/test-support/store";
import { expect, test } from "vitest";
import { prepareFile } from "../src/sqlite/database-file.ts";
import { chooseDriver } from "../src/sqlite/driver.ts";
import { MIGRATIONS } from "../src/sqlite/schema.ts";
import { startChild } from "./child.ts";
import { newStore } from "./new-store.ts";

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
    expect(prepareFile(chooseDriver(), path, { migrations: [...MIGRATIONS, ...later(n)] })).toBe(
      n + 1,
    );
    expect(ask(path, "PRAGMA user_version")).toBe(MIGRATIONS.length + n);
    expect(ask(path, "SELECT count(*) FROM journal")).toBe(events);
  }
  const backups = readdirSync(join(path, "..")).filter((name) => name.includes(".bak-"));
  const last = MIGRATIONS.length + 4;
  expect(backups.sort()).toEqual([last - 1, last].map((n) => `millrace.db.bak-${n}`));
  expect(ask(`${path}.bak-${last}`, "PRAGMA user_version")).toBe(last - 1);
  expect(ask(`${path}.bak-${last}`, "SELECT count(*) FROM journal")).toBe(events);
});

test("a migration that fails leaves the version before it, and a backup", async () => {
  const path = await madeStore();
  const broken = [...MIGRATIONS, "CREATE TABLE fine(a); CREATE TABLE fine(a)"];
  expect(() => prepareFile(chooseDriver(), path, { migrations: broken })).toThrow(/already exists/);
  expect(ask(path, "PRAGMA user_version")).toBe(MIGRATIONS.length);
  expect(ask(path, "SELECT count(*) FROM sqlite_master WHERE name = 'fine'")).toBe(0);
  expect(existsSync(`${path}.bak-${broken.length}`)).toBe(true);
});

const RUNS = ["r1", "r2", "r3"];
const LINES = 5_000; // of each run: together they are four slices
const TEXTS = new Map(
  RUNS.map((id) => [id, linesOfText(id, LINES).map(({ line }) => new TextDecoder().decode(line))]),
);

/** A store as the first version wrote it; its runs append in turns. */
function firstVersion(): string {
  const path = join(temporaryFolder(), "millrace.db");
  prepareFile(chooseDriver(), path, { migrations: MIGRATIONS.slice(0, 1) });
  const db = chooseDriver().open(path);
  const digest = `sha256:${"ab".repeat(32)}`;
  db.exec("BEGIN");
  db.prepare("INSERT INTO graph(digest, json) VALUES(?, '{}')").run([digest]);
  const run = db.prepare(
    "INSERT INTO run(id, flow_id, graph, status, trigger, inputs, options, epoch, created_at, last_seq, ended_at) " +
      `VALUES(?, 'f', ?, 'cancelled', 'embed', '{}', '{}', 1, 1, ${LINES}, 1)`,
  );
  for (const id of RUNS) run.run([id, digest]);
  const insert = db.prepare("INSERT INTO journal(run, seq, kind, ts, line) VALUES(?, ?, ?, 1, ?)");
  const logs = RUNS.map((id) => linesOfText(id, LINES));
  for (let n = 0; n < LINES; n += 1) {
    for (const [at, log] of logs.entries()) {
      const { seq, kind, line } = log[n] as (typeof log)[number];
      insert.run([at + 1, seq, kind, line]);
    }
  }
  db.exec("COMMIT");
  db.close();
  return path;
}

async function expectLogs(path: string, readonly: boolean): Promise<void> {
  const store = await newStore({ dir: join(path, ".."), readonly });
  for (const [id, lines] of TEXTS) expect(await linesOf(store.journal, id)).toEqual(lines);
  await store.close();
}

/** Opens the file with a driver that kills its process before the given repetition of a slice, or in the transaction after `before`. */
const KILLED = `
import { prepareFile } from "../src/sqlite/database-file.ts";
import { chooseDriver } from "../src/sqlite/driver.ts";
const [path, before] = process.argv.slice(2);
const { name, open } = chooseDriver();
let slices = 0;
const dying = (run) => (values) => {
  slices += 1;
  if (slices > Number(before)) process.kill(process.pid, "SIGKILL");
  return run(values);
};
prepareFile({ name, open(...given) {
  const db = open(...given);
  return { ...db, exec(sql) {
    db.exec(sql);
    if (sql.startsWith(before)) process.kill(process.pid, "SIGKILL");
  }, prepare(sql) {
    const statement = db.prepare(sql);
    return /^\\s*INSERT INTO appended_journal/.test(sql) ? { ...statement, run: dying(statement.run) } : statement;
  } };
} }, path);
`;

test("a process that is killed while it moves the log leaves it whole for readers, and the next one goes on", async () => {
  const path = firstVersion();
  const program = await bundleProgram(KILLED, import.meta.url);
  for (const done of [0, 2, 1]) {
    const child = startChild(program, [path, String(done)]);
    await child.exited;
    expect(child.process.signalCode).toBe("SIGKILL");
    expect(ask(path, "PRAGMA user_version")).toBe(2);
    expect(() => prepareFile(chooseDriver(), path, { migrations: MIGRATIONS.slice(0, 1) })).toThrow(
      /has version 2, this program knows 1; use a newer millrace/,
    );
    await expectLogs(path, true);
  }
  expect(ask(path, "SELECT count(*) FROM appended_journal")).toBe(3 * 4_096);
  await expectLogs(path, false);
  expect(ask(path, "SELECT count(*) FROM sqlite_master WHERE name = 'appended_journal'")).toBe(0);
  expect(ask(path, "SELECT count(*) FROM meta WHERE key = 'unfinishedMigration'")).toBe(0);
  expect(ask(`${path}.bak-2`, "PRAGMA user_version")).toBe(1);
  expect(ask(`${path}.bak-2`, "SELECT count(*) FROM journal")).toBe(RUNS.length * LINES);
});

/** What a store holds in tables of version 4, which kept the end of a log in its row of `run`: `ends`, by the ids of runs. */
function asVersion4(path: string, ends: Readonly<Record<string, number>>): string {
  const older = join(temporaryFolder(), "millrace.db");
  prepareFile(chooseDriver(), older, { migrations: MIGRATIONS.slice(0, 4) });
  const db = chooseDriver().open(older);
  db.exec("PRAGMA foreign_keys=OFF");
  db.prepare("ATTACH ? AS newer").run([path]);
  for (const { name } of db
    .prepare("SELECT name FROM pragma_table_list WHERE schema = 'newer'")
    .all([])) {
    if (String(name).startsWith("sqlite_schema")) continue;
    const columns = db
      .prepare("SELECT group_concat(name) AS names FROM pragma_table_info(?, 'newer')")
      .get([name ?? null]);
    const names = String(columns?.["names"]);
    db.exec(
      `DELETE FROM main.${name}; INSERT INTO main.${name}(${names}) SELECT ${names} FROM newer.${name}`,
    );
  }
  const keep = db.prepare("UPDATE run SET last_seq = ? WHERE id = ?");
  for (const [id, end] of Object.entries(ends)) keep.run([end, id]);
  db.close();
  return older;
}

test("the ends of logs are found again after their column has gone, also where a process is killed on the way", async () => {
  const newer = await madeStore();
  const ends = { r1: logOf(1).length, r2: 0 };
  const soon = (logOf(1).at(-1)?.event.ts ?? 0) + 40 * 86_400_000;
  const made = await newStore({ dir: join(newer, ".."), now: () => soon });
  expect(await made.retain()).toMatchObject({ pruned: 1 }); // two lines of r1 are left
  await made.journal.create(startRun(2));
  await made.close();
  const told = async (path: string, readonly: boolean): Promise<unknown> => {
    const store = await newStore({ dir: join(path, ".."), readonly });
    const { items } = await store.runs.list({ limit: 10 });
    const loaded = await Promise.all(items.map(({ runId }) => store.journal.load(runId)));
    await store.close();
    expect(Object.fromEntries(items.map(({ runId, lastSeq }) => [runId, lastSeq]))).toEqual(ends);
    return [items, loaded];
  };
  const before = await told(newer, true);
  const path = asVersion4(newer, ends);
  const program = await bundleProgram(KILLED, import.meta.url);
  const child = startChild(program, [path, "ALTER TABLE run DROP COLUMN last_seq"]);
  await child.exited;
  expect(child.process.signalCode).toBe("SIGKILL");
  expect(ask(path, "PRAGMA user_version")).toBe(4);
  expect(await told(path, true)).toEqual(before);
  expect(await told(path, false)).toEqual(before);
  expect(ask(path, "PRAGMA user_version")).toBe(MIGRATIONS.length);
  expect(ask(path, "PRAGMA integrity_check")).toBe("ok");
  expect(ask(`${path}.bak-5`, "SELECT last_seq FROM run WHERE id = 'r1'")).toBe(ends.r1);
  expect(() => prepareFile(chooseDriver(), path, { migrations: MIGRATIONS.slice(0, 4) })).toThrow(
    /has version 5, this program knows 4; use a newer millrace/,
  );
});
