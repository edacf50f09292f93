/**
 * Which flows are tests, and what belongs to each. There are two layouts.
 *   T1  A folder of its own: `x/x.flow`, `x/fixtures/`, `x/golden.ndjson` or `x/fixtures/golden.ndjson`. The folder's test is
 *       the flow that has its name (a number before it does not count), or its only flow.
 *   T2  A project: `flows/x.flow`, and `fixtures/x/` with `golden.ndjson` beside `millrace.json`. It goes before T1.
 */

import { existsSync, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import type { CommandIo } from "../../argv/spec.ts";
import { type ConfigOptions, projectFolder } from "../../config/files.ts";
import { usage } from "../../errors.ts";
import { expandFiles } from "../../files.ts";

/** A flow, the world that it is run in, and the log that it is to make. */
export interface FlowTest {
  /** As the person named it, or from the working directory. */
  readonly file: string;
  /** Folder of fixtures; absent: everything that a flow asks for is missing. */
  readonly fixtures: string | undefined;
  readonly golden: string;
}

const GOLDEN = "golden.ndjson";
const FIXTURES = "fixtures";

/** The tests that are named: a file always is one, a folder stands for the tests below it. Throws a usage error where there is none. */
export async function findTests(
  names: readonly string[],
  named: Omit<ConfigOptions, "folder">,
  io: CommandIo,
): Promise<readonly FlowTest[]> {
  const tests: FlowTest[] = [];
  for (const name of names) {
    const path = resolve(io.cwd, name);
    const files = await expandFiles([name], io);
    const isFolder = existsSync(path) && statSync(path).isDirectory();
    const found = [];
    for (const file of files) {
      const test = await testOf(file, named, io);
      if (!isFolder || (await isTest(test, io))) found.push(test);
    }
    if (found.length === 0) {
      throw usage(
        `no flow below ${relative(io.cwd, path) || "."} is a test`,
        `a test has ${FIXTURES}/ or ${GOLDEN} beside it, or in a project ${FIXTURES}/<flow>/`,
      );
    }
    tests.push(...found);
  }
  return tests;
}

async function testOf(
  file: string,
  named: Omit<ConfigOptions, "folder">,
  io: CommandIo,
): Promise<FlowTest> {
  const folder = dirname(resolve(io.cwd, file));
  const project = await projectFolder({ ...named, folder }, io);
  const own = project === undefined ? undefined : join(project, FIXTURES, nameOf(file));
  if (own !== undefined && existsSync(own)) {
    return { file, fixtures: own, golden: join(own, GOLDEN) };
  }
  const beside = join(folder, FIXTURES);
  const fixtures = existsSync(beside) ? beside : undefined;
  const kept = [join(beside, GOLDEN), join(folder, GOLDEN)];
  for (const golden of kept) if (existsSync(golden)) return { file, fixtures, golden };
  // Flows of a project stand side by side: each keeps its events apart from the others'.
  const isApart = own !== undefined && fixtures === undefined && project !== folder;
  return { file, fixtures, golden: join(isApart ? own : folder, GOLDEN) };
}

async function isTest({ file, fixtures, golden }: FlowTest, io: CommandIo): Promise<boolean> {
  if (fixtures === undefined && !existsSync(golden)) return false;
  const folder = dirname(resolve(io.cwd, file));
  const isOwn = fixtures !== undefined && dirname(fixtures) !== folder; // T2
  if (isOwn || nameOf(file) === basename(folder).replace(/^\d+-/, "")) return true;
  const flows = (await readdir(folder)).filter((name) => name.endsWith(".flow"));
  return flows.length === 1;
}

function nameOf(file: string): string {
  return basename(file).replace(/\.[^.]*$/, "");
}
