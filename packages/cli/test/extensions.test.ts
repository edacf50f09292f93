/** Extensions from the command line: nothing runs before a person granted it, and nothing but that runs afterwards. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { buildCatalog, contributesOf } from "@millrace/extensions";
import { notLinux, testUnless } from "@millrace/test-support";
import { extensionProject } from "@millrace/test-support/extension-project";
import { isAlive } from "@millrace/test-support/processes";
import { expect, onTestFinished, test } from "vitest";
import { lastSummary, start } from "./cli.ts";
import { codeOf, project, write } from "./extension-world.ts";
import { millrace } from "./inside.ts";

test("a folder is shown, granted, run, and asked about again when a byte of it changed", async () => {
  const { cwd, call, json } = project();
  const marker = join(cwd, "imported.txt");
  write(join(cwd, "ext/weather"), "weather", {
    manifest: { permissions: { net: ["api.example:443"] } },
  });
  expect((await call("ext", "build", "ext/weather")).code).toBe(0);
  expect((await call("validate", "f.flow")).code).toBe(3);

  const refused = await call("ext", "add", "./ext/weather");
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain("net api.example:443");
  expect(refused.stderr).toContain("child: a process of its own");
  expect(refused.stderr).toContain("--yes");
  expect(existsSync(join(cwd, "millrace.lock.json"))).toBe(false);

  expect((await call("ext", "add", "./ext/weather", "--net", "*", "--yes")).code).toBe(2);
  const hosts = ["--net", "storage.example:9000"];
  const added = await call("ext", "add", "./ext/weather", ...hosts, "--yes");
  expect(added).toMatchObject({ code: 0, stderr: expect.stringContaining("also granted") });
  expect(json("millrace.json")).toEqual({ extensions: ["./ext/weather"] });
  const locked = {
    source: "path",
    mode: "child",
    granted: { net: ["api.example:443", "storage.example:9000"] },
    hosts: ["storage.example:9000"],
  };
  expect(json("millrace.lock.json")["extensions"]).toMatchObject({ "./ext/weather": locked });

  // Its catalog is enough for everything but a run.
  write(join(cwd, "ext/weather"), "weather", {
    manifest: { permissions: { net: ["api.example:443"] } },
    code: codeOf(
      "weather",
      `import { writeFileSync } from "node:fs";\nwriteFileSync(${JSON.stringify(marker)}, "x");`,
    ),
  });
  const changed = await call("ext", "list", "--json");
  expect(JSON.parse(changed.stdout)).toMatchObject({
    items: [
      { name: "./ext/weather", state: "failed", problem: { code: "extension_manifest_invalid" } },
    ],
  });
  expect((await call("ext", "build", "ext/weather")).code).toBe(0);
  const again = await call("ext", "list", "--json");
  expect(JSON.parse(again.stdout)).toMatchObject({
    items: [{ problem: { code: "extension_changed" } }],
  });
  expect((await call("run", "f.flow")).code).toBe(3);
  const trusted = await call("ext", "trust", "ext/weather", "--yes");
  expect(trusted.stderr).toContain("its files have changed");
  expect(json("millrace.lock.json")["extensions"]).toMatchObject({ "./ext/weather": locked });

  // In a process of its own: in this one the code was imported by the build.
  rmSync(marker, { force: true });
  expect((await millrace(["validate", "f.flow"], { cwd })).code).toBe(0);
  expect((await millrace(["ext", "list"], { cwd })).stdout).toContain("ready");
  expect(existsSync(marker)).toBe(false);
});

test("a run uses what was granted, and nothing is left of it when it is removed", async () => {
  const { cwd, call, json } = project();
  write(join(cwd, "ext/weather"), "weather");
  await call("ext", "build", "ext/weather");
  await call("ext", "add", "./ext/weather", "--yes");
  const ran = await call("run", "f.flow", "--json");
  expect(JSON.parse(ran.stdout.trimEnd().split("\n").at(-1) ?? "")).toMatchObject({
    status: "succeeded",
    outputs: { t: "hello Ann" },
  });
  expect((await call("test", "f.flow", "--update")).code).toBe(0);
  expect(await call("test", "f.flow")).toMatchObject({
    code: 0,
    stderr: "✓ f.flow\n1 test passed\n",
  });
  expect(readFileSync(join(cwd, "golden.ndjson"), "utf8")).toContain("hello Ann");
  const doctor = await call("ext", "doctor", "--json");
  expect(doctor.code).toBe(0);
  expect(JSON.parse(doctor.stdout.split("\n")[0] ?? "")).toMatchObject({
    check: "./ext/weather",
    status: "ok",
    mode: "child",
    enforcement: { fs: "runtime", net: expect.stringMatching(/^(tripwire|runtime)$/) },
  });
  expect((await call("ext", "remove", "ext/weather")).code).toBe(0);
  expect(json("millrace.json")).toEqual({});
  expect(json("millrace.lock.json")["extensions"]).toEqual({});
  expect((await call("validate", "f.flow")).code).toBe(3);
});

/** An extension whose only type does `body`, and may use the secret KEY. */
const doing = (id: string, body: string): string =>
  codeOf(id)
    .replace('(fields) => ({ text: "hello " + fields.name })', `async (fields, ctx) => { ${body} }`)
    .replace('effect: "read"', 'effect: "read", needs: { secrets: ["KEY"] }');

test("with fixtures an extension has their files, answers and a secret; what needs a socket is recorded", async () => {
  const { cwd, call } = project();
  const weather = doing(
    "weather",
    `const { data } = await ctx.files.read("a.txt");
     await ctx.files.write("b.txt", data, { mode: "replace" });
     const key = (await ctx.credentials.secret("KEY")).reveal();
     const answer = await ctx.fetch("https://api.example/" + key.length);
     return { text: new TextDecoder().decode(data) + await answer.text() };`,
  );
  const folders = { read: ["$project"], write: ["$project"] };
  const permissions = { net: ["api.example:443"], secrets: ["KEY"], fs: folders };
  const base = doing("base", "process.exit(3);");
  await extensionProject(
    [
      { name: "@acme/weather", code: weather, permissions },
      { name: "@acme/base", code: base, permissions: { sockets: ["*"] } },
    ],
    cwd,
  );
  const flow = `flow 1 x

node a: weather.hello {
  name = "Ann"
}

node b: base.hello {
  name = a.text
  @retry = { max: 2, delay: 1ms }
}

output t = b.text
`;
  const put = (name: string, text: string): void => {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), text);
  };
  put("millrace.json", '{ "extensions": ["@acme/weather", "@acme/base"] }');
  put("f.flow", flow);
  put("fixtures/files/a.txt", "rain and ");
  put("fixtures/http.json", '[{ "url": "https://api.example/18", "body": "sun" }]');
  const missing = await call("run", "f.flow", "--json", "--fixtures", "fixtures");
  expect(lastSummary(missing.stdout).error).toMatchObject({
    code: "fixture_missing",
    node: "b",
    message: expect.stringMatching(/for b \(base\.hello\).*nodes\.json/),
  });

  const busy = { error: { code: "busy", message: "later", retryable: true } };
  put("fixtures/nodes.json", JSON.stringify({ b: [busy, { output: { text: "kept" } }] }));
  expect(await call("test", "f.flow", "--update")).toMatchObject({ code: 0 });
  expect(await call("test", "f.flow")).toMatchObject({ code: 0 });
  const kept = readFileSync(join(cwd, "golden.ndjson"), "utf8");
  expect(kept).toContain('"output":{"text":"rain and sun"}');
  expect(kept).toContain('"kind":"node.retrying","runId":"run_0","node":"b"');
  expect(kept).toContain('"outputs":{"t":"kept"}');
  expect(existsSync(join(cwd, "b.txt"))).toBe(false);

  for (const words of [["test"], ["run", "--fixtures", "fixtures"]]) {
    put("fixtures/nodes.json", '{ "bb": { "output": {} } }');
    const misspelt = await call(...words, "f.flow");
    expect(misspelt.code).toBe(2);
    expect(misspelt.stderr).toBe(
      "error: nodes.json: there is no node bb; there are a, b; did you mean b?\n",
    );
  }

  put("fixtures/nodes.json", '{ "b": { "text": "kept" } }');
  const refused = await call("test", "f.flow");
  expect([refused.code, refused.stderr]).toEqual([
    2,
    expect.stringContaining("nodes.json: b takes"),
  ]);
});

test("what cannot be used is refused when it is added, and named by doctor when it is there", async () => {
  const { cwd, call, json } = project();
  const at = (name: string) => join(cwd, name);
  write(at("core"), "file");
  // As another kit may have built it: ours refuses the name.
  const { signal } = new AbortController();
  const built = { folder: at("core"), entry: "./dist/extension.js", signal, said() {} };
  const catalog = await buildCatalog(built);
  writeFileSync(at("core/dist/catalog.json"), JSON.stringify(catalog));
  write(at("core"), "file", { manifest: { contributes: contributesOf(catalog) } });
  write(at("native"), "native", { manifest: { mode: "inProcess" } });
  write(at("range"), "range", { file: { peerDependencies: { "@millrace/contracts": "^99.0.0" } } });
  write(at("broken"), "broken");
  write(at("schema"), "schema", {
    code: codeOf("schema").replace('output: { type: "object" }', 'output: { type: "nonsense" }'),
  });
  for (const name of ["native", "range", "broken"]) await call("ext", "build", at(name));
  const told = async (...words: string[]) => {
    const { code, stderr } = await call("ext", ...words);
    return [code, /\(([a-z_]+)\)|--in-process|schema of output/.exec(stderr)?.[0]];
  };
  expect(await told("build", at("schema"))).toEqual([2, "schema of output"]);
  expect(await told("add", "./core", "--yes")).toEqual([2, "(extension_conflict)"]);
  expect(await told("add", "./native", "--yes")).toEqual([2, "--in-process"]);
  expect(await told("add", "./range", "--yes")).toEqual([2, "(extension_api_unsupported)"]);
  expect(existsSync(at("millrace.json"))).toBe(false);

  // Nothing that a package manager would take from elsewhere than the registry, or for an option.
  for (const spec of [
    "acme/weather",
    "git+https://h.example/x",
    "https://h.example/x",
    "x@npm:y",
  ]) {
    const { code, stderr } = await call("ext", "add", spec, "--yes");
    expect([code, stderr.includes("no name of a package")], spec).toEqual([2, true]);
  }
  expect((await call("ext", "add", "--yes", "--", "-g")).stderr).toContain("no name of a package");

  write(at("asks"), "asks", {
    code: codeOf("asks").replace(
      "providers: []",
      'providers: [mark("provider", { id: "mine", title: "T", create: () => ({}) })]',
    ),
  });
  await call("ext", "build", at("asks"));
  writeFileSync(at("millrace.json"), '{ "providers": { "mine": {} } }');
  expect(await told("add", "./asks", "--yes")).toEqual([2, "(extension_conflict)"]);
  rmSync(at("millrace.json"));

  expect((await call("ext", "add", "./broken", "--yes")).code).toBe(0);
  writeFileSync(at("broken/dist/extension.js"), 'throw new Error("hunter2");');
  await call("ext", "trust", "./broken", "--yes");
  const doctor = await call("ext", "doctor", "--json");
  expect(doctor.code).toBe(1);
  expect(JSON.parse(doctor.stdout.split("\n")[0] ?? "")).toMatchObject({
    check: "./broken",
    status: "fail",
    fix: expect.stringContaining("millrace ext remove"),
  });
  expect(doctor.stdout + doctor.stderr).not.toContain("hunter2");
  expect(json("millrace.json")).toEqual({ extensions: ["./broken"] });
});

testUnless(notLinux)(
  "a process whose code never gives up ends with a host that was killed",
  async () => {
    const { cwd, call } = project();
    write(join(cwd, "ext/weather"), "weather", {
      code: codeOf("weather").replace(
        "run: (fields) =>",
        `run: async (fields, ctx) => { ctx.log("info", "pid=" + process.pid); await new Promise(setImmediate); for (;;); },
  also: (fields) =>`,
      ),
    });
    await call("ext", "build", "ext/weather");
    await call("ext", "add", "./ext/weather", "--yes");
    const host = start(["run", "f.flow", "--json"], { cwd, env: { MILLRACE_TRUST_PROJECT: "1" } });
    await host.until("pid=");
    const pid = Number(/pid=(\d+)/.exec(host.output() + host.told())?.[1]);
    onTestFinished(() => void (isAlive(pid) && process.kill(pid, "SIGKILL")));
    expect(isAlive(pid)).toBe(true);
    host.child.kill("SIGKILL");
    await host.ended;
    while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 10));
  },
);

test("--verbose shows what an extension prints, what it throws, and why it does not load", async () => {
  const { cwd, call } = project();
  const code = codeOf("weather").replace(
    'run: (fields) => ({ text: "hello " + fields.name })',
    'run: (fields) => { console.log("asked for", fields.name); const order = null; return order.total; }',
  );
  write(join(cwd, "ext/weather"), "weather", { code });
  await call("ext", "build", "ext/weather");
  await call("ext", "add", "./ext/weather", "--yes");

  const quiet = await call("run", "f.flow");
  expect(quiet.stderr).toContain("weather.hello threw TypeError; its message is withheld");
  expect(quiet.stderr).not.toContain("asked for");
  expect(quiet.stderr).not.toContain("properties of null");

  const { stderr } = await call("run", "f.flow", "--verbose");
  expect(stderr).toContain("./ext/weather stdout: asked for Ann\n");
  expect(stderr).toContain("a: attempt 1 of weather.hello threw\n");
  expect(stderr).toContain("  TypeError: Cannot read properties of null (reading 'total')\n");
  expect(stderr).toMatch(/ {4}at .*extension\.js:\d+/);

  writeFileSync(
    join(cwd, "ext/weather/dist/extension.js"),
    `throw new RangeError("at import");${code}`,
  );
  await call("ext", "trust", "./ext/weather", "--yes");
  expect((await call("ext", "doctor")).stderr).not.toContain("RangeError");
  expect((await call("ext", "doctor", "--verbose")).stderr).toContain(
    "./ext/weather stderr: RangeError: at import\n",
  );
});
