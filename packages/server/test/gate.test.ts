/** The gate, row by row, on a real socket: what is written here is what a client may send. */
import type { StartOptions } from "@millrace/server";
import { describe, expect, test } from "vitest";
import { type RawAnswer, sendRaw, serve } from "./support/server.ts";

const TOKEN = "0123456789abcdef-admin";
const OTHER = "0123456789abcdef-other";
const READER = `reader:read:${OTHER}`;
const ORIGIN = "https://studio.example";

interface Row {
  readonly name: string;
  readonly options?: StartOptions;
  /** Request line, then header lines; `Host: localhost` is added unless a line gives one. */
  readonly lines: readonly string[];
  readonly body?: string;
  readonly status: number;
  readonly code?: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

const bearer = (token: string): string => `Authorization: Bearer ${token}`;
const json = (body: string): string[] => [
  "Content-Type: application/json",
  `Content-Length: ${Buffer.byteLength(body)}`,
];
const target = (path: string): Row => ({
  name: `the target ${path}`,
  lines: [`GET ${path} HTTP/1.1`],
  status: 400,
  code: "bad_target",
});
const invocation = '{"command":"get_meta","args":{}}';

const rows: readonly Row[] = [
  // 0: below the app
  { name: "bytes that are no HTTP", lines: ["nonsense"], status: 400, code: "bad_header" },
  {
    name: "headers of more bytes than allowed",
    lines: ["GET /api/meta HTTP/1.1", `X-Long: ${"x".repeat(20_000)}`],
    status: 431,
    code: "headers_too_large",
  },
  {
    name: "more headers than allowed",
    lines: ["GET /api/meta HTTP/1.1", ...Array.from({ length: 101 }, (_, i) => `X-${i}: 1`)],
    status: 431,
    code: "headers_too_large",
  },
  {
    name: "an expectation that is not 100-continue",
    lines: ["POST /api/invoke HTTP/1.1", "Expect: tea", ...json("{}")],
    status: 417,
    code: "expectation_failed",
  },
  {
    name: "a declared length over the limit behind 100-continue",
    lines: [
      "POST /api/invoke HTTP/1.1",
      "Expect: 100-continue",
      "Content-Type: application/json",
      "Content-Length: 9000000",
    ],
    status: 413,
    code: "body_too_large",
  },
  // 2: target
  target("http://localhost/api/meta"),
  target("//api/meta"),
  target("/api//meta"),
  target("/api/../api/meta"),
  target("/api/./meta"),
  target("/api/%2e%2e/meta"),
  target("/api/meta/"),
  target("/api\\meta"),
  target("/api/meta;v=1"),
  target("/api%2fmeta"),
  target("/api%5Cmeta"),
  target("/api/%00"),
  target("/api/%ff"),
  target("/api/%zz"),
  { name: "the target *", lines: ["OPTIONS * HTTP/1.1"], status: 400, code: "bad_target" },
  // 3: headers
  {
    name: "an upgrade",
    lines: ["GET /api/meta HTTP/1.1", "Connection: Upgrade", "Upgrade: websocket"],
    status: 400,
    code: "bad_header",
  },
  {
    name: "two hosts",
    lines: ["GET /api/meta HTTP/1.1", "Host: localhost", "Host: localhost"],
    status: 400,
    code: "bad_header",
  },
  {
    name: "two content types",
    lines: ["POST /api/invoke HTTP/1.1", "Content-Type: text/plain", ...json("{}")],
    status: 400,
    code: "bad_header",
  },
  {
    name: "two origins",
    lines: ["GET /api/meta HTTP/1.1", "Origin: http://localhost", "Origin: http://localhost"],
    status: 400,
    code: "bad_header",
  },
  {
    name: "two authorizations",
    options: { tokens: [TOKEN] },
    lines: ["GET /api/meta HTTP/1.1", bearer(TOKEN), bearer(TOKEN)],
    status: 401,
    code: "unauthorized",
  },
  // 4, 5: host
  {
    name: "an empty host",
    lines: ["GET /api/meta HTTP/1.1", "Host:"],
    status: 400,
    code: "bad_host",
  },
  {
    name: "a host with userinfo",
    lines: ["GET /api/meta HTTP/1.1", "Host: a@localhost"],
    status: 400,
    code: "bad_host",
  },
  {
    name: "a host with a blank",
    lines: ["GET /api/meta HTTP/1.1", "Host: local host"],
    status: 400,
    code: "bad_host",
  },
  {
    name: "a host that is no canonical address",
    lines: ["GET /api/meta HTTP/1.1", "Host: 127.1"],
    status: 400,
    code: "bad_host",
  },
  {
    name: "no host at all",
    lines: ["GET /api/meta HTTP/1.0", "X-No-Host: 1"],
    status: 400,
    code: "bad_host",
  },
  {
    name: "a foreign host",
    lines: ["GET /api/meta HTTP/1.1", "Host: evil.example"],
    status: 403,
    code: "host_not_allowed",
  },
  {
    name: "a host with a final dot",
    lines: ["GET /api/meta HTTP/1.1", "Host: localhost."],
    status: 403,
    code: "host_not_allowed",
  },
  {
    name: "a foreign address on a loopback bind",
    lines: ["GET /api/meta HTTP/1.1", "Host: 10.0.0.1"],
    status: 403,
    code: "host_not_allowed",
  },
  {
    name: "localhost in capitals, with any port",
    lines: ["GET /api/meta HTTP/1.1", "Host: LOCALHOST:80"],
    status: 200,
  },
  {
    name: "the loopback address",
    lines: ["GET /api/meta HTTP/1.1", "Host: 127.0.0.1:6455"],
    status: 200,
  },
  {
    name: "the loopback address of IPv6",
    lines: ["GET /api/meta HTTP/1.1", "Host: [::1]:6455"],
    status: 200,
  },
  {
    name: "a host that the operator allows",
    options: { allowedHosts: ["flows.example"] },
    lines: ["GET /api/meta HTTP/1.1", "Host: flows.example"],
    status: 200,
  },
  {
    name: "the host of the public URL",
    options: { publicUrl: "https://public.example/" },
    lines: ["GET /api/meta HTTP/1.1", "Host: public.example", "Origin: https://public.example"],
    status: 200,
  },
  {
    name: "the health route with a foreign host",
    lines: ["GET /api/health HTTP/1.1", "Host: evil.example"],
    status: 403,
    code: "host_not_allowed",
  },
  // 6, 7: origin
  {
    name: "a foreign origin",
    lines: ["GET /api/meta HTTP/1.1", "Origin: https://evil.example"],
    status: 403,
    code: "origin_not_allowed",
  },
  {
    name: "the origin null",
    lines: ["GET /api/meta HTTP/1.1", "Origin: null"],
    status: 403,
    code: "origin_not_allowed",
  },
  {
    name: "another port of localhost",
    lines: ["GET /api/meta HTTP/1.1", "Origin: http://localhost:3000"],
    status: 403,
    code: "origin_not_allowed",
  },
  {
    name: "its own origin",
    lines: ["GET /api/meta HTTP/1.1", "Host: localhost:6455", "Origin: http://localhost:6455"],
    status: 200,
    headers: { "access-control-allow-origin": undefined },
  },
  {
    name: "an origin that the operator allows",
    options: { allowedOrigins: [ORIGIN] },
    lines: ["GET /api/meta HTTP/1.1", `Origin: ${ORIGIN}`],
    status: 200,
    headers: {
      "access-control-allow-origin": ORIGIN,
      vary: "Origin",
      "access-control-allow-credentials": undefined,
    },
  },
  {
    name: "a cross-site fetch",
    lines: ["GET /api/meta HTTP/1.1", "Sec-Fetch-Site: cross-site"],
    status: 403,
    code: "origin_not_allowed",
  },
  {
    name: "a same-site fetch",
    lines: ["GET /api/meta HTTP/1.1", "Sec-Fetch-Site: same-site"],
    status: 403,
    code: "origin_not_allowed",
  },
  {
    name: "a same-origin fetch",
    lines: ["GET /api/meta HTTP/1.1", "Sec-Fetch-Site: same-origin"],
    status: 200,
  },
  {
    name: "a cross-site navigation into the API",
    lines: ["GET /api/meta HTTP/1.1", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"],
    status: 403,
    code: "origin_not_allowed",
  },
  {
    name: "a cross-site navigation to a page",
    lines: ["GET / HTTP/1.1", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"],
    status: 200,
  },
  // 8: preflight
  {
    name: "a preflight of an allowed origin",
    options: { allowedOrigins: [ORIGIN], tokens: [TOKEN] },
    lines: [
      "OPTIONS /api/run HTTP/1.1",
      `Origin: ${ORIGIN}`,
      "Access-Control-Request-Method: POST",
    ],
    status: 204,
    headers: {
      "access-control-allow-origin": ORIGIN,
      "access-control-allow-methods": "POST",
      "access-control-allow-headers":
        "authorization, content-type, idempotency-key, if-match, if-none-match, last-event-id, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id",
      "access-control-max-age": "600",
      "access-control-allow-private-network": "true",
      "access-control-allow-credentials": undefined,
    },
  },
  {
    name: "OPTIONS without an origin",
    lines: ["OPTIONS /api/run HTTP/1.1"],
    status: 405,
    code: "method_not_allowed",
    headers: { allow: "POST" },
  },
  // 9, 10: tokens
  {
    name: "health without a token",
    options: { tokens: [TOKEN] },
    lines: ["GET /api/health HTTP/1.1"],
    status: 200,
  },
  {
    name: "readiness by HEAD without a token",
    options: { tokens: [TOKEN] },
    lines: ["HEAD /api/ready HTTP/1.1"],
    status: 200,
  },
  {
    name: "health by POST without a token",
    options: { tokens: [TOKEN] },
    lines: ["POST /api/health HTTP/1.1"],
    status: 401,
    code: "unauthorized",
  },
  {
    name: "hooks, which are off",
    options: { tokens: [TOKEN] },
    lines: ["POST /hooks/abc HTTP/1.1"],
    status: 404,
    code: "not_found",
  },
  ...[
    ["no token", []],
    ["a wrong token", [bearer("0123456789abcdef-wrong")]],
    ["a token that is too short to be one", [bearer("x")]],
    ["two blanks before the token", [`Authorization: Bearer  ${TOKEN}`]],
    ["another scheme", [`Authorization: Basic ${TOKEN}`]],
    ["the token in a cookie", [`Cookie: token=${TOKEN}`]],
    ["the token in a header of another name", [`X-Api-Key: ${TOKEN}`]],
  ].map(([name, lines]) => ({
    name: `${name}`,
    options: { tokens: [TOKEN] },
    lines: ["GET /api/meta HTTP/1.1", ...(lines as string[])],
    status: 401,
    code: "unauthorized",
    headers: { "www-authenticate": "Bearer" },
  })),
  {
    name: "the token in the query",
    options: { tokens: [TOKEN] },
    lines: [`GET /api/meta?token=${TOKEN} HTTP/1.1`],
    status: 401,
    code: "unauthorized",
  },
  {
    name: "an unknown path without a token",
    options: { tokens: [TOKEN] },
    lines: ["GET /api/none HTTP/1.1"],
    status: 401,
    code: "unauthorized",
  },
  {
    name: "the token",
    options: { tokens: [OTHER, TOKEN] },
    lines: ["GET /api/meta HTTP/1.1", bearer(TOKEN)],
    status: 200,
  },
  {
    name: "the token after a scheme in small letters",
    options: { tokens: [TOKEN] },
    lines: ["GET /api/meta HTTP/1.1", `authorization: bearer ${TOKEN}`],
    status: 200,
  },
  {
    name: "no token from an allowed origin, which may read that",
    options: { tokens: [TOKEN], allowedOrigins: [ORIGIN] },
    lines: ["GET /api/meta HTTP/1.1", `Origin: ${ORIGIN}`],
    status: 401,
    code: "unauthorized",
    headers: { "access-control-allow-origin": ORIGIN },
  },
  // 11: role
  {
    name: "a reader who runs",
    options: { tokens: [READER] },
    lines: ["POST /api/runs HTTP/1.1", bearer(OTHER), ...json("{}")],
    body: "{}",
    status: 403,
    code: "forbidden",
  },
  {
    name: "a reader who reads",
    options: { tokens: [READER] },
    lines: ["GET /api/meta HTTP/1.1", bearer(OTHER)],
    status: 200,
  },
  // 12: route and method
  {
    name: "an unknown path",
    lines: ["GET /api/none HTTP/1.1"],
    status: 404,
    code: "route_not_found",
  },
  {
    name: "an unknown method",
    lines: ["PUT /api/run HTTP/1.1"],
    status: 405,
    code: "method_not_allowed",
    headers: { allow: "POST" },
  },
  {
    name: "a method that Hono does not know",
    lines: ["PURGE /api/meta HTTP/1.1"],
    status: 405,
    code: "method_not_allowed",
    headers: { allow: "GET" },
  },
  { name: "HEAD where only GET is", lines: ["HEAD /api/meta HTTP/1.1"], status: 405 },
  {
    name: "an overridden method",
    lines: ["GET /api/run HTTP/1.1", "X-HTTP-Method-Override: POST"],
    status: 405,
    code: "method_not_allowed",
  },
  // 14: type and encoding
  {
    name: "a body that is compressed",
    lines: ["POST /api/invoke HTTP/1.1", "Content-Encoding: gzip", ...json("{}")],
    body: "{}",
    status: 415,
    code: "unsupported_media_type",
  },
  ...[
    "text/plain",
    "application/json; charset=latin1",
    "application/jsonx",
    "application/merge-patch+json",
  ].map((type) => ({
    name: `a body of type ${type}`,
    lines: ["POST /api/invoke HTTP/1.1", `Content-Type: ${type}`, "Content-Length: 2"],
    body: "{}",
    status: 415,
    code: "unsupported_media_type",
  })),
  {
    name: "a body without a type",
    lines: ["POST /api/invoke HTTP/1.1", "Content-Length: 2"],
    body: "{}",
    status: 415,
    code: "unsupported_media_type",
  },
  {
    name: "a body of type application/json with the charset written out",
    lines: [
      "POST /api/invoke HTTP/1.1",
      'Content-Type: Application/JSON ; charset="UTF-8"',
      `Content-Length: ${invocation.length}`,
    ],
    body: invocation,
    status: 200,
  },
  // 15: length
  {
    name: "a declared length over the limit",
    lines: [
      "POST /api/invoke HTTP/1.1",
      "Content-Type: application/json",
      "Content-Length: 9000000",
    ],
    status: 413,
    code: "body_too_large",
    headers: { connection: "close" },
  },
  {
    name: "a chunk over the limit",
    options: { maxBodyBytes: 10 },
    lines: [
      "POST /api/invoke HTTP/1.1",
      "Content-Type: application/json",
      "Transfer-Encoding: chunked",
    ],
    body: `20\r\n${"x".repeat(32)}\r\n`,
    status: 413,
    code: "body_too_large",
    headers: { connection: "close" },
  },
  // 16: bytes
  ...[
    ["no JSON", "{"],
    ["bytes that are no UTF-8", '{"command":"\xff"}'],
    ["a byte order mark", "\xef\xbb\xbf{}"],
  ].map(([name, body]) => ({
    name: `a body with ${name}`,
    lines: [
      "POST /api/invoke HTTP/1.1",
      "Content-Type: application/json",
      `Content-Length: ${(body as string).length}`,
    ],
    body: body as string,
    status: 400,
    code: "bad_json",
  })),
  {
    name: "a body of 201 levels",
    lines: ["POST /api/invoke HTTP/1.1", ...json("[".repeat(201) + "]".repeat(201))],
    body: "[".repeat(201) + "]".repeat(201),
    status: 400,
    code: "json_too_deep",
  },
  ...['{"__proto__":{}}', '{"args":{"\\u005f_proto__":1}}'].map((body) => ({
    name: `a body with the key __proto__, as in ${body}`,
    lines: ["POST /api/invoke HTTP/1.1", ...json(body)],
    body,
    status: 422,
    code: "invalid_args",
  })),
  {
    name: "a body whose last duplicate key wins",
    lines: [
      "POST /api/invoke HTTP/1.1",
      ...json('{"command":"no","command":"get_meta","args":{}}'),
    ],
    body: '{"command":"no","command":"get_meta","args":{}}',
    status: 200,
  },
];

/** Every answer of the server carries these. */
function expectBaseHeaders({ headers }: RawAnswer): void {
  expect(headers.get("x-request-id")).toMatch(/^[0-9a-z]{6,}$/);
  expect(headers.get("millrace-api-version")).toBe("1");
  expect(headers.get("x-content-type-options")).toBe("nosniff");
  expect(headers.get("referrer-policy")).toBe("no-referrer");
  expect(headers.get("cross-origin-resource-policy")).toBe("same-origin");
  expect(headers.get("content-security-policy")).toBe("default-src 'none'; frame-ancestors 'none'");
  expect(headers.get("cache-control")).toBe("no-store");
  for (const name of ["server", "x-powered-by", "set-cookie"])
    expect(headers.has(name)).toBe(false);
}

describe("the gate", () => {
  test.each(rows)(
    "answers $status to $name",
    async ({ options, lines, body = "", status, code, headers = {} }) => {
      const server = await serve(options);
      const [first = "", ...more] = lines;
      const hosted = more.some((line) => /^(?:x-no-)?host:/i.test(line))
        ? more
        : ["Host: localhost", ...more];
      const answer = await sendRaw(server, `${[first, ...hosted].join("\r\n")}\r\n\r\n${body}`);
      expect(answer.status).toBe(status);
      expectBaseHeaders(answer);
      for (const [name, value] of Object.entries(headers))
        expect(answer.headers.get(name)).toBe(value);
      if (code === undefined) return;
      expect(answer.headers.get("content-type")).toBe("application/problem+json");
      const problem = JSON.parse(answer.body);
      expect(problem).toMatchObject({
        type: `https://millrace.dev/problems/${code}`,
        status,
        code,
        requestId: answer.headers.get("x-request-id"),
      });
    },
  );
});

test("an inbound request id is ignored, and no two requests have the same", async () => {
  const server = await serve();
  const ids = new Set<string>();
  for (let i = 0; i < 20; i += 1) {
    const response = await fetch(`${server.url}/api/health`, {
      headers: { "x-request-id": "mine" },
    });
    ids.add(response.headers.get("x-request-id") ?? "");
  }
  expect(ids.size).toBe(20);
  expect(ids.has("mine")).toBe(false);
});

test("a body is asked for only after the request has passed", async () => {
  const server = await serve();
  const answer = await sendRaw(
    server,
    `POST /api/invoke HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n${json(invocation).join("\r\n")}\r\n\r\n`,
  );
  expect(answer.status).toBe(100);
  const refused = await sendRaw(
    server,
    `POST /api/invoke HTTP/1.1\r\nHost: evil.example\r\nExpect: 100-continue\r\n${json(invocation).join("\r\n")}\r\n\r\n`,
  );
  expect(refused.status).toBe(403);
});

test("the socket of a refused request with an unread body is closed", async () => {
  const server = await serve();
  const answer = await sendRaw(
    server,
    "POST /api/none HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
  );
  expect(answer.status).toBe(404);
  expect(answer.headers.get("connection")).toBe("close");
  await new Promise((resolve) => answer.socket.once("close", resolve));
});

test("a non-loopback bind lets in any address literal, but no name that is not allowed", async () => {
  const server = await serve({ host: "0.0.0.0", tokens: [TOKEN], allowedHosts: ["flows.example"] });
  const local = { ...server, address: { ...server.address, address: "127.0.0.1" } };
  const ask = (host: string) =>
    sendRaw(local, `GET /api/health HTTP/1.1\r\nHost: ${host}\r\n\r\n`).then(
      ({ status }) => status,
    );
  expect(await ask("192.0.2.7:6455")).toBe(200);
  expect(await ask("[2001:db8::1]")).toBe(200);
  expect(await ask("flows.example")).toBe(200);
  expect(await ask("rebound.example")).toBe(403);
});

test("an address that keeps failing is told to wait, and a valid token still passes", async () => {
  const server = await serve({ tokens: [TOKEN] });
  const ask = async (token: string) => {
    const response = await fetch(`${server.url}/api/meta`, {
      headers: { authorization: `Bearer ${token}` },
    });
    await response.text();
    return response.status;
  };
  const statuses = new Set<number>();
  for (let i = 0; i < 2_000 && !statuses.has(429); i += 1)
    statuses.add(await ask("wrong-0123456789abcdef"));
  expect([...statuses]).toEqual([401, 429]);
  expect(await ask(TOKEN)).toBe(200);
});
