/** What a request says, row by row: the page it gets and what becomes of the wait. */
import { describe, expect, test } from "vitest";
import {
  expectFree,
  failureOf,
  get,
  listen,
  type Options,
  STATE,
  send,
  statusOf,
  wait,
} from "./support.ts";

interface Row {
  readonly name: string;
  readonly bytes: string | Uint8Array;
  readonly options?: Options;
  readonly page: 200 | 400 | 404;
  /** The code, or status and body of the error; absent: the wait goes on. */
  readonly code?: string;
  readonly body?: string;
}

const MISMATCH = "OAuth state mismatch (possible CSRF)";
const ISSUER = "OAuth issuer mismatch";
const expectedIssuer = "https://issuer.example";
const iss = encodeURIComponent(expectedIssuer);

const rows: readonly Row[] = [
  // the line
  { name: "a redirect", bytes: get(`/callback?code=abc&state=${STATE}`), page: 200, code: "abc" },
  { name: "any path", bytes: get(`/else/where?code=abc&state=${STATE}`), page: 200, code: "abc" },
  {
    name: "a bare line feed",
    bytes: `GET /?code=abc&state=${STATE} HTTP/1.1\n`,
    page: 200,
    code: "abc",
  },
  { name: "no third word", bytes: `GET /?code=abc&state=${STATE}\r\n`, page: 200, code: "abc" },
  {
    name: "no third word and no carriage return",
    bytes: `GET /?state=${STATE}&code=abc\n`,
    page: 200,
    code: "abc",
  },
  {
    name: "words after the third",
    bytes: `GET /?code=abc&state=${STATE} HTTP/1.1 and more\r\n`,
    page: 200,
    code: "abc",
  },
  {
    name: "a target in absolute form",
    bytes: get(`http://127.0.0.1:1/cb?code=abc&state=${STATE}`),
    page: 200,
    code: "abc",
  },
  {
    name: "an absolute target without a path",
    bytes: get(`HTTP://127.0.0.1?code=abc&state=${STATE}`),
    page: 200,
    code: "abc",
  },
  { name: "a fragment", bytes: get(`/?state=${STATE}&code=abc#&code=def`), page: 200, code: "abc" },
  { name: "a query in a fragment", bytes: get(`/#?code=abc&state=${STATE}`), page: 404 },
  {
    name: "a second question mark",
    bytes: get(`/?state=${STATE}&code=a?b`),
    page: 200,
    code: "a?b",
  },
  { name: "HEAD", bytes: `HEAD /?code=abc&state=${STATE} HTTP/1.1\r\n\r\n`, page: 404 },
  {
    name: "POST",
    bytes: `POST /?code=abc&state=${STATE} HTTP/1.1\r\nContent-Length: 4\r\n\r\na=b&`,
    page: 404,
  },
  { name: "OPTIONS", bytes: "OPTIONS * HTTP/1.1\r\n\r\n", page: 404 },
  {
    name: "a method in lower case",
    bytes: `get /?code=abc&state=${STATE} HTTP/1.1\r\n\r\n`,
    page: 404,
  },
  { name: "a method alone", bytes: "GET\r\n", page: 404 },
  { name: "two spaces before the target", bytes: `GET  /?code=abc&state=${STATE}\r\n`, page: 404 },
  { name: "an empty line", bytes: "\r\n", page: 404 },
  {
    name: "a TLS hello",
    bytes: Uint8Array.of(22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3, 0, 255, 10, 0),
    page: 404,
  },
  { name: "the favicon", bytes: get("/favicon.ico"), page: 404 },
  // the query
  { name: "neither code nor error", bytes: get(`/callback?state=${STATE}`), page: 404 },
  { name: "an empty query", bytes: get("/callback?"), page: 404 },
  {
    name: "a code that begins another name",
    bytes: get(`/?code_=abc&xcode=abc&state=${STATE}`),
    page: 404,
  },
  {
    name: "a name that is code only when decoded",
    bytes: get(`/?c%6fde=abc&state=${STATE}`),
    page: 404,
  },
  { name: "a name in capitals", bytes: get(`/?CODE=abc&state=${STATE}`), page: 404 },
  {
    name: "a semicolon, which parts nothing",
    bytes: get(`/?code=abc;state=${STATE}`),
    page: 200,
    body: MISMATCH,
  },
  { name: "empty parameters", bytes: get(`/?&&code=abc&&state=${STATE}&`), page: 200, code: "abc" },
  {
    name: "two codes: the first counts",
    bytes: get(`/?code=1&code=2&state=${STATE}`),
    page: 200,
    code: "1",
  },
  {
    name: "two states: the first counts",
    bytes: get(`/?code=1&state=x&state=${STATE}`),
    page: 200,
    body: MISMATCH,
  },
  {
    name: "two errors: the first counts",
    bytes: get("/?error=a&error=b"),
    page: 400,
    body: "authorization denied: a",
  },
  { name: "an empty code", bytes: get(`/?code=&state=${STATE}`), page: 200, code: "" },
  { name: "a code without =", bytes: get(`/?code&state=${STATE}`), page: 200, code: "" },
  { name: "= in a code", bytes: get(`/?code=a=b==&state=${STATE}`), page: 200, code: "a=b==" },
  {
    name: "plus and %2B",
    bytes: get(`/?code=a+b%2Bc%20d&state=${STATE}`),
    page: 200,
    code: "a b+c d",
  },
  {
    name: "hexadecimal in both cases",
    bytes: get(`/?code=%2f%2F&state=${STATE}`),
    page: 200,
    code: "//",
  },
  {
    name: "an encoded separator",
    bytes: get(`/?code=a%26state%3Dx&state=${STATE}`),
    page: 200,
    code: "a&state=x",
  },
  {
    name: "a percent sign that encodes nothing",
    bytes: get(`/?code=%,%4,%zz,%%41&state=${STATE}`),
    page: 200,
    code: "%,%4,%zz,%A",
  },
  { name: "UTF-8 as %XX", bytes: get(`/?code=%e2%82%ac&state=${STATE}`), page: 200, code: "€" },
  {
    name: "UTF-8 as bare bytes",
    bytes: Buffer.from(get(`/?code=€&state=${STATE}`)),
    page: 200,
    code: "€",
  },
  {
    name: "bytes that are no UTF-8",
    bytes: get(`/?code=a%ffb&state=${STATE}`),
    page: 200,
    code: "a\ufffdb",
  },
  {
    name: "a byte order mark",
    bytes: get(`/?code=%ef%bb%bfa&state=${STATE}`),
    page: 200,
    code: "\ufeffa",
  },
  { name: "a NUL", bytes: get(`/?code=a%00b&state=${STATE}`), page: 200, code: "a\0b" },
  { name: "an encoded state", bytes: get("/?code=abc&state=the%2dstate"), page: 200, code: "abc" },
  {
    name: "an expected state with every kind of character",
    bytes: get("/?code=1&state=%C3%A4+%26%3D%2B"),
    options: { state: "ä &=+" },
    page: 200,
    code: "1",
  },
  // the result
  {
    name: "error",
    bytes: get(`/?error=access_denied&state=${STATE}`),
    page: 400,
    body: "authorization denied: access_denied",
  },
  {
    name: "error without a state",
    bytes: get("/?error=access_denied"),
    page: 400,
    body: "authorization denied: access_denied",
  },
  {
    name: "an error that is decoded",
    bytes: get("/?error=a+b%21"),
    page: 400,
    body: "authorization denied: a b!",
  },
  {
    name: "an empty error beside a code",
    bytes: get(`/?code=abc&error=&state=${STATE}`),
    page: 400,
    body: "authorization denied: ",
  },
  {
    name: "an error without =",
    bytes: get(`/?code=abc&error&state=${STATE}`),
    page: 400,
    body: "authorization denied: ",
  },
  { name: "another state", bytes: get("/?code=abc&state=the-statE"), page: 200, body: MISMATCH },
  {
    name: "a state that is longer",
    bytes: get(`/?code=abc&state=${STATE}x`),
    page: 200,
    body: MISMATCH,
  },
  {
    name: "a state that is shorter",
    bytes: get("/?code=abc&state=the-stat"),
    page: 200,
    body: MISMATCH,
  },
  { name: "no state", bytes: get("/?code=abc"), page: 200, body: MISMATCH },
  { name: "an empty state", bytes: get("/?code=abc&state="), page: 200, body: MISMATCH },
  // the options
  {
    name: "the path asked for",
    bytes: get(`/cb?code=abc&state=${STATE}`),
    options: { path: "/cb" },
    page: 200,
    code: "abc",
  },
  {
    name: "the path asked for, in absolute form",
    bytes: get(`http://x/cb?code=abc&state=${STATE}`),
    options: { path: "/cb" },
    page: 200,
    code: "abc",
  },
  {
    name: "the path asked for, with a query of its own",
    bytes: get(`/cb?t=1&code=abc&state=${STATE}`),
    options: { path: "/cb?t=1" },
    page: 200,
    code: "abc",
  },
  {
    name: "another path",
    bytes: get(`/cb/?code=abc&state=${STATE}`),
    options: { path: "/cb" },
    page: 404,
  },
  {
    name: "another path with an error",
    bytes: get("/x?error=access_denied"),
    options: { path: "/cb" },
    page: 404,
  },
  {
    name: "an error that must have a state and has none",
    bytes: get("/?error=access_denied"),
    options: { requireStateOnError: true },
    page: 400,
  },
  {
    name: "an error that must have a state and has another",
    bytes: get("/?error=access_denied&state=x"),
    options: { requireStateOnError: true },
    page: 400,
  },
  {
    name: "an error with the state it must have",
    bytes: get(`/?error=no&state=${STATE}`),
    options: { requireStateOnError: true },
    page: 400,
    body: "authorization denied: no",
  },
  {
    name: "the expected issuer",
    bytes: get(`/?code=abc&state=${STATE}&iss=${iss}`),
    options: { expectedIssuer },
    page: 200,
    code: "abc",
  },
  {
    name: "another issuer",
    bytes: get(`/?code=abc&state=${STATE}&iss=${iss}%2F`),
    options: { expectedIssuer },
    page: 200,
    body: ISSUER,
  },
  {
    name: "no issuer",
    bytes: get(`/?code=abc&state=${STATE}`),
    options: { expectedIssuer },
    page: 200,
    body: ISSUER,
  },
  {
    name: "another issuer and another state",
    bytes: get("/?code=abc&state=x&iss=y"),
    options: { expectedIssuer },
    page: 200,
    body: MISMATCH,
  },
  {
    name: "an issuer nobody asked about",
    bytes: get(`/?code=abc&state=${STATE}&iss=x`),
    page: 200,
    code: "abc",
  },
];

describe("a request", () => {
  test.each(rows)("$name: page $page", async ({ bytes, options, page, code, body }) => {
    const listener = await listen();
    const wanted = wait(listener, options);
    expect(statusOf(await send(listener.port, bytes))).toBe(page);
    if (code === undefined && body === undefined) {
      const { path = "/", state = STATE } = options ?? {};
      await send(listener.port, get(`${path}?code=later&state=${state}`));
      expect(await wanted).toEqual({ code: "later" });
    } else if (code !== undefined) {
      expect(await wanted).toEqual({ code });
    } else {
      expect(failureOf(await wanted)).toMatchObject({
        kind: "Token",
        status: 400,
        retryable: false,
      });
      expect(failureOf(await wanted).body).toBe(body);
    }
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
    const listener = await listen();
    const wanted = wait(listener, options);
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
