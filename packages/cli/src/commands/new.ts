/** `millrace new`: another flow of a project, from an example. */
import { dirname, join, relative } from "node:path";
import { arg, command } from "../argv/flags.ts";
import {
  type Answer,
  type CliCommand,
  type CommandIo,
  flagText,
  type Input,
  isOn,
} from "../argv/spec.ts";
import { type ConfigFile, configOptions, PROJECT_FILE, projectFile } from "../config/files.ts";
import { nextTrust } from "../config/trust.ts";
import { usage } from "../errors.ts";
import { clean } from "../output/text.ts";
import { readTemplate, TEMPLATE_FLAGS, writeFiles, writtenFiles } from "../scaffold/templates.ts";

export const commands: readonly CliCommand[] = [
  command("new", "make another flow in the project's flows folder, from an example", {
    args: [arg("name", "name of the flow, such as daily-report")],
    flags: TEMPLATE_FLAGS,
    examples: [["new daily-report --template csv-report", "flows/daily-report.flow"]],
    run,
  }),
];

/** A name that a flow may have and that a file may have everywhere. */
const NAME = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;
const MAX_NAME = 64;

/** Writes the flow and its fixtures; ends with 1 when one of the files is there already. */
async function run(input: Input, io: CommandIo): Promise<Answer> {
  const [name = ""] = input.args;
  if (!NAME.test(name) || name.length > MAX_NAME) {
    throw usage(
      `"${clean(name)}" is no name of a flow`,
      "lower-case letters, digits and -, such as daily-report",
    );
  }
  const project = await projectFile(configOptions(input, io), io);
  if (project === undefined)
    throw usage(
      `there is no ${PROJECT_FILE} in this folder or above it`,
      "go into the folder of a project, or make one with millrace init",
    );
  const template = await readTemplate(flagText(input, "template") ?? "hello", name);
  const files = new Map<string, Uint8Array | string>();
  for (const [path, bytes] of template.files) {
    // The events that the example makes name the example.
    if (/^fixtures\/[^/]+\/golden[^/]*$/.test(path)) continue;
    if (path === `flows/${name}.flow`) files.set(inFlows(path, project), renamed(bytes, name));
    else files.set(inFlows(path, project), bytes);
  }
  const folder = dirname(project.path);
  await writeFiles(folder, files, isOn(input, "force"));
  const file = relative(io.cwd, join(folder, inFlows(`flows/${name}.flow`, project)));
  const trust = await nextTrust(project, flagText(input, "home"), io);
  const next = [
    ...(trust === undefined ? [] : [trust]),
    `millrace run ${file}`,
    `millrace test ${file} --update`,
  ];
  return writtenFiles(folder, [...files.keys()], next, io);
}

/** The flow's first line names it. */
function renamed(bytes: Uint8Array, name: string): string {
  return new TextDecoder().decode(bytes).replace(/^(flow \d+ )\S+/m, `$1${name}`);
}

function inFlows(path: string, { values }: ConfigFile): string {
  const { flows }: { readonly flows?: unknown } = values;
  return typeof flows === "string"
    ? path.replace(/^flows\//, `${flows.replace(/\/$/, "")}/`)
    : path;
}
