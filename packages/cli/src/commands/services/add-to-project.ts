/** How a descriptor gets into a project, from the catalog or of a document: its file, what changes in it, and what comes next. */

import { dirname, join, relative, resolve } from "node:path";
import {
  checkService,
  type ServiceOperation,
  type ServiceSpec,
  serviceArguments,
} from "@millrace/contracts";
import { say } from "../../argv/flags.ts";
import { type CommandIo, flagText, type Input, isOn } from "../../argv/spec.ts";
import { configOptions, PROJECT_FILE, projectFile, projectFolder } from "../../config/files.ts";
import { SERVICES_FOLDER } from "../../config/services.ts";
import { nextTrust } from "../../config/trust.ts";
import { CliError } from "../../errors.ts";
import { readIfThere, replaceFile } from "../../files.ts";
import { clean } from "../../output/text.ts";

/** Writes the descriptor of a service where the flag `out` says, else into the project, and says what comes next. */
export async function addToProject(
  {
    entry,
    diagnostics,
    next = [],
    mayReplace = true,
  }: {
    readonly entry: ServiceSpec;
    readonly diagnostics: readonly object[];
    /** Lines for a person, after the one that lets the project count. */
    readonly next?: readonly string[];
    /** Whether a file that has something else is replaced. */
    readonly mayReplace?: boolean;
  },
  input: Input,
  io: CommandIo,
): Promise<number> {
  const text = `${JSON.stringify(entry, null, 2)}\n`;
  const target = flagText(input, "out");
  if (target === "-") {
    await io.out.write(text);
    return 0;
  }
  const check = isOn(input, "check");
  const options = configOptions(input, io);
  const project = await projectFolder(options, io);
  const folder = project ?? io.cwd;
  const file =
    target === undefined
      ? join(folder, SERVICES_FOLDER, `${entry.slug}.json`)
      : resolve(io.cwd, target);
  const code = await writeDescriptor({ file, text, entry, diagnostics, check, mayReplace }, io);
  if (check || dirname(file) !== join(folder, SERVICES_FOLDER)) return code;
  if (project === undefined) await makeProject(folder, io);
  const trust = await nextTrust(await projectFile(options, io), options.home, io);
  // The one that lets the project count is said with `--json`, too.
  if (trust !== undefined && io.verbosity !== "quiet") await io.err.write(`next: ${trust}\n`);
  for (const line of next) await say(io, `next: ${line}`);
  return code;
}

/** Descriptors count beside a project file, so there must be one. */
async function makeProject(folder: string, io: CommandIo): Promise<void> {
  await replaceFile(join(folder, PROJECT_FILE), "{}\n");
  await say(io, `${PROJECT_FILE}: added, because services count beside one`);
}

interface Imported {
  readonly file: string;
  readonly text: string;
  readonly entry: ServiceSpec;
  readonly diagnostics: readonly object[];
  readonly check: boolean;
  readonly mayReplace: boolean;
}

/** Says what changes, and writes it unless this is a check. */
async function writeDescriptor(
  { file, text, entry, diagnostics, check, mayReplace }: Imported,
  io: CommandIo,
): Promise<number> {
  const shown = relative(io.cwd, file) || file;
  const before = await readIfThere(file);
  const change = before === undefined ? "added" : before === text ? "none" : "changed";
  const old = before === undefined ? undefined : serviceIn(before);
  const operations = old === undefined ? undefined : compareServices(old, entry);
  if (io.json !== undefined) {
    await io.json.result({ file: shown, change, ...(operations && { operations }), diagnostics });
  } else {
    if (before !== undefined && change === "changed") {
      const { createTwoFilesPatch } = await import("diff");
      await io.out.write(createTwoFilesPatch(shown, shown, before, text, "", "", { context: 3 }));
    }
    for (const line of operations?.breaking ?? []) await io.err.write(`breaking: ${clean(line)}\n`);
  }
  if (check) {
    if (change === "none") return 0;
    throw new CliError("check_failed", `${clean(shown)} would be ${change}`, {
      hint: "run it again without --check",
    });
  }
  if (change === "changed" && !mayReplace) {
    throw new CliError("check_failed", `${clean(shown)} has something else; nothing is written`, {
      hint: "--force replaces it",
    });
  }
  if (change !== "none") await replaceFile(file, text);
  const { length } = entry.serviceIntegration.operations;
  const count = `${length} operation${length === 1 ? "" : "s"}`;
  const done = change === "none" ? "unchanged" : change;
  await say(io, `${clean(shown)}: ${entry.slug}, ${count}, ${done}`);
  return 0;
}

function serviceIn(text: string): ServiceSpec | undefined {
  try {
    const value = JSON.parse(text) as unknown;
    return checkService(value).length === 0 ? (value as ServiceSpec) : undefined;
  } catch {
    return undefined;
  }
}

/** Ids of operations, sorted; `breaking` are sentences. */
export interface ServiceChange {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly breaking: readonly string[];
}

/** Compares two descriptors. Breaking is what can fail a flow that worked: an operation that is gone, an argument that is now required. */
function compareServices(before: ServiceSpec, after: ServiceSpec): ServiceChange {
  const old = byId(before);
  const now = byId(after);
  const added = [...now.keys()].filter((id) => !old.has(id)).sort();
  const changed = [...now].filter(([id, operation]) => differs(old.get(id), operation));
  const gone = [...old.keys()].filter((id) => !now.has(id)).map((id) => `${id} is gone`);
  const required = changed.flatMap(([id, operation]) => {
    const known = requiredOf(old.get(id) as ServiceOperation);
    return [...requiredOf(operation)]
      .filter((name) => !known.has(name))
      .map((name) => `${id} now requires ${name}`);
  });
  return {
    added,
    changed: changed.map(([id]) => id).sort(),
    breaking: [...gone, ...required].sort(),
  };
}

function byId({ serviceIntegration }: ServiceSpec): ReadonlyMap<string, ServiceOperation> {
  return new Map(serviceIntegration.operations.map((operation) => [operation.id, operation]));
}

function differs(before: ServiceOperation | undefined, after: ServiceOperation): boolean {
  return before !== undefined && JSON.stringify(before) !== JSON.stringify(after);
}

function requiredOf(operation: ServiceOperation): ReadonlySet<string> {
  const { known } = serviceArguments(operation);
  return new Set([...known].filter(([, { required }]) => required).map(([name]) => name));
}
