/** `npm create @millrace/extension -- --kind action --name @acme/millrace-weather [folder]`. */
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { createExtension, KINDS, type Kind } from "./create.ts";

/** Where the command is run and where it speaks to. */
export interface MainIo {
  readonly cwd: string;
  out(line: string): void;
  err(line: string): void;
}

const USAGE = `usage: create-extension --name NAME [--kind ${KINDS.join("|")}] [folder]`;
const USAGE_EXIT_CODE = 2;

/** Runs the command; the answer is its exit code: 0, or 2 for what was asked wrongly. */
export async function main(argv: readonly string[], io: MainIo): Promise<number> {
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        kind: { type: "string", default: "action" },
        name: { type: "string" },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    if (values.help) {
      io.out(USAGE);
      return 0;
    }
    const { kind, name } = values;
    const [given, ...others] = positionals;
    if (!isKind(kind)) throw new Error(`--kind is one of ${KINDS.join(", ")}, not "${kind}"`);
    if (name === undefined || others.length > 0) throw new Error(USAGE);
    const folder = resolve(io.cwd, given ?? name.replace(/^@[^/]*\//, ""));
    const paths = await createExtension({ kind, name, folder });
    for (const path of paths) io.out(path);
    io.out(`next: cd ${folder} && npm install && npm test`);
    return 0;
  } catch (error) {
    io.err(error instanceof Error ? error.message : String(error));
    return USAGE_EXIT_CODE;
  }
}

function isKind(value: string): value is Kind {
  return (KINDS as readonly string[]).includes(value);
}
