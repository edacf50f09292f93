/** Variables and secrets of flows over HTTP: in force for new runs, kept with each run, and a secret in no answer. */
import { serveHttp } from "@millrace/test-support/loopback";
import { expect, test } from "vitest";
import { invoke, post, problemOf, serve } from "./support/server.ts";

const SECRET = "planted-named-secret";

test("a variable is in force for new runs, a retry has that of its run, and no answer has a secret", async () => {
  const seen: string[] = [];
  const { port: other } = await serveHttp((request, response) => {
    seen.push(`other ${request.headers["x-key"]}`);
    response.end("{}");
  });
  const { port } = await serveHttp((request, response) => {
    seen.push(`${request.url} ${request.headers["x-key"]}`);
    const location = `http://127.0.0.1:${other}/`;
    response.writeHead([500, 200, 302][seen.length - 1] ?? 200, { location });
    response.end(JSON.stringify({ said: request.headers["x-key"] }));
  });
  const server = await serve({
    credentials: { store: "memory" },
    environment: "prod",
    egress: { allow: [{ host: "127.0.0.1" }] },
  });
  const dsl = `flow 1 shop

node call: http.request {
  url = "http://127.0.0.1:${port}/\${vars.region}"
  headers = { x-key: "Key \${secrets.shop_key}" }
}

output said: any = call.body
`;
  const put = (path: string, body: object): Promise<Response> =>
    post(server, path, body, { method: "PUT" });
  const unset = await post(server, "/api/runs", { dsl });
  expect(await problemOf(unset)).toMatchObject({
    code: "input_invalid",
    errors: [{ pointer: "/vars", message: expect.stringContaining("vars.region is not set") }],
  });
  const large = await put("/api/vars/region", { value: "x".repeat(65_536) });
  expect(await problemOf(large)).toMatchObject({
    code: "invalid_args",
    errors: [{ pointer: "/value", message: "a variable has at most 65536 bytes" }],
  });
  await put("/api/vars/region", { value: "all" });
  await put("/api/vars/region", { value: "eu", environment: "prod" });
  await put("/api/secrets/shop_key", { value: "of-all-environments" });
  const set = await put("/api/secrets/shop_key", { value: SECRET, environment: "prod" });
  const answers = [await set.text()];
  for (const value of ["12345", "ends-blank ", "two\r\nlines"]) {
    expect((await put("/api/secrets/refused", { value })).status).toBe(422);
  }
  const run = async (command: string, args: object) => {
    const ended = await invoke(server, command, args);
    answers.push(JSON.stringify(ended));
    return ended as { runId: string; status: string };
  };
  const failed = await run("run_and_wait", { dsl, waitMs: 10_000 });
  await put("/api/vars/region", { value: "us", environment: "prod" });
  const again = await run("retry_run", { runId: failed.runId });
  const log = await fetch(`${server.url}/api/runs/${again.runId}/events`, {
    headers: { accept: "text/event-stream" },
  });
  answers.push(await log.text());
  await run("run_and_wait", { dsl, waitMs: 10_000 });
  expect(seen).toEqual([
    ...["/eu", "/eu", "/us"].map((path) => `${path} Key ${SECRET}`),
    "other undefined", // it was redirected to another origin
  ]);
  for (const path of ["vars", "secrets", `runs/${failed.runId}`, `runs/${again.runId}`]) {
    answers.push(await (await fetch(`${server.url}/api/${path}`)).text());
  }
  expect(answers.join("\n")).not.toContain(SECRET);
  expect(answers.join("\n")).toContain("[redacted]");
  const { items } = (await invoke(server, "list_vars", {})) as { items: object[] };
  expect(items).toEqual([
    { name: "region", value: "all" },
    { name: "region", environment: "prod", value: "us" },
  ]);
  await invoke(server, "delete_secret", { name: "shop_key", environment: "prod" });
  const gone = { name: "shop_key", environment: "prod" };
  const missing = await post(server, "/api/invoke", { command: "delete_secret", args: gone });
  expect(missing.status).toBe(404);
  const listed = (await invoke(server, "list_secrets", {})) as { items: object[] };
  expect(listed.items).toEqual([{ name: "shop_key", setAt: expect.stringMatching(/Z$/) }]);
});
