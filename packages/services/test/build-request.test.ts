import type {
  JsonObject,
  ServiceAuth,
  ServiceIntegration,
  ServiceOperation,
} from "@millrace/contracts";
import { buildServiceRequest } from "@millrace/services";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

const TEXT = { type: "string" } as const;
const of = (properties: JsonObject): JsonObject => ({ type: "object", properties });

function service(operation: Partial<ServiceOperation>, more: Partial<ServiceIntegration> = {}) {
  return {
    baseUrl: "https://api.example/v2",
    auth: { scheme: "none" },
    operations: [{ id: "op", method: "GET", path: "/x", ...operation }],
    ...more,
  } satisfies ServiceIntegration;
}
const build = (operation: Partial<ServiceOperation>, args: JsonObject = {}) =>
  buildServiceRequest(service(operation), { operation: "op", args });
const byPath = { path: "/a/{id}/b", params: of({ id: { type: ["string", "number"] } }) };
const byHeader = { headers: of({ "X-Note": TEXT }) };

describe("path values", () => {
  test.each([
    ["a/b", "a%2Fb"],
    ["a b", "a%20b"],
    ["../..", "..%2F.."],
    ["%2e%2e", "%252e%252e"],
    ["?x=1#y", "%3Fx%3D1%23y"],
    ["a\\b", "a%5Cb"],
    ["!'()*", "%21%27%28%29%2A"],
    ["grün", "gr%C3%BCn"],
    ["\ud800", "%EF%BF%BD"],
    ["\r\nHost: evil", "%0D%0AHost%3A%20evil"],
    ["//evil.example", "%2F%2Fevil.example"],
    ["@evil", "%40evil"],
    [7, "7"],
  ])("%j becomes %s", (id, text) => {
    expect(build(byPath, { id }).url).toBe(`https://api.example/v2/a/${text}/b`);
  });

  test.each(["", ".", ".."])("%j is refused", (id) => {
    expect(() => build(byPath, { id })).toThrow("args.id: must not be empty, . or ..");
  });

  test("of one segment that only together climb are refused", () => {
    const two = { path: "/a/{p}{q}", params: of({ p: TEXT, q: TEXT }) };
    expect(() => build(two, { p: "..", q: "." })).toThrow("must not be");
    expect(build(two, { p: "...", q: "x" }).url).toBe("https://api.example/v2/a/...x");
    const dotted = { path: "/a/.{p}", params: of({ p: TEXT }) };
    expect(build(dotted, { p: "well-known" }).url).toBe("https://api.example/v2/a/.well-known");
  });

  test("never leave their segment, whatever they are", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", minLength: 1 }), (id) => {
        if (id === "." || id === "..") return;
        const url = new URL(build(byPath, { id }).url);
        expect([url.origin, url.search, url.hash]).toEqual(["https://api.example", "", ""]);
        const [, , , segment, end] = url.pathname.split("/");
        expect([decodeURIComponent(segment ?? ""), end]).toEqual([
          new TextDecoder().decode(new TextEncoder().encode(id)),
          "b",
        ]);
      }),
    );
  });
});

describe("headers", () => {
  test.each(["a\r\nX-Evil: 1", "a\n", "a\0", "ü", "\x7f"])("%j is refused", (value) => {
    expect(() => build(byHeader, { "X-Note": value })).toThrow(
      /^args\.X-Note: must hold printable/,
    );
  });

  test("take printable text, and none but declared ones can be given", () => {
    expect(build(byHeader, { "X-Note": "a\tb c" }).headers).toEqual({
      accept: "application/json",
      "x-note": "a\tb c",
    });
    for (const name of ["Authorization", "Host", "x-note", "Cookie"]) {
      expect(() => build(byHeader, { [name]: "x" })).toThrow("has no such argument");
    }
  });

  test("that are always the same are sent, and are no argument", () => {
    const fixed = { headers: of({ "X-Api": { const: "2" } }), query: of({ v: { const: 1 } }) };
    expect(build(fixed)).toMatchObject({
      url: "https://api.example/v2/x?v=1",
      headers: { "x-api": "2" },
    });
    expect(() => build(fixed, { v: 2 })).toThrow("args.v: op has no such argument");
  });
});

test("lists in the query are repeated or joined; null and what is absent is left out", () => {
  const list = { type: "array", items: { type: "string" } };
  const query = of({
    a: list,
    b: { ...list, explode: "comma" },
    c: { type: ["string", "null"] },
    d: TEXT,
  });
  const { url } = build({ query }, { a: ["1", "2&3"], b: ["x", "y,z"], c: null });
  expect(url).toBe("https://api.example/v2/x?a=1&a=2%263&b=x,y%2Cz");
});

describe("bodies", () => {
  const post = (body: NonNullable<ServiceOperation["body"]>) => ({ method: "POST", body }) as const;

  test.each<[string, NonNullable<ServiceOperation["body"]>, JsonObject, string | Uint8Array]>([
    [
      "members as JSON",
      { contentType: "application/json", schema: of({ a: {}, b: {} }) },
      { a: [1], b: null },
      '{"a":[1],"b":null}',
    ],
    ["a list as JSON", { contentType: "application/json" }, { body: [1] }, "[1]"],
    [
      "a form",
      { contentType: "application/x-www-form-urlencoded", schema: of({ a: {}, b: {} }) },
      { a: "x y&", b: [1, true] },
      "a=x%20y%26&b=1&b=true",
    ],
    ["text", { contentType: "text/plain" }, { body: "hi" }, "hi"],
    ["octets", { contentType: "application/octet-stream" }, { body: "AQI=" }, Uint8Array.of(1, 2)],
  ])("%s", (_name, body, args, content) => {
    const request = build(post(body), args);
    expect(request.body).toEqual(content);
    expect(request.headers["content-type"]).toBe(body.contentType);
  });

  test("are left out when nothing is given and nothing is needed", () => {
    const request = build(post({ contentType: "application/json", schema: of({ a: {} }) }));
    expect(request).not.toHaveProperty("body");
    expect(request.headers).not.toHaveProperty("content-type");
  });

  test.each<[string, NonNullable<ServiceOperation["body"]>, JsonObject, string]>([
    ["needed", { contentType: "text/plain", required: true }, {}, "args.body: is missing"],
    [
      "without a member",
      {
        contentType: "application/json",
        required: true,
        schema: { ...of({ a: {} }), required: ["a"] },
      },
      {},
      "args.a: is missing",
    ],
    [
      "of another type",
      { contentType: "application/json", schema: of({ a: { type: "integer" } }) },
      { a: "s3cret" },
      "args.a: must be integer, found string",
    ],
    [
      "that is no base64",
      { contentType: "application/octet-stream" },
      { body: "?" },
      "must be base64 text",
    ],
    [
      "a form in a form",
      { contentType: "application/x-www-form-urlencoded", schema: of({ a: {} }) },
      { a: { b: 1 } },
      "args.a: must be text, a number or a boolean",
    ],
  ])("%s are refused", (_name, body, args, message) => {
    expect(() => build(post(body), args)).toThrow(message);
    expect(() => build(post(body), args)).toThrow(
      expect.objectContaining({ code: "field_invalid" }),
    );
    expect(() => build(post(body), args)).not.toThrow("s3cret");
  });
});

describe("credentials", () => {
  const withAuth = (auth: ServiceAuth, credential: string, args: JsonObject = {}) =>
    buildServiceRequest(service({ query: of({ q: TEXT }) }, { auth }), {
      operation: "op",
      args,
      credential,
      connection: "acme-eu",
    });
  const oauth2 = {
    scheme: "oauth2",
    authorizeUrl: "https://a.example/",
    tokenUrl: "https://a.example/",
    scopes: [],
  } as const;

  test.each<[string, ServiceAuth, object]>([
    ["oauth2", oauth2, { headers: { authorization: "Bearer t0ken" } }],
    ["bearer", { scheme: "bearer" }, { headers: { authorization: "Bearer t0ken" } }],
    ["basic", { scheme: "basic" }, { headers: { authorization: "Basic dDBrZW4=" } }],
    [
      "a header",
      { scheme: "apiKey", in: "header", name: "X-Key", prefix: "Key " },
      { headers: { "x-key": "Key t0ken" } },
    ],
    [
      "the query",
      { scheme: "apiKey", in: "query", name: "api key" },
      { url: "https://api.example/v2/x?q=a%20b&api%20key=t0ken" },
    ],
    [
      "a segment of the path",
      { scheme: "apiKey", in: "path", name: "bot token", prefix: "bot:" },
      { url: "https://api.example/bot:t0ken/v2/x?q=a%20b" },
    ],
    [
      "a header of its own",
      {
        scheme: "oauth2",
        authorizeUrl: "https://a.example",
        tokenUrl: "https://a.example",
        scopes: [],
        tokenHeader: "X-Token",
      },
      { headers: { accept: "application/json", "x-token": "t0ken" } },
    ],
    ["none", { scheme: "none" }, { url: "https://api.example/v2/x?q=a%20b" }],
  ])("%s", (_name, auth, expected) => {
    expect(withAuth(auth, "t0ken", { q: "a b" })).toMatchObject(expected);
  });

  test.each(["", "a b", "a\r\nX: 1", "ü"])("%j is credentials_expired", (credential) => {
    expect(() => withAuth({ scheme: "bearer" }, credential)).toThrow(
      expect.objectContaining({
        code: "credentials_expired",
        message: expect.stringMatching(/Reconnect the service: millrace connect acme-eu$/),
      }),
    );
  });

  test("a user and password of any letters are one Basic credential", () => {
    const password = "ü".repeat(200_000); // more bytes than one call may have arguments
    const { headers } = withAuth({ scheme: "basic" }, `me:${password}`);
    const text = Buffer.from(String(headers["authorization"]).slice(6), "base64").toString();
    expect(text).toBe(`me:${password}`);
  });
});

test("the idempotency key goes into the header of the operation, and a page over the arguments", () => {
  const operation = { idempotencyHeader: "X-Key", query: of({ p: TEXT, s: TEXT }) };
  const request = buildServiceRequest(service(operation), {
    operation: "op",
    args: { p: "1", s: "open" },
    idempotencyKey: "run/node",
    page: { p: "2 3" },
  });
  expect(request).toMatchObject({
    url: "https://api.example/v2/x?s=open&p=2%203",
    headers: { "x-key": "run/node" },
  });
});

test("missing and mistyped arguments, and unknown operations, are told by name", () => {
  expect(() => build(byPath)).toThrow("args.id: is missing");
  expect(() => build({ query: of({ n: { type: "integer" } }) }, { n: "s3cret" })).toThrow(
    "args.n: must be integer, found string",
  );
  expect(() => buildServiceRequest(service({}), { operation: "other" })).toThrow(
    expect.objectContaining({ code: "operation_unknown" }),
  );
});
