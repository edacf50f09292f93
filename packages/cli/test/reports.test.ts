/** The findings of `validate` as other programs read them. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import schema from "@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json" with { type: "json" };
import draft4 from "ajv-draft-04";
import { expect, test } from "vitest";
import { ROOT, scratch, start } from "./cli.ts";

const WRONG = 'flow 1 wrong\n\nnode a: htp.request {\n  url = "https://a.example/"\n}\n';
const RIGHT = "flow 1 right\n\noutput done = true\n";

test("github annotations are workflow commands on stdout, escaped, and the exit code stays", async () => {
  const cwd = scratch();
  mkdirSync(join(cwd, "flows, 50%:new"));
  writeFileSync(join(cwd, "flows, 50%:new/wrong.flow"), WRONG);
  const told = await start(["validate", "--format", "github", "."], { cwd }).ended;
  expect(told.code).toBe(3);
  expect(told.stdout).toMatch(
    /^::error file=flows%2C 50%25%3Anew\/wrong\.flow,line=3,col=9,endLine=3,endColumn=20,title=FLOW3001::unknown node type [^\n]+\n$/,
  );
  expect(told.stderr).toContain("1 error");
  expect(told.stderr).not.toContain("^^^");
});

test("a sarif report is valid SARIF 2.1.0, with rules, places and fixes", async () => {
  const cwd = scratch({ "a b.flow": WRONG, "right.flow": RIGHT });
  const words = ["validate", "--format", "sarif", "a b.flow", "right.flow"];
  const told = await start(words, { cwd }).ended;
  expect(told.code).toBe(3);
  const log = JSON.parse(told.stdout);
  expect(problemsOf(log)).toEqual([]);
  const [run] = log.runs;
  expect(run.tool.driver).toMatchObject({
    name: "millrace",
    version: expect.stringMatching(/^\d/),
  });
  expect(run.tool.driver.rules).toMatchObject([
    { id: "FLOW3001", help: { text: expect.stringContaining("Right:") } },
  ]);
  expect(run.results).toMatchObject([
    {
      ruleId: "FLOW3001",
      level: "error",
      locations: [
        {
          physicalLocation: {
            artifactLocation: { uri: "a%20b.flow" },
            region: { startLine: 3, startColumn: 9, endLine: 3, endColumn: 20 },
          },
        },
      ],
      fixes: [
        { artifactChanges: [{ replacements: [{ insertedContent: { text: "http.request" } }] }] },
      ],
    },
  ]);
});

test("a sarif report without findings is a run without results", async () => {
  const told = await start(["validate", "--format", "sarif", "-"], { stdin: RIGHT }).ended;
  const log = JSON.parse(told.stdout);
  expect([told.code, problemsOf(log), log.runs[0].results]).toEqual([0, [], []]);
});

test("a graph in JSON has no lines: its findings name their place in the graph", async () => {
  const graph = { version: 1, name: "g", nodes: [{ id: "a", type: "htp.request", fields: {} }] };
  const cwd = scratch({ "g.json": JSON.stringify(graph) });
  const told = await start(["validate", "--format", "sarif", "g.json"], { cwd }).ended;
  const log = JSON.parse(told.stdout);
  expect(problemsOf(log)).toEqual([]);
  const places = log.runs[0].results.flatMap(
    (result: { locations: { logicalLocations?: unknown }[] }) => result.locations,
  );
  expect(places).toContainEqual({
    physicalLocation: { artifactLocation: { uri: "g.json" } },
    logicalLocations: [{ fullyQualifiedName: "/nodes/0/type" }],
  });
});

test("reports of all flows that tests refuse hold the schema", async () => {
  const words = ["validate", "--format", "sarif", "packages/dsl/test"];
  const told = await start(words, { cwd: ROOT }).ended;
  const log = JSON.parse(told.stdout);
  expect(problemsOf(log)).toEqual([]);
  expect(log.runs[0].results.length).toBeGreaterThan(0);
});

test("--format and --json are refused together", async () => {
  const told = await start(["validate", "--format", "sarif", "--json", "-"]).ended;
  expect(told.code).toBe(2);
  expect(told.stdout).toContain('"usage"');
});

/** What the official schema says against a document. */
function problemsOf(log: unknown): unknown[] {
  const check = new draft4.default({
    strict: false,
    allErrors: true,
    validateFormats: false,
    unicodeRegExp: false, // one pattern of the schema is no pattern with Unicode
  }).compile(schema);
  return check(log) ? [] : (check.errors ?? []);
}
