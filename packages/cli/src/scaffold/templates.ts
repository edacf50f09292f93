/** Templates of projects and flows: the examples, each by its name, and their way to the disk: all files, or none where one is there. */
import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { Answer, CommandIo, FlagSpec } from "../argv/spec.ts";
import { meant } from "../argv/suggest.ts";
import { CliError, cannotWrite, usage } from "../errors.ts";
import { makeFolder, readIfThere } from "../files.ts";
import { clean } from "../output/text.ts";
import { EXAMPLES } from "./folder.ts";

export const TEMPLATE_FLAGS: readonly FlagSpec[] = [
  {
    long: "template",
    value: "<name>",
    complete: "example",
    summary: "an example to begin with (default hello)",
  },
  { long: "force", summary: "replace files that are there" },
];

/** The files of an example, as a project has them. */
export interface Template {
  readonly name: string;
  /** `millrace.json` without its own `$schema`; empty where the example has none. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Every other file, by its path in a project. */
  readonly files: ReadonlyMap<string, Uint8Array>;
}

/** Files that belong to the repository, not to a project. */
const LEFT_OUT =
  /^(?:package\.json|README\.md|node_modules|out|fixtures\/answers\.script\.json)(?:$|\/)/;

/** Names of the examples that have a flow of their name, sorted by their numbers. */
export async function templateNames(): Promise<readonly string[]> {
  return (await folders()).map(({ name }) => name);
}

/** Reads an example. `flowName`: the name of its flow in the project. Throws a usage error for an invalid name. */
export async function readTemplate(name: string, flowName: string = name): Promise<Template> {
  const all = await folders();
  const found = all.find((each) => each.name === name || each.folder === name);
  if (found === undefined) {
    const names = all.map((each) => each.name);
    const hint = (await meant(name, names)) ?? `there are ${names.join(", ")}`;
    throw usage(`there is no template "${clean(name)}"`, hint);
  }
  const from = join(fileURLToPath(EXAMPLES), found.folder);
  const files = new Map<string, Uint8Array>();
  let config: Template["config"] = {};
  const entries = await readdir(from, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    const path = join(entry.parentPath ?? entry.path, entry.name);
    const inner = path
      .slice(from.length + 1)
      .split(sep)
      .join("/");
    if (!entry.isFile() || LEFT_OUT.test(inner)) continue;
    const bytes = await readFile(path);
    if (inner === "millrace.json") {
      const { $schema: _schema, ...rest } = JSON.parse(bytes.toString()) as Record<string, unknown>;
      config = rest;
    } else files.set(placeOf(inner, found.name, flowName), bytes);
  }
  return { name: found.name, config, files };
}

/** `x.flow`, `fixtures/…` and `golden.ndjson` have places of their own in a project; other files keep theirs. */
function placeOf(inner: string, example: string, flowName: string): string {
  if (inner === `${example}.flow`) return `flows/${flowName}.flow`;
  if (/^[^/]+\.flow$/.test(inner)) return `flows/${inner}`;
  if (/^golden[^/]*\.ndjson$/.test(inner)) return `fixtures/${flowName}/${inner}`;
  if (inner.startsWith("fixtures/"))
    return `fixtures/${flowName}/${inner.slice("fixtures/".length)}`;
  return inner;
}

async function folders(): Promise<readonly { readonly name: string; readonly folder: string }[]> {
  const root = fileURLToPath(EXAMPLES);
  const names = (await readdir(root)).filter((folder) => /^\d+-/.test(folder)).sort();
  const found = [];
  for (const folder of names) {
    const name = folder.replace(/^\d+-/, "");
    const flows = (await readdir(join(root, folder))).filter((file) => file === `${name}.flow`);
    if (flows.length > 0) found.push({ name, folder });
  }
  return found;
}

/** Writes every file below the folder and lists them. Throws `check_failed` when one exists and `force` is off: then nothing is written. */
export async function writeFiles(
  folder: string,
  files: ReadonlyMap<string, Uint8Array | string>,
  force: boolean,
): Promise<void> {
  const there = force ? [] : [...files.keys()].filter((path) => existsSync(join(folder, path)));
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
  const before = (await readIfThere(path)) ?? "";
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
