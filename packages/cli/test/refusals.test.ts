/**
 * What a run is refused for, a check says, with the same code at the same place: on the command line and over HTTP. Each
 * flow here is refused by another part of what stands before a run.
 */
import type { Diagnostic, FlowReport } from "@millrace/contracts";
import { parseFlow } from "@millrace/dsl";
import { expect, test } from "vitest";
import { world } from "./api-world.ts";
import { scratch } from "./cli.ts";
import { inside } from "./inside.ts";

const bodies = (depth: number): string =>
  `${"node m: map {\n  items = [1]\n  body {\n".repeat(depth)}node t: log { message = "x" }\n${"}\n}\n".repeat(depth)}`;
const ai = (fields: string): string =>
  `node a: ai {\n  provider = "mock"\n  modelId = "echo"\n  input = "x"\n  ${fields}\n}`;

/** Flows that are refused; the ones beside them are files of the same folder. */
const REFUSED: { readonly [what: string]: string } = {
  "a text that cannot be read": "node a: log {",
  "an unknown word": 'nod a: log { message = "x" }',
  "an unknown type": "node a: no.such {}",
  "a missing field": "node a: log {}",
  "a value of the wrong type": "node a: log { message = 1 }",
  "an unknown name": "node a: transform { value = nobody.value }",
  "an unknown member":
    'node a: http.request { url = "http://127.0.0.1" }\noutput o: any = a.statusCode',
  "a circle": 'node a: log { message = "x" }\na -> a',
  "a pattern with a reference back":
    'input i {\n  schema = { type: "string", pattern: "(a)\\\\1" }\n}',
  "a pattern that looks ahead": 'input i {\n  schema = { type: "string", pattern: "a(?=b)" }\n}',
  "a code of the engine": 'node f: fail {\n  message = "x"\n  code = "timeout"\n}',
  "a case with the name of a port": "node s: switch {\n  on = 1\n  cases = { error: 1 }\n}",
  "two ways to end a loop":
    "node l: loop {\n  max = 3\n  until = true\n  while = true\n  body {\n    output = 1\n  }\n}",
  "two times of a delay": 'node d: delay {\n  for = 1s\n  until = "2030-01-01T00:00:00Z"\n}',
  "an expectation with a reference back": ai(
    'expect = [{ kind: "regex", path: "text", pattern: "(a)\\\\1" }]',
  ),
  "an expectation that looks ahead": ai(
    'expect = [{ kind: "regex", path: "text", pattern: "a(?=b)" }]',
  ),
  "an expectation of an unknown kind": ai('expect = [{ kind: "magic" }]'),
  "an answer whose schema cannot be checked": ai(
    'outputSchema = { type: "string", pattern: "a(?=b)" }',
  ),
  "two tools of one name": ai(
    'tools = [{ ref: "flow:good", name: "t" }, { ref: "flow:other", name: "t" }]',
  ),
  "a flow as a tool that does not exist": ai('tools = ["flow:nowhere"]'),
  "a flow that does not exist": 'node s: subflow { flow = "nowhere" }',
  "a name that is none of a flow": 'node s: subflow { flow = "a b" }',
  "a flow that calls itself": 'node s: subflow { flow = "circle" }',
  "a flow with a mistake": 'node s: subflow { flow = "bad" }',
  "a chain of flows that is too long": 'node s: subflow { flow = "c0" }',
  "bodies that are too deep": bodies(17),
};

const BESIDE: Record<string, string> = {
  "good.flow": 'flow 1 good\n\nnode a: log {\n  message = "x"\n}\n',
  "other.flow": 'flow 1 other\n\nnode a: log {\n  message = "x"\n}\n',
  "bad.flow": "flow 1 bad\n\nnode a: log {}\n",
  "circle.flow": 'flow 1 circle\n\nnode s: subflow {\n  flow = "circle"\n}\n',
  ...Object.fromEntries(
    Array.from({ length: 40 }, (_, i) => [
      `c${i}.flow`,
      `flow 1 c${i}\n\nnode s: subflow {\n  flow = "c${i + 1}"\n}\n`,
    ]),
  ),
};

const flowOf = (text: string): string => `flow 1 refused\n\n${text}\n`;

/** Codes and places of errors, of whatever a command or an answer tells. */
function places(found: readonly Partial<Diagnostic & { line: number }>[]): string[] {
  return found
    .filter(({ severity = "error" }) => severity === "error")
    .map(({ code, pointer = "", range, line }) => `${code} ${pointer} ${range?.start.line ?? line}`)
    .sort();
}

function lastLine(text: string): { readonly [name: string]: unknown } {
  return JSON.parse(text.trim().split("\n").at(-1) ?? "{}");
}

test.each(Object.keys(REFUSED))("%s is refused alike by validate and run", async (what) => {
  const cwd = scratch({ ...BESIDE, "x.flow": flowOf(REFUSED[what] as string) });
  const [checked, ran] = [
    await inside(["validate", "x.flow", "--json"], { cwd }),
    await inside(["run", "x.flow", "--json"], { cwd }),
  ];
  expect([checked.code, ran.code]).toEqual([3, 3]);
  const [report] = checked.stdout.split("\n").map((line) => JSON.parse(line || "{}"));
  const refusal = lastLine(ran.stdout) as { diagnostics?: Diagnostic[] };
  expect(places(report.diagnostics)).toEqual(places(refusal.diagnostics ?? []));
  expect(places(report.diagnostics)).not.toEqual([]);
  for (const each of report.diagnostics) expect(each).toHaveProperty("range");
});

test("a flow that is called and cannot be read is refused by validate and run, with its own line", async () => {
  const cwd = scratch({
    "x.flow": flowOf('node s: subflow { flow = "broken" }'),
    "broken.flow": "flow 1 broken\n\nnode a: log {\n",
  });
  for (const command of ["validate", "run"]) {
    const { code, stderr } = await inside([command, "x.flow"], { cwd });
    expect([command, code]).toEqual([command, 3]);
    expect(stderr).toMatch(/broken\.flow, line \d/);
  }
});

test("an output of a called flow is read by its place, of one with errors none is known", async () => {
  const sums = "flow 1 sums\n\noutput total: int = 1\n";
  const calls = flowOf('node s: subflow { flow = "sums" }\n\noutput o = s.total');
  const cwd = scratch({ "x.flow": calls, "sums.flow": sums });
  for (const command of ["validate", "run"]) {
    const { code, stderr } = await inside([command, "x.flow"], { cwd });
    expect([command, code, stderr]).toEqual([
      ...[command, 3],
      expect.stringContaining("did you mean outputs.total?"),
    ]);
  }
  const broken = `${sums}\noutput late: = 2\n`;
  const other = scratch({
    "x.flow": calls.replace("s.total", "s.outputs.late"),
    "sums.flow": broken,
  });
  expect((await inside(["validate", "x.flow"], { cwd: other })).stderr).not.toContain("FLOW5001");
});

test("what holds is found nothing wrong with by either", async () => {
  const cwd = scratch({ ...BESIDE, "x.flow": flowOf('node s: subflow { flow = "good" }') });
  for (const command of ["validate", "run"]) {
    expect((await inside([command, "x.flow"], { cwd })).code).toBe(0);
  }
});

test("over HTTP a check says what a run is refused for, of text and of graph", async () => {
  const at = await world();
  for (const [name, dsl] of Object.entries(BESIDE)) {
    await at.invoke("save_template", { slug: name.replace(".flow", ""), dsl });
  }
  for (const [what, text] of Object.entries(REFUSED)) {
    const dsl = flowOf(text);
    const { graph, ok } = parseFlow(dsl);
    for (const flow of ok ? [{ dsl }, { graph }] : [{ dsl }]) {
      const report = JSON.parse(await at.invoke("validate_flow", flow)) as FlowReport;
      expect(report.valid, what).toBe(false);
      const { errors = [] } = JSON.parse(await at.invoke("start_run", flow));
      expect(places(report.diagnostics), what).toEqual(places(errors));
    }
  }
});
