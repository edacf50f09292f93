import {
  type CatalogEntry,
  catalogEntriesOf,
  catalogEntryOf,
  defineAction,
  defineActionAdapter,
  defineNodeType,
  defineService,
  jsonSchema,
  operationEffect,
  type ServiceOperation,
} from "@millrace/contracts";
import { catalogEntrySchema } from "@millrace/contracts/schemas";
import { crm, extension, weather } from "@millrace/test-support/definitions";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import * as mini from "zod/mini";

const source = { package: "@acme/millrace-weather", version: "1.4.0", digest: "sha256:0" };
const options = { source, permissions: { net: ["api.weather.example:443"] } };
const object = jsonSchema<object>({ type: "object" });
const nodeType = (more: object) => {
  const run = async () => ({});
  return defineNodeType({ ...texts, type: "x.t", effect: "pure", run, ...more });
};
const texts = { title: "T", summary: "S", fields: object, output: object } as const;

describe("the entry of an action", () => {
  test("is the one of the extensions page", () => {
    expect(catalogEntriesOf(weather, options)).toEqual([
      {
        type: "weather.forecast",
        version: 1,
        kind: "action",
        title: "Weather forecast",
        summary: "Tomorrow's temperature of a place.",
        category: "weather",
        tags: [],
        fields: {
          type: "object",
          required: ["city"],
          properties: {
            city: { type: "string", minLength: 1, "x-millrace": { sink: "url" } },
            units: { type: "string", enum: ["c", "f"], default: "c" },
          },
          additionalProperties: false,
        },
        output: {
          type: "object",
          required: ["high", "low"],
          properties: { high: { type: "number" }, low: { type: "number" } },
        },
        ports: [{ name: "out" }],
        body: false,
        effect: "read",
        requires: { secrets: ["WEATHER_KEY"], permissions: { net: ["api.weather.example:443"] } },
        defaults: { policy: { timeoutMs: 30_000 } },
        examples: [],
        source,
        state: "ready",
      } satisfies CatalogEntry,
    ]);
  });

  test("holds what the definition says instead of the defaults", () => {
    const action = defineAction({
      ...texts,
      name: "send@2",
      effect: "write",
      idempotent: true,
      ports: [{ name: "sent" }, { name: "queued", description: "later" }],
      needs: { connection: "account" },
      defaults: { policy: { timeoutMs: 1_000, delivery: "atMostOnce" } },
      examples: [{ title: "One", fields: {}, output: {} }],
      category: "mail",
      tags: ["mail"],
      deprecated: "use mail.post",
      run: () => ({}),
    });
    const adapter = defineActionAdapter({ id: "mail", title: "Mail", actions: [action] });
    expect(catalogEntriesOf(adapter)[0]).toMatchObject({
      type: "mail.send",
      version: 2,
      category: "mail",
      tags: ["mail"],
      ports: [{ name: "sent" }, { name: "queued", description: "later" }],
      idempotent: true,
      requires: { secrets: [], connection: "account", permissions: {} },
      defaults: { policy: { timeoutMs: 1_000, delivery: "atMostOnce" } },
      examples: [{ title: "One", fields: {}, output: {} }],
      source: { package: "core" },
      deprecated: "use mail.post",
    });
  });
});

describe("the entry of a node type", () => {
  test("has no timeout of its own, and is what its host says of kind and body", () => {
    const type = nodeType({ type: "map", portsFrom: "cases" });
    expect(catalogEntryOf(type, { body: true })).toMatchObject({
      type: "map",
      kind: "control",
      body: true,
      portsFrom: "cases",
      defaults: {},
    });
    expect(catalogEntryOf(type, { kind: "ai" }).kind).toBe("ai");
  });

  test("keeps a raw schema as it is, open or closed", () => {
    const fields = jsonSchema<object>({ type: "object", additionalProperties: { type: "string" } });
    const type = nodeType({ fields });
    expect(catalogEntryOf(type).fields).toEqual({
      type: "object",
      additionalProperties: { type: "string" },
    });
  });

  test.each<[string, z.ZodType, string]>([
    ["is not an object", z.string(), "/fields must be the schema of an object"],
    ["JSON Schema cannot say", z.object({ at: z.date() }), "/fields cannot be said in JSON Schema"],
  ])("is refused when the zod schema of its fields %s", (_, fields, message) => {
    const type = nodeType({ fields });
    expect(() => catalogEntryOf(type)).toThrow(`node type "x.t": ${message}`);
  });

  test("is refused when zod is too old to say its schema", () => {
    const old = { _zod: {} } as unknown as z.ZodType;
    const type = nodeType({ output: old });
    expect(() => catalogEntryOf(type)).toThrow("/output needs zod 4.2 or newer");
  });

  test("is refused when its schema is one of zod/mini, which cannot say itself", () => {
    const type = nodeType({ output: mini.object({ id: mini.string() }) as never });
    expect(() => catalogEntryOf(type)).toThrow(
      '/output is a schema of zod/mini; zod 4.2 or newer is needed, imported from "zod"',
    );
  });
});

describe("the entry of a service", () => {
  test("carries the descriptor and the strongest effect of its operations", () => {
    const list = { id: "list", method: "GET", path: "/a" } as const;
    const entry = (...operations: readonly ServiceOperation[]) => {
      const at = { baseUrl: "https://a.example", auth: { scheme: "none" } } as const;
      const serviceIntegration = { ...at, operations };
      const service = defineService({ slug: "acme", title: "A", summary: "S", serviceIntegration });
      return catalogEntryOf(service);
    };
    expect(catalogEntryOf(crm)).toMatchObject({
      type: "service.acme-crm",
      kind: "service",
      effect: "read",
      serviceIntegration: crm.serviceIntegration,
    });
    expect(entry(list, { id: "drop", method: "DELETE", path: "/a" }).effect).toBe("destructive");
    expect(entry(list, { id: "put", method: "PUT", path: "/a" }).effect).toBe("write");
    expect(entry({ ...list, effect: "pure" }).effect).toBe("pure");
  });

  test("an operation says its effect itself, or by its method", () => {
    const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;
    expect(methods.map((method) => operationEffect({ method })).join(" ")).toBe(
      "read read write write write destructive",
    );
    expect(operationEffect({ method: "POST", effect: "read" })).toBe("read");
  });
});

test("an extension gives all its entries, sorted by type and version, each as the wire wants it", () => {
  const entries = catalogEntriesOf(extension, options);
  expect(entries.map((entry) => entry.type)).toEqual(["service.acme-crm", "weather.forecast"]);
  expect(entries.map((entry) => catalogEntrySchema.parse(entry))).toEqual(entries);
});
