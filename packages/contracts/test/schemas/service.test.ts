import { checkService, checkServiceIntegration } from "@millrace/contracts";
import { serviceIntegrationSchema, serviceSpecSchema } from "@millrace/contracts/schemas";
import fc from "fast-check";
import { expect, test } from "vitest";

// Values that are right in some member, or nearly so, and some that are right nowhere.
const leaf = fc.constantFrom<unknown>(
  ...[undefined, null, true, false, 0, 1, 70_000, -1, 1.5, "", "a/b~"],
  ..."x GET DELETE /a /a/{id} //a apiKey oauth2 bearer header cursor link 429 401".split(" "),
  ..."write json text/plain cookie https://a.example http://a.example".split(" "),
  ..."http://127.0.0.1 ftp://a".split(" "),
  ...[[], {}, ["x"], ["x", "x"], [1], { type: "object" }],
  ...[{ type: "object", properties: { id: { type: "string" } } }, { const: 1 }, { $ref: "#/x" }],
);
const key = fc.constantFrom(
  ..."baseUrl auth operations scheme in name prefix authorizeUrl tokenUrl scopes".split(" "),
  ..."clientAuth redirect port path id title method effect params query headers".split(" "),
  ..."body contentType schema required result resultType maxBytes strictResult".split(" "),
  ..."pagination kind param next items retryOn idempotencyHeader timeoutMs slug".split(" "),
  ..."summary serviceIntegration meta extra".split(" "),
);
const start = {
  slug: "tracker",
  title: "T",
  summary: "S",
  meta: { a: 1 },
  serviceIntegration: {
    baseUrl: "https://api.example",
    auth: {
      scheme: "oauth2",
      authorizeUrl: "https://a.example",
      tokenUrl: "https://a.example",
      scopes: ["a"],
      redirect: { port: 0, path: "/cb" },
      extraParams: { a: "b" },
    },
    operations: [
      {
        id: "make",
        method: "POST",
        path: "/a/{id}",
        params: { type: "object", properties: { id: { type: "string" } } },
        body: { contentType: "application/json", schema: { type: "object" }, required: true },
        retryOn: ["429"],
      },
      {
        id: "list",
        title: "List",
        method: "GET",
        path: "/a",
        pagination: { kind: "page", param: "p", start: 1, items: "/items" },
        scopes: [],
        timeoutMs: 1_000,
      },
      {
        id: "key",
        method: "GET",
        path: "/k",
        pagination: { kind: "offset", param: "o", limitParam: "l", limit: 1, items: "" },
      },
    ],
  },
};

/** Sets or removes one member of one object somewhere inside. */
const change = fc.record({ at: fc.nat(), key, value: leaf });
type Change = { at: number; key: string; value: unknown };

function changed(root: unknown, { at, key: name, value }: Change): unknown {
  const copy = structuredClone(root);
  const objects: { [name: string]: unknown }[] = [];
  const collect = (each: unknown): void => {
    if (typeof each !== "object" || each === null) return;
    if (!Array.isArray(each)) objects.push(each as { [name: string]: unknown });
    for (const inner of Object.values(each)) collect(inner);
  };
  collect(copy);
  const target = objects[at % objects.length];
  if (target === undefined) return copy;
  if (value === undefined) delete target[name];
  else target[name] = value;
  return copy;
}

test("the zod schema takes exactly the services that checkService finds nothing in", () => {
  const services = fc
    .array(change, { maxLength: 3 })
    .map((changes) => changes.reduce<unknown>(changed, start));
  let valid = 0;
  fc.assert(
    fc.property(services, (service) => {
      const found = checkService(service);
      expect(serviceSpecSchema.safeParse(service).success, JSON.stringify(found)).toBe(
        found.length === 0,
      );
      if (found.length === 0) valid += 1;
    }),
    { numRuns: 2_000 },
  );
  expect(valid).toBeGreaterThan(100);
});

test("a finding of the rules is an issue at the same place, with its code", () => {
  const bad = { ...start.serviceIntegration, baseUrl: "http://a.example" };
  expect(checkServiceIntegration(bad)).toMatchObject([
    { pointer: "/baseUrl", code: "service_url" },
  ]);
  expect(serviceIntegrationSchema.safeParse(bad).error?.issues).toMatchObject([
    { path: ["baseUrl"], params: { code: "service_url" } },
  ]);
});

test("its JSON Schema names the members of a service, an operation and an auth scheme", () => {
  const { properties, additionalProperties } = serviceSpecSchema.toJSONSchema({ io: "input" });
  expect(additionalProperties).toBe(false);
  const members = ["slug", "title", "summary", "serviceIntegration", "meta"];
  expect(Object.keys(properties ?? {})).toEqual(members);
  const text = JSON.stringify(properties?.["serviceIntegration"]);
  for (const word of ["baseUrl", "tokenUrl", "idempotencyHeader", "limitParam", "oauth2"]) {
    expect(text).toContain(`"${word}"`);
  }
});
