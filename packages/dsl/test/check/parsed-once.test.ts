/** Whoever checks a flow and then compiles it has each expression parsed once. */
import type { FieldValue } from "@millrace/contracts";
import type * as dsl from "@millrace/dsl";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { catalogOf } from "../fixtures/catalog.ts";

const SOURCES = new URL("../../src/", import.meta.url).href;
const PARSER = `${SOURCES}syntax/parse-expression.ts`;
const parsed: string[] = [];
let api: typeof dsl;

// Test files share their modules: this one has its own, in which the parser is counted.
beforeAll(async () => {
  vi.doMock(PARSER, async (original) => {
    const parser = await original<typeof import("../../src/syntax/parse-expression.ts")>();
    return {
      ...parser,
      parseExpression(source: string) {
        parsed.push(source);
        return parser.parseExpression(source);
      },
    };
  });
  vi.resetModules();
  api = await import(`${SOURCES}index.ts`);
});
afterAll(() => {
  vi.doUnmock(PARSER);
  vi.resetModules();
});

const NODES = 500;
const text = `flow 1 once

input base: string

node n0: transform {
  value = 1
}
${Array.from(
  { length: NODES },
  (_, i) => `
node n${i + 1}: transform {
  @when = n${i}.value != ${i}
  value = { sum: n${i}.value + ${i}, text: "\${inputs.base} of \${n${i}.value}", wait: -5 }
}
`,
).join("")}
output last: any = n${NODES}.value
`;

test("checking and compiling a flow parses each expression once, and not again the next time", () => {
  const { compileValue, impliedEdges, parseFlow, validateFlow } = api;
  const { graph, diagnostics } = parseFlow(text);
  expect(diagnostics).toEqual([]);
  const compile = () => {
    validateFlow(graph, catalogOf());
    impliedEdges(graph);
    for (const { fields, policy } of graph.nodes) {
      for (const value of Object.values(fields)) compileValue(value);
      if (policy?.when !== undefined) compileValue(policy.when as FieldValue);
    }
    for (const { value } of graph.outputs) compileValue(value);
  };
  parsed.length = 0;
  compile();
  expect(new Set(parsed).size).toBe(3 * NODES + 2);
  expect(parsed).toHaveLength(3 * NODES + 2);
  compile();
  expect(parsed).toHaveLength(3 * NODES + 2);
});
