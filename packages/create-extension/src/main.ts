/** `npm create @millrace/extension -- --kind action --template ts --name @acme/millrace-weather [folder]`. */
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { createExtension } from "./create.ts";
import { KINDS, TEMPLATES } from "./scaffold.ts";

/** The working directory and the output of the command. */
export interface MainIo {
  readonly cwd: string;
  out(line: string): void;
  err(line: string): void;
}

const USAGE = `usage: create-extension --name NAME [--kind ${KINDS.join("|")}] [--template ${TEMPLATES.join("|")}] [folder]`;
const USAGE_EXIT_CODE = 2;

/** Runs the command and returns its exit code: 0, or 2 for wrong arguments. */
export async function main(argv: readonly string[], io: MainIo): Promise<number> {
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        kind: { type: "string", default: "action" },
        template: { type: "string", default: "js" },
        name: { type: "string" },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    if (values.help) {
      io.out(USAGE);
      return 0;
    }
    const { name } = values;
    const kind = oneOf("kind", values.kind, KINDS);
    const template = oneOf("template", values.template, TEMPLATES);
    const [given, ...others] = positionals;
    if (name === undefined || others.length > 0) throw new Error(USAGE);
    const folder = resolve(io.cwd, given ?? name.replace(/^@[^/]*\//, ""));
    const paths = await createExtension({ kind, template, name, folder });
    for (const path of paths) io.out(path);
    io.out(`next: cd ${folder} && npm install && npm test`);
    return 0;
  } catch (error) {
    io.err(error instanceof Error ? error.message : String(error));
    return USAGE_EXIT_CODE;
  }
}

function oneOf<W extends string>(flag: string, value: string, known: readonly W[]): W {
  const found = known.find((word) => word === value);
  if (found !== undefined) return found;
  throw new Error(`--${flag} is one of ${known.join(", ")}, not "${value}"`);
}
