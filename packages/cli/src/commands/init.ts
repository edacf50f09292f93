/** `millrace init`: a folder becomes a project, with an example to begin with. */
import { join, relative, resolve } from "node:path";
import { type CommandIo, flagText, type Input, isOn } from "../command.ts";
import { readTemplate } from "../scaffold/templates.ts";
import { addLine, tellFiles, writeFiles } from "../scaffold/write.ts";

/** Where an editor finds what the file may hold, once the package is installed beside it. */
const SCHEMA = "./node_modules/@millrace/cli/schema.json";
/** Folder that the examples write into. */
const IGNORED = "out/";

/** Writes the files of the project; ends with 1 when one is there already. */
export async function run(input: Input, io: CommandIo): Promise<number> {
  const folder = resolve(io.cwd, input.args[0] ?? ".");
  const template = await readTemplate(flagText(input, "template") ?? "hello");
  const config = { $schema: SCHEMA, flows: "flows", ...template.config };
  const files = new Map<string, Uint8Array | string>([
    ["millrace.json", `${JSON.stringify(config, null, 2)}\n`],
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
  await tellFiles(folder, [...files.keys(), ...(ignored ? [".gitignore"] : [])], next, io);
  return 0;
}
