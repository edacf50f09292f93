/** The files of the catalog: what they hold, what is found, and what is refused. */
import { readdirSync } from "node:fs";
import { type ServiceAuth, type ServiceSpec, serviceArguments } from "@millrace/contracts";
import { describe, expect, test } from "vitest";
import { catalogFile, completeService, findServices, lintService } from "../src/index.ts";
import { SOURCES } from "./openapi.ts";
import { CATALOG, complete, PUBLISHED, VARIANTS } from "./support.ts";

const entryOf = (slug: string) => {
  const found = CATALOG.find((entry) => entry.slug === slug);
  if (found === undefined) throw new Error(`no ${slug}`);
  return found;
};

test("each file is a service of its name, with the operations people use most, for every credential", () => {
  const files = readdirSync(new URL("../services/", import.meta.url));
  expect(files.sort()).toEqual(CATALOG.map(({ slug }) => `${slug}.json`).sort());
  expect(CATALOG.length).toBeGreaterThanOrEqual(24);
  for (const [name, service] of VARIANTS) {
    expect(lintService(service), name).toEqual([]);
    const { length } = service.serviceIntegration.operations;
    expect(length >= 5 && length <= 16, `${name} has ${length} operations`).toBe(true);
  }
});

test("each file says of every fact where it is from", () => {
  for (const { slug, meta } of CATALOG) {
    expect(new URL(meta.docs).protocol, slug).toBe("https:");
    const facts = meta.checked.flatMap((each) => each.facts);
    expect(facts, slug).toEqual(expect.arrayContaining(["paths", "required", "auth"]));
    for (const { how, source, on } of meta.checked) {
      if (how !== "memory") expect(on, slug).toMatch(/^\d{4}-\d\d-\d\d$/);
      if (how === "read") expect(new URL(source ?? "").protocol, slug).toBe("https:");
      if (how === "published") {
        const { [slug]: endpoints } = PUBLISHED.operations;
        const sources = [PUBLISHED.auth, endpoints, SOURCES[slug]].map((each) => each?.source);
        const [name = "", version = ""] = source?.replace(/^npm |,/g, "").split(" ") ?? [];
        expect(sources, slug).toContain(`${name}@${version}`);
      }
    }
  }
});

describe("what is published for programs", () => {
  test.each(Object.keys(PUBLISHED.operations))(
    "%s has its paths, methods and required parameters",
    (slug) => {
      const { baseUrl, operations } = entryOf(slug).serviceIntegration;
      const known = PUBLISHED.operations[slug]?.operations ?? {};
      const base = baseUrl.replace(/^https:\/\/[^/]+/, "");
      for (const [id, { method, path, required, scopes }] of Object.entries(known)) {
        const operation = operations.find((each) => each.id === id);
        if (operation === undefined)
          throw new Error(`${slug} ${id} is gone: run scripts/check-catalog.mjs`);
        expect([operation.method, base + operation.path]).toEqual([method, path]);
        const given = [...serviceArguments(operation).known].filter(([, one]) => one.required);
        expect(
          given.map(([name]) => name),
          id,
        ).toEqual(expect.arrayContaining([...required]));
        if (scopes !== undefined) expect(operation.scopes ?? [], id).toEqual(scopes);
      }
      const told = entryOf(slug).meta.checked.find(({ how }) => how === "published")?.source ?? "";
      const unknown = operations.filter(({ id }) => !Object.hasOwn(known, id));
      for (const { id } of unknown) expect(told, "what was not found is said").toContain(id);
    },
  );
});

/** What the makers themselves publish otherwise. */
const MAKERS_OWN: Readonly<Record<string, object>> = {
  "shopify-oauth": { scopeSeparator: "," },
  hubspot: { tokenUrl: "https://api.hubapi.com/oauth/2026-03/token" },
};

test("credentials are sent, and consents asked for, as is published for programs", () => {
  const { services } = PUBLISHED.auth;
  for (const [name, { origin, params = {}, scopes, authorizeUrl, ...facts }] of Object.entries(
    services,
  )) {
    const entry = entryOf(
      CATALOG.map(({ slug }) => slug).find((slug) => name === slug) ?? name.replace(/-\w+$/, ""),
    );
    const { values = {}, otherAuth = {} } = entry.meta;
    const other = otherAuth[name.slice(entry.slug.length + 1)];
    const { auth, baseUrl }: { auth: ServiceAuth; baseUrl: string } = JSON.parse(
      JSON.stringify({ ...entry.serviceIntegration, ...other }).replace(
        /\{\{(\w+)\}\}/g,
        (_, value: string) =>
          (other?.auth.scheme === "apiKey" ? undefined : values[value]?.default) ?? "*",
      ),
    );
    expect(baseUrl.startsWith(`${origin}/`) || baseUrl === origin, name).toBe(true);
    if (auth.scheme !== "oauth2") {
      expect({ ...auth, ...lower(auth, "name") }, name).toMatchObject(facts);
      continue;
    }
    const [address, query = ""] = auth.authorizeUrl.split("?");
    expect([address, Object.fromEntries(new URLSearchParams(query))], name).toEqual([
      authorizeUrl,
      params,
    ]);
    const { scopeSeparator = " ", clientAuth = "post" } = auth;
    const own = { ...auth, scopeSeparator, clientAuth, ...lower(auth, "tokenHeader") };
    expect(own, name).toMatchObject({ ...facts, ...MAKERS_OWN[name] });
    const asked = [
      ...auth.scopes,
      ...Object.keys(auth.includes ?? {}),
      ...Object.values(auth.includes ?? {}).flat(),
    ];
    const unknown = asked.filter((scope) => scopes?.includes(scope) === false);
    expect(unknown, name).toEqual(name === "microsoft-graph" ? ["Channel.ReadBasic.All"] : []);
  }
});

test("a consent comes back to an address that the credential names, unless the maker takes any port of loopback", () => {
  const anyPort = /^(?:github|gmail|google-\w+|microsoft-graph)$/;
  for (const [name, { slug, serviceIntegration }] of VARIANTS) {
    const { auth } = serviceIntegration;
    if (auth.scheme !== "oauth2") continue;
    const { port = 0, path } = auth.redirect ?? {};
    expect(port === 0, name).toBe(anyPort.test(slug));
    if (port === 0) continue;
    expect(entryOf(slug).meta.credential, name).toContain(`http://127.0.0.1:${port}${path}`);
  }
});

/** A name of a header, whose case says nothing. */
function lower(auth: object, member: string): object {
  const text = (auth as { readonly [name: string]: unknown })[member];
  return typeof text === "string" ? { [member]: text.toLowerCase() } : {};
}

test("words find services by name before what they are for", () => {
  const slugs = (...words: string[]) => findServices(CATALOG, words).map(({ slug }) => slug);
  expect(slugs()).toHaveLength(CATALOG.length);
  expect(slugs("git")[0]).toBe("github");
  expect(slugs("MAIL").slice(0, 1)).toEqual(["gmail"]);
  expect(slugs("mail", "google")).toEqual(["gmail"]);
  expect(slugs("nothing of this")).toEqual([]);
});

test("a file is read by its slug alone, and no other file is", async () => {
  expect((await catalogFile("github"))?.title).toBe("GitHub");
  for (const slug of ["nope", "../package", "../../README", "a/b", ""]) {
    expect(await catalogFile(slug)).toBeUndefined();
  }
});

describe("a completion", () => {
  const zendesk = entryOf("zendesk");

  test("fills in what was given and what is usual, and takes another credential", () => {
    expect(complete(zendesk).serviceIntegration.baseUrl).toBe("https://acme.zendesk.com/api/v2");
    const { service } = completeService(entryOf("gitlab"));
    expect(service?.serviceIntegration.baseUrl).toBe("https://gitlab.com/api/v4");
    const token = complete(entryOf("github"), "token");
    expect(token.serviceIntegration.auth).toEqual({ scheme: "bearer" });
  });

  test.each([
    [
      "a missing value",
      {},
      ["subdomain is missing: the first part of your-company.zendesk.com, such as acme"],
    ],
    [
      "an unknown one",
      { values: { subdomain: "a", host: "b" } },
      ['zendesk has no value "host"; it takes subdomain'],
    ],
    [
      "one that leaves its place",
      { values: { subdomain: "evil.example/#" } },
      ["the value of subdomain must be letters, digits, dots and hyphens, such as acme"],
    ],
    [
      "an unknown credential",
      { auth: "magic", values: { subdomain: "a" } },
      ['zendesk has no credential "magic"; there is oauth'],
    ],
  ])("refuses %s", (_name, options, problems) => {
    expect(completeService(zendesk, options)).toEqual({ service: null, problems });
  });

  test.each([
    "10.1.2.3",
    "127.0.0.1",
    "192.168.0.9",
    "169.254.169.254",
    "0",
    "gitlab.local",
    "intranet",
  ])("refuses %s, which is in somebody's own network", (host) => {
    const { service, problems } = completeService(entryOf("gitlab"), { values: { host } });
    expect(service).toBeNull();
    expect(problems[0]).toContain("which is not on the public internet");
  });
});

test.each([
  ["http", { baseUrl: "http://127.0.0.1/" }, "baseUrl must be https:"],
  ["a private address of IPv6", { baseUrl: "https://[fd00::1]/" }, "baseUrl leads to fd00::1"],
  ["IPv4 within IPv6", { baseUrl: "https://[::ffff:10.0.0.1]/" }, "baseUrl leads to ::ffff:a00:1"],
  ["an address as a number", { baseUrl: "https://2130706433/" }, "baseUrl leads to 127.0.0.1"],
  [
    "a scope that no consent asks for",
    {
      auth: {
        scheme: "oauth2",
        authorizeUrl: "https://a.example",
        tokenUrl: "https://a.example",
        scopes: [],
      },
      operations: [{ id: "a", method: "GET", path: "/", scopes: ["x"] }],
    },
    "operation a needs the scope x, which auth does not know",
  ],
  [
    "two operations of one id",
    {
      operations: [
        { id: "a", method: "GET", path: "/" },
        { id: "a", method: "GET", path: "/b" },
      ],
    },
    "/serviceIntegration/operations/1",
  ],
])("the lint finds %s", (_name, change, problem) => {
  const { serviceIntegration, ...rest } = complete(entryOf("openweather"));
  const wrong = {
    ...rest,
    serviceIntegration: { ...serviceIntegration, ...change },
  } as ServiceSpec;
  expect(lintService(wrong)[0]).toContain(problem);
});
