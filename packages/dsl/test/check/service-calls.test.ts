/** Calls of services against their descriptors. */
import { catalogEntryOf, defineService } from "@millrace/contracts";
import { expect, test } from "vitest";
import { fixAll } from "../diagnostics/fix-all.ts";
import { catalogOf } from "../fixtures/catalog.ts";
import { codes, report } from "./check.ts";

const tracker = catalogEntryOf(
  defineService({
    slug: "tracker",
    title: "Issue tracker",
    summary: "Issues and comments.",
    serviceIntegration: {
      baseUrl: "https://api.tracker.example/v2",
      auth: { scheme: "bearer" },
      operations: [
        {
          id: "issues.list",
          method: "GET",
          path: "/projects/{project}/issues",
          params: { type: "object", properties: { project: { type: "string" } } },
          query: { type: "object", properties: { state: { enum: ["open", "closed"] } } },
        },
        {
          id: "issues.delete",
          method: "DELETE",
          path: "/issues/{id}",
          params: { type: "object", properties: { id: { type: "integer" } } },
        },
      ],
    },
  }),
);
const catalog = catalogOf([tracker]);

/** A flow that calls an operation over the connection `t`. */
const flow = (operation: string, args: string, more = ""): string => `
input project: string
connection t: bearer {
  service = "tracker"
  slug = "tracker-eu"
}
node call: service.call {
  connection = "t"
  operation = "${operation}"
  args = ${args}
${more}}
`;

test("a call that keeps to the descriptor has no findings, whatever expressions stand in it", () => {
  const text = flow("issues.list", '{ project: inputs.project, state: "open" }');
  expect(codes(text, catalog)).toEqual([]);
});

test("a misspelt operation is named with the one that comes closest", () => {
  expect(
    report(flow("issues.lst", "{ project: inputs.project }"), "FLOW3006", catalog),
  ).toMatchInlineSnapshot(`
    "error: operation must be one of issues.list, issues.delete, found "issues.lst"
    at 11:15 to 11:27 "\\"issues.lst\\""
    place /nodes/0/fields/operation
    hint: did you mean issues.list?
    fix: write issues.list"
  `);
});

test.each([
  ["{ }", "FLOW3002", "args of issues.list needs the field project"],
  ["{ project: inputs.project, stat: 1 }", "FLOW3003", "args of issues.list has no field stat"],
  ["{ project: 7 }", "FLOW3004", "args.project must be string, found number"],
  [
    '{ project: inputs.project, state: "late" }',
    "FLOW3006",
    'args.state must be one of open, closed, found "late"',
  ],
])("args = %s is %s", (args, code, message) => {
  expect(report(flow("issues.list", args), code, catalog)).toContain(message);
});

test("pages of an operation that has none, and a cache over one that deletes, are found", () => {
  const many = flow("issues.list", "{ project: inputs.project }", '  pages = "all"\n');
  expect(report(many, "FLOW3005", catalog)).toContain("the operation issues.list has no pages");
  const cached = flow("issues.delete", "{ id: 7 }", "  @cache = { ttl: 1h }\n");
  expect(report(cached, "FLOW3018", catalog)).toContain("destructive");
});

test("a service is no node type, and one that the catalog does not know is not checked", () => {
  expect(report("node a: service.tracker\n", "FLOW3001", catalog)).toContain("service.call");
  expect(codes(flow("anything", "{ a: inputs.project }"), catalogOf([]))).toEqual([]);
});

test("a connection that is not declared is declared by the fix, where a service has its name", () => {
  const text =
    'flow 1 x\n\nnode a: service.call {\n  connection = "tracker"\n  operation = "issues.list"\n  args = { project: "a" }\n}\n';
  const declared = text.replace(
    "node a",
    'connection tracker: bearer {\n  service = "tracker"\n}\n\nnode a',
  );
  const known = { ...catalog, services: ["tracker"] };
  const { text: mended, diagnostics } = fixAll(text, known);
  expect(mended).toBe(declared);
  expect(diagnostics).toEqual([]);
});
