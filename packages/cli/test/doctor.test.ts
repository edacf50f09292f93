/** Faults are planted one by one; doctor finds each, says what it is and what to do, and still looks at the rest. */

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { join } from "node:path";
import { testUnless } from "@millrace/test-support";
import { mountDisk, noMount } from "@millrace/test-support/disk";
import { serveHttp } from "@millrace/test-support/loopback";
import { freePort } from "@millrace/test-support/ports";
import { expect, onTestFinished, test, vi } from "vitest";
import { jsonLines, lastSummary, scratch, start, urlOf } from "./cli.ts";
import { inside, type World } from "./inside.ts";

interface Line {
  readonly check: string;
  readonly status: "ok" | "warn" | "fail";
  readonly says: string;
  readonly fix?: string;
}

/** What one look finds; the credential store is in memory unless a test wants another. */
async function look(
  world: World = {},
  words: readonly string[] = [],
): Promise<{ lines: Line[]; code: number }> {
  const { stdout, code } = await inside(["doctor", "--json", ...words], {
    ...world,
    env: { MILLRACE_CREDENTIALS_STORE: "memory", ...world.env },
  });
  expect(lastSummary(stdout).exitCode).toBe(code);
  return { lines: jsonLines<Line>(stdout).slice(0, -1), code };
}

/** The one finding of a check that is not in order. */
function found(lines: readonly Line[], check: string): Line | undefined {
  return lines.find((line) => line.check === check && line.status !== "ok");
}

test("nothing is wrong with an empty folder, and every finding that is no more than a warning ends with 0", async () => {
  const { lines, code } = await look();
  expect(lines.map(({ check, status }) => [check, status])).toEqual([
    ["node", "ok"],
    ["data folder", "ok"],
    ["sqlite", "ok"],
    ["store", "ok"],
    ["credentials", "warn"],
    ["config", "ok"],
    ["providers", "ok"],
    ["model engine", "ok"],
  ]);
  expect(code).toBe(0);
  for (const line of lines) expect(line.status === "ok" || line.fix !== undefined).toBe(true);
});

test("a person reads marks and fixes on stdout", async () => {
  const told = await inside(["doctor"], { env: { MILLRACE_CREDENTIALS_STORE: "memory" } });
  expect(told.stdout).toContain("✓ sqlite       there is a driver\n");
  expect(told.stdout).toContain("? credentials  memory: what is stored ends with the process\n");
  expect(told.stdout).toContain("fix: set credentials.store to os or file\n");
});

testUnless(noMount())("a disk with little room left is found before it is full", async () => {
  const home = scratch();
  const disk = mountDisk(home, 12);
  const fix = "make room: on a full disk new runs are refused, and live ones wait";
  const says = (left: string) => `the disk of ${home} has ${left} left`;
  const world = { env: { MILLRACE_HOME: home } };
  const { lines, code } = await look(world);
  const full = { check: "data folder", status: "fail", says: says("12.0 MiB"), fix };
  expect([code, found(lines, "data folder")]).toEqual([1, full]);
  disk.resize(100);
  const low = { check: "data folder", status: "warn", says: says("100.0 MiB"), fix };
  expect(found((await look(world)).lines, "data folder")).toEqual(low);
  disk.resize(0); // no limit: such a disk says that it has no blocks at all
  expect(found((await look(world)).lines, "data folder")).toBeUndefined();
});

/** A server that gives this answer is at the address. */
const answering = async (answer: RequestListener) => ({
  env: { MILLRACE_SERVER_URL: (await serveHttp(answer)).url },
});
const project = (config: string, more: World["files"] = {}): World => ({
  files: { "millrace.json": config, ...more },
});
const OWN = '{ "extensions": ["./own"] }';
const trusted = (world: World): World => ({ ...world, env: { MILLRACE_TRUST_PROJECT: "1" } });

/** One planted fault: what is found at which check, words of what it says and of its fix, and the world that has it. */
type Fault = [
  fault: string,
  found: string,
  says: RegExp,
  fix: RegExp,
  plant: () => World | Promise<World>,
];

const FAULTS: readonly Fault[] = [
  [
    "the data folder is a file",
    "fail data folder",
    /is a file, and the data folder is to be/,
    /MILLRACE_HOME/,
    () => ({ env: { MILLRACE_HOME: join(scratch({ home: "" }), "home") } }),
  ],
  [
    "the SQLite driver that was asked for is not there",
    "fail sqlite",
    /MILLRACE_SQLITE is "node" or "libsql", not "oracle"/,
    /libsql/,
    () => {
      vi.stubEnv("MILLRACE_SQLITE", "oracle");
      onTestFinished(() => void vi.unstubAllEnvs());
      return {};
    },
  ],
  [
    "the store is damaged",
    "fail store",
    /millrace\.db/,
    /backup/,
    () => ({
      env: { MILLRACE_HOME: scratch({ "millrace.db": "this is no database\n".repeat(300) }) },
    }),
  ],
  [
    "the encrypted credential file has no key",
    "fail credentials",
    /its key is not: .*credentials\.key/,
    /MILLRACE_CREDENTIAL_KEY/,
    () => ({
      env: {
        MILLRACE_CREDENTIALS_STORE: "file",
        MILLRACE_HOME: scratch({ "credentials.json": "{}" }),
      },
    }),
  ],
  [
    "the encrypted credential file cannot be opened with this key",
    "fail credentials",
    /^file: .*credential/,
    /credentials\.key/,
    () => ({
      env: {
        MILLRACE_CREDENTIALS_STORE: "file",
        MILLRACE_CREDENTIAL_KEY: Buffer.alloc(32, 1).toString("base64"),
        MILLRACE_HOME: scratch({ "credentials.json": '{"damaged": true}' }),
      },
    }),
  ],
  [
    "a project file is no JSON",
    "fail config",
    /millrace\.json is not JSON: line 2, column 25: a value is needed here/,
    /config schema/,
    () => project('{\n  "run": { "timeoutMs": canary }\n}'),
  ],
  [
    "a key has a value of another type",
    "fail config",
    /run\.timeoutMs takes a whole number \(.*millrace\.json:1\)/,
    /config explain run\.timeoutMs/,
    () => project('{ "run": { "timeoutMs": "soon" } }'),
  ],
  [
    "a key is misspelt",
    "warn config",
    /unknown key "runs" has no effect; did you mean "run"\?/,
    /config unset/,
    () => project('{ "runs": {} }'),
  ],
  [
    "a project is not trusted",
    "fail trust",
    /is not trusted, and it sets files/,
    /config trust/,
    () => project('{ "files": { "root": "/" } }'),
  ],
  [
    "a provider has no key",
    "warn providers",
    /openai has no key/,
    /secrets set ai:openai/,
    () => trusted(project('{ "providers": { "openai": { "credential": "env:NO_SUCH_KEY" } } }')),
  ],
  [
    "an extension was never reviewed",
    "fail extensions",
    /^\.\/own: .*\(extension_\w+\)$/,
    /millrace ext add \.\/own/,
    () => trusted(project(OWN, { "package.json": "{}" })),
  ],
  [
    "the lock of the extensions is no lock",
    "fail extensions",
    /millrace\.lock\.json is not of lockVersion/,
    /ext list/,
    () => trusted(project(OWN, { "millrace.lock.json": '{ "lockVersion": 99 }' })),
  ],
  [
    "the server is down",
    "fail server",
    /cannot be reached \(ECONNREFUSED\)/,
    /--server/,
    async () => ({ env: { MILLRACE_SERVER_URL: `http://127.0.0.1:${await freePort()}` } }),
  ],
  [
    "another program answers at the address of the server",
    "fail server",
    /answered 200, and not as a Millrace server does/,
    /address/,
    () => answering((_request, response) => void response.end("<html>hello</html>")),
  ],
  [
    "the server is of another version",
    "fail server",
    /speaks version 9 of the API/,
    /version of millrace/,
    () =>
      answering((_request, response) => {
        response.setHeader("millrace-api-version", "9");
        response.end('{"status":"ok"}');
      }),
  ],
  [
    "the clock of the server is an hour ahead",
    "warn clock",
    /is (?:3599|3600|3601) s ahead/,
    /network/,
    () =>
      answering((_request, response) => {
        response.setHeader("date", new Date(Date.now() + 3_600_000).toUTCString());
        response.end('{"status":"ok"}');
      }),
  ],
];

test.each(FAULTS)("%s", async (_fault, where, says, fix, plant) => {
  const [status = "", check = ""] = where.split(/ (.*)/);
  const { lines, code } = await look(await plant());
  const line = found(lines, check);
  expect(line, JSON.stringify(lines)).toMatchObject({ check, status });
  expect(line?.says).toMatch(says);
  expect(line?.fix).toMatch(fix);
  expect(line?.says).not.toContain("canary");
  const fails = lines.some((each) => each.status === "fail");
  expect(code).toBe(fails ? 1 : 0);
  expect(lines.map((each) => each.check)).toContain("node");
});

test("engines that nothing uses are found, and deleted with --prune", async () => {
  const home = scratch();
  const old = join(home, "engines/llama-cpp/0.0.1");
  mkdirSync(old, { recursive: true });
  const env = { MILLRACE_HOME: home };
  expect(found((await look({ env })).lines, "model engine")).toMatchObject({
    status: "warn",
    says: "llama-cpp 0.0.1 is not used any more",
    fix: "millrace doctor --prune deletes it",
  });
  expect(existsSync(old)).toBe(true);
  expect((await look({ env }, ["--prune"])).code).toBe(0);
  expect(existsSync(old)).toBe(false);
});

test("a project that has changed since it was trusted is told apart", async () => {
  const cwd = scratch({ "millrace.json": '{ "files": { "root": "." } }' });
  expect((await inside(["config", "trust"], { cwd })).code).toBe(0);
  expect(found((await look({ cwd })).lines, "trust")).toBeUndefined();
  writeFileSync(join(cwd, "millrace.json"), '{ "files": { "root": "/" } }');
  expect(found((await look({ cwd })).lines, "trust")?.says).toMatch(
    /has changed since it was trusted/,
  );
});

test("a credential store that never answers is killed after ten seconds, and the rest is still looked at", async () => {
  // What the store is asked by never comes back, whatever it is.
  const hang = "setInterval(()=>{},1000);await(new(Promise)(()=>{}))";
  const { lines, code } = await look({
    env: {
      MILLRACE_CREDENTIALS_STORE: "file",
      MILLRACE_CREDENTIAL_KEY: Buffer.alloc(32, 1).toString("base64"),
      NODE_OPTIONS: `--import=data:text/javascript,${hang}`,
    },
  });
  expect(found(lines, "credentials")).toMatchObject({
    status: "fail",
    says: 'the store "file" did not answer within 10 s',
  });
  expect(lines.map(({ check }) => check)).toContain("config");
  // Keys of providers are in that store: nobody else waits for it.
  expect(found(lines, "providers")?.says).toContain("not looked at");
  expect(code).toBe(1);
});

test("a real server is reached, and the clocks agree", async () => {
  const serving = start(["serve", "--port", "0", "--json"]);
  const url = await urlOf(serving);
  const { lines, code } = await look({}, ["--server", url]);
  expect(lines.slice(-2).map(({ check, status }) => [check, status])).toEqual([
    ["server", "ok"],
    ["clock", "ok"],
  ]);
  expect(code).toBe(0);
});
