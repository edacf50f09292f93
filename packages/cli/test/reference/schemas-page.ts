/** The page of what travels: events, graphs and records, from their schemas. */
import type { JsonSchema } from "@millrace/contracts";
import * as schemas from "@millrace/contracts/schemas";
import { code, members, page, table, WRITTEN } from "./markdown.ts";

interface Convertible {
  toJSONSchema(options: object): unknown;
}

/** Every schema that is public, by its name without `Schema`. */
export function schemasPage(): string {
  const all = Object.entries(schemas as unknown as Record<string, Partial<Convertible>>)
    .filter((each): each is [string, Convertible] => each[1].toJSONSchema !== undefined)
    .map(([name, schema]): [string, JsonSchema] => [
      name.replace(/Schema$/, ""),
      schema.toJSONSchema({ io: "output", unrepresentable: "any" }) as JsonSchema,
    ])
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const objects = all.filter(([, schema]) => members(schema) !== "" || variants(schema).length > 0);
  return page(
    "# What travels",
    WRITTEN,
    "The records of the HTTP API and of `--json`, as `@millrace/contracts/schemas` has them.",
    table(
      ["Schema"],
      objects.map(([name]) => [`[${code(name)}](#${name.toLowerCase()})`]),
    ),
    ...objects.map(([name, schema]) => section(name, schema)),
  );
}

function section(name: string, schema: JsonSchema): string {
  const parts = variants(schema).map((each) => {
    const kind = (each as { properties?: { kind?: { const?: string } } }).properties?.kind?.const;
    return page(kind === undefined ? undefined : `### ${name}: ${kind}`, members(each)).trimEnd();
  });
  return page(`## ${name}`, members(schema), ...parts).trimEnd();
}

/** The alternatives of a union of objects. */
function variants(schema: JsonSchema): readonly JsonSchema[] {
  const { anyOf = [], oneOf = [] } = schema as { anyOf?: JsonSchema[]; oneOf?: JsonSchema[] };
  return [...anyOf, ...oneOf].filter((each) => members(each) !== "");
}
