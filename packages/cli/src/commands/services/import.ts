/** `millrace services import`: the descriptor of a service from an OpenAPI document. Nothing here reaches the network. */

import { arg, command, option } from "../../argv/flags.ts";
import { type CliCommand, type FlagSpec, flagText } from "../../argv/spec.ts";
import { CliError, usage } from "../../errors.ts";
import { readInput } from "../../files.ts";
import { clean } from "../../output/text.ts";

export const OUT: FlagSpec = option(
  "out",
  "<file>",
  "file to write, - for stdout (default services/<slug>.json)",
  { short: "o" },
);

export const CHECK: FlagSpec = {
  long: "check",
  summary: "write nothing; exit 1 where the file would change",
};

/** Turns an OpenAPI document into a descriptor and writes it; with `--check` nothing is written, and a difference ends with 1. */
export const importSpec: CliCommand = command(
  "services import",
  "turn an OpenAPI document (JSON or YAML) into the descriptor of a service",
  {
    args: [arg("spec", "the document; - for stdin")],
    flags: [
      option("slug", "<slug>", "name of the service (default from its title)"),
      option("base-url", "<url>", "where it is (default the first server)"),
      option("only", "<filter>", "operations to take, such as tag:contacts,op:list_*"),
      CHECK,
      OUT,
    ],
    output: "check",
    examples: [
      ["services import openapi.json", "writes services/<slug>.json"],
      ["services import openapi.json --check", "for continuous integration"],
    ],
    async run(input, io) {
      const name = input.args[0] as string;
      const document = await parse(name, await readInput(name, io));
      const { importOpenApi } = await import("@millrace/services/openapi");
      const { entry, diagnostics } = importOpenApi(document, {
        ...optional("slug", flagText(input, "slug")),
        ...optional("baseUrl", flagText(input, "base-url")),
        ...optional("only", flagText(input, "only")),
      });
      for (const { severity, code, pointer, message } of io.json === undefined ? diagnostics : []) {
        if (severity !== "error" && io.verbosity === "quiet") continue;
        await io.err.write(`${severity}[${code}] ${clean(`${pointer || "/"} ${message}`)}\n`);
      }
      if (entry === null) {
        await io.json?.result({ file: null, change: "none", diagnostics });
        throw new CliError("check_failed", `${clean(name)} makes no service`, {
          diagnostics: diagnostics.filter(({ severity }) => severity === "error"),
          reported: io.json === undefined,
        });
      }
      const { addToProject } = await import("./add-to-project.ts");
      return addToProject({ entry, diagnostics }, input, io);
    },
  },
);

/** JSON, else YAML, whose parser is loaded for it. */
async function parse(name: string, bytes: Uint8Array): Promise<unknown> {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    try {
      return JSON.parse(text) as unknown;
    } catch {
      const { parse: parseYaml } = await import("yaml");
      // Its defaults stop aliases that multiply; times and binary values stay text.
      return parseYaml(text, { schema: "core", logLevel: "error" }) as unknown;
    }
  } catch {
    throw usage(`${clean(name)} is neither JSON nor YAML`);
  }
}

function optional<K extends string>(
  key: K,
  value: string | undefined,
): { readonly [key in K]?: string } {
  return (value === undefined ? {} : { [key]: value }) as { readonly [key in K]?: string };
}
