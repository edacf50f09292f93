/** The examples make the events that are kept beside them, leave what they promise, and together show what there is to show. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { checkLog, type ExecutionEvent, type FlowNode } from "@millrace/contracts";
import { formatFlow, parseFlow } from "@millrace/dsl";
import { applyEdits, createAnalyser } from "@millrace/dsl/editor";
import { createStandardRegistry } from "@millrace/server/registry";
import { notFull, testUnless, testWith } from "@millrace/test-support";
import { codeIn, readPage, tablesOf } from "@millrace/test-support/pages";
import { expect, onTestFinished, test } from "vitest";
import { projectOf } from "../src/run/project-of.ts";
import { events, example, FOLDERS, lastSummary, ROOT, scratch, start, urlOf } from "./cli.ts";
import { millrace } from "./inside.ts";

/** Its flow has a type of node that only its program knows: `embed.test.ts` runs it. */
const EMBEDDED = "14-embed";
const TRUST = { MILLRACE_TRUST_PROJECT: "1" };

/** A copy of an example, so that what it writes stays out of the repository. */
function copy(folder: string): string {
  const cwd = scratch();
  cpSync(example(folder), cwd, {
    recursive: true,
    filter: (path) => !path.includes("node_modules") && !path.endsWith("/out"),
  });
  return cwd;
}

test("millrace test finds the events of every example as they are kept", async () => {
  const { code, stdout, stderr } = await millrace(["test", "examples", "--json"], {
    cwd: ROOT,
    env: TRUST,
  });
  const lines = stdout.trimEnd().split("\n").slice(0, -1);
  const verdicts = lines.map((line) => JSON.parse(line) as { file: string; status: string });
  expect(verdicts.filter(({ status }) => status !== "passed")).toEqual([]);
  expect(code, stderr).toBe(0);
  expect(verdicts.map(({ file }) => file.split("/")[1])).toEqual(
    FOLDERS.filter((folder) => folder !== EMBEDDED),
  );
});

/** What an example shows: types of its nodes; how questions end, what follows a failed call of a model, and kinds of tools. */
function shownBy(folder: string): { types: string[]; moments: string[] } {
  const types = new Set<string>();
  const collect = (nodes: readonly FlowNode[]): void => {
    for (const { type, body } of nodes) {
      types.add(type);
      collect(body?.nodes ?? []);
    }
  };
  const files = readdirSync(example(folder));
  for (const file of files.filter((name) => name.endsWith(".flow"))) {
    collect(parseFlow(readFileSync(join(example(folder), file))).graph.nodes);
  }
  const logs = files.filter((name) => /^golden.*\.ndjson$/.test(name));
  const text = logs.map((name) => readFileSync(join(example(folder), name), "utf8")).join("");
  const moments = text
    .split("\n")
    .filter((line) => line !== "")
    .flatMap((line) => momentsIn(JSON.parse(line) as ExecutionEvent));
  return { types: [...types].sort(), moments: [...new Set(moments)].sort() };
}

function momentsIn(event: ExecutionEvent): string[] {
  if (event.kind === "confirm.resolved") {
    return event.value === undefined ? [event.outcome] : [event.outcome, "edited"];
  }
  if (event.kind === "llm.failed") return [`next: ${event.next}`];
  if (event.kind === "tool.started") return [`${event.tool.split(":")[0]}:`];
  return [];
}

test("the gallery says what each example shows, and together they show everything", () => {
  const [gallery] = tablesOf(readPage("examples/README.md"));
  const rows = gallery?.rows ?? [];
  const said = rows.map(([name = "", , types, moments]) => ({
    folder: name.replace(/^\[(.*)\].*$/, "$1"),
    types: codeIn(types),
    moments: codeIn(moments),
  }));
  expect(said).toEqual(FOLDERS.map((folder) => ({ folder, ...shownBy(folder) })));
  const all = (key: "types" | "moments"): Set<string> => new Set(said.flatMap((row) => row[key]));
  const core = [...createStandardRegistry().catalog().types()];
  expect(core.filter((type) => !all("types").has(type))).toEqual([]);
  expect([...all("moments")].sort()).toEqual([
    "action:",
    "approved",
    "edited",
    "expired",
    "flow:",
    "mcp:",
    "next: failover",
    "next: none",
    "next: retry",
    "rejected",
  ]);
});

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

testWith("git")("05-release-notes starts git where its project allows it", async () => {
  const cwd = copy("05-release-notes");
  const git = (...words: string[]) =>
    once(spawn("git", ["-c", "user.name=A", "-c", "user.email=a@b", ...words], { cwd }), "close");
  await git("init", "-q");
  await git("commit", "-q", "--allow-empty", "-m", "start");
  await git("commit", "-q", "--allow-empty", "-m", "fix: the grate holds");
  const words = ["-i", "version=2.0.0", "-i", "since=HEAD~1", "--yes", "-q"];
  const { code, stderr } = await millrace(["run", "release-notes.flow", ...words], {
    cwd,
    env: { ...TRUST, HOME: cwd },
  });
  expect(code, stderr).toBe(0);
  expect(readFileSync(join(cwd, "release-notes/2.0.0.md"), "utf8")).toBe(
    "# 2.0.0: what is new\n\n## Mended\n\n- the grate holds\n\n0 other changes\n",
  );
});

test("07-webhook-route books what fits, and what does not never starts", async () => {
  const cwd = copy("07-webhook-route");
  const serve = start(["serve", "--port", "0", "--json"], { cwd, env: TRUST });
  const url = await urlOf(serve);
  const dsl = readFileSync(join(cwd, "webhook-route.flow"), "utf8");
  const send = (inputs: object): Promise<Response> =>
    fetch(`${url}/api/run`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ dsl, inputs }),
    });
  const good = await send({ type: "order.paid", order: "A-1", amount: 40 });
  expect(await good.text()).toContain('"outputs":{"route":"paid","ledger":"out/ledger.ndjson"}');
  const bad = await send({ type: "order.paid", order: "1", amount: -4 });
  expect([bad.ok, await bad.text()]).toEqual([false, expect.stringContaining("input_invalid")]);
  expect(readFileSync(join(cwd, "out/ledger.ndjson"), "utf8")).toBe(
    '{"order":"A-1","type":"order.paid","amount":40}\n',
  );
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

testUnless(notFull)(
  "06-bulk-map asks a thousand times and repeats what a busy service refused",
  async () => {
    const cwd = copy("06-bulk-map");
    const { origin } = await startServer(cwd);
    const ended = await millrace(["run", "bulk-map.flow", "--json", "-i", `origin=${origin}`], {
      cwd,
      env: TRUST,
    });
    const log = events(ended.stdout);
    const { graph } = parseFlow(readFileSync(join(cwd, "bulk-map.flow")));
    expect(checkLog(log, { graph })).toEqual([]);
    expect(ended.code).toBe(0);
    expect(log.at(-1)).toMatchObject({
      outputs: { count: 1000, total: 999_000 },
      bodyCounts: { succeeded: 1000 },
    });
    expect(log.filter(({ kind }) => kind === "node.retrying")).toHaveLength(20);
  },
);

test("06-bulk-map reaches nothing unless the person trusts the project file", async () => {
  const cwd = copy("06-bulk-map");
  const ended = await millrace(["run", "bulk-map.flow"], { cwd });
  expect(ended.code).toBe(2);
  expect(ended.stderr).toContain("is not trusted, and it sets egress");
});

/** Findings of the examples and of the language's own fixtures; those that are not here have none. */
const FINDINGS: { readonly [file: string]: readonly string[] } = {
  "02-fetch-and-save.flow": ["FLOW6005 text from fetch.body decides a file path"],
  "07-service-refund.flow": [
    'FLOW3006 service must be one of the known names (there are none), found "payments"',
  ],
  "10-agent-with-tools.flow": ["FLOW4010 flow fetch-and-save does not exist"],
  "11-weekly-report.flow": [
    "FLOW4011 input filters is never read",
    "FLOW4011 input code is never read",
    "FLOW4010 flow load-rows@3 does not exist",
  ],
  "13-expressions.flow": ['FLOW5010 comparing int with "1" is always true'],
  "support-triage.flow": ["FLOW4016 confirm send has no edge on `rejected`"],
  "order.flow": ["FLOW3001 unknown node type stock.reserve"],
  "orders-by-mail.flow": [
    "FLOW3001 unknown node type sql.query",
    "FLOW3001 unknown node type mail.send",
  ],
  "sheet-to-storage.flow": [
    "FLOW3001 unknown node type csv.read",
    "FLOW3001 unknown node type sheet.write",
    "FLOW3001 unknown node type s3.put",
  ],
  "score-leads.flow": ["FLOW3001 unknown node type code.run"],
  "15-errors-and-defaults.flow": ["FLOW5011 condition is always false"],
};
const PLACES = ["examples", "packages/dsl/test/fixtures/flows"];

test("every flow of the repository is canonical", async () => {
  const ended = await millrace(["fmt", "--check", ...PLACES], { cwd: ROOT });
  expect(ended).toMatchObject({ code: 0, stdout: "", stderr: "" });
});

test("validate finds in the flows of the repository what is known, and nothing else", async () => {
  const ended = await millrace(["validate", "--json", ...PLACES], { cwd: ROOT });
  const results = ended.stdout.trimEnd().split("\n").slice(0, -1).map(readResult);
  expect(results.length).toBeGreaterThan(FOLDERS.length);
  for (const { file, valid, found } of results) {
    expect({ file, found }).toEqual({ file, found: FINDINGS[basename(file)] ?? [] });
    expect(valid, file).toBe(!found.some((each) => /^FLOW(3001|3006|4010)/.test(each)));
  }
  expect([ended.code, lastSummary(ended.stdout).status]).toEqual([3, "invalid"]);
});

test("an editor finds in the flows of the repository what `validate` finds, and formats as `fmt` does", async () => {
  const { stdout } = await millrace(["validate", "--json", ...PLACES], { cwd: ROOT });
  const surroundings = { cwd: ROOT, env: { HOME: scratch() } };
  for (const { file, found } of stdout.trimEnd().split("\n").slice(0, -1).map(readResult)) {
    const path = join(ROOT, file);
    const project = await projectOf(pathToFileURL(join(path, "..", "/")).href, surroundings);
    const text = readFileSync(path, "utf8");
    const messy = text.replaceAll("  ", "     ");
    const analyser = createAnalyser(project);
    const ofEditor = analyser.analyse(text).diagnostics().map(said);
    expect({ file, found: ofEditor }).toEqual({ file, found });
    expect(applyEdits(messy, analyser.analyse(messy).format())).toBe(formatFlow(messy).text);
  }
});

const said = ({ code, message }: { code: string; message: string }): string => `${code} ${message}`;

function readResult(line: string): { file: string; valid: boolean; found: string[] } {
  const { file, valid, diagnostics } = JSON.parse(line) as {
    file: string;
    valid: boolean;
    diagnostics: { code: string; message: string }[];
  };
  return { file, valid, found: diagnostics.map(said) };
}
