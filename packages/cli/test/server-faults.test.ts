/** A server that is named and is down, half up, another version, or no Millrace server at all: every kind of command says so and ends with 6. */
import type { RequestListener } from "node:http";
import { serveHttp } from "@millrace/test-support/loopback";
import { expect, onTestFinished, test, vi } from "vitest";
import { lastSummary } from "./cli.ts";
import { flow, inside } from "./inside.ts";

/** Longest that a command may wait for a server that has accepted its connection. */
const PATIENCE_MS = 120_000;
const files = { "x.flow": flow("node a: log {", '  message = "hi"', "}") };

/** A query, a check, streams, and those with ways of their own to a server. */
const COMMANDS = [
  "runs list",
  "validate x.flow",
  "run x.flow",
  "run stored-flow",
  "runs tail run_1",
  "confirm run_1 --approve",
  "connections list",
  "models scan",
  "hubs sync acme",
  "invoke get_meta",
];

const FAULTS: readonly (readonly [
  string,
  RequestListener | undefined,
  (origin: string) => string,
])[] = [
  ["down", undefined, (origin) => `the server ${origin}: ECONNREFUSED`],
  ["half up", () => {}, (origin) => `the server ${origin}: it did not answer in time`],
  [
    "another version",
    (_, response) => response.writeHead(200, { "millrace-api-version": "2" }).end("{}"),
    (origin) => `${origin} speaks version 2 of the API, and this program version 1`,
  ],
  [
    "a page",
    (_, response) => response.writeHead(200, { "content-type": "text/html" }).end("<p>sign in</p>"),
    (origin) => `${origin} answered, and not as a Millrace server does`,
  ],
  [
    "a gateway whose server is gone",
    (_, response) =>
      response.writeHead(502, { "content-type": "text/html" }).end("<p>bad gateway</p>"),
    (origin) => `the server ${origin}: it answered 502`,
  ],
];

test.each(FAULTS)("%s", async (name, handler, message) => {
  const { url: origin, close } = await serveHttp(handler ?? (() => {}));
  if (handler === undefined) await close();
  const timeout = AbortSignal.timeout.bind(AbortSignal);
  const waits = vi.spyOn(AbortSignal, "timeout");
  if (name === "half up") waits.mockImplementation(() => timeout(20));
  onTestFinished(() => waits.mockRestore());
  for (const words of COMMANDS) {
    const told = await inside([...words.split(" "), "--server", origin], { files });
    expect([words, told.code, told.stdout], told.stderr).toEqual([words, 6, ""]);
    expect(told.stderr, words).toContain(`error: ${message(origin)}`);
    expect(told.stderr.trimEnd().split("\n"), words).toHaveLength(1);
  }
  const json = await inside(["run", "x.flow", "--json", "--server", origin], { files });
  expect(lastSummary(json.stdout)).toMatchObject({ exitCode: 6, error: { code: "unavailable" } });
  const query = await inside(["runs", "list", "--json", "--server", origin], { files });
  expect([query.code, query.stdout, JSON.parse(query.stderr).code]).toEqual([
    6,
    "",
    "upstream_failed",
  ]);
  for (const [ms] of waits.mock.calls) expect(ms).toBeLessThanOrEqual(PATIENCE_MS);
});

test("the server of a configuration is asked like one that is named; that of a project only when it is trusted", async () => {
  const server = { server: { url: "http://127.0.0.1:1" } };
  const own = { ...files, "config.json": JSON.stringify(server) };
  const project = { ...files, "millrace.json": JSON.stringify(server) };
  const check = async (from: Record<string, string>, env = {}, more: string[] = []) => {
    const { code } = await inside(["validate", "x.flow", ...more], { files: from, env });
    return code;
  };
  expect(await check(own, { MILLRACE_HOME: "." })).toBe(6);
  expect(await check(own, { MILLRACE_HOME: "." }, ["--server", ""])).toBe(0);
  expect(await check(project)).toBe(0);
  expect(await check(project, { MILLRACE_TRUST_PROJECT: "1" })).toBe(6);
  expect(await check(files, { MILLRACE_SERVER_URL: "http://127.0.0.1:1" })).toBe(6);
});
