/** `catalog.json` belongs to its digest, in whatever order its members stand. */
import { createHash } from "node:crypto";
import {
  defineAction,
  defineActionAdapter,
  defineExtension,
  type Json,
  type JsonObject,
  jsonSchema,
} from "@millrace/contracts";
import { canonicalJson } from "@millrace/contracts/kit";
import { catalogOf, parseCatalog } from "@millrace/extensions";
import { expect, test } from "vitest";

const action = defineAction({
  name: "forecast",
  title: "Forecast",
  summary: "Tomorrow.",
  fields: jsonSchema<{ city: string }>({
    type: "object",
    properties: { city: { type: "string" }, 9: { type: "null" }, 10: { type: "null" } },
    required: ["city"],
  }),
  output: jsonSchema<object>({ type: "object" }),
  effect: "read",
  run: () => ({}),
});
const catalog = catalogOf(
  defineExtension({
    adapters: [defineActionAdapter({ id: "weather", title: "Weather", actions: [action] })],
  }),
);
const text = JSON.stringify(catalog);

/** The same members, the last one first. */
function turned(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).reverse());
}

test("a file is taken as it was written, and with its members in another order", () => {
  expect(parseCatalog(text)).toEqual(catalog);
  const other = JSON.stringify(catalog, turned);
  expect(other).not.toBe(text);
  expect(parseCatalog(other)).toEqual(catalog);
});

test("one that was changed by hand is not", () => {
  expect(() => parseCatalog(text.replace("Tomorrow.", "Today."))).toThrow(/changed by hand/);
});

test("what one reader does with a catalog is nothing to the next reader of its text", () => {
  const first = parseCatalog(text) as unknown as { nodes: unknown[] };
  first.nodes.pop();
  expect(parseCatalog(text)).toEqual(catalog);
});

test("every schema is looked at, also beside entries with the same ones", () => {
  const { catalogVersion, digest: _, nodes, ...rest } = catalog;
  const [entry] = nodes;
  const broken = { ...entry, type: "weather.other", output: { type: "nothing" } };
  const body = { ...rest, nodes: [entry, { ...entry, type: "weather.next" }, broken] };
  const digest = `sha256:${createHash("sha256")
    .update(canonicalJson(body as unknown as Json))
    .digest("hex")}`;
  for (let round = 0; round < 2; round += 1) {
    expect(() => parseCatalog(JSON.stringify({ catalogVersion, digest, ...body }))).toThrow(
      /node type "weather.other": schema of output/,
    );
  }
});

test("members are written in the order of the digest, which spares its readers the sorting", () => {
  const { fields: _, ...entry } = catalog.nodes[0] as { readonly fields: unknown };
  expect(JSON.stringify(entry)).toBe(canonicalJson(entry as JsonObject));
});
