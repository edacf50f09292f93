/** `validate --fix`: what is mended, what is written, and what stays. */
import { chmodSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { scratch, start } from "./cli.ts";

const WRONG = 'flow 1 wrong\n\n# kept\nnode a: htp.request {\n  url   = "https://a.example/"\n}\n';
const MENDED = WRONG.replace("htp.request", "http.request");

const read = (cwd: string, name: string) => readFileSync(join(cwd, name), "utf8");

test("--fix mends a file in place, says what it did and keeps the rest, and does nothing again", async () => {
  const cwd = scratch({ "a.flow": WRONG });
  chmodSync(join(cwd, "a.flow"), 0o640);
  const told = await start(["validate", "--fix", "a.flow"], { cwd }).ended;
  expect([told.code, told.stdout]).toEqual([0, ""]);
  expect(told.stderr).toContain("a.flow:4 FLOW3001 fixed: write http.request\n");
  expect(read(cwd, "a.flow")).toBe(MENDED);
  expect(statSync(join(cwd, "a.flow")).mode & 0o777).toBe(0o640);
  const again = await start(["validate", "--fix", "a.flow"], { cwd }).ended;
  expect(again.stderr).not.toContain("fixed");
  expect(read(cwd, "a.flow")).toBe(MENDED);
});

test("--dry-run prints the difference and writes nothing", async () => {
  const cwd = scratch({ "a.flow": WRONG });
  const told = await start(["validate", "--fix", "--dry-run", "a.flow"], { cwd }).ended;
  expect(told.stdout).toContain("-node a: htp.request {\n+node a: http.request {\n");
  expect(read(cwd, "a.flow")).toBe(WRONG);
});

test("stdin goes mended to stdout", async () => {
  const told = await start(["validate", "--fix", "-"], { stdin: WRONG }).ended;
  expect([told.code, told.stdout]).toEqual([0, MENDED]);
});

test("line ends of Windows and a byte order mark stay at their places", async () => {
  const text = `\uFEFF${WRONG.replaceAll("\n", "\r\n")}`;
  const cwd = scratch({ "a.flow": text });
  await start(["validate", "--fix", "a.flow"], { cwd }).ended;
  expect(read(cwd, "a.flow")).toBe(`\uFEFF${MENDED.replaceAll("\n", "\r\n")}`);
});

test("what cannot be mended stays an error, and bytes that are no text stay", async () => {
  const cwd = scratch({ "a.flow": 'flow 1 a\n\noutput b = nodes["none"].x\n' });
  const told = await start(["validate", "--fix", "--json", "a.flow"], { cwd }).ended;
  expect(told.code).toBe(3);
  const [line = ""] = told.stdout.split("\n");
  expect(JSON.parse(line)).toMatchObject({ file: "a.flow", valid: false, fixed: [] });
});

const YAML = `# what it is for
name: hi # short
inputs:
  who: {type: string, default: you}
steps:
  - id: say
    uses: log
    with:
      message: "hi \${{ inputs.who }}"
`;
const HI = `# what it is for
# short
flow 1 hi

input who: string = "you"

node say: log {
  message = "hi \${inputs.who}"
}
`;

test("a flow in YAML or as a graph in JSON becomes text, and one with a part that has no counterpart stays", async () => {
  const graph = { version: 1, id: "g", nodes: [{ id: "a", type: "join" }] };
  const wrong = YAML.replace("uses:", "retry_on: x\n    type:").replace(
    "steps:",
    "hooks: [a]\nsteps:",
  );
  const cwd = scratch({ "y.flow": YAML, "g.flow": JSON.stringify(graph), "wrong.flow": wrong });
  const told = await start(["validate", "--fix", "y.flow", "g.flow"], { cwd }).ended;
  expect(told).toMatchObject({ code: 0, stdout: "" });
  expect(told.stderr).toContain("y.flow:1 FLOW1006 fixed: write it as a flow\n");
  expect([read(cwd, "y.flow"), read(cwd, "g.flow")]).toEqual([HI, "flow 1 g\n\nnode a: join\n"]);
  const kept = await start(["validate", "--fix", "wrong.flow"], { cwd }).ended;
  expect(kept.code).toBe(3);
  expect(kept.stderr).toContain("hooks has no counterpart in a flow");
  expect(kept.stderr).toContain("wrong.flow:5:8");
  expect(read(cwd, "wrong.flow")).toBe(wrong);
});

test("--dry-run alone, --format and a document that is named as one are refused", async () => {
  const cwd = scratch({ "a.flow": WRONG, "g.json": '{"version":1,"name":"g","nodes":[]}' });
  const refused = [
    ["--dry-run", "a.flow"],
    ["--fix", "--format", "sarif", "a.flow"],
    ["--fix", "g.json"],
  ];
  for (const words of refused) {
    expect(await start(["validate", ...words], { cwd }).ended).toMatchObject({ code: 2 });
  }
  expect(read(cwd, "a.flow")).toBe(WRONG);
});
