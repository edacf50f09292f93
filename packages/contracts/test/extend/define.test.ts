import {
  type ActionSpec,
  defineAction,
  defineActionAdapter,
  defineExtension,
  defineNodeType,
  defineProvider,
  defineService,
  definitionKind,
  EXTENSION_MARK,
  ExtensionError,
  exit,
  isNodeExit,
  jsonSchema,
  MAX_JSON_DEPTH,
  type NodeContext,
  NodeError,
} from "@millrace/contracts";
import { acme, crm, extension, runForecast, weather } from "@millrace/test-support/definitions";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import * as zod3 from "zod/v3";

const object = jsonSchema<{ [name: string]: unknown }>({ type: "object" });
const action: ActionSpec<unknown, unknown> = {
  name: "echo",
  title: "Echo",
  summary: "Says what it hears.",
  fields: object,
  output: object,
  effect: "pure",
  run: (fields) => fields,
};
const nodeType = {
  type: "approval.quorum",
  title: "Quorum",
  summary: "Waits for several people.",
  fields: object,
  output: object,
  effect: "write" as const,
  run: async () => ({}),
};

function refusal(make: () => unknown): { code: string; pointer: string; message: string } {
  try {
    make();
  } catch (error) {
    if (!ExtensionError.isInstance(error)) throw error;
    return { code: error.code, pointer: error.pointer, message: error.message };
  }
  throw new Error("nothing was refused");
}

/** Schemas of other libraries, shaped as those libraries make them. */
const validate = (value: unknown): object => ({ value });
const foreign: [library: string, schema: unknown][] = [
  ["zod 3", zod3.object({ city: zod3.string() })],
  // zod 3 before 3.24 knew no `~standard`.
  ["zod 3", Object.create({ parse: validate }, { _def: { value: { typeName: "ZodObject" } } })],
  [
    "valibot",
    {
      ...{ kind: "schema", type: "object", expects: "Object", async: false, entries: {} },
      reference: validate,
      get "~standard"() {
        return { version: 1, vendor: "valibot", validate };
      },
      "~run": validate,
    },
  ],
  [
    "arktype",
    Object.assign((value: unknown) => value, {
      "~standard": { version: 1, vendor: "arktype", validate },
      json: { domain: "object" },
    }),
  ],
];

describe("a definition", () => {
  test("keeps what its author wrote, frozen at every level, and says its version and seam", () => {
    const made = defineAction({ ...action, ports: [{ name: "yes" }, { name: "no" }] });
    expect(made).toMatchObject({ name: "echo", effect: "pure", apiVersion: 1 });
    expect(made[EXTENSION_MARK]).toBe("action");
    expect(EXTENSION_MARK).toBe(Symbol.for("millrace.extension.v1"));
    expect([made, made.ports, made.ports?.[0]].every(Object.isFrozen)).toBe(true);
  });

  test("is a copy: what was given is neither changed nor frozen", () => {
    const given = { ...action, tags: ["a"] };
    defineAction(given);
    expect(Object.isFrozen(given) || Object.isFrozen(given.tags)).toBe(false);
    expect(EXTENSION_MARK in given).toBe(false);
  });

  test("leaves a zod schema as it is, so that it still parses", () => {
    const fields = z.object({ text: z.string() });
    const made = defineAction({ ...action, fields });
    expect(made.fields).toBe(fields);
    expect(fields.parse({ text: "x" })).toEqual({ text: "x" });
  });

  test.each(foreign)("refuses a schema of %s, and says what is needed", (library, schema) => {
    const needed = `is a schema of ${library}; zod 4.2 or newer is needed, or a raw JSON Schema`;
    const refused = {
      "/fields": () => defineNodeType({ ...nodeType, fields: schema as never }),
      "/output": () => defineAction({ ...action, output: schema as never }),
      "": () => jsonSchema(schema as never),
    };
    for (const [pointer, make] of Object.entries(refused)) {
      expect(refusal(make)).toMatchObject({ pointer, message: expect.stringContaining(needed) });
    }
  });

  test("may be made with a reserved name, because core types are made the same way", () => {
    const read = defineAction({ ...action, name: "read", effect: "read" });
    expect(defineActionAdapter({ id: "file", title: "Files", actions: [read] }).id).toBe("file");
    expect(defineNodeType({ ...nodeType, type: "map" }).type).toBe("map");
  });

  test("tells the seam that made it, and a plain object has none", () => {
    const made = [weather.actions[0], weather, acme, defineNodeType(nodeType), crm, extension];
    const kinds = ["action", "adapter", "provider", "nodeType", "service", "extension"];
    expect(made.map(definitionKind)).toEqual(kinds);
    expect([action, null, "x", undefined].map(definitionKind)).toEqual(Array(4).fill(undefined));
  });

  test("of an extension has all four lists", () => {
    const none = { adapters: [], providers: [], nodeTypes: [], services: [] };
    expect(defineExtension({})).toMatchObject(none);
  });
});

describe("a bad definition is refused with a pointer to the place", () => {
  const typed = (more: object) => defineNodeType({ ...nodeType, ...more });
  const echo = defineAction(action);
  const adapter = (...actions: unknown[]) =>
    defineActionAdapter({ id: "x", title: "X", actions: actions as never });
  const of = (spec: object) => defineExtension(spec as never);
  const bad = (more: object) => () => defineAction({ ...action, ...more } as typeof action);
  test.each<[name: string, make: () => unknown, pointer: string]>([
    ["a name in capitals", bad({ name: "Echo" }), "/name"],
    ["a name that is too long", bad({ name: "e".repeat(65) }), "/name"],
    ["a dotted action name", bad({ name: "a.b" }), "/name"],
    ["an empty title", bad({ title: "" }), "/title"],
    ["an effect nobody knows", bad({ effect: "maybe" }), "/effect"],
    ["idempotent: false, which says nothing", bad({ idempotent: false }), "/idempotent"],
    ["fields that are no object", bad({ fields: jsonSchema({ type: "string" }) }), "/fields/type"],
    ["output that is no schema", bad({ output: "string" }), "/output"],
    ["the port error, which always exists", bad({ ports: [{ name: "error" }] }), "/ports/0/name"],
    ["a port twice", bad({ ports: [{ name: "a" }, { name: "a" }] }), "/ports/1/name"],
    ["a secret with a blank", bad({ needs: { secrets: ["MY KEY"] } }), "/needs/secrets/0"],
    [
      "an example without fields",
      bad({ examples: [{ title: "x", output: 1 }] }),
      "/examples/0/fields",
    ],
    ["a misspelt member", bad({ idempotant: true }), "/idempotant"],
    ["a body that is no function", bad({ run: "run" }), "/run"],
    ["a missing body", bad({ run: undefined }), "/run"],
    ["nothing at all", () => defineAction(undefined as never), ""],
    ["a type with an empty part", () => typed({ type: "a..b" }), "/type"],
    ["a type of one word", () => typed({ type: "shop" }), "/type"],
    ["a type of version 0", () => typed({ type: "a.b@0" }), "/type"],
    ["a check that is no function", () => typed({ check: 1 }), "/check"],
    ["an adapter without actions", () => adapter(), "/actions"],
    ["an action that was not defined", () => adapter(action), "/actions/0"],
    ["an action twice", () => adapter(echo, echo), "/actions/1/name"],
    [
      "a provider without create",
      () => defineProvider({ id: "x", title: "X" } as never),
      "/create",
    ],
    ["a service of the wrong kind", () => defineService({ ...crm, slug: "A" } as never), "/slug"],
    ["an adapter id twice", () => of({ adapters: [weather, weather] }), "/adapters/1/id"],
    ["a provider among the adapters", () => of({ adapters: [acme] }), "/adapters/0"],
    [
      "a definition of another version of the seams",
      () => of({ adapters: [{ ...weather, apiVersion: 2 }] }),
      "/adapters/0/apiVersion",
    ],
    [
      "a node type that is also an action",
      () => of({ adapters: [weather], nodeTypes: [typed({ type: "weather.forecast" })] }),
      "/nodeTypes/0/type",
    ],
  ])("%s", (_, make, pointer) => {
    expect(refusal(make)).toMatchObject({ code: "extension_definition_invalid", pointer });
  });

  test("the message names the definition, the place and the rule", () => {
    expect(refusal(bad({ effect: "maybe" })).message).toBe(
      'action "echo": /effect must be one of "pure", "read", "write", "destructive"',
    );
    expect(refusal(() => defineService({ ...specOf(crm), title: "" })).message).toBe(
      'service "acme-crm": /title must be a string, 1 to 4096 characters',
    );
  });
});

describe("a definition made by another copy of the package", () => {
  test("is taken, because it is plain data with a shared mark", () => {
    const foreign = Object.freeze({
      ...action,
      apiVersion: 1,
      [Symbol.for("millrace.extension.v1")]: "action",
    });
    const made = defineActionAdapter({ id: "x", title: "X", actions: [foreign as never] });
    expect(made.actions[0]).toBe(foreign);
  });

  test("throws errors that are recognised without instanceof", () => {
    const mark = (name: string) => Symbol.for(`@millrace/contracts.error.${name}`);
    expect(NodeError.isInstance({ [mark("NodeError")]: true })).toBe(true);
    expect(ExtensionError.isInstance({ [mark("ExtensionError")]: true })).toBe(true);
    expect([NodeError, ExtensionError].some((each) => each.isInstance(new Error("x")))).toBe(false);
  });

  test("shows no marker in the JSON or the keys of an error", () => {
    const error = new NodeError("weather_http", "answered 503", { retryable: true, status: 503 });
    const isShown = (key: symbol) => Object.prototype.propertyIsEnumerable.call(error, key);
    expect(Object.getOwnPropertySymbols(error).filter(isShown)).toEqual([]);
    expect(error).toMatchObject({ code: "weather_http", retryable: true, status: 503 });
  });
});

describe("jsonSchema", () => {
  test("gives a frozen copy of the schema", () => {
    const given = { type: "object", properties: { a: { type: "string" } } };
    const made = jsonSchema<{ a?: string }>(given);
    expect(made).toEqual(given);
    expect(made).not.toBe(given);
    expect(Object.isFrozen(made["properties"])).toBe(true);
  });

  test.each<[string, unknown, string]>([
    ["a function", { type: "object", default: () => 1 }, "/default"],
    ["NaN", { maximum: Number.NaN }, "/maximum"],
    ["a class instance", { default: new Date(0) }, "/default"],
    ["a hole in a list", { enum: [undefined] }, "/enum/0"],
    ["a forged prototype", JSON.parse('{"a/b":{"__proto__":{}}}'), "/a~1b/__proto__"],
    ["too deep a nesting", nested(MAX_JSON_DEPTH), "/a".repeat(MAX_JSON_DEPTH)],
  ])("refuses %s", (_, schema, pointer) => {
    expect(refusal(() => jsonSchema(schema as never))).toMatchObject({ pointer });
  });

  test("takes the deepest schema that is allowed", () => {
    expect(jsonSchema(nested(MAX_JSON_DEPTH - 1))).toHaveProperty("a.a.a");
  });
});

describe("exit", () => {
  test("leaves through a named port and is told from a record of the same shape", () => {
    const left = exit("rejected", { by: "ann" });
    expect(left).toMatchObject({ port: "rejected", output: { by: "ann" } });
    expect(isNodeExit(left)).toBe(true);
    expect(isNodeExit({ port: "rejected", output: {} })).toBe(false);
  });
});

describe("the weather example", () => {
  const context = (status: number): { ctx: NodeContext; seen: unknown[] } => {
    const seen: unknown[] = [];
    const ctx = {
      credentials: { secret: async () => ({ reveal: () => "k-1" }) },
      fetch: async (url: string, init: unknown) => {
        seen.push(url, init);
        return { ok: status < 400, status, json: async () => ({ high: 7, low: -1 }) };
      },
    };
    return { ctx: ctx as unknown as NodeContext, seen };
  };

  test("asks for the city and answers the record", async () => {
    const { ctx, seen } = context(200);
    await expect(runForecast({ city: "Oslo", units: "c" }, ctx)).resolves.toEqual({
      high: 7,
      low: -1,
    });
    expect(seen).toEqual([
      "https://api.weather.example/v1/Oslo?u=c",
      { headers: { "x-key": "k-1" } },
    ]);
  });

  test("fails with its own code, retryable when the service is at fault", async () => {
    const { ctx } = context(503);
    await expect(runForecast({ city: "Oslo", units: "c" }, ctx)).rejects.toMatchObject({
      code: "weather_http",
      retryable: true,
    });
  });
});

function nested(levels: number): { readonly [key: string]: never } {
  let value: unknown = {};
  for (let level = 0; level < levels; level++) value = { a: value };
  return value as { readonly [key: string]: never };
}

function specOf(service: typeof crm) {
  const { slug, title, summary, serviceIntegration } = service;
  return { slug, title, summary, serviceIntegration };
}
