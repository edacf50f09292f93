/** The examples run as their READMEs say, leave what they promise, and make the events that are kept beside them. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { checkLog, type ExecutionEvent } from "@millrace/contracts";
import { parseFlow } from "@millrace/dsl";
import { expect, onTestFinished, test } from "vitest";
import { golden } from "../src/golden/normal.ts";
import { events, example, lastSummary, millrace, ROOT, scratch } from "./cli.ts";

const { UPDATE_GOLDEN } = process.env;

const CASES: readonly {
  folder: string;
  flow: string;
  words: readonly string[];
  golden: string;
  code: number;
}[] = [
  { folder: "01-hello", flow: "hello.flow", words: [], golden: "golden.ndjson", code: 0 },
  { folder: "03-csv-report", flow: "csv-report.flow", words: [], golden: "golden.ndjson", code: 0 },
  {
    folder: "10-research-agent",
    flow: "research-agent.flow",
    words: ["--fixtures", "fixtures"],
    golden: "golden.ndjson",
    code: 0,
  },
  {
    folder: "11-invoice-extract",
    flow: "invoice-extract.flow",
    words: ["--fixtures", "fixtures"],
    golden: "golden.ndjson",
    code: 0,
  },
  {
    folder: "13-confirm-refund",
    flow: "confirm-refund.flow",
    words: ["--confirm", "approve=approve"],
    golden: "golden-approved.ndjson",
    code: 0,
  },
  {
    folder: "13-confirm-refund",
    flow: "confirm-refund.flow",
    words: ["--confirm", "approve=reject"],
    golden: "golden-rejected.ndjson",
    code: 0,
  },
];

/** A copy of an example, so that what it writes stays out of the repository. */
function copy(folder: string): string {
  const cwd = scratch();
  cpSync(example(folder), cwd, {
    recursive: true,
    filter: (path) => !path.includes("node_modules") && !path.endsWith("/out"),
  });
  return cwd;
}

function compare(folder: string, name: string, flow: string, log: readonly ExecutionEvent[]): void {
  const { graph } = parseFlow(readFileSync(join(example(folder), flow)));
  expect(checkLog(log, { graph })).toEqual([]);
  const file = join(example(folder), name);
  const text = golden(log, graph);
  if (UPDATE_GOLDEN === "1") writeFileSync(file, text);
  expect(existsSync(file), `${name} is missing; UPDATE_GOLDEN=1 writes it`).toBe(true);
  expect(text).toBe(readFileSync(file, "utf8"));
}

test.each(CASES)(
  "$folder with $words makes $golden",
  async ({ folder, flow, words, golden: name, code }) => {
    const ended = await millrace(["run", flow, "--json", ...words], { cwd: copy(folder) });
    expect(ended.code).toBe(code);
    compare(folder, name, flow, events(ended.stdout));
  },
);

test("03-csv-report leaves a report of what could be read", async () => {
  const cwd = copy("03-csv-report");
  const ended = await millrace(["run", "csv-report.flow"], { cwd });
  expect(JSON.parse(ended.stdout)).toEqual({ file: "out/report.md", orders: 8, skipped: 2 });
  expect(readFileSync(join(cwd, "out/report.md"), "utf8")).toContain("| north | 3 | 450.59 |");
});

test("03-csv-report says what is missing when there is no file", async () => {
  const cwd = copy("03-csv-report");
  const ended = await millrace(["run", "csv-report.flow", "-i", "orders=none.csv"], { cwd });
  expect([ended.code, ended.stdout]).toEqual([0, "{}\n"]);
  expect(ended.stderr).toContain("No orders");
});

test("09-support-triage sorts the mail, with a retry, a failover and a person's word", async () => {
  const words = ["run", "support-triage.flow", "--json", "--fixtures", "fixtures"];
  const cwd = copy("09-support-triage");
  const { code, stdout } = await millrace([...words, "--confirm", "send=approve"], { cwd });
  const log = events(stdout);
  expect(checkLog(log)).toEqual([]);
  expect(code).toBe(0);
  const summary = lastSummary(stdout);
  expect(summary.outputs).toEqual({ sent: 3, file: "out/outbox.json" });
  expect(summary.usage).toMatchObject({ calls: 10 });
  const failed = log.flatMap((event) => (event.kind === "llm.failed" ? [event.next] : []));
  expect(failed.sort()).toEqual(["failover", "retry", "retry"]);
  const labels = log.flatMap((event) =>
    event.kind === "node.succeeded" && event.node.endsWith("/classify")
      ? [[event.node, event.ports]]
      : [],
  );
  expect(labels.sort()).toEqual([
    ["triage[0]/classify", ["out", "billing"]],
    ["triage[1]/classify", ["out", "bug"]],
    ["triage[2]/classify", ["out", "abuse"]],
    ["triage[3]/classify", ["out", "billing"]],
  ]);
  const refused = await millrace([...words, "--confirm", "send=reject"], { cwd });
  expect(refused.code).toBe(4);
});

test("with fixtures, what is not recorded is never asked of anybody", async () => {
  const cwd = copy("11-invoice-extract");
  writeFileSync(join(cwd, "fixtures/answers.ndjson"), "");
  const { code, stdout } = await millrace(
    ["run", "invoice-extract.flow", "--json", "--fixtures", "fixtures"],
    { cwd, env: { ANTHROPIC_API_KEY: "sk-ant-never-used-0123456789" } },
  );
  expect([code, lastSummary(stdout).error?.code]).toEqual([1, "fixture_missing"]);
});

async function startServer(cwd: string): Promise<{ origin: string; child: ChildProcess }> {
  const child = spawn(process.execPath, ["server.mjs", "0"], {
    cwd,
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => {
    child.kill();
  });
  const [line] = (await once(child.stdout as NodeJS.ReadableStream, "data")) as [Buffer];
  return { origin: String(line).trim(), child };
}

const PATIENCE_MS = 60_000; // a thousand requests take seconds, many more beside other work

test(
  "06-bulk-map asks a thousand times and repeats what a busy service refused",
  async () => {
    const cwd = copy("06-bulk-map");
    const { origin } = await startServer(cwd);
    const ended = await millrace(["run", "bulk-map.flow", "--json", "-i", `origin=${origin}`], {
      cwd,
      env: { MILLRACE_TRUST_PROJECT: "1" },
    });
    const log = events(ended.stdout);
    expect(ended.code).toBe(0);
    expect(log.at(-1)).toMatchObject({
      outputs: { count: 1000, total: 999_000 },
      bodyCounts: { succeeded: 1000 },
    });
    expect(log.filter(({ kind }) => kind === "node.retrying")).toHaveLength(20);
    compare(
      "06-bulk-map",
      "golden.ndjson",
      "bulk-map.flow",
      log.map((event) => withOrigin(event, origin)),
    );
  },
  PATIENCE_MS,
);

test("06-bulk-map reaches nothing unless the person trusts the project file", async () => {
  const cwd = copy("06-bulk-map");
  const ended = await millrace(["run", "bulk-map.flow"], { cwd });
  expect(ended.code).toBe(2);
  expect(ended.stderr).toMatch(
    /is not trusted, and it sets egress.*MILLRACE_TRUST_PROJECT=sha256:[0-9a-f]{64}/s,
  );
});

/** Findings of the examples and of the language's own fixtures; those that are not here have none. */
const FINDINGS: { readonly [file: string]: readonly string[] } = {
  "02-fetch-and-save.flow": ["FLOW6005 text from fetch.body decides a file path"],
  "11-weekly-report.flow": [
    "FLOW4011 input filters is never read",
    "FLOW4011 input code is never read",
  ],
  "13-expressions.flow": ['FLOW5010 comparing int with "1" is always true'],
  "support-triage.flow": ["FLOW4016 confirm send has no edge on `rejected`"],
  "order.flow": ["FLOW3001 unknown node type stock.reserve"],
  "15-errors-and-defaults.flow": ["FLOW5011 condition is always false"],
};
const FOLDERS = ["examples", "packages/dsl/test/fixtures/flows"];

test("every flow of the repository is canonical", async () => {
  const ended = await millrace(["fmt", "--check", ...FOLDERS], { cwd: ROOT });
  expect(ended).toMatchObject({ code: 0, stdout: "", stderr: "" });
});

test("validate finds in the flows of the repository what is known, and nothing else", async () => {
  const ended = await millrace(["validate", "--json", ...FOLDERS], { cwd: ROOT });
  const results = ended.stdout.trimEnd().split("\n").slice(0, -1).map(readResult);
  expect(results).toHaveLength(readdirSync(join(ROOT, "examples")).length + 17);
  for (const { file, valid, found } of results) {
    expect({ file, found }).toEqual({ file, found: FINDINGS[basename(file)] ?? [] });
    expect(valid, file).toBe(!found.some((each) => each.startsWith("FLOW3001")));
  }
  expect([ended.code, lastSummary(ended.stdout).status]).toEqual([3, "invalid"]);
});

/** One line of `validate --json`. */
function readResult(line: string): { file: string; valid: boolean; found: string[] } {
  const { file, valid, diagnostics } = JSON.parse(line) as {
    file: string;
    valid: boolean;
    diagnostics: { code: string; message: string }[];
  };
  return { file, valid, found: diagnostics.map(({ code, message }) => `${code} ${message}`) };
}

/** The port of the other side is any free one; the kept events name the usual one, and no digest of the inputs. */
function withOrigin(event: ExecutionEvent, origin: string): ExecutionEvent {
  const same =
    event.kind === "run.started" ? { ...event, inputs: `sha256:${"0".repeat(64)}` } : event;
  const text = JSON.stringify(same).replaceAll(origin, "http://127.0.0.1:8787");
  return JSON.parse(text) as ExecutionEvent;
}
