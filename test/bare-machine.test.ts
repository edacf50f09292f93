/** Tests on a machine that has node, npm, sh and coreutils only: what needs more is skipped by name, and the last lines say so. */
import { execFile, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { notFull, testUnless } from "@millrace/test-support";
import { bareFolder, machinePath, OUTSIDE } from "@millrace/test-support/programs";
import { expect, test } from "vitest";
import { named, sumUp } from "../scripts/closing-line.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PROGRAMS = Object.keys(OUTSIDE);

/** Sources of tests, with the helpers beside them. */
const SOURCES = ["packages", "extensions", "test"].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .filter((file) => /[\\/]test[\\/]/.test(file) && !/[\\/]node_modules[\\/]/.test(file)),
);

/** Collects these files as a run of all tests would, and writes a line for each file: errors, and a reason for each skipped test. */
const COLLECT = `
import { createVitest } from "vitest/node";
const vitest = await createVitest("test", { watch: false, reporters: [{}] });
const { testModules, unhandledErrors } = await vitest.collect(process.argv.slice(1));
const files = testModules.map((file) => ({
  file: file.relativeModuleId,
  errors: file.errors().map(({ message }) => message),
  tests: [...file.children.allTests()].map((test) => [test.options.mode, test.meta().missing]),
}));
await vitest.close();
console.log(JSON.stringify({ files, unhandled: unhandledErrors.length }));`;

interface Collected {
  readonly file: string;
  readonly errors: readonly string[];
  readonly tests: readonly (readonly [mode: string, missing?: string])[];
}

testUnless(notFull)(
  "on a bare machine every file is collected, and what needs a program is skipped for it",
  async () => {
    const needy = SOURCES.filter(
      (file) =>
        file.endsWith(".test.ts") &&
        /\b(?:testWith|describe(?:Long)?With|withSecretService)\(/.test(readFileSync(file, "utf8")),
    );
    const env = { ...process.env, PATH: bareFolder(machinePath()), MACHINE_PATH: undefined };
    const words = ["--input-type=module", "-e", COLLECT, ...needy];
    const { stdout } = await promisify(execFile)(process.execPath, words, { cwd: ROOT, env });
    const { files, unhandled } = JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as {
      files: readonly Collected[];
      unhandled: number;
    };
    expect(unhandled).toBe(0);
    expect(files.length).toBe(needy.length);
    expect(files.filter(({ errors }) => errors.length > 0)).toEqual([]);
    const skipped = files.flatMap(({ tests }) => tests.filter(([mode]) => mode === "skip"));
    const reasons = new Set(skipped.map(([, missing]) => missing));
    expect([...reasons]).toEqual(
      expect.arrayContaining(["no chromium", "no tmux", "no curl", "no git", "no bash"]),
    );
    expect(reasons).not.toContain(undefined);
    expect([...reasons].join()).toContain("no Secret Service");
  },
  300_000,
);

test.each(PROGRAMS)(
  "%s is out of reach of a test that does not say that it needs it",
  (program) => {
    expect(spawnSync(program, ["--version"]).error).toMatchObject({ code: "ENOENT" });
  },
);

test("no test names a folder of programs, or skips without a reason", () => {
  const found = SOURCES.flatMap((file) => {
    const text = readFileSync(file, "utf8");
    const hits = text.match(/["'`](?:\/usr)?(?:\/local)?\/s?bin\/|\.(?:skipIf|runIf)\(/g) ?? [];
    return hits.map((hit) => `${file.slice(ROOT.length)}: ${hit}`);
  });
  expect(found).toEqual([]);
});

test("the gate installs every program that a test needs", () => {
  const scripts = [".ci/run", "scripts/with-secret-service.sh"]
    .map((name) => readFileSync(join(ROOT, name), "utf8"))
    .join("\n");
  expect(PROGRAMS.filter((program) => !scripts.includes(program))).toEqual([]);
});

/** A report of one file with tests of these states. */
function reportOf(tests: Readonly<Record<string, string>>) {
  const assertionResults = Object.entries(tests).map(([fullName, said]) => {
    const [status, missing] = said.split(": ");
    return { fullName, status, meta: missing === undefined ? {} : { missing } };
  });
  const failed = assertionResults.some(({ status }) => status === "failed");
  return {
    testResults: [{ name: "a.test.ts", status: failed ? "failed" : "passed", assertionResults }],
  };
}

test("skipped tests are counted by their reasons; what another run passed was not skipped", () => {
  const first = reportOf({
    a: "passed",
    b: "skipped: no tmux",
    c: "skipped: no tmux",
    d: "pending",
  });
  expect(sumUp([first])).toEqual({
    passed: 1,
    failed: 0,
    skipped: 3,
    failures: [],
    retried: [],
    reasons: new Map([
      ["no tmux", 2],
      ["no reason given", 1],
    ]),
  });
  const second = reportOf({ a: "skipped: no sun", b: "passed", c: "failed", d: "passed" });
  const broken = { testResults: [{ name: "b.test.ts", status: "failed", assertionResults: [] }] };
  for (const reports of [
    [first, second, broken],
    [broken, second, first],
  ]) {
    expect(sumUp(reports)).toMatchObject({
      passed: 3,
      failed: 2,
      skipped: 0,
      reasons: new Map(),
    });
  }
});

test("each failed test is named with its file and the first line of its error, twenty of them", () => {
  const failed = (fullName: string, ...failureMessages: string[]) => ({
    ...{ fullName, status: "failed", meta: {}, failureMessages },
  });
  const file = join(ROOT, "packages/dsl/test/a.test.ts");
  const assertionResults = [
    failed(
      "reads a flow",
      "\u001b[31mAssertionError: expected 1\u001b[39m\n    at a.ts:1:1",
      "more",
    ),
    failed("writes one"),
    { fullName: "is fast", status: "passed", meta: {} },
  ];
  const broken = { name: join(ROOT, "test/b.test.ts"), status: "failed", assertionResults: [] };
  const { failures } = sumUp([
    { testResults: [{ name: file, status: "failed", assertionResults }] },
    { testResults: [{ ...broken, message: "SyntaxError: no such export\n" }] },
  ]);
  expect(failures).toEqual([
    "failed: packages/dsl/test/a.test.ts > reads a flow: AssertionError: expected 1",
    "failed: packages/dsl/test/a.test.ts > writes one: no message",
    "failed: test/b.test.ts: SyntaxError: no such export",
  ]);
  expect(named(failures)).toEqual(failures);
  const many = Array.from({ length: 23 }, (_, index) => `failed: ${index}`);
  expect(named(many)).toEqual([...many.slice(0, 20), "and 3 more"]);
});

test("a test that fails and then passes alone has passed, and is named", () => {
  const file = join(ROOT, "packages/dsl/test/a.test.ts");
  const report = (...assertionResults: { fullName: string; status: string }[]) => {
    const status = assertionResults.every((one) => one.status === "passed") ? "passed" : "failed";
    return { testResults: [{ name: file, status, assertionResults }] };
  };
  const first = report(
    { fullName: "reads", status: "failed" },
    { fullName: "writes", status: "failed" },
    { fullName: "ends", status: "passed" },
  );
  const again = report(
    { fullName: "reads", status: "passed" },
    { fullName: "writes", status: "failed" },
    { fullName: "ends", status: "passed" },
  );
  expect(sumUp([first], [again])).toMatchObject({
    passed: 2,
    failed: 1,
    failures: ["failed: packages/dsl/test/a.test.ts > writes: no message"],
    retried: ["passed when it ran again, alone: packages/dsl/test/a.test.ts > reads: no message"],
  });
  const broken = { testResults: [{ name: file, status: "failed", assertionResults: [] }] };
  const whole = report({ fullName: "reads", status: "passed" });
  expect(sumUp([broken], [whole])).toMatchObject({ passed: 1, failed: 0, failures: [] });
  expect(sumUp([broken], [broken])).toMatchObject({ passed: 0, failed: 1, retried: [] });
  expect(sumUp([whole], [report({ fullName: "reads", status: "failed" })])).toMatchObject({
    ...{ passed: 0, failed: 1 },
  });
});
