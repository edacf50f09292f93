/** What untyped code gives in the place of something else is refused with its name, and is never passed over. */
import { checkFlow, formatFlow, parseFlow, reconcile, validateFlow } from "@millrace/dsl";
import { expect, test } from "vitest";

const any = (options: unknown): never => options as never;
const { document, graph } = parseFlow("flow 1 a\n");

test.each<[string, () => unknown, string]>([
  ["parseFlow", () => parseFlow("", any({ maxError: 1 })), "maxError"],
  ["formatFlow", () => formatFlow("", any({ maxErors: 1 })), "maxErors"],
  ["reconcile", () => reconcile(document, graph, any({ rename: {} })), "rename"],
  ["validateFlow", () => validateFlow(graph, any({ types: [] }), any({ lints: true })), "lints"],
])("%s", (name, call, unknown) => {
  expect(call).toThrow(`${name}: unknown option "${unknown}"; `);
});

test("checkFlow takes the options of both", () => {
  const catalog = { types: [], entry: () => undefined };
  expect(checkFlow("flow 1 a\n", any(catalog), { lint: true, maxErrors: 1 }).ok).toBe(true);
  expect(() => checkFlow("", any(catalog), any({ lints: true }))).toThrow(
    'checkFlow: unknown option "lints"; did you mean "lint"?',
  );
});

test.each([[undefined], [null], [7], [{ text: "flow 1 a" }]])("%o is no flow to read", (source) => {
  expect(() => parseFlow(any(source))).toThrow("parseFlow takes the text of a flow, or its bytes");
  expect(() => formatFlow(any(source))).toThrow("formatFlow takes the text of a flow");
});
