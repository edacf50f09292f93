/** `millrace ext list` and `doctor`: how the extensions of a project stand. */

import { readExtensions, runtimeOf } from "@millrace/extensions";
import type { CommandIo, Input } from "../argv/spec.ts";
import { describedIds } from "../config/described.ts";
import { configOptions } from "../config/files.ts";
import { loadConfig } from "../config/load.ts";
import { CliError } from "../errors.ts";
import { openProjectExtensions, takenIds } from "../ext/open.ts";
import { findProject } from "../ext/project.ts";
import { enforcementText, toRow } from "../ext/show.ts";
import { debugLines } from "../output/debug-lines.ts";
import { tableLines } from "../output/table.ts";
import { clean } from "../output/text.ts";

/** Every extension of the project. None of their code runs, so the project need not be trusted. */
export async function list(input: Input, io: CommandIo): Promise<number> {
  const { folder, choice } = await findProject(input, io);
  const taken = takenIds(await describedIds(configOptions(input, io), io));
  const all = await readExtensions({ project: folder, list: choice.list, taken });
  if (io.json !== undefined) {
    await io.json.result({ items: all.map(toRow) });
    return 0;
  }
  if (all.length === 0) await io.err.write("the project has no extensions\n");
  const rows = all.map(({ name, version = "", mode, state, problem, inspected }) => {
    const { nodes = [], providers = [], services = [] } = inspected?.manifest.contributes ?? {};
    const what = [...nodes, ...providers, ...services].join(" ");
    return [name, version, mode, problem === undefined ? state : problem.code, what];
  });
  for (const line of tableLines(["name", "version", "mode", "state", "contributes"], rows)) {
    await io.out.write(`${line}\n`);
  }
  for (const { name, problem } of all) {
    if (problem !== undefined) await io.err.write(`${clean(name)}: ${clean(problem.message)}\n`);
  }
  for (const mode of new Set(all.map((each) => each.mode))) {
    await io.err.write(`${mode}: ${enforcementText(runtimeOf(mode))}\n`);
  }
  return 0;
}

/** Loads every extension as a run would, and says what came of it; ends with 1 when one cannot be used. */
export async function doctor(input: Input, io: CommandIo): Promise<number> {
  const config = await loadConfig(configOptions(input, io), io, () => {});
  const extensions = await openProjectExtensions(config, () => {}, { debug: debugLines(io) });
  let failed = 0;
  try {
    await extensions.load();
    for (const { name, mode, problem, warnings } of extensions.list()) {
      if (problem !== undefined) failed += 1;
      const enforced = enforcementText(runtimeOf(mode));
      const status = problem !== undefined ? "fail" : warnings.length > 0 ? "warn" : "ok";
      const says = problem?.message ?? warnings[0] ?? `${mode}; ${enforced}`;
      if (io.json !== undefined) {
        const { enforcement } = runtimeOf(mode);
        const fix = problem === undefined ? {} : { fix: fixOf(name, problem.code) };
        await io.json.result({ check: name, status, says, mode, enforcement, ...fix });
      } else {
        await io.out.write(`${status.padEnd(4)}  ${clean(name)}  ${clean(says)}\n`);
        if (problem !== undefined)
          await io.out.write(`      fix: ${clean(fixOf(name, problem.code))}\n`);
      }
    }
  } finally {
    await extensions.close();
  }
  if (failed === 0) return 0;
  const message = `${failed} of the extensions cannot be used`;
  throw new CliError("check_failed", message, { told: true });
}

function fixOf(name: string, code: string): string {
  if (code === "extension_missing") return "install the packages of the project";
  if (code === "extension_not_locked") return `millrace ext add ${name}`;
  if (code === "extension_changed" || code === "extension_permissions_changed") {
    return `read what has changed, then millrace ext trust ${name}`;
  }
  return `take another version, or millrace ext remove ${name}`;
}
