/**
 * What schemas of a definition say, in its catalog and in its code.
 *   S1  Every schema is one.
 *   S2  The code accepts every value that the catalog allows; only a rule that JSON Schema cannot express may refuse one.
 *   S3  Filling in defaults is idempotent, and the result is JSON.
 *   S4  Examples and fixtures keep to the schemas.
 */
import assert from "node:assert/strict";
import {
  type CatalogEntry,
  catalogEntriesOf,
  type ExtensionDefinition,
  isZodSchema,
  type Json,
  type JsonSchema,
  type Schema,
} from "@millrace/contracts";
import { schemaProblems, unreadable } from "@millrace/engine/pack";
import { createRandom } from "@millrace/engine/testing";
import type { ConformanceCase, ConformanceOptions } from "../fixtures.ts";
import { specsOf } from "../host/watched-types.ts";
import { generateValues } from "../schemas/generate.ts";
import { samplesOf } from "./run-fixture.ts";

const SEED = 7;
const VALUES = 50; // of each schema

export function schemaCases(
  extension: ExtensionDefinition,
  options: ConformanceOptions,
): readonly ConformanceCase[] {
  return [
    {
      name: "schemas: every one is a schema",
      async run() {
        const problems = problemsOf(extension);
        assert.deepEqual(problems, [], `these are no schemas: ${problems.join("; ")}`);
      },
    },
    {
      name: "schemas: examples and fixtures keep to them",
      async run() {
        assert.deepEqual(strayOf(extension, options), []);
      },
    },
    ...specsOf(extension).flatMap(({ type, spec: { fields, output } }) => [
      {
        name: `schemas: ${type} takes the fields that its catalog allows`,
        run: () => agrees(fields, () => entryOf(extension, type).fields),
      },
      {
        name: `schemas: ${type} may answer what its catalog allows`,
        run: () => agrees(output, () => entryOf(extension, type).output),
      },
    ]),
  ];
}

function entryOf(extension: ExtensionDefinition, name: string): CatalogEntry {
  const [type, version = "1"] = name.split("@");
  const found = catalogEntriesOf(extension).find(
    (entry) => entry.type === type && entry.version === Number(version),
  );
  return found as CatalogEntry;
}

/** The problems of the schemas, as sentences. */
function problemsOf(extension: ExtensionDefinition): readonly string[] {
  const parts = [
    ...specsOf(extension).flatMap(({ type, spec: { fields, output } }) => [
      [`fields of ${type}`, fields] as const,
      [`output of ${type}`, output] as const,
    ]),
    ...[...extension.adapters, ...extension.providers].flatMap(({ id, config }) =>
      config === undefined ? [] : [[`configuration of ${id}`, config] as const],
    ),
    ...extension.services.flatMap(({ slug, serviceIntegration }) =>
      serviceIntegration.operations.flatMap(({ id, params, query, headers, body, result }) =>
        Object.entries({ params, query, headers, body: body?.schema, result }).flatMap(
          ([part, schema]) =>
            schema === undefined ? [] : [[`${part} of ${slug} ${id}`, schema] as const],
        ),
      ),
    ),
  ];
  return parts.flatMap(([what, schema]) => {
    try {
      return unreadable(plainOf(schema)).map(
        ({ pointer, message }) => `${what}: ${pointer} ${message}`,
      );
    } catch (error) {
      return [`${what}: ${error instanceof Error ? error.message : String(error)}`];
    }
  });
}

/** As JSON Schema; a zod schema says itself what it is as one, and throws where it cannot. */
function plainOf(schema: Schema<unknown>): JsonSchema {
  return isZodSchema(schema) ? (schema.toJSONSchema({ io: "input" }) as JsonSchema) : schema;
}

function strayOf(extension: ExtensionDefinition, options: ConformanceOptions): readonly string[] {
  return samplesOf(extension, options).flatMap(({ type, name, fixture: { fields, output } }) => {
    const entry = entryOf(extension, type);
    const told = (what: string, schema: JsonSchema, value: Json): readonly string[] =>
      schemaProblems(schema, value).map(
        ({ pointer, message }) => `${name}: ${what} ${pointer} ${message}`,
      );
    return [
      ...told("fields", entry.fields, fields),
      ...(output === undefined ? [] : told("output", entry.output, output)),
    ];
  });
}

/** The catalog's side and the code's side of one schema say the same of generated values. */
async function agrees(schema: Schema<unknown>, catalog: () => JsonSchema): Promise<void> {
  const plain = catalog();
  const random = createRandom(SEED);
  for (const value of generateValues(plain, { random, count: VALUES })) {
    const shown = JSON.stringify(value);
    const sent = JSON.parse(shown) as Json;
    assert.deepEqual(schemaProblems(plain, sent), [], `it is no longer right as JSON: ${shown}`);
    if (!isZodSchema(schema)) continue;
    const parsed = schema.safeParse(sent);
    if (!parsed.success) {
      const issue = parsed.error.issues.find(({ code }) => code !== "custom");
      const where = issue?.path.map(String).join("/") ?? "";
      assert.equal(
        issue,
        undefined,
        `the catalog allows ${shown}, the code says ${where}: ${issue?.message}`,
      );
      continue;
    }
    const again = schema.safeParse(parsed.data);
    // What a schema makes something of another kind, such as a list of a text, it cannot read again.
    if (!again.success) continue;
    assert.deepEqual(again.data, parsed.data, `read twice it is something else: ${shown}`);
  }
}
