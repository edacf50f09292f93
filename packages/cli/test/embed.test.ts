/** The embedding example as a user has it: a folder with the packages installed, and plain `node`. */
import { spawn } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkLog, type ExecutionEvent } from "@millrace/contracts";
import { parseFlow } from "@millrace/dsl";
import { expect, onTestFinished, test } from "vitest";
import { golden } from "../src/commands/test/normal.ts";
import { events, example, lastSummary, ROOT, scratch } from "./cli.ts";

const { UPDATE_GOLDEN } = process.env;
const FOLDER = example("14-embed");
const { graph } = parseFlow(readFileSync(join(FOLDER, "order.flow")));

/** The example with its dependencies; started. */
function embed(...words: string[]) {
  return started("embed.mjs", ...words);
}

function started(...words: string[]) {
  const cwd = scratch();
  const filter = (path: string): boolean => !path.includes("node_modules");
  cpSync(FOLDER, cwd, { recursive: true, filter });
  mkdirSync(join(cwd, "node_modules/@millrace"), { recursive: true });
  for (const name of ["ai", "contracts", "dsl", "engine", "services"]) {
    symlinkSync(join(ROOT, "packages", name), join(cwd, "node_modules/@millrace", name), "dir");
  }
  const child = spawn(process.execPath, words, { cwd, stdio: "pipe", env: {} });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  const told = { stdout: "", stderr: "" };
  let look: () => void = () => {};
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    told.stdout += text;
    look();
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    told.stderr += text;
  });
  const ended = new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
    child.once("close", (code) => resolve({ code, ...told }));
  });
  const until = (text: string) =>
    new Promise<void>((resolve) => {
      look = () => {
        if (told.stdout.includes(text)) resolve();
      };
      look();
    });
  return { child, ended, until };
}

function compare(name: string, log: readonly ExecutionEvent[]): void {
  expect(checkLog(log, { graph })).toEqual([]);
  const file = join(FOLDER, name);
  const text = golden(log, graph);
  if (UPDATE_GOLDEN === "1") writeFileSync(file, text);
  expect(text).toBe(readFileSync(file, "utf8"));
}

test("14-embed reads a file below its folder by a pack, and no other file", async () => {
  const lines = readFileSync(join(FOLDER, "order.flow"), "utf8").split("\n").length;
  expect((await started("packs.mjs", "order.flow").ended).stdout).toBe(`succeeded ${lines}\n`);
  expect((await started("packs.mjs", "../x").ended).stdout).toBe("failed file_denied\n");
});

test("14-embed books an order that its rule approves", async () => {
  const { code, stdout, stderr } = await embed("lamp", "2").ended;
  expect([code, stderr]).toEqual([0, "Order 2 of lamp for 25 EUR?\n"]);
  expect(lastSummary(stdout).outputs).toEqual({
    order: { sku: "lamp", paid: 25, by: "the ten-piece rule" },
  });
  compare("golden-approved.ndjson", events(stdout));
});

test("14-embed books nothing when the rule says no", async () => {
  const { code, stdout } = await embed("desk", "20").ended;
  expect([code, lastSummary(stdout).outputs]).toEqual([0, { order: null }]);
  compare("golden-rejected.ndjson", events(stdout));
});

test("14-embed fails with the code of its own node type", async () => {
  const { code, stdout } = await embed("sofa").ended;
  expect([code, lastSummary(stdout).error]).toMatchObject([1, { code: "not_in_stock" }]);
});

test("14-embed stops on SIGINT, at once and with a summary", async () => {
  const { child, ended, until } = embed("desk", "100000");
  await until('"node.started"');
  child.kill("SIGINT");
  const { code, stdout } = await ended;
  expect([code, lastSummary(stdout).status]).toEqual([130, "cancelled"]);
});

test("14-embed is as short as it says an embedding is", () => {
  const lines = readFileSync(join(FOLDER, "embed.mjs"), "utf8").trimEnd().split("\n");
  expect(lines.length).toBeLessThanOrEqual(45);
});
