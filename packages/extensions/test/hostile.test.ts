/** Packages that mean harm: what they do ends with them, and the process of the host goes on. */
import { createHash } from "node:crypto";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { canonicalJson } from "@millrace/contracts/kit";
import {
  compileFlow,
  createEngine,
  createMemoryJournal,
  createRegistry,
  type Engine,
  type Run,
} from "@millrace/engine";
import { createNodeHost } from "@millrace/engine/node";
import {
  catalogOf,
  type Extensions,
  importDefinition,
  inspectExtension,
  openExtensions,
  readLock,
  writeLock,
} from "@millrace/extensions";
import {
  actionCode,
  adapterCode,
  changeFile,
  extensionProject,
  packageFolder,
} from "@millrace/test-support/extension-project";
import { graphOf } from "@millrace/test-support/flows";
import { sharedFolder } from "@millrace/test-support/folder";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";

/** What each extension does in the place of its work; `raw` writes on the line of the host. */
const BODIES = {
  garbage: `() => { fs.writeSync(3, "no json\\n"); return new Promise(() => {}); }`,
  // A code that cannot be made a text, as the end of every call that may be open.
  untold: `() => { for (let id = 1; id < 9; id += 1)
    raw({ id, ok: false, error: { code: { toString: 1 }, message: [[]], retryAfterMs: "x" } }); return new Promise(() => {}); }`,
  prototypes: `() => { for (const op of ["constructor", "__proto__", "toString"]) for (let i = 0; i < 40; i += 1)
    raw({ id: i, op, call: 2 }); return new Promise(() => {}); }`,
  endless: `async (_, ctx) => { try { await ctx.fetch("http://127.0.0.1:1/", { maxBytes: "x" }); return {}; }
    catch (error) { return { code: error.code, message: error.message }; } }`,
  unsure: `(_, ctx) => { const told = new Set(); for (let i = 0; i < 100; i += 1)
    for (const tell of [() => ctx.progress(i, Number.NaN), () => ctx.log("loud", "x")]) try { tell(); } catch (error) { told.add(error.message); }
    return { told: [...told] }; }`,
  constructor: `(_, ctx) => ({ config: ctx.config })`,
  curious: `(fields) => { const told = {}; for (const path of fields.paths) {
    try { fs.readFileSync(path); told[path] = "read"; } catch (error) { told[path] = error.code; } } return told; }`,
  leaking: `async (_, ctx) => { const key = (await ctx.credentials.secret("KEY")).reveal();
    kept.log("warn", "the key is " + key); for (let i = 0; i < 500; i += 1) kept.log("error", "line " + i); return {}; }`,
} as const;

const HEAD = `import fs from "node:fs";
const raw = (frame) => fs.writeSync(3, JSON.stringify(frame) + "\\n"); let kept;`;

/** Long enough for a machine that does much else. */
const LOAD_MS = 15_000;
/** A check that never ends has the whole of it, of a processor too. */
const CHECK_MS = 2_000;

const folder = sharedFolder();
let stuck: ReturnType<typeof run>;
let patient: ReturnType<typeof runPatient>;
let extensions: Extensions;
let engine: Engine;
const warnings: { extension: string; code: string; message: string }[] = [];

beforeAll(async () => {
  mkdirSync(join(folder, "private"));
  writeFileSync(join(folder, "private", "key.txt"), "hunter2");
  const packages = Object.entries(BODIES).map(([id, body]) => {
    const needs = id === "leaking" ? 'effect: "read", needs: { secrets: ["KEY"] }' : undefined;
    const code = adapterCode(id, actionCode("go", body, needs), HEAD);
    return {
      name: `@acme/${id}`,
      code:
        id === "leaking"
          ? code.replace(
              'title: "X",',
              'title: "X", open: async (_, host) => { kept = host; return { close: async () => {} }; },',
            )
          : code,
      ...(id === "leaking" && { permissions: { secrets: ["KEY"] } }),
      ...(id === "endless" && { permissions: { net: ["127.0.0.1:1"] } }),
    };
  });
  const checkedCode = (
    type: string,
    members: string,
  ) => `import { defineExtension, defineNodeType, jsonSchema } from "@millrace/contracts";
const any = jsonSchema({ type: "object" }); let finish;
export default defineExtension({ nodeTypes: [defineNodeType({ type: "${type}", title: "T", summary: "S", fields: any, output: any,
  effect: "pure", ${members} })] });`;
  const service = {
    ...{ slug: "x", title: "T", summary: "S" },
    serviceIntegration: {
      ...{ baseUrl: "https://api.example", auth: { scheme: "none" } },
      operations: [{ id: "o", title: "T", method: "GET", path: "/", effect: "read" }],
    },
  };
  const liar = `import { defineExtension, defineService } from "@millrace/contracts";
export default defineExtension({ services: [defineService(${JSON.stringify(service)})] });`;
  await extensionProject(
    [
      ...packages,
      {
        name: "@acme/loud",
        code: adapterCode(
          "loud",
          actionCode("go", "() => ({ stack: (globalThis.heard = new Error()).name })"),
        ),
        mode: "inProcess",
      },
      {
        name: "@acme/eager",
        code: adapterCode(
          "eager",
          actionCode("go", "() => ({})"),
          `import fs from "node:fs"; fs.readFileSync(${JSON.stringify(join(folder, "private", "key.txt"))});`,
        ),
      },
      { name: "@acme/late", code: adapterCode("late", actionCode("go", "() => ({})")) },
      {
        name: "@acme/stuck",
        code: checkedCode("stuck.go", "check: () => { for (;;); }, run: async () => ({})"),
      },
      {
        name: "@acme/patient", // its first step ends with its second, whose check does not end
        code: checkedCode(
          "patient.go",
          `check: ({ first }) => first ? [] : new Promise(() => {}),
  run: ({ first }, ctx) => first
    ? new Promise((resolve) => { finish = resolve; ctx.log("info", "at work"); }) : (finish({}), {})`,
        ),
      },
      { name: "@acme/liar", code: liar },
    ],
    folder,
  );
  changeFile(join(packageFolder(folder, "@acme/curious"), "package.json"), (text) =>
    text.replace('"peerDependencies": {', '"peerDependencies": { "../../../../private": "*",'),
  );
  await relock("@acme/curious");
  extensions = await openExtensions({
    project: folder,
    list: [...Object.keys(BODIES), "eager", "late", "stuck", "patient", "loud"].map(
      (id) => `@acme/${id}`,
    ),
    taken: { types: ["log"] },
    data: join(folder, "data"),
    openFetch: createNodeHost().openFetch,
    warn: (warning) => void warnings.push(warning),
    times: { loadMs: LOAD_MS, checkMs: CHECK_MS, backoffMs: 1 },
  });
  engine = createEngine({
    host: createNodeHost(),
    journal: createMemoryJournal(),
    config: extensions.config,
    credentials: {
      secret: async () => "hunter2-hunter2",
      resolve: () => Promise.reject(new Error("none")),
      renew: () => Promise.reject(new Error("none")),
      refused() {},
    } as never,
  });
  stuck = run("stuck");
  patient = runPatient();
});

afterAll(async () => {
  await engine?.close({ graceMs: 0 });
  await extensions?.close();
});

/** Begins a run of one node. */
async function begin(id: string, fields = ""): Promise<Run> {
  const registry = createRegistry([...extensions.types]);
  const source = `node a: ${id}.go { ${fields} }\noutput told = a`;
  const compiled = await compileFlow(graphOf(source), { registry });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics));
  return engine.run(compiled.plan);
}

async function endOf(run: Run): Promise<{ code?: string | undefined; output: unknown }> {
  const { error, outputs } = await run.result;
  return { code: error?.code, output: outputs["told"] };
}

/** Runs one node to its end. */
const run = async (id: string, fields?: string) => endOf(await begin(id, fields));

/** The second step is checked when the process is at work on the first, however long that took. */
async function runPatient() {
  const first = await begin("patient", "first = true");
  for await (const batch of first.batches()) {
    if (batch.some(({ kind }) => kind === "log")) break;
  }
  return Promise.all([endOf(first), run("patient", "first = false")]);
}

test("what a process writes on its line ends that process at most", async () => {
  const [garbage, untold, prototypes] = await Promise.all(
    ["garbage", "untold", "prototypes"].map((id) => run(id)),
  );
  expect(garbage?.code).toBe("extension_crashed");
  expect(untold?.code).toBe("extension_threw");
  expect(prototypes?.code).toBe("extension_crashed");
});

test("a process that ended is started again in its time after the clock was set back", async () => {
  await run("garbage");
  const now = Date.now();
  const setBack = vi.spyOn(Date, "now").mockImplementation(() => now - 3_600_000);
  onTestFinished(() => setBack.mockRestore());
  expect((await run("garbage")).code).toBe("extension_crashed");
});

test("a limit without a number is refused, and the name of a prototype is no configuration", async () => {
  expect((await run("endless")).output).toEqual({
    code: "extension_threw",
    message: "ctx.fetch takes limits from 0",
  });
  expect((await run("constructor")).output).toEqual({ config: {} });
});

test("what no event can carry is refused to the body that says it, and ends no process", async () => {
  expect((await run("unsure")).output).toEqual({
    told: ["ctx.progress takes numbers from 0", "ctx.log takes debug,info,warn,error, and text"],
  });
});

test("a dependency is a name and no way to a folder", async () => {
  const path = join(folder, "private", "key.txt");
  const { output } = await run("curious", `paths = ["${path}"]`);
  expect(output).toEqual({ [path]: "ERR_ACCESS_DENIED" });
});

test("an import that may not be read is named", async () => {
  const { error } = await (await begin("eager")).result;
  expect(error?.code).toBe("extension_load_failed");
  const path = join(folder, "private", "key.txt");
  expect(error?.message).toContain(`it may not read ${path}`);
});

test("a log outside of runs shows no secret and has an end", async () => {
  await run("leaking");
  const told = warnings.filter(({ extension }) => extension === "@acme/leaking");
  expect(told[0]?.message).toBe("the key is [redacted]");
  expect(told.length).toBeLessThanOrEqual(200); // of the two seconds that it may be in
  expect(told.some(({ message }) => message.includes("dropped"))).toBe(true);
});

test("a file that changes between the start and the first use is not loaded", async () => {
  changeFile(join(packageFolder(folder, "@acme/late"), "dist/extension.js"), (text) => `${text} `);
  expect((await run("late")).code).toBe("extension_changed");
});

test("an error in the process of the host is known by the code that it came through", async () => {
  await run("loud");
  expect(extensions.blame(Reflect.get(globalThis, "heard"))).toBe("@acme/loud");
  expect(extensions.blame(new Error("own"))).toBeUndefined();
});

test("a check that does not end is ended, and finds nothing", async () => {
  expect((await stuck).code).toBeUndefined();
  expect(warnings).toContainEqual(
    expect.objectContaining({ extension: "@acme/stuck", code: "extension_check_late" }),
  );
});

test("a check that does not end is left out while a step runs, and ends no step", async () => {
  expect((await patient).map(({ code }) => code)).toEqual([undefined, undefined]);
  const message = expect.stringContaining("was left out");
  expect(warnings).toContainEqual(
    expect.objectContaining({ extension: "@acme/patient", code: "extension_check_late", message }),
  );
});

test("what a package leaves out of its digest, or makes of it, is refused", async () => {
  const at = packageFolder(folder, "@acme/late");
  const inspect = (): Promise<unknown> =>
    inspectExtension(folder, "@acme/late").then(
      ({ treeDigest }) => treeDigest,
      (error: Error) => error.message,
    );
  const before = await inspect();
  const file = join(at, "package.json");
  const manifest = async (from: string, to: string): Promise<unknown> => {
    changeFile(file, (text) => text.replace(from, to));
    const told = await inspect();
    changeFile(file, (text) => text.replace(to, from));
    return told;
  };
  const entry = '"entry": "./dist/extension.js"';
  for (const path of [
    "./node_modules/x/a.js",
    "./.git/a.js",
    "./.tool/a.js",
    ".//.tool/a.js",
    "./dist/../../a.js",
  ]) {
    expect(await manifest(entry, `"entry": "${path}"`)).toContain("/millrace/entry");
  }
  expect(await manifest('"version": "1.4.0"', '"version": "latest"')).toContain("/version");
  mkdirSync(join(at, "dist", "node_modules"));
  writeFileSync(join(at, "dist", "node_modules", "a.js"), "");
  expect(await inspect()).not.toBe(before);
  rmSync(join(at, "dist", "node_modules"), { recursive: true });
  // Tools write into a folder that somebody works in, and not into what is installed.
  const worked = async () => (await inspectExtension(folder, at)).treeDigest;
  mkdirSync(join(at, ".turbo"));
  writeFileSync(join(at, ".turbo", "test.log"), "");
  expect([await worked(), (await inspect()) === before]).toEqual([before, false]);
  rmSync(join(at, ".turbo"), { recursive: true });
  writeFileSync(join(at, "a\nb"), "");
  expect(await inspect()).toContain("line break");
  rmSync(join(at, "a\nb"));
  symlinkSync("/dev/zero", join(at, "zero"));
  expect(await inspect()).toContain("is a link");
  rmSync(join(at, "zero"));
  rmSync(file);
  symlinkSync("/dev/zero", file);
  expect(await inspect()).toContain("not installed");
});

test("a service whose name is not that of its kind is no catalog", async () => {
  const at = packageFolder(folder, "@acme/liar");
  const { nodes, ...rest } = catalogOf(await importDefinition(join(at, "dist/extension.js")));
  const {
    catalogVersion,
    digest: _,
    ...body
  } = {
    ...rest,
    nodes: nodes.map((node) => ({ ...node, type: "abcdefg.x" })),
  };
  const digest = `sha256:${createHash("sha256")
    .update(canonicalJson(body as never))
    .digest("hex")}`;
  writeFileSync(join(at, "dist/catalog.json"), JSON.stringify({ catalogVersion, digest, ...body }));
  await expect(inspectExtension(folder, "@acme/liar")).rejects.toThrow("belong together");
});

/** Grants a package what it is now. */
async function relock(name: string): Promise<void> {
  const { manifestDigest, treeDigest } = await inspectExtension(folder, name);
  const lock = new Map(await readLock(folder));
  const before = lock.get(name);
  if (before !== undefined) lock.set(name, { ...before, manifestDigest, treeDigest });
  await writeLock(folder, lock);
}
