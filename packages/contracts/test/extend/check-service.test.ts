import {
  checkService,
  checkServiceIntegration,
  type JsonObject,
  type ServiceIntegration,
  type ServiceOperation,
  type ServiceSpec,
  serviceArguments,
} from "@millrace/contracts";
import { describe, expect, test } from "vitest";

const operation: ServiceOperation = {
  id: "issues.create",
  method: "POST",
  path: "/projects/{project}/issues",
  params: { type: "object", properties: { project: { type: "string" } } },
  query: { type: "object", properties: { notify: { type: "boolean" } } },
  headers: { type: "object", properties: { "X-Source": { const: "millrace" } } },
  body: { contentType: "application/json", schema: { type: "object", properties: { title: {} } } },
};
const integration: ServiceIntegration = {
  baseUrl: "https://api.tracker.example/v2",
  auth: { scheme: "bearer" },
  operations: [operation],
};
const URL = "https://tracker.example/oauth";
const OAUTH2 = { scheme: "oauth2", authorizeUrl: URL, tokenUrl: URL, scopes: [] } as const;
const INTEGER = { type: "integer" };
const TEXT = { type: "string" };
const get: ServiceOperation = { id: "list", method: "GET", path: "/list" };

/** Findings of the integration with these changes, as `pointer code`. */
function findings(change: Partial<ServiceIntegration>): string[] {
  return checkServiceIntegration({ ...integration, ...change }).map(
    ({ pointer, code }) => `${pointer} ${code}`,
  );
}
const ofOperation = (change: object): string[] =>
  findings({ operations: [{ ...operation, ...change }] }).map((found) =>
    found.replace("/operations/0", ""),
  );
const properties = (found: JsonObject): JsonObject => ({
  type: "object",
  properties: found,
});
/** The change that leaves one operation: a GET with these members. */
const one = (change: object): Partial<ServiceIntegration> => ({
  operations: [{ ...get, ...change }],
});
const listOf = (items: string, more: object = {}) =>
  properties({ a: { type: "array", items: { type: items }, ...more } });

describe("a descriptor that keeps every rule has no findings", () => {
  test.each<[string, Partial<ServiceIntegration>]>([
    ["as it stands", {}],
    ["http on loopback", { baseUrl: "http://127.0.0.1:8080" }],
    ["http on the loopback name", { baseUrl: "http://localhost/api" }],
    ["http on IPv6 loopback", { baseUrl: "http://[::1]:80" }],
    [
      "an API key in Authorization, where auth is at home",
      { auth: { scheme: "apiKey", in: "header", name: "Authorization", prefix: "Token " } },
    ],
    ["a hole within a segment", one({ path: "/v{a}/x", params: properties({ a: INTEGER }) })],
    ["a list in the query", one({ query: listOf("string") })],
    [
      "a cursor",
      one({ pagination: { kind: "cursor", param: "c", next: "/meta/next", items: "" } }),
    ],
    ["retries", one({ retryOn: ["network", "timeout", "5xx", "429", "599"] })],
    ["a local reference", one({ result: { $ref: "#/$defs/a", $defs: { a: {} } } })],
    ["a reference as data", one({ result: { default: { $ref: "https://x" } } })],
  ])("%s", (_, change) => {
    expect(findings(change)).toEqual([]);
  });
});

describe("URLs", () => {
  test.each([
    ["http elsewhere", "http://api.example"],
    ["http on a name that only begins like loopback", "http://127.0.0.1.example"],
    ["another scheme", "ftp://api.example"],
    ["no scheme", "//api.example"],
    ["no authority", "https:api.example"],
    ["user info", "https://me@api.example"],
    ["empty user info", "https://@api.example"],
    ["a fragment", "https://api.example#x"],
    ["an empty fragment", "https://api.example#"],
    ["a query on the base", "https://api.example?x=1"],
    ["a blank", "https://api.example/a b"],
    ["a tab that the parser would drop", "https://api.ex\tample"],
    ["a backslash", "https://api.example\\x"],
  ])("%s is refused", (_, baseUrl) => {
    expect(findings({ baseUrl })).toEqual(["/baseUrl service_url"]);
  });

  test("each of an OAuth service is looked at", () => {
    const names = ["authorizeUrl", "tokenUrl", "revocationUrl", "deviceUrl"];
    const urls = Object.fromEntries(names.map((name) => [name, "http://evil.example"]));
    const auth = { scheme: "oauth2", scopes: [], ...urls } as never;
    expect(findings({ auth })).toEqual(names.map((name) => `/auth/${name} service_url`));
  });
});

describe("paths", () => {
  test.each([
    ["no slash first", "issues"],
    ["two slashes first", "//issues"],
    ["two slashes within", "/a//b"],
    ["a scheme", "https://x"],
    ["a backslash", "/a\\b"],
    ["a query", "/a?b"],
    ["a fragment", "/a#b"],
    ["a control byte", "/a\u0000b"],
    ["a blank", "/a b"],
    ["a dot segment", "/a/./b"],
    ["two dots at the end", "/a/.."],
    ["an encoded dot", "/a/%2E%2e/b"],
    ["an encoded slash", "/a%2Fb"],
    ["an encoded backslash", "/a%5cb"],
    ["a bare percent", "/a%"],
    ["an open hole", "/a/{b"],
    ["an empty hole", "/a/{}"],
    ["a letter that would be encoded", "/ä"],
  ])("%s is refused", (_, path) => {
    expect(findings(one({ path }))).toEqual(["/operations/0/path service_path"]);
  });

  test("every hole is declared and every parameter is used", () => {
    expect(ofOperation({ path: "/{project}/{id}" })).toEqual(["/path service_path"]);
    expect(ofOperation({ path: "/issues" })).toEqual(["/params/properties/project service_path"]);
  });
});

describe("headers", () => {
  test.each([
    ..."Authorization cookie Set-Cookie Forwarded X-Forwarded-For content-type Host".split(" "),
    ..."content-length Transfer-Encoding connection upgrade expect te trailer".split(" "),
    ..."keep-alive proxy-authorization Sec-Fetch-Site ä a:b".split(" "),
    "a b",
  ])("%s is refused as an argument and as the header of idempotency keys", (name) => {
    expect(ofOperation({ headers: properties({ [name]: TEXT }) })).toContain(
      `/headers/properties/${name} service_header`,
    );
    expect(ofOperation({ idempotencyHeader: name })).toEqual(["/idempotencyHeader service_header"]);
  });

  test("two names that differ by case alone are one", () => {
    const headers = properties({ "X-A": { const: 1 }, "x-a": { const: 2 } });
    expect(ofOperation({ headers })).toEqual(["/headers/properties/x-a service_header"]);
  });

  test("the name of an API key keeps the same rule", () => {
    const auth = { scheme: "apiKey", in: "header", name: "cookie" } as const;
    expect(findings({ auth })).toEqual(["/auth/name service_header"]);
  });
});

describe("arguments", () => {
  test("a name belongs to one place", () => {
    expect(ofOperation({ query: properties({ project: { type: "string" } }) })).toEqual([
      "/query/properties/project service_argument",
    ]);
    expect(ofOperation({ query: properties({ title: { type: "string" } }) })).toEqual([
      "/body/schema/properties/title service_argument",
    ]);
    const plain = { contentType: "text/plain" };
    expect(ofOperation({ body: plain, query: properties({ body: { type: "string" } }) })).toEqual([
      "/body service_argument",
    ]);
  });

  test("what is always sent is no argument", () => {
    const query = properties({ project: { const: "x" } });
    expect(ofOperation({ query })).toEqual([]);
  });

  test("the credential of an API key is no argument", () => {
    const auth = { scheme: "apiKey", in: "query", name: "key" } as const;
    expect(findings({ ...one({ query: properties({ key: TEXT }) }), auth })).toEqual([
      "/operations/0/query/properties/key service_argument",
    ]);
    const inHeader = { scheme: "apiKey", in: "header", name: "x-key" } as const;
    const headers = properties({ "X-Key": TEXT });
    expect(findings({ ...one({ headers }), auth: inHeader })).toEqual([
      "/operations/0/headers/properties/X-Key service_argument",
    ]);
  });

  test.each<[string, object]>([
    ["an object in params", { params: properties({ project: { type: "object" } }) }],
    ["a list in params", { params: properties({ project: { type: "array", items: TEXT } }) }],
    ["a value of no type", { params: properties({ project: {} }) }],
    ["an object as constant", { headers: properties({ "X-Source": { const: {} } }) }],
  ])("%s is no scalar", (_, change) => {
    expect(ofOperation(change).map((found) => found.split(" ")[1])).toEqual(["service_schema"]);
  });

  test("a list of lists in the query is no list of scalars", () => {
    expect(ofOperation({ query: listOf("array") })).toEqual(["/query/properties/a service_schema"]);
  });
});

describe("schemas", () => {
  test("point into their own definitions alone", () => {
    const result = { properties: { a: { $ref: "https://evil.example/schema" } } };
    expect(ofOperation({ result })).toEqual(["/result/properties/a/$ref service_schema"]);
  });

  test("are at most 32 deep", () => {
    const deep = (levels: number): object => (levels === 1 ? {} : { items: deep(levels - 1) });
    expect(ofOperation({ result: deep(32) })).toEqual([]);
    expect(ofOperation({ result: deep(33) })).toEqual([
      `/result${"/items".repeat(32)} service_schema`,
    ]);
  });

  test("of arguments are objects", () => {
    expect(ofOperation({ query: { type: "array" } })).toEqual(["/query/type service_schema"]);
  });
});

test("pages are for GET", () => {
  expect(ofOperation({ pagination: { kind: "link" } })).toEqual(["/pagination service_pagination"]);
  const inBody = { kind: "cursor", param: "after", in: "body", next: "/n", items: "" };
  expect(ofOperation({ pagination: inBody })).toEqual(["/pagination/in service_pagination"]);
  expect(ofOperation({ pagination: inBody, effect: "read" })).toEqual([
    "/pagination/param service_pagination",
  ]);
});

test("a retry is on the network, on time, or on a status that may pass", () => {
  expect(ofOperation({ retryOn: ["network", "401", "302", "600", "dns"] })).toEqual(
    [1, 2, 3, 4].map((index) => `/retryOn/${index} service_retry`),
  );
});

describe("a descriptor of another shape", () => {
  const link = { kind: "link", items: "items" };
  test.each<[string, object | undefined, string]>([
    ["is not there", undefined, ""],
    ["has a member nobody knows", { token: "x" }, "/token"],
    ["has no operations", { operations: [] }, "/operations"],
    ["has an id twice", { operations: [get, get] }, "/operations/1/id"],
    ["has an id in capitals", one({ id: "List" }), "/operations/0/id"],
    ["has a method nobody knows", one({ method: "TRACE" }), "/operations/0/method"],
    ["has an auth scheme nobody knows", { auth: { scheme: "digest" } }, "/auth/scheme"],
    ["has a secret", { auth: { scheme: "bearer", token: "x" } }, "/auth/token"],
    [
      "has a pagination nobody knows",
      one({ pagination: { kind: "x" } }),
      "/operations/0/pagination/kind",
    ],
    ["has items that are no pointer", one({ pagination: link }), "/operations/0/pagination/items"],
  ])("that %s is told at its place", (_, change, pointer) => {
    const descriptor = change && { ...integration, ...change };
    expect(checkServiceIntegration(descriptor)[0]).toMatchObject({
      code: "service_shape",
      severity: "error",
      pointer,
    });
  });
});

test("pointers of a whole service begin at the service, and 4 MiB are the end", () => {
  const service: ServiceSpec = {
    slug: "tracker",
    title: "T",
    summary: "S",
    serviceIntegration: integration,
  };
  expect(checkService(service)).toEqual([]);
  const bad = { ...service, serviceIntegration: { ...integration, baseUrl: "x" } };
  expect(checkService(bad)[0]?.pointer).toBe("/serviceIntegration/baseUrl");
  const large = { ...service, meta: { text: "ä".repeat(2 * 1024 * 1024) } };
  expect(checkService(large)).toMatchObject([{ code: "service_size", pointer: "" }]);
});

test("what throws when it is read is no data", () => {
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  const throwing = {
    get slug(): string {
      throw new Error("no");
    },
  };
  for (const hostile of [revoked.proxy, throwing]) {
    expect(checkService(hostile).map(({ code }) => code)).toEqual(["service_shape"]);
  }
});

test("a header that is always sent holds no line end, and none is sent by two hands", () => {
  const auth = { scheme: "apiKey", in: "header", name: "X-Key" } as const;
  expect(findings({ auth: { ...auth, prefix: "a\r\nX-Evil: 1" } })).toEqual([
    "/auth/prefix service_header",
  ]);
  expect(ofOperation({ headers: properties({ "X-Source": { const: "a\nb" } }) })).toEqual([
    "/headers/properties/X-Source/const service_header",
  ]);
  const taken = "/operations/0/idempotencyHeader service_header";
  const withKey = (idempotencyHeader: string) => ({
    auth,
    operations: [{ ...operation, idempotencyHeader }],
  });
  expect(findings(withKey("x-source"))).toEqual([taken]);
  expect(findings(withKey("x-key"))).toEqual([taken]);
  expect(findings(withKey("Idempotency-Key"))).toEqual([]);
});

test("extra parameters of a consent replace none of its own, and bring no client secret", () => {
  const extra = (extraParams: { readonly [name: string]: string }) =>
    findings({ auth: { ...OAUTH2, extraParams } });
  expect(extra({ audience: "api" })).toEqual([]);
  expect(extra({ client_secret: "s", state: "s" })).toEqual([
    "/auth/extraParams/client_secret service_argument",
    "/auth/extraParams/state service_argument",
  ]);
});

describe("what is read again before a request", () => {
  const page = { kind: "page", param: "p", items: "/items" } as const;

  test.each<[string, Partial<ServiceIntegration>, string]>([
    ["dots in the base path", { baseUrl: "https://a.example/v1/../x" }, "/baseUrl service_url"],
    ["a base path to be encoded", { baseUrl: "https://a.example/ü" }, "/baseUrl service_url"],
    [
      "a page that carries the credential",
      { ...one({ pagination: page }), auth: { scheme: "apiKey", in: "query", name: "p" } },
      "/operations/0/pagination/param service_pagination",
    ],
    [
      "a page that is always the same",
      one({ pagination: page, query: properties({ p: { const: 1 } }) }),
      "/operations/0/pagination/param service_pagination",
    ],
    [
      "an offset without a limit of its own",
      one({ pagination: { kind: "offset", param: "o", limitParam: "o", limit: 10, items: "" } }),
      "/operations/0/pagination/limitParam service_pagination",
    ],
    [
      "a list that is written in an unknown way",
      one({ query: listOf("string", { explode: "pipe" }) }),
      "/operations/0/query/properties/a/explode service_schema",
    ],
  ])("%s is refused", (_, change, found) => {
    expect(findings(change)).toEqual([found]);
  });

  test("a client may show itself in each way that OAuth knows, and a prefix may be empty", () => {
    for (const clientAuth of ["post", "basic", "none"] as const) {
      expect(findings({ auth: { ...OAUTH2, clientAuth } })).toEqual([]);
    }
    expect(findings({ auth: { scheme: "apiKey", in: "query", name: "k", prefix: "" } })).toEqual(
      [],
    );
  });
});

describe("the arguments of an operation", () => {
  const ref = { $ref: "#/$defs/label" };
  const $defs = { label: { type: "string" } };
  const places = (change: Partial<ServiceOperation>) =>
    [...serviceArguments({ ...operation, ...change }).known].map(
      ([name, { place, required }]) => `${name} ${place} ${required}`,
    );

  test("are the names of params, query, headers and the properties of the body, without what is always sent", () => {
    expect(places({})).toEqual(["project params true", "notify query false", "title field false"]);
  });

  test("of a body that is needed are needed when its schema says so", () => {
    const schema = { ...properties({ title: {}, label: ref }), required: ["title"], $defs };
    const body = { contentType: "application/json", required: true, schema } as const;
    expect(places({ body }).slice(2)).toEqual(["title field true", "label field false"]);
    const { known, open } = serviceArguments({ ...operation, body });
    expect(known.get("label")?.schema).toEqual({ ...ref, $defs });
    expect(open).toBe(false);
    const more = { ...body, schema: { ...schema, additionalProperties: true } };
    expect(serviceArguments({ ...operation, body: more }).open).toBe(true);
  });

  test.each([
    ["text/plain", undefined, { type: "string" }],
    ["application/octet-stream", undefined, { type: "string" }],
    ["application/json", { type: "array" }, { type: "array" }],
    ["application/json", undefined, {}],
    ["application/x-www-form-urlencoded", undefined, { type: "object" }],
  ] as const)("of a %s body without properties are one: body", (contentType, schema, expected) => {
    const body = { contentType, ...(schema && { schema }) };
    expect(serviceArguments({ ...operation, body }).known.get("body")).toEqual({
      place: "body",
      required: false,
      schema: expected,
    });
  });
});
