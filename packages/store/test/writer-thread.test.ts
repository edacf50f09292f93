/** The writer's thread under a clock of the test: which of its timers are left, and what they do. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@millrace/test-support/folder";
import { expect, onTestFinished, test, vi } from "vitest";
import { prepareFile } from "../src/sqlite/database-file.ts";
import { chooseDriver } from "../src/sqlite/driver.ts";
import { createPacker } from "../src/writer/packed-units.ts";

const port = vi.hoisted(() => ({ parentPort: {}, workerData: {} }));
vi.mock("node:worker_threads", () => port);

type Message = Readonly<Record<string, unknown>>;

interface Written {
  readonly sync?: boolean;
  readonly more?: boolean;
  readonly need?: string;
  readonly partMs?: number | null;
}

/** Runs the thread here, with `pragmas` for its connection. */
async function startThread(pragmas = "") {
  const dir = temporaryFolder();
  const path = join(dir, "millrace.db");
  const driver = chooseDriver();
  prepareFile(driver, path);
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  vi.resetModules();
  const told: Message[] = [];
  let receive: (message: Message) => void = () => {};
  Object.assign(port.workerData, {
    ...{ path, driver: driver.name, opening: "o", reserve: join(dir, "reserve.bin") },
    ...{ pragmas: `PRAGMA journal_mode=WAL; ${pragmas}`, reserveBytes: 4_096 },
  });
  Object.assign(port.parentPort, {
    on: (_: string, listener: typeof receive) => {
      receive = listener;
    },
    postMessage: (message: Message) => told.push(message),
    close: () => {},
  });
  await import("../src/writer/writer-thread.js");
  const pack = createPacker();
  let id = 0;
  const write = (
    json: string,
    { sync = true, more = false, need = "", partMs = null }: Written,
  ): void => {
    id += 1;
    const insert = { sql: "INSERT INTO setting(path, json) VALUES(?, ?)", rows: [[`${id}`, json]] };
    const refuse = { sql: "DELETE FROM setting WHERE path = ?", rows: [["no such"]], need };
    const ops = need === "" ? [insert] : [insert, refuse];
    receive({ ...pack([{ id, sync, bytes: 64, records: 1, quiet: true, ops }]), more, partMs });
  };
  const execute = (exec: string): void => {
    id += 1;
    const unit = { id, sync: true, bytes: 0, records: 1, quiet: true, ops: [{ exec }] };
    receive({ ...pack([unit]), more: false });
  };
  return { path, told, write, execute, close: () => receive({ close: true }) };
}

test("a write that waits for others and was written with them takes nothing from the idle checkpoint", async () => {
  const { path, told, write, close } = await startThread();
  write("first", { sync: true });
  write("mark of the second", { sync: false });
  vi.advanceTimersByTime(1_000);
  expect(told).toContainEqual({ done: [1, 2] });
  expect(readFileSync(path).includes("mark of the second")).toBe(false);
  vi.advanceTimersByTime(5_000);
  expect(readFileSync(path).includes("mark of the second")).toBe(true);
  close();
});

test("text of SQL that is sent alone gets one answer", async () => {
  const { told, execute, close } = await startThread();
  execute("PRAGMA incremental_vacuum(1)");
  vi.advanceTimersByTime(0);
  expect(told.at(-1)).toEqual({ done: [1] });
  close();
});

test("the parts of a turn are one COMMIT, and what is refused of them leaves the others", async () => {
  const { told, write, close } = await startThread();
  const done = () => told.flatMap((message) => ("done" in message ? [message["done"]] : []));
  write("first part", { more: true });
  vi.advanceTimersByTime(0);
  write("refused", { more: true, need: "not_there" });
  vi.advanceTimersByTime(0);
  expect(done()).toEqual([]);
  write("last part", {});
  vi.advanceTimersByTime(0);
  expect(done()).toEqual([[1, expect.objectContaining({ id: 2, code: "not_there" }), 3]]);
  write("whose rest never comes", { more: true });
  vi.advanceTimersByTime(5);
  expect(done().slice(1)).toEqual([[4]]);
  write("at the end", { more: true });
  vi.advanceTimersByTime(0);
  close();
  vi.advanceTimersByTime(0);
  expect(done().slice(2)).toEqual([[5]]);
  expect(vi.getTimerCount()).toBe(0);
});

test("a part is committed at once where the next one takes longer than a COMMIT", async () => {
  const { told, write, close } = await startThread();
  const done = () => told.flatMap((message) => ("done" in message ? [message["done"]] : []));
  write("first part", { more: true });
  vi.advanceTimersByTime(0);
  expect(done()).toEqual([]);
  write("late part", { more: true, partMs: 1_000 }); // time stands still: a COMMIT takes none
  vi.advanceTimersByTime(0);
  expect(done()).toEqual([[1, 2]]);
  write("part of the next turn", { more: true });
  vi.advanceTimersByTime(0);
  expect(done().slice(1)).toEqual([[3]]);
  write("part that comes soon", { more: true, partMs: 0 });
  vi.advanceTimersByTime(0);
  expect(done().slice(2)).toEqual([]);
  close();
  vi.advanceTimersByTime(0);
  expect(done().slice(2)).toEqual([[4]]);
  expect(vi.getTimerCount()).toBe(0);
});

test("on a full disk one timer tries again, and none is left after the close", async () => {
  const { told, write, close } = await startThread("PRAGMA max_page_count=1");
  write("x".repeat(10_000_000), { sync: true });
  write("small", { sync: false });
  vi.advanceTimersByTime(100);
  expect(told).toContainEqual({ condition: "store_full" });
  close();
  expect(told.at(-1)).toMatchObject({ done: [{ code: "store_full" }, { code: "store_full" }] });
  expect(vi.getTimerCount()).toBe(0);
});
