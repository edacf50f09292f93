/** `millrace init`: a folder becomes a project, with an example to begin with. */
import { existsSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { command } from "../argv/flags.ts";
import {
  type Answer,
  type CliCommand,
  type CommandIo,
  flagText,
  type Input,
  isOn,
} from "../argv/spec.ts";
import { configSchema } from "../config/keys.ts";
import { ALL_KEYS } from "../config/limit-keys.ts";
import {
  addLine,
  readTemplate,
  TEMPLATE_FLAGS,
  writeFiles,
  writtenFiles,
} from "../scaffold/templates.ts";

export const commands: readonly CliCommand[] = [
  command("init", "make a folder a project, with an example to begin with", {
    args: [{ name: "dir", summary: "the folder (default the working directory)" }],
    flags: TEMPLATE_FLAGS,
    examples: [
      ["init my-flows", "millrace.json, flows/hello.flow, fixtures/"],
      ["init shop --template support-triage", "begin with a bigger one"],
    ],
    run,
  }),
];

/** Where an editor finds what the file may hold: in the package where it is installed here, else in a copy beside the file. */
const INSTALLED_SCHEMA = "./node_modules/@millrace/cli/schema.json";
const OWN_SCHEMA = "millrace.schema.json";
const IGNORED = "out/";

/** Writes the files of the project; ends with 1 when one is there already. */
async function run(input: Input, io: CommandIo): Promise<Answer> {
  const folder = resolve(io.cwd, input.args[0] ?? ".");
  const template = await readTemplate(flagText(input, "template") ?? "hello");
  const isInstalled = existsSync(join(folder, INSTALLED_SCHEMA));
  const $schema = isInstalled ? INSTALLED_SCHEMA : `./${OWN_SCHEMA}`;
  const config = { $schema, flows: "flows", ...template.config };
  const files = new Map<string, Uint8Array | string>([
    ["millrace.json", `${JSON.stringify(config, null, 2)}\n`],
    ...(isInstalled ? [] : [[OWN_SCHEMA, schemaText()] as const]),
    ...template.files,
  ]);
  const fixtures = `fixtures/${template.name}`;
  if (![...files.keys()].some((path) => path.startsWith(`${fixtures}/inputs.json`))) {
    files.set(`${fixtures}/inputs.json`, "{}\n");
  }
  await writeFiles(folder, files, isOn(input, "force"));
  const ignored = await addLine(join(folder, ".gitignore"), IGNORED);
  const at = relative(io.cwd, folder);
  const next = [
    ...(at === "" ? [] : [`cd ${at}`]),
    ...(Object.keys(template.config).length === 0 ? [] : ["millrace config trust"]),
    `millrace run flows/${template.name}.flow`,
    "millrace test flows",
  ];
  return writtenFiles(folder, [...files.keys(), ...(ignored ? [".gitignore"] : [])], next, io);
}

function schemaText(): string {
  return `${JSON.stringify(configSchema(ALL_KEYS, false), null, 2)}\n`;
}
