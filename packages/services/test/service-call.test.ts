import type { FlowGraph, FlowNode, ServiceOperation } from "@millrace/contracts";
import { planOf, runNode } from "@millrace/test-support/flows";
import { graphWith } from "@millrace/test-support/graph";
import { serveHttp } from "@millrace/test-support/loopback";
import { describe, expect, test } from "vitest";
import {
  CALL,
  call,
  engineOf,
  json,
  portOf,
  RECONNECT,
  type Shop,
  startService,
} from "./support.ts";

test("sends the arguments where the operation wants them, with the token, and answers status, headers, body", async () => {
  const shop = await startService(
    (_seen, response) => {
      response.setHeader("X-Made", "yes");
      response.setHeader("Set-Cookie", "a=b");
      json(response, { id: "7" }, 201);
    },
    [
      {
        method: "POST",
        path: "/shops/{shop}/orders",
        params: { type: "object", properties: { shop: { type: "string" } } },
        query: { type: "object", properties: { notify: { type: "boolean" } } },
        headers: { type: "object", properties: { "X-Source": { const: "millrace" } } },
        body: {
          contentType: "application/json",
          schema: { type: "object", properties: { item: {} } },
        },
        idempotencyHeader: "Idempotency-Key",
      },
    ],
  );
  const { output, events } = await call(shop, { args: { shop: "a/b", notify: true, item: [1] } });
  expect(output).toMatchObject({ status: 201, body: { id: "7" }, headers: { "x-made": "yes" } });
  expect(Object.keys(output as object)).toEqual(["status", "headers", "body"]);
  expect((output as { headers: object }).headers).not.toHaveProperty("set-cookie");
  const runId = events[0]?.runId;
  expect(shop.seen).toMatchObject([
    {
      method: "POST",
      url: "/v1/shops/a%2Fb/orders?notify=true",
      body: '{"item":[1]}',
      headers: {
        authorization: "Bearer token-of-the-shop",
        "content-type": "application/json",
        "x-source": "millrace",
        "idempotency-key": `${runId}/node`,
      },
    },
  ]);
});

describe("an answer that says no", () => {
  test.each<[string, Partial<ServiceOperation>, number, boolean]>([
    ["a GET by default", {}, 503, true],
    ["a GET by default", {}, 500, false],
    ["a GET by default", {}, 404, false],
    ["a POST by default", { method: "POST" }, 429, true],
    ["a POST by default", { method: "POST" }, 503, false],
    ["a POST with a key", { method: "POST", idempotencyHeader: "X-Key" }, 503, true],
    ["an operation that says 5xx", { method: "POST", retryOn: ["5xx"] }, 500, true],
    ["an operation that says nothing of it", { retryOn: ["network"] }, 503, false],
  ])("%s: %o %i is retryable %s", async (_name, operation, status, retryable) => {
    const shop = await startService((_s, response) => json(response, {}, status), [operation]);
    const message = `op: 127.0.0.1:${shop.port} answered ${status}`;
    expect((await call(shop)).error).toEqual({ code: "http_status", message, retryable, status });
  });

  test("is tried again by the policy, after Retry-After, with the same key", async () => {
    const shop = await startService(
      (_seen, response) => {
        if (shop.seen.length === 1) response.writeHead(503, { "retry-after": "0" }).end();
        else json(response, {});
      },
      [{ method: "POST", idempotencyHeader: "X-Key" }],
    );
    const policy = { retry: { max: 1, delayMs: 0 }, idempotencyKey: "order-ü" };
    expect((await call(shop, {}, { policy })).output).toMatchObject({ status: 200 });
    const key = "order-%C3%BC";
    expect(shop.seen.map(({ headers }) => headers["x-key"])).toEqual([key, key]);
    expect(shop.seen[0]?.headers["idempotency-key"]).toBe(key); // the flow has written it
  });

  test("is what the service has a place for in an answer of success, and another connection where it says so", async () => {
    const said = ["channel_not_found", "Bearer token-of-the-shop", "token_revoked", ""];
    const shop = await startService(
      (_seen, response) => json(response, { ok: false, error: said.shift() ?? null }),
      [{ method: "POST" }],
      { failure: { at: "/error", reconnect: ["token_revoked"] } },
    );
    const ends = [await call(shop), await call(shop), await call(shop), await call(shop)];
    expect(
      ends.map(({ error }) => [error?.code, error?.message.replace(/127[^ ]+/, "HOST")]),
    ).toEqual([
      ["http_status", "op: HOST answered 200 with the error channel_not_found"],
      ["http_status", "op: HOST answered 200 with an error"],
      ["credentials_expired", `HOST refuses the credential (token_revoked). ${RECONNECT}`],
      [undefined, undefined],
    ]);
    expect(JSON.stringify(ends.map(({ events }) => events))).not.toContain("token-of-the-shop");
  });

  test("of a limit is tried again, when the service says that it counts anew", async () => {
    const shop = await startService(
      (_seen, response) => {
        if (shop.seen.length > 1) json(response, {});
        else response.writeHead(403, { "x-left": "0", "x-reset": "1" }).end();
      },
      [{ method: "POST" }],
      { rateLimit: { statuses: [403], remaining: "X-Left", reset: "X-Reset", resetIs: "epoch" } },
    );
    const policy = { retry: { max: 1, delayMs: 0 } };
    expect((await call(shop, {}, { policy })).output).toMatchObject({ status: 200 });
    const refused = await startService((_seen, response) => json(response, {}, 403), [{}], {
      rateLimit: { statuses: [403], remaining: "X-Left" },
    });
    expect((await call(refused, {}, { policy })).error).toMatchObject({ retryable: false });
  });

  test("shows the beginning of its body at debug alone, without the token", async () => {
    const shop = await startService((seen, response) => {
      response.writeHead(400).end(`you sent ${seen.headers.authorization} ${"x".repeat(5_000)}`);
    });
    const { events, error } = await call(shop);
    expect(error?.message).not.toContain("you sent");
    const logs = events.filter((event) => event.kind === "log");
    expect(logs).toMatchObject([{ level: "debug" }]);
    expect(logs[0]).toHaveProperty("text", `you sent Bearer [redacted] ${"x".repeat(2_021)}`);
  });

  test("hides a token of which only the beginning was read", async () => {
    const token = `long-token-${"abcdefgh".repeat(1_000)}`;
    const shop = await startService((_seen, response) => {
      response.writeHead(400).end(token.repeat(40));
    });
    const { events } = await call(shop, {}, { port: portOf([token]).port });
    expect(JSON.stringify(events)).not.toContain("long-token");
  });
});

describe("the network", () => {
  test.each([
    ["GET", true],
    ["POST", false],
  ] as const)(
    "a %s that finds nobody, or takes too long, may be tried again: %s; its error names the host",
    async (method, retryable) => {
      const shop = await startService(() => {}, [{ method, timeoutMs: 30 }]);
      expect((await call(shop)).error).toEqual({
        code: "timeout",
        message: `op: no whole answer in time (30 ms): 127.0.0.1:${shop.port}`,
        retryable,
      });
      const gone = await startService(() => {}, [{ method }]);
      await new Promise((closed) => gone.server.close(closed));
      expect((await call(gone)).error).toEqual({
        code: "network",
        message: `op: the connection failed (ECONNREFUSED): 127.0.0.1:${gone.port}`,
        retryable,
      });
    },
  );

  test("redirects of a GET are followed on the origin, never to another one, and those of a POST not at all", async () => {
    const far = await serveHttp((_request, response) => response.end("{}"));
    const shop = await startService(
      (seen, response) => {
        const to = seen.url.endsWith("/near") ? "/v1/end" : `${far.url}/end`;
        if (seen.url === "/v1/end") json(response, { at: "end" });
        else response.writeHead(302, { location: to }).end();
      },
      [
        { id: "near", path: "/near" },
        { id: "far", path: "/far" },
        { id: "post", path: "/near", method: "POST" },
      ],
    );
    expect((await call(shop, { operation: "near" })).output).toMatchObject({ body: { at: "end" } });
    expect((await call(shop, { operation: "far" })).error).toMatchObject({
      code: "egress_denied",
      message: expect.stringContaining("connection-origin"),
    });
    expect((await call(shop, { operation: "post" })).error?.code).toBe("egress_denied");
    expect(far.connections()).toBe(0);
  });
});

describe("results", () => {
  const result = { type: "object", required: ["id"], properties: { id: { type: "string" } } };

  test("one that is not of the schema is a warning, and with strictResult a failure", async () => {
    const answer = (strictResult: boolean) =>
      startService((_seen, response) => json(response, { id: 7 }), [{ result, strictResult }]);
    const { output, events } = await call(await answer(false));
    expect(output).toMatchObject({ body: { id: 7 } });
    expect(events.find(({ kind }) => kind === "log")).toMatchObject({
      level: "warn",
      code: "service_result_mismatch",
      text: expect.stringMatching(/^op: body\/id must be string/),
    });
    expect((await call(await answer(true))).error?.code).toBe("output_schema");
  });

  test.each([
    ["json", '{"a":1}', { a: 1 }],
    ["json", "", null],
    ["text", "grüße", "grüße"],
    ["base64", "\u0001\u0002", "AQI="],
  ] as const)("%s of %j is %j", async (resultType, sent, body) => {
    const shop = await startService((_s, response) => response.end(sent), [{ resultType }]);
    expect((await call(shop)).output).toMatchObject({ body });
  });

  test("one that cannot be read, or is too large, fails", async () => {
    const shop = await startService(
      (_s, response) => response.end("<html>"),
      [{}, { id: "small", maxBytes: 3, resultType: "text" }],
    );
    expect((await call(shop)).error?.code).toBe("decode_failed");
    expect((await call(shop, { operation: "small" })).error?.code).toBe("response_too_large");
  });
});

test("no event holds a planted credential, in whatever form the service repeats it", async () => {
  const secrets = { user: "planted-user:planted-pass/word+1", key: "planted%key%" };
  const echo = ({ headers, url }: Shop["seen"][number]) => {
    const decoded = Buffer.from(String(headers.authorization).slice(6), "base64").toString();
    return { ...headers, url, decoded };
  };
  const basic = await startService((seen, response) => json(response, echo(seen)), [{}], {
    auth: { scheme: "basic" },
  });
  const query = await startService((seen, response) => json(response, echo(seen), 400), [{}], {
    auth: { scheme: "apiKey", in: "query", name: "key", prefix: "k-" },
  });
  const first = await call(basic, {}, { port: portOf([secrets.user]).port });
  expect(basic.seen[0]?.headers.authorization).toBe(`Basic ${btoa(secrets.user)}`);
  const second = await call(query, {}, { port: portOf([secrets.key]).port });
  expect(query.seen[0]?.url).toBe("/v1/things?key=k-planted%25key%25");
  const text = JSON.stringify([first.events, second.events]);
  for (const hidden of ["planted", btoa(secrets.user), "pass/word"]) {
    expect(text).not.toContain(hidden);
  }
  expect(text).toContain("[redacted]");
});

test("an unknown operation or service is operation_unknown, without a request", async () => {
  const shop = await startService(() => {}, [{ id: "orders.list" }]);
  expect((await call(shop, { operation: "orders.lst" })).error).toEqual({
    code: "operation_unknown",
    message: 'there is no operation "orders.lst"; there are orders.list',
    retryable: false,
  });
  const { error } = await call(shop, {}, { connection: { service: "none" } });
  expect(error?.code).toBe("operation_unknown");
});

test("a cached answer belongs to one slug", async () => {
  const shop = await startService((_s, response) => json(response, shop.seen.length));
  const engine = engineOf(shop, portOf(["token-of-the-shop"]).port);
  const bodyFor = async (slug: string) => {
    const plan = await planOf(
      graphWith({
        nodes: [{ ...CALL, policy: { cache: { ttlMs: 60_000 } } }],
        outputs: [{ name: "body", value: { $: "n.body" } }],
        connections: [{ name: "shop", auth: "oauth", slug }],
      }),
    );
    return (await engine.run(plan).result).outputs?.["body"];
  };
  expect([await bodyFor("eu"), await bodyFor("eu"), await bodyFor("us")]).toEqual([1, 1, 2]);
  await engine.close();
});

test("http.request renews the credential of its connection in the same way", async () => {
  const shop = await startService((seen, response) => {
    json(response, {}, seen.headers.authorization === "Bearer fresh-token" ? 200 : 401);
  });
  const { port, calls } = portOf(["stale-token", "fresh-token"]);
  const { output } = await runNode(
    "http.request",
    { url: `${shop.url}/any`, connection: "shop" },
    {
      credentials: port,
      services: { get: () => shop.service },
      connections: [{ name: "shop", auth: "oauth" }],
    },
  );
  expect(output).toMatchObject({ status: 200 });
  expect(calls.renew).toEqual(["stale-token"]);
});

test("a called flow uses the connections that it declares itself", async () => {
  const shop = await startService((_seen, response) => json(response, {}));
  const asked: string[] = [];
  const engine = engineOf(shop, {
    ...portOf(["token-of-the-shop"]).port,
    resolve: async (slug) => {
      asked.push(slug);
      return { scheme: "bearer", scopes: [], reveal: () => "token-of-the-shop" };
    },
  });
  const flow = (id: string, nodes: readonly FlowNode[]): FlowGraph =>
    graphWith({ id, nodes, connections: [{ name: "shop", auth: "oauth", slug: `${id}-shop` }] });
  const graph = flow("inner", [CALL]);
  const called = { id: "call", type: "subflow", fields: { flow: "inner" } };
  const subflows = { get: async () => ({ graph, digest: `sha256:${"0".repeat(64)}` }) };
  const plan = await planOf(flow("outer", [CALL, called]), { subflows });
  expect((await engine.run(plan).result).status).toBe("succeeded");
  expect(asked.sort()).toEqual(["inner-shop", "outer-shop"]);
  await engine.close();
});

const refusal = new Error("a note that nobody can take");
test.each<[string, () => void]>([
  [
    "throws",
    () => {
      throw refusal;
    },
  ],
  ["rejects", async () => Promise.reject(refusal)],
])(
  "a port that %s when it is told of a refused credential changes nothing",
  async (_name, refused) => {
    const service = await startService((_seen, response) => json(response, {}, 401));
    const port = { ...portOf(["one", "two"]).port, refused };
    expect((await call(service, {}, { port })).error?.code).toBe("credentials_expired");
  },
);
