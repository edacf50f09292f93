/** The document of the API: valid, whole, and never narrower than it was. */
import { readFile, writeFile } from "node:fs/promises";
import { COMMANDS } from "@millrace/contracts/commands";
import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, test } from "vitest";
import { narrowings } from "./support/narrowing.ts";
import { serve } from "./support/server.ts";

const GOLDEN = new URL("golden/openapi.golden", import.meta.url);
/** `MILLRACE_GOLDEN=write` takes what was added into the file; what was taken away it refuses all the same. */
const WRITES = process.env["MILLRACE_GOLDEN"] === "write";

interface Operation {
  readonly operationId: string;
  readonly "x-millrace-command"?: string;
  readonly "x-millrace-when"?: { readonly command: string; readonly query: string };
  readonly responses: { readonly [status: string]: { readonly $ref?: string } };
}

interface Document {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } };
  readonly components: { readonly schemas: object };
}

async function fetchDocument(): Promise<Document> {
  const server = await serve();
  const response = await fetch(`${server.url}/api/openapi.json`);
  expect(response.headers.get("content-type")).toBe("application/json");
  return (await response.json()) as Document;
}

const LINE = 120;

/** The value as JSON, with what fits on one line there. */
function printed(value: unknown, indent = ""): string {
  const flat = JSON.stringify(value);
  if (typeof value !== "object" || value === null || indent.length + flat.length <= LINE)
    return flat;
  const inner = `${indent} `;
  const parts = Array.isArray(value)
    ? value.map((item) => printed(item, inner))
    : Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${printed(item, inner)}`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${indent}${close}`;
}

const operationsOf = (document: Document) =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );

test("it is valid OpenAPI 3.1, and every operation has an id of its own", async () => {
  const document = await fetchDocument();
  expect(document.openapi).toBe("3.1.0");
  expect(await new Validator().validate({ ...structuredClone(document) })).toMatchObject({
    valid: true,
  });
  const ids = operationsOf(document).map(({ operation }) => operation.operationId);
  expect(new Set(ids).size).toBe(ids.length);
});

test("every reference in it leads somewhere", async () => {
  const document = await fetchDocument();
  const references = JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g);
  for (const [, path = ""] of references) {
    const target = path
      .split("/")
      .reduce<unknown>((at, name) => (at as { [name: string]: unknown })?.[name], document);
    expect(target, path).toBeDefined();
  }
});

test("every command has its operation, and every operation under a command's name is that command", async () => {
  const document = await fetchDocument();
  const documented = operationsOf(document).flatMap(({ path, method, operation }) => {
    const route = `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ":$1")}`;
    const when = operation["x-millrace-when"];
    const command = operation["x-millrace-command"];
    return [
      ...(command === undefined ? [] : [`${command} ${route}`]),
      ...(when === undefined ? [] : [`${when.command} ${route}?${when.query}`]),
    ];
  });
  const registered = [...COMMANDS.values()].flatMap(({ name, http }) =>
    http === undefined
      ? []
      : [`${name} ${http.method} ${http.path}${http.when ? `?${http.when.query}` : ""}`],
  );
  expect(documented.sort()).toEqual(registered.sort());
});

test("every operation names the codes that its command is refused with", async () => {
  const document = await fetchDocument();
  for (const { operation } of operationsOf(document)) {
    const command = COMMANDS.get(operation["x-millrace-command"] ?? "");
    if (command === undefined) continue;
    const codes = Object.values(operation.responses).flatMap(
      ({ $ref = "" }) => $ref.split("/").at(-1)?.split(".") ?? [],
    );
    const expected = command.errors.filter((code) => code !== "stream_only");
    expect(codes, command.name).toEqual(
      expect.arrayContaining([...expected, "unauthorized", "forbidden", "internal"]),
    );
  }
});

test("streams have the schema of their events", async () => {
  const { paths } = await fetchDocument();
  const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
  const events = { anyOf: [ref("ExecutionEvent"), ref("Event")] };
  const content = { "text/event-stream": { schema: events } };
  expect(paths["/api/run"]?.["post"]).toMatchObject({ responses: { 200: { content } } });
  const reattach = paths["/api/runs/{runId}/events"]?.["get"];
  expect(reattach).toMatchObject({ responses: { 200: { content }, 204: {} } });
});

describe("against the document that was", () => {
  test("nothing is gone and nothing is narrower", async () => {
    const { info: _, ...now } = await fetchDocument();
    const then: unknown = JSON.parse(await readFile(GOLDEN, "utf8").catch(() => "{}"));
    expect(narrowings(then, now)).toEqual([]);
    if (WRITES) await writeFile(GOLDEN, `${printed(now)}\n`);
    else expect(now, "MILLRACE_GOLDEN=write takes additions into the file").toEqual(then);
  });

  const base = {
    paths: { "/a": { get: { parameters: [{ name: "n", in: "query", required: false }] } } },
    schema: {
      type: "object",
      properties: { a: { type: "string", maxLength: 9 }, w: { enum: ["x", "y"] } },
      required: ["a"],
    },
  };
  const changed = (change: (copy: typeof base & { [name: string]: never }) => void): string[] => {
    const copy = structuredClone(base) as never;
    change(copy);
    return narrowings(base, copy);
  };

  test.each<[string, (copy: never) => void]>([
    ["a path that is gone", (copy: { paths: { "/a"?: object } }) => delete copy.paths["/a"]],
    [
      "a member that is gone",
      (copy: typeof base) => delete (copy.schema.properties as { a?: object }).a,
    ],
    ["a lower ceiling", (copy: typeof base) => (copy.schema.properties.a.maxLength = 8)],
    ["a word that is gone", (copy: typeof base) => copy.schema.properties.w.enum.pop()],
    ["one more demand", (copy: typeof base) => copy.schema.required.push("w")],
    [
      "a new rule",
      (copy: typeof base) => Object.assign(copy.schema.properties.a, { pattern: "^x" }),
    ],
    [
      "a new parameter that must be there",
      (copy: typeof base) =>
        copy.paths["/a"].get.parameters.push({ name: "m", in: "query", required: true }),
    ],
  ] as never)("%s is found", (_name, change) => {
    expect(changed(change as never)).toHaveLength(1);
  });

  test.each<[string, (copy: never) => void]>([
    ["a new path", (copy: { paths: object }) => Object.assign(copy.paths, { "/b": {} })],
    ["a higher ceiling", (copy: typeof base) => (copy.schema.properties.a.maxLength = 10)],
    ["a new word", (copy: typeof base) => copy.schema.properties.w.enum.push("z")],
    [
      "a demand of a new member with a default",
      ({ schema }: typeof base) => {
        Object.assign(schema.properties, { b: { type: "string", default: "x" } });
        schema.required.push("b");
      },
    ],
    ["a demand that is gone", (copy: typeof base) => copy.schema.required.pop()],
    [
      "a new member",
      (copy: typeof base) => Object.assign(copy.schema.properties, { b: { type: "string" } }),
    ],
  ] as never)("%s is welcome", (_name, change) => {
    expect(changed(change as never)).toEqual([]);
  });
});
