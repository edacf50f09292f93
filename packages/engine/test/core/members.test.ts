/** What a flow may read of a node is what its type says: a member that is not there is found before a run. */
import {
  defineAction,
  defineActionAdapter,
  type JsonSchema,
  jsonSchema,
} from "@millrace/contracts";
import { validateFlow } from "@millrace/dsl";
import { createRegistry } from "@millrace/engine";
import { graphOf, STANDARD_TYPES } from "@millrace/test-support/flows";
import { expect, test } from "vitest";

const registry = createRegistry([STANDARD_TYPES]);

/** Findings about members when `source` is read; `node` is a node of the type. */
function read(type: string, source: string, known = registry): string[] {
  const graph = graphOf(`node a: ${type} {}\nnode r: transform { value = ${source} }`);
  return validateFlow(graph, known.catalog())
    .filter(({ code }) => code === "FLOW5001")
    .map(({ message, hint }) => (hint === undefined ? message : `${message}; ${hint}`));
}

/** Types with a record of members; `fail` has none. */
const types = registry
  .entries()
  .filter(({ output }) => typeof output === "object" && output !== null && "type" in output);

test.each(types)("$type: its members can be read, no other one", ({ type, output }) => {
  const { properties = {} } = output as { properties?: { [name: string]: JsonSchema } };
  for (const [name, schema] of Object.entries(properties)) {
    expect(read(type, `a.${name}`)).toEqual([]);
    const { aliases = [] } =
      (schema as { "x-millrace"?: { aliases?: string[] } })["x-millrace"] ?? {};
    for (const alias of aliases) {
      expect(read(type, `a.${alias}`)).toEqual([
        `object has no member ${alias}; did you mean ${name}?`,
      ]);
    }
  }
  expect(read(type, "a.error?.code")).toEqual([]);
  const [said = "", ...more] = read(type, "a.nothingLikeIt");
  expect(more).toEqual([]);
  expect(said).toMatch(/^object has no member nothingLikeIt(?:; members: .*)?$/);
});

test.each([
  ["http.request", "a.statusCode == 200", "status"],
  ["http.request", "a.data", "body"],
  ["http.request", 'nodes["a"].json', "body"],
  ["http.request", "a.bdy", "body"],
  ["shell.exec", "a.code", "exitCode"],
  ["file.read", "a.contents", "content"],
  ["file.list", "a.files[0].nme", "name"],
])("%s: %s is refused with the name that is meant", (type, source, name) => {
  expect(read(type, source)).toEqual([expect.stringContaining(`did you mean ${name}?`)]);
});

test.each([
  ["http.request", "a.body.data.json[0].x"],
  ["http.request", 'a.headers["x-request-id"]'],
  ["file.read", "a.content.rates.EUR"],
  ["transform", "a.value.x.y"],
  ["ai", "a.output.total"],
  ["service.call", "a.body.x"],
])("%s: below an open result, %s is not checked", (type, source) => {
  expect(read(type, source)).toEqual([]);
});

test("a condition that reads an unknown member is refused", () => {
  const graph = graphOf(
    'node a: http.request { url = "https://a.example" }\nnode c: condition { if = a.statusCode == 200 }',
  );
  const found = validateFlow(graph, registry.catalog());
  expect(found.filter(({ severity }) => severity === "error")).toMatchObject([
    { code: "FLOW5001", pointer: "/nodes/1/fields/if" },
  ]);
});

test("outputs of extensions are checked alike, unless their schema says that there may be more", () => {
  const typeOf = (name: string, output: object) =>
    defineAction<object, object>({
      name,
      title: name,
      summary: "Answers.",
      effect: "pure",
      fields: jsonSchema<object>({ type: "object", additionalProperties: false }),
      output: jsonSchema<object>({ type: "object", ...output } as never),
      run: () => ({}),
    });
  const properties = { total: { type: "integer", "x-millrace": { aliases: ["sum"] } } };
  const actions = [
    typeOf("closed", { properties }),
    typeOf("open", { properties, additionalProperties: true }),
    typeOf("unknown", {}),
  ];
  const known = createRegistry([defineActionAdapter({ id: "shop", title: "Shop", actions })]);
  expect(read("shop.closed", "a.total", known)).toEqual([]);
  expect(read("shop.closed", "a.totl", known)).toEqual([
    "object has no member totl; did you mean total?",
  ]);
  expect(read("shop.closed", "a.sum", known)).toEqual([
    "object has no member sum; did you mean total?",
  ]);
  expect(read("shop.open", "a.totl", known)).toEqual([]);
  expect(read("shop.unknown", "a.totl", known)).toEqual([]);
});
