/** Files of a project on their way to the disk: all of them, or none where one is there already. */

import { readFile, stat, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import type { Answer, CommandIo } from "../argv/spec.ts";
import { CliError, cannotWrite, reason, usage } from "../errors.ts";
import { makeFolder } from "../files.ts";
import { clean } from "../output/text.ts";

/** Writes every file below the folder and lists them. Throws `check_failed` when one exists and `force` is off: then nothing is written. */
export async function writeFiles(
  folder: string,
  files: ReadonlyMap<string, Uint8Array | string>,
  force: boolean,
): Promise<void> {
  const there = [];
  for (const path of files.keys()) {
    if (!force && (await exists(join(folder, path)))) there.push(path);
  }
  if (there.length > 0) {
    throw new CliError(
      "check_failed",
      `${there.map(clean).join(", ")} ${there.length === 1 ? "exists" : "exist"} already in ${clean(folder)}`,
      { hint: "--force replaces what is there", problem: "already_exists" },
    );
  }
  for (const [path, content] of files) await write(join(folder, path), content);
}

/** Adds a line to a text file unless it is there. Says whether the file changed. */
export async function addLine(path: string, line: string): Promise<boolean> {
  const before = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw usage(`cannot read ${path}: ${reason(error)}`);
  });
  if (before.split(/\r?\n/).includes(line)) return false;
  await write(path, `${before}${before === "" || before.endsWith("\n") ? "" : "\n"}${line}\n`);
  return true;
}

/** Which files there are now: paths on stdout, what to do next on stderr. */
export function writtenFiles(
  folder: string,
  files: readonly string[],
  next: readonly string[],
  io: CommandIo,
): Answer {
  const shown = files.map((path) => relative(io.cwd, join(folder, path)));
  // Whoever called it through npx has no `millrace` in the path.
  const npx = io.env.npm_command === "exec" ? "npx " : "";
  return {
    value: { folder, files: shown },
    data: shown.map(clean),
    said: next.map((line) => `next: ${clean(line.replace(/^(?=millrace )/, npx))}`),
  };
}

async function write(path: string, content: Uint8Array | string): Promise<void> {
  try {
    await makeFolder(dirname(path));
    await writeFile(path, content);
  } catch (error) {
    throw cannotWrite(path, error);
  }
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
