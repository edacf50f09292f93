import {
  type ActionDefinition,
  type AiModel,
  type AiProvider,
  defineAction,
  defineActionAdapter,
  defineExtension,
  defineNodeType,
  defineProvider,
  defineService,
  exit,
  type Json,
  type JsonObject,
  type JsonSchemaOf,
  jsonSchema,
  type NodeTypeDefinition,
  type ServiceAuth,
} from "@millrace/contracts";
import { expect, expectTypeOf, test } from "vitest";
import * as z from "zod";

const texts = { title: "T", summary: "S" };
const city = z.object({ city: z.string(), units: z.enum(["c", "f"]).default("c") });
const record = z.object({ high: z.number() });

test("fields arrive as the schema gives them, defaults filled in", () => {
  defineAction({
    ...texts,
    name: "a",
    effect: "read",
    fields: city,
    output: record,
    run: (fields, ctx) => {
      expectTypeOf(fields).toEqualTypeOf<{ city: string; units: "c" | "f" }>();
      expectTypeOf(ctx.attempt).toBeNumber();
      // @ts-expect-error a field that no schema names
      fields.town;
      // @ts-expect-error waiting is for node types
      ctx.confirm;
      return { high: 1 };
    },
  });
});

test("raw JSON Schema carries the type that its author gives it", () => {
  const made = defineAction({
    ...texts,
    name: "a",
    effect: "pure",
    fields: jsonSchema<{ n: number }>({ type: "object" }),
    output: jsonSchema<{ twice: number }>({ type: "object" }),
    run: ({ n }) => ({ twice: 2 * n }),
  });
  expectTypeOf(made).toEqualTypeOf<ActionDefinition<{ n: number }, { twice: number }>>();
});

test("a body answers the record, or an exit with it, now or later", () => {
  const base = { ...texts, name: "a", effect: "read", fields: city, output: record } as const;
  defineAction({ ...base, run: () => ({ high: 1 }) });
  defineAction({ ...base, run: async () => ({ high: 1 }) });
  defineAction({ ...base, run: () => exit("cold", { high: -1 }) });
  // @ts-expect-error the record is of another shape
  defineAction({ ...base, run: () => ({ low: 1 }) });
  // @ts-expect-error so is the one that an exit carries
  defineAction({ ...base, run: () => exit("cold", { high: "x" }) });
  // @ts-expect-error an effect nobody knows
  expect(() => defineAction({ ...base, effect: "maybe", run: () => ({ high: 1 }) })).toThrow(
    "effect",
  );
  // @ts-expect-error only true means anything
  expect(() => defineAction({ ...base, idempotent: false, run: () => ({ high: 1 }) })).toThrow(
    "idempotent",
  );
  // @ts-expect-error a policy nobody knows
  defineAction({ ...base, defaults: { policy: { timeout: 1 } }, run: () => ({ high: 1 }) });
});

test("actions and node types of different fields live in one list", () => {
  const a = { ...texts, name: "a", effect: "read", fields: city, output: record } as const;
  const b = { ...texts, name: "b", effect: "pure", fields: record, output: city } as const;
  const one = defineAction({ ...a, run: () => ({ high: 1 }) });
  const two = defineAction({ ...b, run: () => ({ city: "x", units: "c" as const }) });
  const type = defineNodeType({
    ...texts,
    type: "wait.people",
    effect: "write",
    fields: z.object({ cases: z.record(z.string(), z.string()) }),
    output: record,
    portsFrom: "cases",
    check: (fields) => {
      expectTypeOf(fields).toEqualTypeOf<{ cases: Record<string, string> }>();
      return [{ pointer: "/cases", code: "empty", message: "is empty", severity: "warning" }];
    },
    run: async (_fields, ctx) => {
      const answer = await ctx.confirm("ask", { prompt: "Go on?" });
      expectTypeOf(answer.outcome).toEqualTypeOf<"approved" | "rejected" | "expired">();
      const n = await ctx.step("count", () => 1);
      expectTypeOf(n).toBeNumber();
      return exit("go", { high: n });
    },
  });
  const adapter = defineActionAdapter({ id: "x", title: "X", actions: [one, two] });
  expectTypeOf(type).toExtend<NodeTypeDefinition>();
  defineExtension({ adapters: [adapter], nodeTypes: [type] });
  // @ts-expect-error an action alone is no adapter
  expect(() => defineExtension({ adapters: [one] })).toThrow("defineActionAdapter");
  const wait = { ...texts, type: "x.w", effect: "pure", fields: city, output: record } as const;
  defineNodeType({ ...wait, run: () => ({ high: 1 }) });
  // @ts-expect-error an output that the schema does not have
  defineNodeType({ ...wait, run: () => ({ low: 1 }) });
});

test("a literal JSON Schema gives the types that it describes", () => {
  const fields = jsonSchema({
    type: "object",
    properties: {
      pieces: { type: "integer" },
      unit: { enum: ["g", "kg"] },
      tags: { type: "array", items: { type: "string" } },
      size: { anyOf: [{ type: "number" }, { type: "null" }] },
      inner: { type: "object", properties: { deep: { type: "boolean" } }, required: ["deep"] },
      free: { type: "object" },
      any: {},
    },
    required: ["pieces", "unit"],
  });
  const output = jsonSchema({
    type: "object",
    properties: { grams: { type: "number" } },
    required: ["grams"],
  });
  const weigh = { ...texts, type: "shop.weigh", effect: "pure", fields, output } as const;
  defineNodeType({
    ...weigh,
    run({ pieces, unit, tags, size, inner, free, any }) {
      expectTypeOf(pieces).toEqualTypeOf<number>();
      expectTypeOf(unit).toEqualTypeOf<"g" | "kg">();
      expectTypeOf(tags).toEqualTypeOf<string[] | undefined>();
      expectTypeOf(size).toEqualTypeOf<number | null | undefined>();
      expectTypeOf(inner).toExtend<{ deep: boolean } | undefined>();
      expectTypeOf(free).toEqualTypeOf<JsonObject | undefined>();
      expectTypeOf(any).toEqualTypeOf<Json | undefined>();
      return { grams: pieces };
    },
  });
  const open = jsonSchema({ type: "object" });
  defineNodeType({
    ...{ ...weigh, fields: open, output: open },
    run(given) {
      expectTypeOf(given).toEqualTypeOf<JsonObject>();
      return { grams: 1 };
    },
  });
  // @ts-expect-error grams are a number
  defineNodeType({ ...weigh, run: () => ({ grams: "1" }) });
  expectTypeOf(jsonSchema<{ city: string }>({ type: "object" })).toEqualTypeOf<
    JsonSchemaOf<{ city: string }>
  >();
});

test("a provider gives models of the provider specification, never a string", () => {
  const provider = (languageModel: AiProvider["languageModel"]): AiProvider => ({
    id: "acme",
    capabilities: async () => ({ tools: true, jsonSchema: true }),
    languageModel,
  });
  // A model as the AI SDK types it: precise options, a web stream of a union of parts.
  interface CallOptions {
    prompt: { role: "system" | "user"; content: string }[];
    maxOutputTokens?: number;
    abortSignal?: AbortSignal;
  }
  type Part = { type: "text-delta"; id: string; delta: string } | { type: "error"; error: unknown };
  interface LanguageModelV3 {
    readonly specificationVersion: "v3";
    readonly provider: string;
    readonly modelId: string;
    doStream(options: CallOptions): PromiseLike<{ stream: ReadableStream<Part> }>;
  }
  expectTypeOf<LanguageModelV3>().toExtend<AiModel>();
  const acme = { id: "acme", title: "Acme" };
  defineProvider({ ...acme, create: () => provider(() => ({}) as LanguageModelV3) });
  // @ts-expect-error a string is no model
  defineProvider({ ...acme, create: () => provider(() => "gpt") });
  defineProvider({
    ...acme,
    create: (config, host) => {
      expectTypeOf(config).toEqualTypeOf<JsonObject>();
      expectTypeOf(host.now()).toBeNumber();
      // @ts-expect-error a host has no files to give away
      host.files;
      return provider(() => ({}) as AiModel);
    },
  });
});

test("a service is data, and its auth fields belong to one scheme each", () => {
  const operation = { id: "list", method: "GET", path: "/list" } as const;
  const service = { slug: "acme", ...texts };
  const baseUrl = "https://api.example";
  const urls = { authorizeUrl: baseUrl, tokenUrl: baseUrl } as const;
  const oauth2 = { scheme: "oauth2", ...urls, scopes: [] } as const;
  const make = (auth: ServiceAuth) =>
    defineService({ ...service, serviceIntegration: { baseUrl, auth, operations: [operation] } });
  make({ scheme: "none" });
  // @ts-expect-error a header name belongs to apiKey
  expect(() => make({ scheme: "bearer", name: "x" })).toThrow("/auth/name is unknown");
  // @ts-expect-error a client secret is never in a descriptor
  expect(() => make({ ...oauth2, clientSecret: "x" })).toThrow("/auth/clientSecret is unknown");
});

test("fields of a schema that says no type are JSON by name, and so are those of a schema in a variable", () => {
  const inVariable = { type: "object", properties: { city: { type: "string" } } };
  expectTypeOf(jsonSchema(inVariable)).toEqualTypeOf<JsonSchemaOf<JsonObject>>();
  const common = { title: "T", summary: "S.", effect: "pure", output: { type: "object" } } as const;
  const fields = { type: "object", properties: { city: { type: "string" } } } as const;
  defineAction({
    ...common,
    name: "look",
    fields,
    run({ city, ...fieldsLeft }) {
      expectTypeOf(city).toEqualTypeOf<Json | undefined>();
      expectTypeOf(fieldsLeft).toExtend<JsonObject>();
      return { city };
    },
  });
  defineNodeType({
    ...common,
    type: "shop.look",
    fields,
    run: ({ city }) => {
      expectTypeOf(city).toEqualTypeOf<Json | undefined>();
      return { city };
    },
  });
});
