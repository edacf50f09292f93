/**
 * Tests that need more than node, npm and coreutils. Where it is missing they are skipped, and the report says what is missing:
 * scripts/closing-line.mjs counts the reasons.
 */
import { networkInterfaces } from "node:os";
import { delimiter } from "node:path";
import { afterAll, beforeAll, describe, type TestContext, test } from "vitest";
import { fileOf, linkFolder, type Program } from "./programs.js";

declare module "vitest" {
  interface TaskMeta {
    /** Why the test is skipped on this machine. */
    missing?: string;
  }
}

const LOCAL_MODELS = new URL("../../local-models/", import.meta.url).href;

const IS_FULL = process.env["MILLRACE_TESTS"] === "all";

/**
 * How many cases a test tries: all of them where the variable `MILLRACE_TESTS` is `all`, as in `.ci/run`; else a twentieth, so that
 * the suite stays quick.
 */
export function casesOf(all: number): number {
  return IS_FULL ? all : Math.ceil(all / 20);
}

/** Why a long test, of which shorter ones show the most, is skipped; undefined where `MILLRACE_TESTS` is `all`. */
export const notFull: string | undefined = IS_FULL ? undefined : "long: set MILLRACE_TESTS=all";

type Body = (context: TestContext) => unknown;

/** A test that needs these programs: they are on its PATH, or it is skipped. */
export function testWith(...programs: readonly Program[]) {
  return (name: string, body: Body, timeoutMs?: number): void => {
    const run: Body = (context) => {
      context.onTestFinished(putOnPath(programs)); // the first one, so that it is called after those of the test
      return body(context);
    };
    testUnless(missingOf(programs))(name, run, timeoutMs);
  };
}

/** A group of tests that need these programs. */
export function describeWith(...programs: readonly Program[]) {
  return (name: string, tests: () => void): void =>
    describeUnless(missingOf(programs))(name, () => {
      let restore = (): void => {};
      beforeAll(() => {
        restore = putOnPath(programs);
      });
      afterAll(() => restore());
      tests();
    });
}

/** A group of long tests that need these programs: it runs where all cases are tried. */
export function describeLongWith(...programs: readonly Program[]) {
  return notFull === undefined ? describeWith(...programs) : describeUnless(notFull);
}

/** A test that is skipped for this reason, such as "no IPv6"; undefined: it runs. */
export function testUnless(missing: string | undefined) {
  return (name: string, body: Body, timeoutMs?: number): void => {
    const options = timeoutMs === undefined ? {} : { timeout: timeoutMs };
    test(name, { ...options, ...skipOf(missing) }, body);
  };
}

/** A group of tests that is skipped for this reason. */
export function describeUnless(missing: string | undefined) {
  return (name: string, tests: () => void): void => void describe(name, skipOf(missing), tests);
}

/** Why nothing can listen on ::1; undefined where it can. */
export function noIpv6(): string | undefined {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return addresses.some(({ address }) => address === "::1") ? undefined : "no IPv6";
}

/** Why the engine of local models cannot be loaded here; undefined where it can. */
export async function noLocalEngine(): Promise<string | undefined> {
  try {
    const { getLlama } = await import(`${LOCAL_MODELS}node_modules/node-llama-cpp/dist/index.js`);
    await getLlama({ gpu: false, build: "never", dryRun: true, skipDownload: true });
    return undefined;
  } catch (error) {
    return `node-llama-cpp cannot be loaded: ${(error as Error).message}`;
  }
}

/** Why a test for Linux cannot run here. */
export const notLinux: string | undefined = process.platform === "linux" ? undefined : "no Linux";

function skipOf(missing: string | undefined) {
  return missing === undefined ? {} : { skip: true, meta: { missing } };
}

/** Each package that asks for PostgreSQL starts one of its own, over which its tests are long. */
function missingOf(programs: readonly Program[]): string | undefined {
  const missing = programs.find((program) => fileOf(program) === undefined);
  if (missing !== undefined) return `no ${missing}`;
  return programs.includes("postgres") ? notFull : undefined;
}

/** Puts the programs on the PATH of this process, and nothing else; returns what takes them away. */
function putOnPath(programs: readonly Program[]): () => void {
  const before = process.env["PATH"] ?? "";
  const folder = linkFolder(programs.map((program) => [program, fileOf(program)]));
  process.env["PATH"] = [folder, before].join(delimiter);
  return () => {
    process.env["PATH"] = before;
  };
}
