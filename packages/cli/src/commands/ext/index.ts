/** `millrace ext list` and `doctor`: how the extensions of a project stand. */
import { readExtensions, runtimeOf } from "@millrace/extensions";
import { command } from "../../argv/flags.ts";
import type { CliCommand } from "../../argv/spec.ts";
import { configOptions } from "../../config/files.ts";
import { loadConfig } from "../../config/load.ts";
import { describedIds, readSources } from "../../config/sources.ts";
import { CliError } from "../../errors.ts";
import { debugLines } from "../../output/debug-lines.ts";
import { tableLines } from "../../output/table.ts";
import { clean } from "../../output/text.ts";
import { openProjectExtensions, takenIds } from "../../run/extensions.ts";
import { enforcementText, findProject, toRow } from "./project.ts";

const YES = { long: "yes", summary: "grant it without a question" };
const IMPORT_TIMEOUT = {
  long: "import-timeout",
  value: "<duration>",
  summary: "how long its import may take (default 30s)",
};
const NET = {
  long: "net",
  value: "<host>",
  summary: "grant a host of yours, too, such as storage.example:9000",
  multiple: true,
} as const;
const FOLDER = { name: "folder", summary: "folder of the extension (default here)" };

const list = command("ext list", "list the extensions of the project and how they stand", {
  examples: [["ext list", "none of their code runs"]],
  async run(input, io) {
    const { folder, choice } = await findProject(input, io);
    const taken = takenIds(await describedIds(await readSources(configOptions(input, io), io)));
    const all = await readExtensions({ project: folder, list: choice.list, taken });
    const rows = all.map(({ name, version = "", mode, state, problem, inspected }) => {
      const { nodes = [], providers = [], services = [] } = inspected?.manifest.contributes ?? {};
      const what = [...nodes, ...providers, ...services].join(" ");
      return [name, version, mode, problem === undefined ? state : problem.code, what];
    });
    return {
      value: { items: all.map(toRow) },
      data: await tableLines(["name", "version", "mode", "state", "contributes"], rows),
      said: [
        ...(all.length === 0 ? ["the project has no extensions"] : []),
        ...all.flatMap(({ name, problem }) =>
          problem === undefined ? [] : [`${clean(name)}: ${clean(problem.message)}`],
        ),
        ...[...new Set(all.map(({ mode }) => mode))].map(
          (mode) => `${mode}: ${enforcementText(runtimeOf(mode))}`,
        ),
      ],
      mayBeQuiet: false,
    };
  },
});

const doctor = command("ext doctor", "load every extension and say what came of it", {
  output: "check",
  examples: [["ext doctor", "exit 1 when one cannot be used"]],
  async run(input, io) {
    const config = await loadConfig(configOptions(input, io), io, () => {});
    const extensions = await openProjectExtensions(config, () => {}, { debug: debugLines(io) });
    let failed = 0;
    try {
      await extensions.load();
      for (const { name, mode, granted, problem, warnings } of extensions.list()) {
        if (problem !== undefined) failed += 1;
        const runtime = runtimeOf(mode, granted);
        const enforced = enforcementText(runtime);
        const status = problem !== undefined ? "fail" : warnings.length > 0 ? "warn" : "ok";
        const says = problem?.message ?? warnings[0] ?? `${mode}; ${enforced}`;
        if (io.json !== undefined) {
          const { enforcement } = runtime;
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
    throw new CliError("check_failed", message, { reported: true });
  },
});

const add = command("ext add", "install an extension, show what it wants, and grant it", {
  args: [{ name: "package", summary: "a package, a tarball or a folder", required: true }],
  flags: [
    { long: "in-process", summary: "run its code inside millrace, without any guard" },
    NET,
    YES,
  ],
  examples: [
    ["ext add @acme/millrace-weather", "from the registry"],
    ["ext add ./ext/weather", "a folder of the project"],
    ["ext add weather-1.4.0.tgz --yes", "where nobody can be asked"],
  ],
  run: async (input, io) => (await import("./add.ts")).add(input, io),
});

const remove = command("ext remove", "take an extension out of the project", {
  args: [{ name: "package", summary: "as ext list names it", required: true }],
  examples: [["ext remove @acme/millrace-weather", "and its package"]],
  run: async (input, io) => (await import("./add.ts")).remove(input, io),
});

const trust = command("ext trust", "look at a changed extension again, and grant it", {
  args: [{ name: "package", summary: "as ext list names it", required: true }],
  flags: [NET, YES],
  examples: [["ext trust ./ext/weather", "after its files changed"]],
  run: async (input, io) => (await import("./add.ts")).trust(input, io),
});

const build = command("ext build", "write catalog.json of an extension from its code", {
  args: [FOLDER],
  flags: [IMPORT_TIMEOUT],
  examples: [["ext build", "in the folder of the extension"]],
  run: async (input, io) => (await import("./build.ts")).build(input, io),
});

const pack = command("ext pack", "pack an extension whose catalog is that of its code", {
  args: [FOLDER],
  flags: [IMPORT_TIMEOUT],
  examples: [["ext pack", "a tarball for ext add, or for npm publish"]],
  run: async (input, io) => (await import("./build.ts")).pack(input, io),
});

export const commands: readonly CliCommand[] = [add, list, remove, trust, doctor, build, pack];

function fixOf(name: string, code: string): string {
  if (code === "extension_missing") return "install the packages of the project";
  if (code === "extension_not_locked") return `millrace ext add ${name}`;
  if (code === "extension_changed" || code === "extension_permissions_changed") {
    return `read what has changed, then millrace ext trust ${name}`;
  }
  return `take another version, or millrace ext remove ${name}`;
}
