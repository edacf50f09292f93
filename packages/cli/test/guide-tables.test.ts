/** The tables of the guide: every example gives its result, and what they list is what the code has. */
import { ExitCode, type Json, type JsonSchema } from "@millrace/contracts";
import { COMMANDS } from "@millrace/contracts/commands";
import {
  compileExpression,
  ExpressionError,
  listFunctions,
  parseExpression,
  parseFlow,
  printExpression,
} from "@millrace/dsl";
import { DEFAULT_LIMITS } from "@millrace/engine";
import { createStandardRegistry } from "@millrace/server/registry";
import {
  codeIn,
  fencesOf,
  GUIDE,
  isScript,
  readPage,
  tablesOf,
} from "@millrace/test-support/pages";
import { describe, expect, test } from "vitest";
import { LIMITS } from "../../server/src/config/limits.ts";
import { RETENTION } from "../../store/src/retention/retention.ts";
import { scratch } from "./cli.ts";
import { inside } from "./inside.ts";

const LANGUAGE = readPage("docs/guide/language.md");
const EXPRESSIONS = readPage("docs/guide/expressions.md");
const registry = createStandardRegistry();

/** The rows of every table of a page with this header. */
function rowsOf(page: string, ...header: string[]): (readonly string[])[] {
  const rows = tablesOf(page).filter((table) => table.header.join() === header.join());
  expect(rows, header.join()).not.toEqual([]);
  return rows.flatMap((table) => table.rows);
}

test("the policies of the language page can be written as they stand", () => {
  for (const [cell] of rowsOf(LANGUAGE, "Policy", "Meaning")) {
    const [policy = ""] = codeIn(cell);
    const text = `flow 1 x\n\nnode a: map {\n  items = []\n  ${policy.replace("…", "null")}\n}\n`;
    expect(policy).toMatch(/^@/);
    expect(parseFlow(text).diagnostics, policy).toEqual([]);
  }
});

test("the exit codes of the page on runs are those of the command", () => {
  const rows = rowsOf(readPage("docs/guide/runs.md"), "Code", "The run");
  const codes = rows.flatMap(([cell = ""]) => cell.split(", ").map(Number));
  const { internal: _, ...known } = ExitCode;
  expect(codes).toEqual(Object.values(known).sort((a, b) => a - b));
});

test("the keys of configuration on the page on runs are JSON that the command reads", async () => {
  const rows = rowsOf(readPage("docs/guide/runs.md"), "Key", "Such as", "Without it");
  const keys = rows.map(([key, value]) => `"${codeIn(key)[0]}": ${codeIn(value)[0]}`);
  const cwd = scratch({
    "x.flow": "flow 1 x\n\noutput n: int = 1\n",
    "millrace.json": `{ ${keys.join(", ")} }`,
  });
  const ended = await inside(["run", "x.flow"], { cwd, env: { MILLRACE_TRUST_PROJECT: "1" } });
  expect(ended).toMatchObject({ code: 0, stderr: expect.not.stringContaining("warning") });
});

test("what the cheat sheet writes can be written: at the top, in a step or as an expression", () => {
  for (const code of rowsOf(LANGUAGE, "You write", "It means").flatMap(([cell]) => codeIn(cell))) {
    const places = [
      parseFlow(code),
      parseFlow(`flow 1 x\n\n${code}\n`),
      parseFlow(`flow 1 x\n\nnode a: log {\n  ${code}\n}\n`),
      parseExpression(code),
    ];
    const clean = places.some(({ diagnostics }) => diagnostics.length === 0);
    expect(clean, code).toBe(true);
  }
});

test("the types of the language page are those of the engine, with fields, members and ports that they have", () => {
  const rows = rowsOf(LANGUAGE, "Type", "Fields", "You read");
  const types = rows.map(([type]) => codeIn(type)[0]);
  expect([...types].sort()).toEqual([...registry.catalog().types()].sort());
  for (const [type, fields = "", read = ""] of rows) {
    const { entry } = registry.require(codeIn(type)[0] ?? "");
    const shown = codeIn(fields);
    expect(membersOf(entry.fields), type).toEqual(expect.arrayContaining(shown));
    const required = (entry.fields["required"] ?? []) as string[];
    expect(shown, type).toEqual(expect.arrayContaining(required));
    expect(fields.endsWith("body"), type).toBe(entry.body === true);
    const [members, ports] = read.split(";");
    expect(membersOf(entry.output), type).toEqual(expect.arrayContaining(codeIn(members)));
    expect(
      entry.ports.map(({ name }) => name),
      type,
    ).toEqual(expect.arrayContaining(codeIn(ports)));
  }
});

function membersOf(schema: JsonSchema): string[] {
  return Object.keys(schema["properties"] ?? {});
}

const shows = ({ header }: { readonly header: readonly string[] }): boolean =>
  /(Example|Expression),Result$/.test(header.join());

describe.each(GUIDE.filter((path) => tablesOf(readPage(path)).some(shows)))(
  "examples of %s",
  (path) => {
    const page = readPage(path);
    const names = JSON.parse(
      fencesOf(page).find(({ marks }) => marks[0] === "names")?.text ?? "{}",
    ) as Record<string, Json>;
    const examples = tablesOf(page)
      .filter(shows)
      .flatMap(({ rows }) => rows)
      .map((row) => [codeIn(row.at(-2))[0] ?? "", row.at(-1) ?? ""] as const);

    test.each(examples)("%s is %s", (source, result) => {
      const wanted = result.startsWith("error")
        ? { error: codeIn(result)[0] }
        : { value: JSON.parse(codeIn(result)[0] ?? "") as Json };
      expect(outcome(source, names)).toEqual(wanted);
    });
  },
);

/** Value or code of error of an expression, at half past nine on 31 January 2026. */
function outcome(source: string, names: Record<string, Json>): { value: Json } | { error: string } {
  const scope = { get: (root: string) => names[root] };
  try {
    const nowEpoch = Date.UTC(2026, 0, 31, 9, 30);
    return { value: compileExpression(source).evaluate(scope, { nowEpoch }) };
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return { error: error.code };
  }
}

test("the reference has every function, as it is, with an example that calls it", () => {
  const rows = rowsOf(EXPRESSIONS, "Function", "Gives", "Example", "Result");
  expect(rows.map(([signature, gives]) => [signature, gives])).toEqual(
    listFunctions().map(({ signature, summary }) => [`\`${signature}\``, summary]),
  );
  for (const [index, { name }] of listFunctions().entries()) {
    expect(rows[index]?.[2]).toContain(`${name}(`);
  }
});

test("the reference has every operator with an example, and a later row binds tighter", () => {
  const rows = rowsOf(EXPRESSIONS, "Operator", "Rule", "Example", "Result");
  const operators = rows.map(([cell]) => codeIn(cell));
  expect(operators.flat().join(" ")).toBe(
    "? : ?? || && == != in < <= > >= + - * / % ! - . ?. [ ] ( )",
  );
  const binary = operators.slice(1, 8);
  for (const [row, loose] of binary.slice(1).entries()) {
    for (const [a, b] of loose.flatMap((tight) =>
      (binary[row] ?? []).map((each) => [each, tight]),
    )) {
      expect(canonical(`x ${a} (y ${b} z)`)).toBe(`x ${a} y ${b} z`);
      expect(canonical(`(x ${a} y) ${b} z`)).toBe(`(x ${a} y) ${b} z`);
    }
  }
});

/** An expression with the parentheses that it needs and no others. */
function canonical(source: string): string {
  const { ast } = parseExpression(source);
  return ast === undefined ? "" : printExpression(ast);
}

test("the page on the server calls every command of the registry", () => {
  const calls = fencesOf(readPage("docs/guide/server.md"))
    .filter(isScript)
    .flatMap(({ text }) => [...text.matchAll(/curl[^|;&\n]*/g)].map(([call]) => call));
  const routes = calls.map((call) => {
    const [, target = ""] = /127\.0\.0\.1:\d+(\/[^\s'"]*)/.exec(call) ?? [];
    const [, given] = /-X (\w+)/.exec(call) ?? [];
    const [path = "", query = ""] = target.split("?");
    return { method: given ?? (/ (?:-d|--json) /.test(call) ? "POST" : "GET"), path, query };
  });
  const others = new Set<string | undefined>(
    [...COMMANDS.values()].flatMap(({ http }) => (http?.path.includes(":") ? [] : [http?.path])),
  );
  for (const { name, http } of COMMANDS.values()) {
    const shape = new RegExp(`^${http?.path.replace(/:\w+/g, "[^/]+")}$`);
    const called = routes.some(
      ({ method, path, query }) =>
        method === http?.method &&
        shape.test(path) &&
        (path === http.path || !others.has(path)) && // a word is no hole
        (http.when === undefined || query.startsWith(`${http.when.query}=`)),
    );
    expect(called, `${name}: ${http?.method} ${http?.path}`).toBe(true);
  }
});

/** A number as the page on operations writes it: `16 MiB`, `24 h`, `100,000`. */
function written(name: string, value: number): string {
  const units = name.endsWith("Ms")
    ? ([
        ["h", 3_600_000],
        ["min", 60_000],
        ["s", 1_000],
      ] as const)
    : name.endsWith("Bytes")
      ? ([
          ["MiB", 1_048_576],
          ["KiB", 1_024],
        ] as const)
      : [];
  const [unit, size] = units.find(([, each]) => value % each === 0) ?? ["", 1];
  return `${(value / size).toLocaleString("en")} ${unit}`.trimEnd();
}

test("the limits of the page on operations are those of the server and of the engine", () => {
  const rows = rowsOf(readPage("docs/guide/operations.md"), "Limit", "Default", "Of");
  const known = [
    ...Object.entries(LIMITS).map(([name, spec]) => [name, spec.default] as const),
    ...Object.entries(DEFAULT_LIMITS),
  ];
  expect(rows.map(([name, value]) => [codeIn(name)[0], value])).toEqual(
    known.map(([name, value]) => [name, written(name, value)]),
  );
});

test("what the page on operations says is kept, is kept so long", () => {
  const rows = rowsOf(readPage("docs/guide/operations.md"), "What", "Default");
  const { journalDays, journalRuns, journalBytes, runDays, feedDays, fireDays } = RETENTION;
  expect(rows.slice(0, 4).map(([, value]) => value)).toEqual([
    `${journalDays} days, the newest ${journalRuns.toLocaleString("en")} runs, ${journalBytes / 2 ** 30} GiB; whichever is less`,
    `${runDays} days`,
    `${feedDays} days`,
    `${fireDays} days`,
  ]);
});
