/** Connecting, calling, losing and mending a connection, as a person does on the command line. */

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { serveHttp } from "@millrace/test-support/loopback";
import { expect, test } from "vitest";
import { lastSummary, postJson, urlOf } from "./cli.ts";
import { type ServiceWorld, serviceWorld } from "./service-world.ts";

const CONNECT = ["connect", "tracker", "--client-id", "client", "--secret-stdin"];

/** The port of the redirect in the address that was shown. */
function portOf(stderr: string): number {
  const [, port = ""] = /redirect_uri=http%3A%2F%2F127\.0\.0\.1%3A(\d+)/.exec(stderr) ?? [];
  return Number(port);
}

function bind(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(port, "127.0.0.1", () => server.close(() => resolve()));
  });
}

test("a flow calls a connected service, survives a 401, and ends with 5 and the line that helps when the grant is gone", async () => {
  const world = await serviceWorld();
  const said: string[] = [];
  const note = <T extends { stdout: string; stderr: string }>(ended: T): T => {
    said.push(ended.stdout, ended.stderr);
    return ended;
  };
  const stdin = "client-secret\n";
  const run = async (...words: readonly string[]) => note(await world.run(words, { stdin }));
  const here = async (...words: readonly string[]) => note(await world.here(words, { stdin }));
  const before = await here("run", "issues.flow", "--json");
  expect([before.code, lastSummary(before.stdout).error?.message]).toEqual([
    5,
    expect.stringContaining("Connect it: millrace connect tracker"),
  ]);

  const connected = await run(...CONNECT);
  expect(connected.code, connected.stderr).toBe(0);
  expect(connected.stderr).toContain(`${world.authorization.authorizeUrl}?response_type=code&`);
  expect(connected.stdout).toContain("tracker  connected  service tracker, scopes issues:read");

  const first = await here("run", "issues.flow");
  expect(JSON.parse(first.stdout), first.stderr).toEqual({ first: "one" });
  const [token = ""] = world.seen;
  world.refuse(token);
  const renewed = await run("run", "issues.flow");
  expect(JSON.parse(renewed.stdout)).toEqual({ first: "one" });
  expect(world.seen).toEqual([token, token, expect.not.stringContaining(token)]);

  const last = world.seen.at(-1) ?? "";
  await world.endGrant(last);
  const gone = await run("run", "issues.flow", "--json");
  expect(gone.code).toBe(5);
  const { error } = lastSummary(gone.stdout);
  expect([error?.code, error?.message]).toEqual([
    "credentials_expired",
    expect.stringContaining("Reconnect the service: millrace connect tracker"),
  ]);
  const listed = await here("connections", "list", "--json");
  const [service] = JSON.parse((await here("invoke", "list_services", "--json")).stdout).items;
  expect(service.connections, "one truth, whichever command tells it").toEqual(
    JSON.parse(listed.stdout).items,
  );
  expect(JSON.parse(listed.stdout).items).toMatchObject([
    { slug: "tracker", status: "reconnect_required", store: "file" },
  ]);
  expect(world.seen.length).toBeGreaterThan(3);
  for (const secret of [...world.seen, "client-secret"]) {
    expect(said.join("\n")).not.toContain(secret);
    expect(filesBelow(world.cwd)).not.toContain(secret);
  }
});

test("a run that is kept notes a grant that is gone, although it holds the store itself", async () => {
  const world = await serviceWorld();
  await world.here(CONNECT, { stdin: "client-secret" });
  await world.here(["run", "issues.flow"]);
  const [token = ""] = world.seen;
  world.refuse(token);
  await world.endGrant(token);
  const gone = await world.here(["run", "issues.flow", "--save"]);
  expect(gone.code, gone.stderr).toBe(5);
  const shown = await world.here(["connections", "show", "tracker", "--json"]);
  expect(JSON.parse(shown.stdout)).toMatchObject({ status: "reconnect_required" });
});

/** All text below a folder. */
function filesBelow(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath ?? entry.path, entry.name), "utf8"))
    .join("\n");
}

test("under --json one line is the status; it is shown and removed", async () => {
  const world = await serviceWorld();
  const { code, stdout, stderr } = await world.here([...CONNECT, "--json"], {
    stdin: "client-secret",
  });
  expect(code, stderr).toBe(0);
  const status = JSON.parse(stdout);
  expect(status).toMatchObject({ slug: "tracker", status: "connected", refreshable: true });
  expect(stderr).not.toContain("warning");
  const shown = await world.here(["connections", "show", "tracker", "--json"]);
  expect(JSON.parse(shown.stdout)).toEqual(status);
  const removed = await world.here(["connections", "remove", "tracker", "--json"]);
  expect([removed.code, removed.stdout]).toEqual([0, "null\n"]);
  const again = await world.here(["connections", "remove", "tracker", "--json"]);
  expect([again.code, again.stdout, JSON.parse(again.stderr).code]).toEqual([6, "", "not_found"]);
});

test("a refusal ends with 5, and so does a client that is not known", async () => {
  const refusing = await serviceWorld({ deny: true });
  const denied = await refusing.here([...CONNECT, "--json"], { stdin: "client-secret" });
  expect([denied.code, denied.stdout]).toEqual([5, ""]);
  expect(denied.stderr).toContain("authorization was denied");
  const world = await serviceWorld();
  const unknown = await world.here(CONNECT, { stdin: "another-secret" });
  expect([unknown.code, unknown.stdout]).toEqual([5, ""]);
  expect(unknown.stderr).toContain("invalid_client");
});

test("a connect that fails changes nothing that worked: no client, no token, no record", async () => {
  const world = await serviceWorld();
  await world.here(CONNECT, { stdin: "client-secret" });
  const second = ["connect", "second", "--service", "tracker", ...CONNECT.slice(2)];
  const refused = await world.here(second, { stdin: "mistyped" });
  expect([refused.code, refused.stdout]).toEqual([5, ""]);
  expect(refused.stderr).toContain("millrace connect second --client-id ID --secret-stdin");
  // A credential that the service refuses is renewed, which takes the client of before.
  await world.here(["run", "issues.flow"]);
  world.refuse(world.seen.at(-1) ?? "");
  const renewed = await world.here(["run", "issues.flow"]);
  expect(renewed.code, renewed.stderr).toBe(0);
  const listed = await world.here(["connections", "list", "--json"]);
  expect(JSON.parse(listed.stdout).items).toMatchObject([{ slug: "tracker", status: "connected" }]);
  const again = await world.here(["connect", "second", "--service", "tracker"]);
  expect(again.code, again.stderr).toBe(0);
});

test("a connection whose service is not described here is listed as such", async () => {
  const world = await serviceWorld();
  await world.here(CONNECT, { stdin: "client-secret" });
  rmSync(join(world.cwd, "services/tracker.json"));
  const listed = await world.here(["connections", "list"]);
  expect([listed.code, listed.stdout], listed.stderr).toEqual([
    0,
    "tracker  not described here  service tracker: no services/tracker.json counts in this folder\n",
  ]);
  const told = await world.here(["connections", "list", "--json"]);
  expect(JSON.parse(told.stdout)).toEqual({
    items: [],
    undescribed: [{ slug: "tracker", service: "tracker" }],
  });
});

test("a service of an extension is listed, connected and called like one of the project", async () => {
  const world = await serviceWorld({ auth: { scheme: "bearer" } });
  const descriptor = readFileSync(join(world.cwd, "services/tracker.json"), "utf8");
  rmSync(join(world.cwd, "services"), { recursive: true });
  const flow = readFileSync(join(world.cwd, "issues.flow"), "utf8").replace("oauth", "bearer");
  writeFileSync(join(world.cwd, "issues.flow"), flow);
  mkdirSync(join(world.cwd, "ext"));
  const mark = `(kind, value) => ({ ...value, apiVersion: 1, [Symbol.for("millrace.extension.v1")]: kind })`;
  const lists = `adapters: [], providers: [], nodeTypes: [], services: [mark("service", ${descriptor})]`;
  const code = `const mark = ${mark};\nexport default mark("extension", { ${lists} });\n`;
  writeFileSync(join(world.cwd, "ext/extension.js"), code);
  const millrace = { apiVersion: 1, entry: "./extension.js" };
  const manifest = { name: "@acme/tracker", version: "1.0.0", type: "module", millrace };
  writeFileSync(join(world.cwd, "ext/package.json"), JSON.stringify(manifest));
  for (const line of ["ext build ext", "ext add ./ext --yes"]) {
    const { code: end, stderr } = await world.here(line.split(" "));
    expect(end, stderr).toBe(0);
  }

  const services = await world.here(["services", "list"]);
  expect(services.stdout).toBe("tracker  Issue tracker  bearer  issues.list\n");
  const connected = await world.here(["connect", "tracker", "--secret-stdin"], {
    stdin: "key-1\n",
  });
  expect(connected.code, connected.stderr).toBe(0);
  const connections = await world.here(["connections", "list"]);
  expect(connections.stdout).toBe("tracker  connected  service tracker, in file\n");
  const run = await world.here(["run", "issues.flow"]);
  expect(JSON.parse(run.stdout), run.stderr).toEqual({ first: "one" });
  expect(world.seen).toEqual(["key-1"]);
});

test("a first connect that fails stores no client", async () => {
  const world = await serviceWorld();
  await world.here(CONNECT, { stdin: "mistyped" });
  const next = await world.here(["connect", "tracker"]);
  expect([next.code, next.stderr.includes("no OAuth client of service")]).toEqual([2, true]);
});

test("nobody comes: 124; the port is in use: 6; interrupted: 130, and the port is free", async () => {
  const world = await serviceWorld({ browser: false });
  const late = await world.run([...CONNECT, "--timeout", "50ms"], { stdin: "client-secret" });
  expect([late.code, late.signal], late.stderr).toEqual([124, null]);
  expect(late.stderr).toContain("no browser could be opened here");

  const waiting = world.start([...CONNECT, "--no-browser"], { stdin: "client-secret" });
  await waiting.until("from another machine: ssh -L");
  waiting.child.kill("SIGINT");
  const { code, signal, stdout, stderr } = await waiting.ended;
  const port = portOf(stderr);
  expect([code, signal, stdout]).toEqual([130, null, ""]);
  await bind(port);

  const holder = createServer();
  await new Promise<void>((resolve) => holder.listen(port, "127.0.0.1", resolve));
  const taken = await world.run([...CONNECT, "--port", String(port)], { stdin: "client-secret" });
  holder.close();
  expect([taken.code, taken.stderr.includes("open this address")]).toEqual([6, false]);
  expect(taken.stderr).toContain(`cannot bind 127.0.0.1:${port}: EADDRINUSE`);
});

test("a service without refresh tokens is connected, with a warning", async () => {
  const short = await serveHttp((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://127.0.0.1");
    request.resume();
    if (pathname === "/authorize") {
      const to = new URL(searchParams.get("redirect_uri") ?? "");
      to.search = `?code=c&state=${searchParams.get("state")}`;
      response.writeHead(302, { location: to.href }).end();
    } else {
      response.writeHead(200, { "content-type": "application/json" });
      response.end('{"access_token":"short-lived","token_type":"bearer","expires_in":600}');
    }
  });
  const world = await serviceWorld({
    auth: {
      scheme: "oauth2",
      authorizeUrl: `${short.url}/authorize`,
      tokenUrl: `${short.url}/token`,
      scopes: [],
      clientId: "public",
      clientAuth: "none",
    },
  });
  const { code, stdout, stderr } = await world.here(["connect", "tracker", "--json"]);
  expect([code, JSON.parse(stdout).refreshable], stderr).toEqual([0, false]);
  expect(stderr).toContain("warning: the service gave no refresh token");
  expect(stdout + stderr).not.toContain("short-lived");
});

test("a code that comes with another state ends with 5, and nothing is kept", async () => {
  const world = await serviceWorld();
  const waiting = world.start([...CONNECT, "--no-browser"], { stdin: "client-secret" });
  await waiting.until("from another machine: ssh -L");
  const port = portOf(waiting.told());
  expect((await fetch(`http://127.0.0.1:${port}/callback?code=c&state=forged`)).status).toBe(200);
  const { code, stderr } = await waiting.ended;
  expect([code, stderr.includes("state mismatch")]).toEqual([5, true]);
  const listed = await world.here(["--json", "connections", "list"]);
  expect([listed.code, listed.stdout]).toEqual([0, '{"items":[]}\n']);
});

test("a token endpoint that the egress policy does not permit is not asked", async () => {
  const world = await serviceWorld({ egress: {} });
  const { code, stdout, stderr } = await world.here(CONNECT, { stdin: "client-secret" });
  expect([code, stdout], stderr).toEqual([6, ""]);
  expect(stderr).toContain("egress_denied; whoever runs this allows the host with egress.allow");
});

/** A server over the world's project. */
async function serve(world: ServiceWorld): Promise<{ url: string; stop(): Promise<unknown> }> {
  const server = world.start(["serve", "--port", "0", "--json"]);
  const url = await urlOf(server);
  return {
    url,
    stop: () => {
      server.child.kill("SIGTERM");
      return server.ended;
    },
  };
}

test("a server's connection is made over its commands: the redirect comes here, the secret stays there", async () => {
  const world = await serviceWorld();
  const { url, stop } = await serve(world);
  const { code, stdout, stderr } = await world.run([...CONNECT, "--json", "--server", url], {
    stdin: "client-secret",
  });
  expect(code, stderr).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ slug: "tracker", status: "connected" });
  const listed = await world.here(["connections", "list", "--server", url, "--json"]);
  expect(JSON.parse(listed.stdout).items).toHaveLength(1);
  const response = await postJson(`${url}/api/run`, {
    dsl: readFileSync(join(world.cwd, "issues.flow"), "utf8"),
  });
  expect(await response.text()).toContain('"outputs":{"first":"one"}');
  await stop();
  const here = await world.here(["connections", "list", "--json"]);
  expect(JSON.parse(here.stdout), "what a server has connected is connected here").toEqual(
    JSON.parse(listed.stdout),
  );
  const nobody = await world.here(["connections", "list", "--server", url]);
  expect([nobody.code, nobody.stdout]).toEqual([6, ""]);
});
