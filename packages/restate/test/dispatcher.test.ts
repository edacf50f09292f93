/** The dispatcher against servers that answer as a node of Restate does, and against strangers. */
import { once } from "node:events";
import { createServer } from "node:http";
import { connect } from "node:http2";
import type { AddressInfo } from "node:net";
import type { Dispatcher } from "@millrace/contracts";
import { createRestateDispatcher, type RestateDispatcherOptions } from "@millrace/restate";
import { freePort } from "@millrace/test-support/ports";
import { expect, onTestFinished, test } from "vitest";

const KEY = "publickeyv1_HPuSSkkhvzTPq5Xs56YN3mdbsBRWEPouuPRtdFfba9DA";
const NOWHERE = "http://127.0.0.1:9"; // nothing listens on the port of "discard"
const GIVEN = { ingress: [NOWHERE], admin: [NOWHERE], listen: "127.0.0.1:9080" };
const PATIENCE = { timeout: 30_000, interval: 10 };

const wrong: [what: string, options: object, message: string][] = [
  ["a misspelt name", { ingres: [] }, 'unknown option "ingres"; did you mean "ingress"?'],
  ["no ingress", { ingress: [] }, '"ingress" must be a list of at least one address'],
  ["one address that is no list", { admin: NOWHERE }, '"admin" must be a list of at least one'],
  ["another protocol", { ingress: ["tcp://a:1"] }, '"ingress" must be http:// or https://'],
  ["a password", { admin: ["http://a:hidden@b"] }, '"admin" must hold no user, no password'],
  ["no port", { listen: "127.0.0.1" }, '"listen" must be a host and a port'],
  ["too large a port", { listen: "127.0.0.1:70000" }, '"listen" must be a host and a port'],
  [
    "all hosts without keys",
    { listen: "0.0.0.0:9080" },
    '"identityKeys" is needed, because "listen"',
  ],
  [
    "all hosts without an endpoint",
    { listen: "[::]:9080", identityKeys: [KEY] },
    '"endpoint" is needed, because "listen" does not say where',
  ],
  ["any port without an endpoint", { listen: "127.0.0.1:0" }, '"endpoint" is needed'],
  ["a key of another form", { identityKeys: ["abc"] }, '"identityKeys" must be a list of keys'],
  ["no place for a drive", { maxDrives: 0 }, '"maxDrives" must be a whole number from 1 to 10000'],
];

test.each(wrong)("options with %s are refused", (_what, options, message) => {
  const create = () => createRestateDispatcher({ ...GIVEN, ...options });
  expect(create).toThrow(TypeError);
  expect(create).toThrow(`createRestateDispatcher: ${message}`);
  expect(create).not.toThrow("hidden");
});

test("options that can be used are taken", () => {
  for (const listen of ["127.0.0.1:1", "localhost:1", "[::1]:1"]) {
    expect(createRestateDispatcher({ ...GIVEN, listen }).condition).toBe("ok");
  }
  const endpoint = "https://workers.internal:9080/";
  const all = { ...GIVEN, listen: "0.0.0.0:0", identityKeys: [KEY], endpoint, maxDrives: 1 };
  expect(createRestateDispatcher(all).condition).toBe("ok");
});

test("a ring goes to the next ingress when one fails, and stays there", async () => {
  const [broken, good] = [await startNode(() => 500), await startNode(() => 202)];
  const dispatcher = open({ ingress: [NOWHERE, broken.url, good.url] });
  await dispatcher.ring("run 1/2");
  await dispatcher.ring("b", { delayMs: 1_500.2 });
  expect(broken.asked).toEqual(["POST /millrace_run/run%201%2F2/drive/send"]);
  expect(good.asked).toEqual([
    "POST /millrace_run/run%201%2F2/drive/send",
    "POST /millrace_run/b/drive/send?delay=1501ms",
  ]);
  expect(good.bodies).toEqual(["", ""]);
});

test("a ring that nobody takes is refused, and the condition says so until one is taken", async () => {
  let status = 503;
  const node = await startNode(() => status);
  const dispatcher = open({ ingress: [node.url] });
  await expect(dispatcher.ring("a")).rejects.toMatchObject({
    code: "dispatcher_unavailable",
    retryable: true,
  });
  expect(dispatcher.condition).toBe("degraded");
  status = 202;
  await dispatcher.ring("a");
  expect(dispatcher.condition).toBe("ok");
});

test("a cluster that does not know the service is told of it before the ring is repeated", async () => {
  let isKnown = false;
  const node = await startNode((path) => {
    if (path !== "/deployments") return isKnown ? 202 : 404;
    isKnown = true;
    return 201;
  });
  const endpoint = "http://workers.internal:9080";
  const dispatcher = open({ ingress: [node.url], admin: [NOWHERE, node.url], endpoint });
  await dispatcher.ring("a");
  expect(node.asked).toEqual([
    "POST /millrace_run/a/drive/send",
    "POST /deployments",
    "POST /millrace_run/a/drive/send",
  ]);
  expect(JSON.parse(node.bodies[1] ?? "")).toEqual({ uri: `${endpoint}/v1`, force: false });
});

test("a server serves before it is registered, and is registered when an admin answers", async () => {
  const answers = [500, 500, 409];
  const node = await startNode(() => answers.shift() ?? 500);
  const ingress = await startNode(() => 200);
  const told: string[] = [];
  const log = { warn: (_fields: object, message = "") => told.push(message) };
  const dispatcher = open({
    ingress: [ingress.url],
    admin: [node.url],
    listen: `127.0.0.1:${await freePort()}`,
    log,
  });
  await dispatcher.serve(async () => "done");
  expect(dispatcher.condition).toBe("degraded");
  await expect.poll(() => dispatcher.condition, PATIENCE).toBe("ok");
  expect(node.asked).toHaveLength(3);
  expect(told).toEqual(["restate.not_registered"]);
});

test("a server that serves finds out that no ingress answers, and that one does again", async () => {
  const admin = await startNode(() => 200);
  let isThere = true;
  const fetchOrFail: typeof fetch = async (url, init) => {
    if (!isThere && String(url).includes("/restate/health")) throw new Error("no route");
    return fetch(url, init);
  };
  const ingress = await startNode(() => 200);
  const dispatcher = open({
    ...{ ingress: [NOWHERE, ingress.url], admin: [admin.url], fetch: fetchOrFail },
    listen: `127.0.0.1:${await freePort()}`,
  });
  await dispatcher.serve(async () => "done");
  await expect.poll(() => dispatcher.condition, PATIENCE).toBe("ok");
  isThere = false;
  await expect.poll(() => dispatcher.condition, PATIENCE).toBe("degraded");
  isThere = true;
  await expect.poll(() => dispatcher.condition, PATIENCE).toBe("ok");
});

test("a port that is taken is an error of `serve`", async () => {
  const node = await startNode(() => 200);
  const dispatcher = open({ listen: node.url.replace("http://", "") });
  await expect(dispatcher.serve(async () => "done")).rejects.toMatchObject({
    code: "dispatcher_unavailable",
    message: expect.stringContaining("EADDRINUSE"),
  });
});

test("strangers are refused: nothing but health is answered without a signature", async () => {
  const port = await freePort();
  const dispatcher = open({ listen: `127.0.0.1:${port}`, identityKeys: [KEY] });
  let calls = 0;
  await dispatcher.serve(async () => {
    calls += 1;
    return "done";
  });
  const forged = {
    "x-restate-signature-scheme": "v1",
    "x-restate-jwt-v1": `${encode({ typ: "JWT", alg: "EdDSA", kid: KEY })}.${encode({ aud: "/v1/invoke/millrace_run/drive", exp: 4e9, nbf: 0 })}.${"A".repeat(86)}`,
  };
  const unsigned = { "x-restate-signature-scheme": "unsigned" };
  const invoke = "/v1/invoke/millrace_run/drive";
  for (const headers of [{}, unsigned, forged]) {
    expect(await ask(port, "/v1/discover", headers)).toBe(401);
    expect(
      await ask(port, invoke, {
        "content-type": "application/vnd.restate.invocation.v6",
        ...headers,
      }),
    ).toBe(401);
  }
  expect(await ask(port, "/v2/invoke/millrace_run/drive")).toBe(503);
  for (const path of ["/", "/v1", "/v1/invoke/other/drive", "/v1/../v1/discover", "/discover"]) {
    expect(await ask(port, path)).toBe(404);
  }
  expect(await ask(port, "/health")).toBe(200);
  expect(calls).toBe(0);
});

/** A dispatcher that ends with its test. */
function open(options: Partial<RestateDispatcherOptions>): Dispatcher {
  const dispatcher = createRestateDispatcher({ ...GIVEN, ...options });
  onTestFinished(() => dispatcher.close());
  return dispatcher;
}

/** A node of Restate that answers with a status. */
async function startNode(answer: (path: string) => number) {
  const asked: string[] = [];
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    asked.push(`${request.method} ${request.url}`);
    bodies.push(Buffer.concat(chunks).toString());
    response.writeHead(answer(request.url ?? ""), { connection: "close" }).end("{}");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, bodies };
}

const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");

/** The status that a stranger gets. */
async function ask(port: number, path: string, headers: object = {}): Promise<unknown> {
  const session = connect(`http://127.0.0.1:${port}`);
  try {
    const stream = session.request({ ":method": "POST", ":path": path, ...headers });
    stream.end();
    const [answer] = await once(stream, "response");
    stream.resume();
    return answer[":status"];
  } finally {
    session.destroy();
  }
}
