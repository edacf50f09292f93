/** The gate, row by row, on a real socket: what is written here is what a client may send. */
import { type RunningServer, type StartOptions, start } from "@millrace/server";
import { afterAll, describe, expect, test } from "vitest";
import { keepLog, type RawAnswer, sendRaw, serve } from "./support/server.ts";

const TOKEN = "0123456789abcdef-admin";
const OTHER = "0123456789abcdef-other";
const READER = `reader:read:${OTHER}`;
const ORIGIN = "https://studio.example";

interface Row {
  readonly name: string;
  /** Request line, then header lines; `Host: localhost` is added unless a line gives one. */
  readonly lines: readonly string[];
  readonly status: number;
  readonly code?: string | undefined;
  readonly body?: string;
  readonly options?: StartOptions;
  readonly headers?: Readonly<Record<string, string | undefined>>;
}
type More = Pick<Row, "body" | "options" | "headers">;

const bearer = (token: string): string => `Authorization: Bearer ${token}`;
const json = (body: string): string[] => [
  "Content-Type: application/json",
  `Content-Length: ${body.length}`,
];
/** A row: name, answer (`status code`), the request as a line and its header lines. */
const row = (name: string, answer: string, request: string | string[], more: More = {}): Row => {
  const [status, code] = answer.split(" ");
  const [first = "", ...headers] = typeof request === "string" ? request.split("\n") : request;
  const version = / HTTP/.test(first) || !first.includes(" ") ? "" : " HTTP/1.1";
  return { name, status: Number(status), code, lines: [first + version, ...headers], ...more };
};
/** A row that asks for `/api/meta`. */
const get = (name: string, answer: string, headers: string | string[], more?: More): Row =>
  row(name, answer, ["GET /api/meta", ...[headers].flat()], more);
/** A row that posts a body to `/api/invoke`. */
const sent = (name: string, answer: string, body: string, headers: string[] = json(body)): Row =>
  row(name, answer, ["POST /api/invoke", ...headers], { body });

const guarded = { options: { tokens: [TOKEN] } };
const NAVIGATION = ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"];
const reader = { options: { tokens: [READER] } };
const invocation = '{"command":"get_meta","args":{}}';
const twice = '{"command":"no","command":"get_meta","args":{}}';
const nested = "[".repeat(201) + "]".repeat(201);
const TOO_LONG = ["Content-Type: application/json", "Content-Length: 9000000"];
const CLOSED = { headers: { connection: "close" } };
const type = (value: string): string[] => [`Content-Type: ${value}`, "Content-Length: 2"];

const rows: readonly Row[] = [
  // 0: below the app
  row("bytes that are no HTTP", "400 bad_header", "nonsense"),
  get(
    "headers of more bytes than allowed",
    "431 headers_too_large",
    `X-Long: ${"x".repeat(20_000)}`,
  ),
  get(
    "more headers than allowed",
    "431 headers_too_large",
    Array.from({ length: 101 }, (_, i) => `X-${i}: 1`),
  ),
  sent("an expectation that is not 100-continue", "417 expectation_failed", "", [
    "Expect: tea",
    ...json("{}"),
  ]),
  sent("a declared length over the limit behind 100-continue", "413 body_too_large", "", [
    "Expect: 100-continue",
    ...TOO_LONG,
  ]),
  // 2: target
  ...[
    ...["http://localhost/api/meta", "//api/meta", "/api//meta", "/api/../api/meta"],
    ...["/api/./meta", "/api/%2e%2e/meta", "/api/meta/", "/api\\meta", "/api/meta;v=1"],
    ...["/api%2fmeta", "/api%5Cmeta", "/api/%00", "/api/%ff", "/api/%zz"],
  ].map((path) => row(`the target ${path}`, "400 bad_target", `GET ${path}`)),
  row("the target *", "400 bad_target", "OPTIONS *"),
  // 3: headers
  get("an upgrade", "400 bad_header", ["Connection: Upgrade", "Upgrade: websocket"]),
  get("two hosts", "400 bad_header", ["Host: localhost", "Host: localhost"]),
  sent("two content types", "400 bad_header", "", ["Content-Type: text/plain", ...json("{}")]),
  get("two origins", "400 bad_header", ["Origin: http://localhost", "Origin: http://localhost"]),
  get("two authorizations", "401 unauthorized", [bearer(TOKEN), bearer(TOKEN)], guarded),
  // 4, 5: host
  get("an empty host", "400 bad_host", "Host:"),
  get("a host with userinfo", "400 bad_host", "Host: a@localhost"),
  get("a host with a blank", "400 bad_host", "Host: local host"),
  get("a host that is no canonical address", "400 bad_host", "Host: 127.1"),
  row("no host at all", "400 bad_host", "GET /api/meta HTTP/1.0\nX-No-Host: 1"),
  get("a foreign host", "403 host_not_allowed", "Host: evil.example"),
  get("a host with a final dot", "403 host_not_allowed", "Host: localhost."),
  get("a foreign address on a loopback bind", "403 host_not_allowed", "Host: 10.0.0.1"),
  get("localhost in capitals, with any port", "200", "Host: LOCALHOST:80"),
  get("the loopback address", "200", "Host: 127.0.0.1:6455"),
  get("the loopback address of IPv6", "200", "Host: [::1]:6455"),
  get("a host that the operator allows", "200", "Host: flows.example", {
    options: { allowedHosts: ["flows.example"] },
  }),
  get(
    "the host of the public URL",
    "200",
    ["Host: public.example", "Origin: https://public.example"],
    { options: { publicUrl: "https://public.example/" } },
  ),
  row(
    "the health route with a foreign host",
    "403 host_not_allowed",
    "GET /api/health\nHost: evil.example",
  ),
  // 6, 7: origin
  get("a foreign origin", "403 origin_not_allowed", "Origin: https://evil.example"),
  get("the origin null", "403 origin_not_allowed", "Origin: null"),
  get("another port of localhost", "403 origin_not_allowed", "Origin: http://localhost:3000"),
  get("its own origin", "200", ["Host: localhost:6455", "Origin: http://localhost:6455"], {
    headers: { "access-control-allow-origin": undefined },
  }),
  get("an origin that the operator allows", "200", `Origin: ${ORIGIN}`, {
    options: { allowedOrigins: [ORIGIN] },
    headers: {
      "access-control-allow-origin": ORIGIN,
      vary: "Origin",
      "access-control-allow-credentials": undefined,
    },
  }),
  get("a cross-site fetch", "403 origin_not_allowed", "Sec-Fetch-Site: cross-site"),
  get("a same-site fetch", "403 origin_not_allowed", "Sec-Fetch-Site: same-site"),
  get("a same-origin fetch", "200", "Sec-Fetch-Site: same-origin"),
  get("a cross-site navigation into the API", "403 origin_not_allowed", NAVIGATION),
  row("a cross-site navigation to a page", "200", ["GET /", ...NAVIGATION]),
  // 8: preflight
  row(
    "a preflight of an allowed origin",
    "204",
    ["OPTIONS /api/run", `Origin: ${ORIGIN}`, "Access-Control-Request-Method: POST"],
    {
      options: { allowedOrigins: [ORIGIN], tokens: [TOKEN] },
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
  ),
  row("OPTIONS without an origin", "405 method_not_allowed", "OPTIONS /api/run", {
    headers: { allow: "POST" },
  }),
  // 9, 10: tokens
  row("health without a token", "200", "GET /api/health", guarded),
  row("readiness by HEAD without a token", "200", "HEAD /api/ready", guarded),
  row("health by POST without a token", "401 unauthorized", "POST /api/health", guarded),
  row("hooks, which are off", "404 not_found", "POST /hooks/abc", guarded),
  ...Object.entries({
    "no token": [],
    "a wrong token": bearer("0123456789abcdef-wrong"),
    "a token that is too short to be one": bearer("x"),
    "two blanks before the token": `Authorization: Bearer  ${TOKEN}`,
    "another scheme": `Authorization: Basic ${TOKEN}`,
    "the token in a cookie": `Cookie: token=${TOKEN}`,
    "the token in a header of another name": `X-Api-Key: ${TOKEN}`,
  }).map(([name, headers]) =>
    get(name, "401 unauthorized", headers, {
      ...guarded,
      headers: { "www-authenticate": "Bearer" },
    }),
  ),
  row("the token in the query", "401 unauthorized", `GET /api/meta?token=${TOKEN}`, guarded),
  row("an unknown path without a token", "401 unauthorized", "GET /api/none", guarded),
  get("the token", "200", bearer(TOKEN), { options: { tokens: [OTHER, TOKEN] } }),
  get(
    "the token after a scheme in small letters",
    "200",
    `authorization: bearer ${TOKEN}`,
    guarded,
  ),
  get(
    "no token from an allowed origin, which may read that",
    "401 unauthorized",
    `Origin: ${ORIGIN}`,
    {
      options: { tokens: [TOKEN], allowedOrigins: [ORIGIN] },
      headers: { "access-control-allow-origin": ORIGIN },
    },
  ),
  // 11: role
  row("a reader who runs", "403 forbidden", ["POST /api/runs", bearer(OTHER), ...json("{}")], {
    ...reader,
    body: "{}",
  }),
  get("a reader who reads", "200", bearer(OTHER), reader),
  // 12: route and method
  row("an unknown path", "404 route_not_found", "GET /api/none"),
  row("an unknown method", "405 method_not_allowed", "PUT /api/run", {
    headers: { allow: "POST" },
  }),
  row("a method that Hono does not know", "405 method_not_allowed", "PURGE /api/meta", {
    headers: { allow: "GET" },
  }),
  row("HEAD where only GET is", "405", "HEAD /api/meta"),
  row(
    "an overridden method",
    "405 method_not_allowed",
    "GET /api/run\nX-HTTP-Method-Override: POST",
  ),
  // 14: type and encoding
  sent("a body that is compressed", "415 unsupported_media_type", "{}", [
    "Content-Encoding: gzip",
    ...json("{}"),
  ]),
  ...[
    "text/plain",
    "application/json; charset=latin1",
    "application/jsonx",
    "application/merge-patch+json",
  ].map((value) =>
    sent(`a body of type ${value}`, "415 unsupported_media_type", "{}", type(value)),
  ),
  sent("a body without a type", "415 unsupported_media_type", "{}", ["Content-Length: 2"]),
  sent("a body of type application/json with the charset written out", "200", invocation, [
    'Content-Type: Application/JSON ; charset="UTF-8"',
    `Content-Length: ${invocation.length}`,
  ]),
  // 15: length
  row(
    "a declared length over the limit",
    "413 body_too_large",
    ["POST /api/invoke", ...TOO_LONG],
    CLOSED,
  ),
  row(
    "a chunk over the limit",
    "413 body_too_large",
    "POST /api/invoke\nContent-Type: application/json\nTransfer-Encoding: chunked",
    { ...CLOSED, options: { maxBodyBytes: 10 }, body: `20\r\n${"x".repeat(32)}\r\n` },
  ),
  // 16: bytes, each one character here
  sent("a body with no JSON", "400 bad_json", "{"),
  sent("a body with bytes that are no UTF-8", "400 bad_json", '{"command":"\xff"}'),
  sent("a body with a byte order mark", "400 bad_json", "\xef\xbb\xbf{}"),
  sent("a body of 201 levels", "400 json_too_deep", nested),
  ...['{"__proto__":{}}', '{"args":{"\\u005f_proto__":1}}'].map((body) =>
    sent(`a body with the key __proto__, as in ${body}`, "422 invalid_args", body),
  ),
  sent("a body whose last duplicate key wins", "200", twice),
];

/** Every answer of the server carries these. */
function expectBaseHeaders({ headers }: RawAnswer): void {
  expect(headers.get("x-request-id")).toMatch(/^[0-9a-z]{6,}$/);
  expect(Object.fromEntries(headers)).toMatchObject({
    "millrace-api-version": "1",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cache-control": "no-store",
  });
  for (const name of ["server", "x-powered-by", "set-cookie"])
    expect(headers.has(name)).toBe(false);
}

describe("the gate", () => {
  /** By their options: no request changes what the next one is answered. */
  const servers = new Map<string, Promise<RunningServer>>();
  const serverWith = (options: StartOptions = {}): Promise<RunningServer> => {
    const key = JSON.stringify(options);
    const known = servers.get(key);
    if (known !== undefined) return known;
    const log = keepLog();
    const server = start({ port: 0, signals: false, store: "memory", log, ...options });
    servers.set(key, server);
    return server;
  };
  afterAll(async () => {
    for (const server of servers.values()) await (await server).close({ graceMs: 0 });
  });

  test.each(rows)(
    "answers $status to $name",
    async ({ options, lines, body = "", status, code, headers = {} }) => {
      const server = await serverWith(options);
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
  const ask = async (host: string) => {
    const lines = ["POST /api/invoke HTTP/1.1", `Host: ${host}`, "Expect: 100-continue"];
    const head = [...lines, ...json(invocation), "", ""].join("\r\n");
    return (await sendRaw(server, head)).status;
  };
  expect(await ask("localhost")).toBe(100);
  expect(await ask("evil.example")).toBe(403);
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
