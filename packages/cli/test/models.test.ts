/** `models`: the built command against a server that manages models, and here. The model is real, and tiny. */
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ChannelMap } from "@millrace/contracts";
import { tinyGguf } from "@millrace/test-support/gguf";
import { serveHttp } from "@millrace/test-support/loopback";
import { expect, test } from "vitest";
import { transcript, type World, world } from "./api-world.ts";
import { jsonLines, lastSummary, scratch } from "./cli.ts";
import { inside, millrace, refusals } from "./inside.ts";

const TINY = tinyGguf();
const DIGEST = createHash("sha256").update(TINY).digest("hex");

/** A server with an empty folder of models, which may fetch from this machine. */
function managing(): Promise<World> {
  return world({
    models: { dir: join(scratch(), "models") },
    egress: { allow: [{ host: "127.0.0.1" }, { cidr: "127.0.0.1/32" }] },
  });
}

/** Where the tiny model is for everybody. */
async function fileServer(): Promise<string> {
  const server = await serveHttp((request, response) => {
    if (request.url !== "/tiny.gguf") response.writeHead(404).end();
    else response.writeHead(200, { "content-length": TINY.length }).end(TINY);
  });
  return `${server.url}/tiny.gguf`;
}

test("a model is fetched with its progress, listed, loaded, unloaded and deleted", async () => {
  const [at, url] = [await managing(), await fileServer()];
  const [code, stdout, stderr] = await at.spawned(
    `models install ${url} --sha256 ${DIGEST} --json`,
  );
  expect([code, stderr]).toEqual([0, ""]);
  const frames = jsonLines<{ channel: string; payload: unknown }>(stdout).slice(0, -1);
  const steps = frames
    .filter(({ channel }) => channel === "models:install_progress")
    .map(({ payload }) => payload as ChannelMap["models:install_progress"]);
  expect([...new Set(steps.map(({ stage }) => stage))]).toEqual([
    "resolve",
    "download",
    "verify",
    "register",
    "done",
  ]);
  expect(lastSummary(stdout)).toMatchObject({ status: "succeeded", exitCode: 0 });
  const found = (lines: readonly string[]): Promise<string> =>
    transcript(
      at,
      lines.map((line) => `models ${line}`),
    );
  expect(await found(["list", "scan"])).toMatchInlineSnapshot(`
    "$ models list [0]
    MODEL  STATE  SIZE  QUANT  CONTEXT
    tiny  ready  724.6 KiB  F32  2048
    $ models scan [0]
    | 1 model in TOOK
    "
  `);
  const [engine] = JSON.parse(await at.invoke("list_engines")) as { state: string }[];
  // Where its engine is not installed no model can be loaded, which other tests report.
  if (engine?.state === "ready") {
    expect(await found(["load tiny"])).toBe("$ models load tiny [0]\n| tiny is loaded\n");
    expect(await at.spawned("models running")).toEqual([
      0,
      expect.stringMatching(/^MODEL +STATE +PID .*\ntiny +loaded +\d+ +\d+ +2048 +0 +0 /),
      "",
    ]);
    expect(await found(["unload tiny"])).toBe("$ models unload tiny [0]\n| tiny is ready\n");
  }
  const jobs = await at.spawned("models jobs");
  expect(jobs).toEqual([0, expect.stringMatching(/^JOB +KIND +MODEL +STAGE +DONE +STARTED\n/), ""]);
  // The first scan of a manager is beside whatever is asked of it first.
  expect(jobs[1]).toMatch(/^job_\w+ +scan +- +done /m);
  expect(jobs[1]).toMatch(/^job_\w+ +install +tiny +done /m);
  expect(await found(["jobs --open"])).toBe("$ models jobs --open [0]\n| no work on models\n");
  expect(await found(["remove tiny"])).toBe("$ models remove tiny [0]\n| tiny is deleted\n");
  expect(await at.spawned("models engine list")).toEqual([
    0,
    expect.stringMatching(/^ENGINE +VERSION .*\nllama-cpp +\S+ +\S+ +/),
    "",
  ]);
});

test("work that goes on is listed, and given up by its name", async () => {
  const at = await managing();
  const server = await serveHttp((_request, response) => {
    response.writeHead(200, { "content-length": TINY.length }).flushHeaders();
  });
  const url = `${server.url}/tiny.gguf`;
  const started = await at.invoke("install_model", { source: url, id: "tiny", sha256: DIGEST });
  const { jobId } = JSON.parse(started) as { jobId: string };
  const listed = await at.inside(["models", "jobs", "--open", "--json"]);
  expect(jsonLines(listed.stdout)).toContainEqual(
    expect.objectContaining({ id: jobId, kind: "install", modelId: "tiny", error: null }),
  );
  expect(await at.inside(["models", "cancel", jobId])).toMatchObject({ code: 0 });
  await expect
    .poll(async () => (await at.inside(["models", "jobs"])).stdout)
    .toMatch(/ cancelled /);
});

test("a job that fails here shows its code, its sentence and what to do next; explain knows the code", async () => {
  const url = await fileServer();
  const home = scratch({
    "config.json": JSON.stringify({
      egress: { allow: [{ host: "127.0.0.1" }] },
      models: { registryUrl: "http://127.0.0.1:1" },
    }),
    "page.gguf": "<html>not a model</html>",
  });
  const at = { cwd: home, env: { MILLRACE_HOME: home } };
  const cases: readonly (readonly [words: string, code: number, says: RegExp])[] = [
    ["install ./page.gguf --id bad", 1, /bad: invalid_model: .{10,}/],
    [`install ${url} --sha256 ${"0".repeat(64)}`, 1, /tiny: digest_mismatch: .{10,}/],
    [`install ${url.replace("tiny", "no")} --allow-unverified`, 6, /no: download_not_found: .*404/],
    ["engine fetch", 6, /llama-cpp: engine_offline: the registry cannot be reached: .{5,}/],
  ];
  for (const [words, code, says] of cases) {
    const told = await inside(["models", ...words.split(" ")], at);
    expect([words, told.code], told.stderr).toEqual([words, code]);
    expect(told.stderr).toMatch(says);
    const [, failed = ""] = /: ([a-z]+_[a-z_]+): /.exec(told.stderr) ?? [];
    const { stdout } = await inside(["explain", failed], at);
    const meaning = stdout.trim().split(failed)[1]?.trim() ?? "";
    expect(meaning.length).toBeGreaterThan(20);
    expect(told.stderr).toContain(meaning);
  }
});

test("what is no model, or not the one that was meant, is not kept, and the exit code says which", async () => {
  const [at, url] = [await managing(), await fileServer()];
  const cases: readonly (readonly [words: string, code: number, says: string])[] = [
    [`${url} --sha256 ${"0".repeat(64)}`, 1, "tiny: digest_mismatch"],
    [`${url}`, 2, "--sha256; --allow-unverified takes what comes"],
    [`${url} --sha256 xyz`, 2, "64 lower-case hex digits"],
    [`${url.replace("tiny", "none")} --allow-unverified`, 6, "none: download_not_found"],
    ["./none.gguf", 2, "cannot read ./none.gguf"],
    ["hello.flow", 2, "a server installs no file of this machine"],
    [`${url} --id ../x --allow-unverified`, 2, "model id"],
  ];
  for (const [words, code, says] of cases) {
    const told = await at.inside(["models", "install", ...words.split(" "), "--json"]);
    expect([words, told.code, lastSummary(told.stdout).exitCode]).toEqual([words, code, code]);
    expect(told.stderr).toContain(says);
  }
  const plain = await at.inside([
    "models",
    "install",
    url,
    "--allow-unverified",
    "--id",
    "mine:q4",
  ]);
  expect([plain.code, plain.stdout]).toEqual([0, ""]);
  expect(plain.stderr).toMatch(
    /^resolve .*\n(?:.*\n)*download .*100%.*\n(?:.*\n)*mine:q4 is installed/,
  );
  const bar = await at.inside(["models", "install", url, "--allow-unverified", "--id", "other"], {
    terminal: true,
    columns: 30,
    env: { NO_COLOR: "1" },
  });
  expect(bar.stderr).toMatch(/done .*other/);
  await refusals(
    (words) => at.inside(["models", ...words]),
    [
      ["load nope", 6, 'there is no model "nope"'],
      ["cancel nope", 6, 'there is no job "nope"; millrace models jobs shows what there is'],
      [
        "remove mine:q4 --server http://127.0.0.1:1",
        6,
        "the server http://127.0.0.1:1: it cannot be reached",
      ],
      ["engine make", 2, "fetch or list"],
      ["load mine:q4 --ttl 5", 2, "--ttl takes a duration"],
    ],
  );
});

test("a signal cancels the job that it was waiting for, wherever that is", async () => {
  const at = await managing();
  const controller = new AbortController();
  let closed: () => void = () => {};
  const ended = new Promise<void>((resolve) => {
    closed = resolve;
  });
  const server = await serveHttp((_, response) => {
    response.on("close", closed);
    response.writeHead(200, { "content-length": TINY.length }).write(TINY.subarray(0, 4_096));
    controller.abort("sigint");
  });
  const url = `${server.url}/slow.gguf`;
  const words = ["models", "install", url, "--allow-unverified", "--json"];
  const told = await at.inside(words, { signal: controller.signal });
  const { exitCode, status } = lastSummary(told.stdout);
  expect([told.code, exitCode, status]).toEqual([130, 130, "cancelled"]);
  await ended;
});

test("where no models are managed, every command says so and ends with 6", async () => {
  const at = await world();
  for (const words of ["list", "running", "scan", "load tiny", "engine list", "engine fetch"]) {
    const told = await at.inside(["models", ...words.split(" ")]);
    expect([words, told.code, told.stderr]).toEqual([
      words,
      6,
      expect.stringContaining("not available"),
    ]);
  }
});

test("a file of this machine is installed here, without a server", async () => {
  const cwd = scratch();
  writeFileSync(join(cwd, "Tiny Model.gguf"), TINY);
  const env = { MILLRACE_HOME: scratch() };
  const { code, stdout, stderr } = await millrace(["models", "install", "Tiny Model.gguf"], {
    cwd,
    env,
  });
  expect([code, stdout]).toEqual([0, ""]);
  expect(stderr).toContain("tiny-model is installed");
  const list = await inside(["models", "list"], { cwd, env });
  expect([list.code, list.stdout]).toEqual([0, expect.stringContaining("tiny-model  ready")]);
});
