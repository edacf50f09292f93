import { readFileSync } from "node:fs";
import {
  checkService,
  defineService,
  type JsonObject,
  type ServiceOperation,
} from "@millrace/contracts";
import { createRegistry } from "@millrace/engine";
import { importOpenApi } from "@millrace/services/openapi";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { call, json, startService } from "./support.ts";

const fixture = (name: string): JsonObject =>
  JSON.parse(readFileSync(new URL(`./fixtures/${name}.json`, import.meta.url), "utf8"));
const petstore = fixture("petstore-3.0");
const library = fixture("library-3.1");

/** Import of a document that makes an entry. */
function imported(document: unknown, options = {}) {
  const { entry, diagnostics } = importOpenApi(document, options);
  if (entry === null) throw new Error(JSON.stringify(diagnostics));
  expect(checkService(entry)).toEqual([]);
  createRegistry([defineService(entry)]);
  const { auth, baseUrl, operations } = entry.serviceIntegration;
  const operation = (id: string) => operations.find((one) => one.id === id) as ServiceOperation;
  return { entry, auth, baseUrl, operations, operation, diagnostics };
}

describe("a document of 3.0", () => {
  const { entry, auth, baseUrl, operations, operation, diagnostics } = imported(petstore);

  test("gives slug, title, summary, base URL and the scheme that it requires", () => {
    expect(entry).toMatchObject({
      slug: "pet-store-sons",
      title: "Pet Store & Sons",
      summary: "Pets, orders and the people who want them. Second paragraph.",
    });
    expect(baseUrl).toBe("https://petstore.example/api/v3");
    expect(auth).toEqual({
      scheme: "oauth2",
      authorizeUrl: "https://petstore.example/oauth/authorize",
      tokenUrl: "https://petstore.example/oauth/token",
      scopes: ["pets:read", "pets:write"],
      pkce: true,
    });
  });

  test("gives operations with ids in snake case, effects by method, and scopes of their own", () => {
    expect(operations.map(({ id, method, effect }) => `${id} ${method} ${effect}`)).toEqual([
      "list_pets GET read",
      "create_pet POST write",
      "get_pet GET read",
      "replace_pet PUT write",
      "delete_pets_pet_id DELETE destructive",
      "get_photo GET read",
      "list_pets_2 POST write",
    ]);
    expect(operation("create_pet").scopes).toEqual(["pets:write", "pets:read"]);
    expect(operation("list_pets")).toMatchObject({
      title: "List pets",
      summary: "Every pet, newest first.",
    });
  });

  test("gives parameters in their place, without patterns, with the bounds of 2020-12", () => {
    expect(operation("list_pets").query).toEqual({
      type: "object",
      properties: {
        status: {
          type: "array",
          items: { type: "string", enum: ["available", "sold"] },
          explode: "comma",
          description: "Only these.",
        },
        limit: { type: "integer", exclusiveMinimum: 0, maximum: 100 },
      },
    });
    expect(operation("list_pets").headers).toEqual({
      type: "object",
      properties: { "X-Request-Id": { type: "string" } },
    });
    expect(operation("get_pet").params).toEqual({
      type: "object",
      properties: { petId: { type: "integer", format: "int64" } },
    });
  });

  test("writes references out, keeps what leads back to itself, and drops what goes the other way", () => {
    const { body, result } = operation("create_pet");
    expect(body).toMatchObject({
      contentType: "application/json",
      required: true,
      schema: {
        type: "object",
        required: ["name"],
        properties: {
          name: { type: "string", maxLength: 80 },
          nick: { type: ["string", "null"], enum: ["a", "b", null] },
          parent: { $ref: "#/$defs/Pet" },
          tags: { items: { properties: { label: { type: "string" } } } },
        },
        $defs: { Pet: { type: "object", properties: { parent: { $ref: "#/$defs/Pet" } } } },
      },
    });
    expect(body?.schema?.["properties"]).not.toHaveProperty("id");
    expect(result).toMatchObject({ required: ["id", "name"] });
    expect(JSON.stringify(entry)).not.toMatch(/pattern|example"|x-internal|nullable|readOnly/);
  });

  test("makes a body whole whose members have names that are taken, and reads other content", () => {
    expect(operation("replace_pet").body?.schema).toMatchObject({
      allOf: [{ properties: { petId: { type: "integer" } } }],
    });
    expect(operation("list_pets_2").body?.contentType).toBe("application/x-www-form-urlencoded");
    expect(operation("list_pets_2").resultType).toBe("text");
    expect(operation("get_photo").resultType).toBe("base64");
  });

  test("tells what is left out, and where", () => {
    expect(
      diagnostics.map(({ severity, pointer, message }) => `${severity} ${pointer}: ${message}`),
    ).toEqual([
      "warning /paths/~1pets/get/parameters/2: has no form that can be sent, and is left out",
      "warning /paths/~1pets/get/parameters/3: parameters in cookie are left out",
      "warning /paths/~1pets/post/callbacks: callbacks are left out",
      "warning /paths/~1pets~1{petId}/options: OPTIONS is left out",
      "warning /paths/~1pets~1{petId}~1photo/post: set_photo is left out: it needs a body of none of the supported content types",
    ]);
  });
});

test("a document of 3.1 keeps its types, bounds and tuples; the scheme that can be used is taken", () => {
  const { auth, operation, diagnostics } = imported(library, {
    baseUrl: "https://eu.library.example",
    slug: "books",
  });
  expect(auth).toEqual({ scheme: "bearer" });
  expect(operation("books_get").query).toEqual({
    type: "object",
    properties: { format: { const: "full" }, lang: { type: ["string", "null"], default: "en" } },
  });
  expect(operation("books_get").result).toMatchObject({
    properties: {
      pair: { prefixItems: [{ type: "string" }, { type: "integer" }] },
      author: { properties: { books: { items: { $ref: "#/$defs/Book" } } } },
    },
  });
  expect(operation("books_update").body?.schema).toMatchObject({
    properties: { year: { type: ["integer", "null"], exclusiveMinimum: 1400 } },
    additionalProperties: false,
  });
  expect(diagnostics.map(({ code, pointer }) => `${code} ${pointer}`)).toEqual([
    "openapi_auth /components/securitySchemes/cookie",
    expect.stringMatching(/^openapi_schema .*schema$/),
  ]);
});

test("a part is taken by tag and by id", () => {
  const ids = (only: string) => imported(petstore, { only }).operations.map(({ id }) => id);
  expect(ids("tag:store")).toEqual(["list_pets_2"]);
  expect(ids("op:get_*, tag:store")).toEqual(["get_pet", "get_photo", "list_pets_2"]);
  expect(ids("op:*_pet")).toEqual(["create_pet", "get_pet", "replace_pet"]);
  expect(importOpenApi(petstore, { only: "tag:none" }).entry).toBeNull();
});

test("an imported operation can be called", async () => {
  const shop = await startService((_seen, response) => json(response, [{ id: 1, name: "Rex" }]));
  const baseUrl = `${shop.url}/v3`;
  const { entry } = imported(petstore, { baseUrl, slug: "shop" });
  const { output } = await call(
    { service: defineService(entry) },
    { operation: "list_pets", args: { status: ["sold"], limit: 5 } },
  );
  expect(output).toMatchObject({ body: [{ id: 1, name: "Rex" }] });
  expect(shop.seen.map(({ url }) => url)).toEqual(["/v3/pets?status=sold&limit=5"]);
});

/** A document of one GET. */
const small = (more: JsonObject = {}, operation: JsonObject = {}): JsonObject => ({
  openapi: "3.0.0",
  info: { title: "T" },
  servers: [{ url: "https://a.example" }],
  paths: { "/x": { get: { responses: {}, ...operation } } },
  ...more,
});
const answers = (schema: JsonObject): JsonObject => ({
  responses: { "200": { content: { "application/json": { schema } } } },
});

describe("a document that cannot be a service has diagnostics and no entry", () => {
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  let deep: JsonObject = {};
  for (let level = 0; level < 300; level += 1) deep = { deep };
  const many = Object.fromEntries(
    Array.from({ length: 5_001 }, (_, at) => [`/p${at}`, { get: { responses: {} } }]),
  );

  test.each<[string, unknown, string]>([
    ["nothing", undefined, "openapi_document"],
    ["text", "openapi: 3.0.0", "openapi_document"],
    ["a list", [], "openapi_document"],
    ["a circle", { openapi: "3.0.0", cycle }, "openapi_document"],
    [
      "a trap",
      {
        get openapi() {
          throw new Error("boo");
        },
      },
      "openapi_document",
    ],
    ["one that is too deep", { openapi: "3.0.0", deep }, "openapi_limit"],
    ["one that is too large", small({ "x-much": "x".repeat(10 * 1024 * 1024) }), "openapi_limit"],
    ["too many operations", small({ paths: many }), "openapi_limit"],
    ["Swagger 2", { swagger: "2.0" }, "openapi_document"],
    ["another version", small({ openapi: "4.0.0" }), "openapi_document"],
    ["no paths", small({ paths: null }), "openapi_operation"],
    ["a relative server", small({ servers: [{ url: "/v1" }] }), "openapi_base_url"],
    ["no server", small({ servers: [] }), "openapi_base_url"],
    [
      "a server without TLS",
      small({ servers: [{ url: "http://a.example" }] }),
      "openapi_operation",
    ],
    [
      "a server with a password",
      small({ servers: [{ url: "https://a:b@a.example" }] }),
      "openapi_operation",
    ],
    [
      "a reference to a file",
      small({}, answers({ $ref: "file:///etc/passwd" })),
      "openapi_reference",
    ],
    [
      "a reference to a server",
      small({}, answers({ $ref: "https://evil.example/a.json#/a" })),
      "openapi_reference",
    ],
    [
      "a path in another document",
      small({ paths: { "/x": { $ref: "other.json" } } }),
      "openapi_reference",
    ],
    [
      "a reference to nothing",
      small({}, answers({ $ref: "#/components/none" })),
      "openapi_reference",
    ],
    [
      "a reference to itself",
      small({ paths: { "/x": { $ref: "#/paths/~1x" } } }),
      "openapi_reference",
    ],
    [
      "a reference along a prototype",
      small({}, answers({ $ref: "#/constructor" })),
      "openapi_reference",
    ],
  ])("%s", (_name, document, code) => {
    const { entry, diagnostics } = importOpenApi(document);
    expect(entry).toBeNull();
    expect(diagnostics.map((each) => each.code)).toContain(code);
    expect(diagnostics.some(({ severity }) => severity === "error")).toBe(true);
  });
});

describe("of a hostile document only what is harmless is left", () => {
  test("operations that would leave their path or forge a header go, the others stay", () => {
    const { operations, diagnostics } = imported(
      small({
        paths: {
          "/ok": { get: { responses: {} } },
          "/../admin": { get: { responses: {} } },
          "//evil.example/x": { get: { responses: {} } },
          "/a?b=1": { get: { responses: {} } },
          "/h": {
            get: {
              responses: {},
              parameters: [{ in: "header", name: "Cookie", schema: { type: "string" } }],
            },
          },
        },
      }),
    );
    expect(operations.map(({ path }) => path)).toEqual(["/ok"]);
    expect(diagnostics.map(({ code }) => code)).toEqual(Array(4).fill("openapi_operation"));
  });

  test("references that multiply are left out as a whole", () => {
    const schemas = Object.fromEntries(
      Array.from({ length: 40 }, (_, at) => {
        const $ref = `#/components/schemas/s${at + 1}`;
        return [`s${at}`, { type: "object", properties: { a: { $ref }, b: { $ref } } }];
      }),
    );
    const document = small(
      { components: { schemas: { ...schemas, s40: { type: "string" } } } },
      answers({ $ref: "#/components/schemas/s0" }),
    );
    const { operations, diagnostics } = imported(document);
    expect(operations[0]).not.toHaveProperty("result");
    expect(diagnostics.at(-1)?.code).toBe("openapi_schema");
  });

  test("texts are one line and cut, and two schemes at once are none", () => {
    const { entry, auth, operations } = imported(
      small(
        {
          info: { title: `a\u0000b\n${"x".repeat(500)}` },
          security: [{ a: [], b: [] }],
          components: { securitySchemes: { a: { type: "http", scheme: "bearer" } } },
        },
        { description: "y".repeat(5_000) },
      ),
    );
    expect(entry.title).toMatch(/^a b x{115}…$/);
    expect(operations[0]?.summary).toHaveLength(300);
    expect(auth).toEqual({ scheme: "none" });
  });

  test("any change of a good document gives an entry that validates, or diagnostics alone", () => {
    const value = fc.oneof(
      fc.constantFrom<unknown>(
        null,
        true,
        7,
        "",
        "x",
        [],
        {},
        "#/x",
        { $ref: "#/paths" },
        [{}],
        "__proto__",
      ),
      fc.jsonValue(),
    );
    const places: [object, string][] = [];
    const base = structuredClone(petstore) as object;
    const walk = (at: object): void => {
      for (const [key, inner] of Object.entries(at)) {
        places.push([at, key]);
        if (typeof inner === "object" && inner !== null) walk(inner);
      }
    };
    walk(base);
    fc.assert(
      fc.property(fc.nat(places.length - 1), value, (at, changed) => {
        const [holder, key] = places[at] as [{ [key: string]: unknown }, string];
        const before = holder[key];
        holder[key] = changed;
        try {
          const { entry, diagnostics } = importOpenApi(base);
          if (entry === null)
            expect(diagnostics.some((one) => one.severity === "error")).toBe(true);
          else expect(checkService(entry)).toEqual([]);
        } finally {
          holder[key] = before;
        }
      }),
      { numRuns: 60 },
    );
  });
});

test("a consent is asked for the scopes of the operations, and for all where none says", () => {
  const scopes = { openid: "", offline_access: "", "rates:read": "", "rates:write": "" };
  const flows = {
    authorizationCode: {
      authorizationUrl: "https://rates.example/authorize",
      tokenUrl: "https://rates.example/token",
      scopes,
    },
  };
  const document = (login: readonly string[]) => ({
    openapi: "3.1.0",
    info: { title: "Rates", version: "1" },
    servers: [{ url: "https://rates.example" }],
    security: [{ login }],
    components: { securitySchemes: { login: { type: "oauth2", flows } } },
    paths: { "/rates": { get: { responses: { 200: { description: "ok" } } } } },
  });
  expect(imported(document(["rates:read"])).auth).toMatchObject({ scopes: ["rates:read"] });
  expect(imported(document([])).auth).toMatchObject({ scopes: Object.keys(scopes) });
});
