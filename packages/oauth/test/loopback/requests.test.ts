/** What a request says, row by row: the page it gets and what becomes of the wait. */
import { describe, expect, test } from "vitest";
import {
  asked,
  expectFree,
  failureOf,
  get,
  type Options,
  STATE,
  send,
  statusOf,
} from "./support.ts";

/** What the wait gets: the code, or the body of its error; undefined: the wait goes on. */
type Outcome = string | { readonly body: string } | undefined;
type Row = [name: string, page: 200 | 400 | 404, bytes: string | Uint8Array, Outcome, Options?];

const failed = (body: string) => ({ body });
const denied = (error: string) => failed(`authorization denied: ${error}`);
const MISMATCH = failed("OAuth state mismatch (possible CSRF)");
const ISSUER = failed("OAuth issuer mismatch");
const expectedIssuer = "https://issuer.example";
const iss = encodeURIComponent(expectedIssuer);
const path = "/cb";
const requireStateOnError = true;

const rows: readonly Row[] = [
  // the line
  ["a redirect", 200, get(`/callback?code=abc&state=${STATE}`), "abc"],
  ["any path", 200, get(`/else/where?code=abc&state=${STATE}`), "abc"],
  ["a bare line feed", 200, `GET /?code=abc&state=${STATE} HTTP/1.1\n`, "abc"],
  ["no third word", 200, `GET /?code=abc&state=${STATE}\r\n`, "abc"],
  ["no third word and no carriage return", 200, `GET /?state=${STATE}&code=abc\n`, "abc"],
  ["words after the third", 200, `GET /?code=abc&state=${STATE} HTTP/1.1 and more\r\n`, "abc"],
  ["a target in absolute form", 200, get(`http://127.0.0.1:1/cb?code=abc&state=${STATE}`), "abc"],
  [
    "an absolute target without a path",
    200,
    get(`HTTP://127.0.0.1?code=abc&state=${STATE}`),
    "abc",
  ],
  ["a fragment", 200, get(`/?state=${STATE}&code=abc#&code=def`), "abc"],
  ["a query in a fragment", 404, get(`/#?code=abc&state=${STATE}`), undefined],
  ["a second question mark", 200, get(`/?state=${STATE}&code=a?b`), "a?b"],
  ["HEAD", 404, `HEAD /?code=abc&state=${STATE} HTTP/1.1\r\n\r\n`, undefined],
  [
    "POST",
    404,
    `POST /?code=abc&state=${STATE} HTTP/1.1\r\nContent-Length: 4\r\n\r\na=b&`,
    undefined,
  ],
  ["OPTIONS", 404, "OPTIONS * HTTP/1.1\r\n\r\n", undefined],
  ["a method in lower case", 404, `get /?code=abc&state=${STATE} HTTP/1.1\r\n\r\n`, undefined],
  ["a method alone", 404, "GET\r\n", undefined],
  ["two spaces before the target", 404, `GET  /?code=abc&state=${STATE}\r\n`, undefined],
  ["an empty line", 404, "\r\n", undefined],
  ["a TLS hello", 404, Uint8Array.of(22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3, 0, 255, 10, 0), undefined],
  ["the favicon", 404, get("/favicon.ico"), undefined],
  // the query
  ["neither code nor error", 404, get(`/callback?state=${STATE}`), undefined],
  ["an empty query", 404, get("/callback?"), undefined],
  ["a code that begins another name", 404, get(`/?code_=abc&xcode=abc&state=${STATE}`), undefined],
  ["a name that is code only when decoded", 404, get(`/?c%6fde=abc&state=${STATE}`), undefined],
  ["a name in capitals", 404, get(`/?CODE=abc&state=${STATE}`), undefined],
  ["a semicolon, which parts nothing", 200, get(`/?code=abc;state=${STATE}`), MISMATCH],
  ["empty parameters", 200, get(`/?&&code=abc&&state=${STATE}&`), "abc"],
  ["two codes: the first counts", 200, get(`/?code=1&code=2&state=${STATE}`), "1"],
  ["two states: the first counts", 200, get(`/?code=1&state=x&state=${STATE}`), MISMATCH],
  ["two errors: the first counts", 400, get("/?error=a&error=b"), denied("a")],
  ["an empty code", 200, get(`/?code=&state=${STATE}`), ""],
  ["a code without =", 200, get(`/?code&state=${STATE}`), ""],
  ["= in a code", 200, get(`/?code=a=b==&state=${STATE}`), "a=b=="],
  ["plus and %2B", 200, get(`/?code=a+b%2Bc%20d&state=${STATE}`), "a b+c d"],
  ["hexadecimal in both cases", 200, get(`/?code=%2f%2F&state=${STATE}`), "//"],
  ["an encoded separator", 200, get(`/?code=a%26state%3Dx&state=${STATE}`), "a&state=x"],
  [
    "a percent sign that encodes nothing",
    200,
    get(`/?code=%,%4,%zz,%%41&state=${STATE}`),
    "%,%4,%zz,%A",
  ],
  ["UTF-8 as %XX", 200, get(`/?code=%e2%82%ac&state=${STATE}`), "€"],
  ["UTF-8 as bare bytes", 200, Buffer.from(get(`/?code=€&state=${STATE}`)), "€"],
  ["bytes that are no UTF-8", 200, get(`/?code=a%ffb&state=${STATE}`), "a\ufffdb"],
  ["a byte order mark", 200, get(`/?code=%ef%bb%bfa&state=${STATE}`), "\ufeffa"],
  ["a NUL", 200, get(`/?code=a%00b&state=${STATE}`), "a\0b"],
  ["an encoded state", 200, get("/?code=abc&state=the%2dstate"), "abc"],
  [
    "an expected state with every kind of character",
    200,
    get("/?code=1&state=%C3%A4+%26%3D%2B"),
    "1",
    { state: "ä &=+" },
  ],
  // the result
  ["error", 400, get(`/?error=access_denied&state=${STATE}`), denied("access_denied")],
  ["error without a state", 400, get("/?error=access_denied"), denied("access_denied")],
  ["an error that is decoded", 400, get("/?error=a+b%21"), denied("a b!")],
  ["an empty error beside a code", 400, get(`/?code=abc&error=&state=${STATE}`), denied("")],
  ["an error without =", 400, get(`/?code=abc&error&state=${STATE}`), denied("")],
  ["another state", 200, get("/?code=abc&state=the-statE"), MISMATCH],
  ["a state that is longer", 200, get(`/?code=abc&state=${STATE}x`), MISMATCH],
  ["a state that is shorter", 200, get("/?code=abc&state=the-stat"), MISMATCH],
  ["no state", 200, get("/?code=abc"), MISMATCH],
  ["an empty state", 200, get("/?code=abc&state="), MISMATCH],
  // the options
  ["the path asked for", 200, get(`/cb?code=abc&state=${STATE}`), "abc", { path }],
  [
    "the path asked for, in absolute form",
    200,
    get(`http://x/cb?code=abc&state=${STATE}`),
    "abc",
    { path },
  ],
  [
    "the path asked for, with a query of its own",
    200,
    get(`/cb?t=1&code=abc&state=${STATE}`),
    "abc",
    { path: "/cb?t=1" },
  ],
  ["another path", 404, get(`/cb/?code=abc&state=${STATE}`), undefined, { path }],
  ["another path with an error", 404, get("/x?error=access_denied"), undefined, { path }],
  [
    "an error that must have a state and has none",
    400,
    get("/?error=access_denied"),
    undefined,
    { requireStateOnError },
  ],
  [
    "an error that must have a state and has another",
    400,
    get("/?error=access_denied&state=x"),
    undefined,
    { requireStateOnError },
  ],
  [
    "an error with the state it must have",
    400,
    get(`/?error=no&state=${STATE}`),
    denied("no"),
    { requireStateOnError },
  ],
  [
    "the expected issuer",
    200,
    get(`/?code=abc&state=${STATE}&iss=${iss}`),
    "abc",
    { expectedIssuer },
  ],
  [
    "another issuer",
    200,
    get(`/?code=abc&state=${STATE}&iss=${iss}%2F`),
    ISSUER,
    { expectedIssuer },
  ],
  ["no issuer", 200, get(`/?code=abc&state=${STATE}`), ISSUER, { expectedIssuer }],
  [
    "another issuer and another state",
    200,
    get("/?code=abc&state=x&iss=y"),
    MISMATCH,
    { expectedIssuer },
  ],
  ["an issuer nobody asked about", 200, get(`/?code=abc&state=${STATE}&iss=x`), "abc"],
];

describe("a request", () => {
  test.each(rows)("%s: page %i", async (_name, page, bytes, outcome, options = {}) => {
    const { listener, wanted } = await asked(options);
    expect(statusOf(await send(listener.port, bytes))).toBe(page);
    if (outcome === undefined) {
      const { path: at = "/", state = STATE } = options;
      await send(listener.port, get(`${at}?code=later&state=${state}`));
    }
    if (typeof outcome === "object") {
      const failure = { kind: "Token", status: 400, retryable: false, ...outcome };
      expect(failureOf(await wanted)).toMatchObject(failure);
    } else expect(await wanted).toEqual({ code: outcome ?? "later" });
    await expectFree(listener.port);
  });
});

test("errors say why in words that hold nothing of the request", async () => {
  const reasons: unknown[] = [];
  for (const [query, options] of [
    ["error=access_denied", {}],
    ["error=invalid_scope", {}],
    ["error=s3cret", {}],
    ["code=s3cret&state=s3cret", {}],
    [`code=s3cret&state=${STATE}&iss=s3cret`, { expectedIssuer }],
  ] as const) {
    const { listener, wanted } = await asked(options);
    await send(listener.port, get(`/?${query}`));
    const { message, reason, oauthError, stack } = failureOf(await wanted);
    expect(stack).not.toContain("s3cret");
    reasons.push([message, reason, oauthError]);
  }
  expect(reasons).toEqual([
    ["authorization was denied", "denied", "access_denied"],
    ["authorization was denied (invalid_scope)", "denied", "invalid_scope"],
    ["authorization was denied", "denied", "s3cret"],
    ["OAuth state mismatch", "state_mismatch", undefined],
    ["OAuth issuer mismatch", "issuer_mismatch", undefined],
  ]);
});
