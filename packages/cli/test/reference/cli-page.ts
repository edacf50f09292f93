/** The page of the command line, from its table. */
import { ExitCode } from "@millrace/contracts";
import { SECRET_VARIABLES } from "@millrace/providers/secret-variables";
import { GLOBAL_FLAGS } from "../../src/argv/flags.ts";
import { type ArgSpec, type CliCommand, type FlagSpec, loadCommands } from "../../src/argv/spec.ts";
import { EXIT_CODES } from "../../src/commands/explain/index.ts";
import { NOUNS } from "../../src/commands/index.ts";
import { POWER_KEYS, variablesOf } from "../../src/config/keys.ts";
import { ALL_KEYS } from "../../src/config/limit-keys.ts";
import { code, page, table, WRITTEN } from "./markdown.ts";

/** What `--json` prints, by the kind of a command. */
const OUTPUTS: { readonly [kind in CliCommand["output"]]: string } = {
  stream: "`--json`: one event a line, the last one a `summary`.",
  check: "`--json`: one result a line, then a `summary`.",
  query: "`--json`: one line, the result.",
  text: "Prints text.",
};

/** Every command, exit code, key and variable. */
export async function cliPage(): Promise<string> {
  const commands = await loadCommands(NOUNS);
  const exits = Object.entries(ExitCode).map(([name, number]) => [
    String(number),
    EXIT_CODES[name as keyof typeof ExitCode],
  ]);
  const keys = ALL_KEYS.map((each) => [
    code(each.key),
    each.type,
    each.default === undefined ? "" : code(JSON.stringify(each.default)),
    code(variablesOf(each.key).at(-1) ?? ""),
    POWER_KEYS.includes(each.key.replace(/\..*/, "")) ? "yes" : "",
    each.summary,
  ]);
  return page(
    "# The command line",
    WRITTEN,
    "`millrace <command> --help` says the same of one command.",
    table(
      ["Command", ""],
      commands.map(({ path, summary }) => [
        `[${code(path.join(" "))}](#millrace-${path.join("-")})`,
        summary,
      ]),
    ),
    "## Flags of every command",
    flagTable(GLOBAL_FLAGS),
    ...commands.map(section),
    "## Exit codes",
    table(["Code", ""], exits),
    "## Configuration",
    "Strongest first: flag, variable, the nearest `millrace.json`, the user's file, default. `millrace config explain` says where a value comes from. What grants power counts from a project file only after `millrace config trust`.",
    table(["Key", "Type", "Default", "Variable", "Power", ""], keys),
    "These are no keys: `MILLRACE_HOME` (folder of data and user configuration), `MILLRACE_TRUST_PROJECT` (`1`, or the digest of a project that is trusted), `MILLRACE_SQLITE` (`node` or `libsql`), `MILLRACE_DEBUG=1` (as `--verbose`).",
    "A command keeps its bytecode for its next start, in a folder of its user below the folder of temporary files, or below the absolute path that `NODE_COMPILE_CACHE` names. The next start takes it after its checksum; it may be deleted at any time. With `NODE_DISABLE_COMPILE_CACHE=1` nothing is kept.",
    "## Secrets in variables",
    "`NAME` has the secret, or `NAME_FILE` the path of a file that has it; a newline at its end does not count. Both at once are an error. The same holds for every variable that the configuration names as `env:NAME`.",
    table(
      ["Variable", "Or", "Holds"],
      SECRET_VARIABLES.map(([name, holds]) => [`\`${name}\``, `\`${name}_FILE\``, holds]),
    ),
  );
}

function section({ path, summary, args, flags, output, examples }: CliCommand): string {
  const words = args.map(({ name, required, variadic }) => {
    const shown = variadic ? `${name}...` : name;
    return required ? `<${shown}>` : `[${shown}]`;
  });
  const usage = ["millrace", ...path, ...(flags.length > 0 ? ["[flags]"] : []), ...words].join(" ");
  return page(
    `## millrace ${path.join(" ")}`,
    `${summary.charAt(0).toUpperCase()}${summary.slice(1)}. ${OUTPUTS[output]}`,
    `\`\`\`text\n${usage}\n\`\`\``,
    argTable(args),
    flagTable(flags),
    examples.length === 0
      ? undefined
      : `\`\`\`text\n${examples.map(({ line, says }) => `${line}    # ${says}`).join("\n")}\n\`\`\``,
  ).trimEnd();
}

function argTable(args: readonly ArgSpec[]): string {
  return table(
    ["Argument", ""],
    args.map(({ name, summary }) => [code(name), summary]),
  );
}

function flagTable(flags: readonly FlagSpec[]): string {
  const rows = flags.map(({ long, short, value, choices, multiple, summary }) => {
    const spelling = `${short === undefined ? "" : `-${short}, `}--${long}${value === undefined ? "" : ` ${value}`}`;
    const more = [choices?.join(", "), multiple ? "may be repeated" : undefined].filter(Boolean);
    return [code(spelling), more.length === 0 ? summary : `${summary} (${more.join("; ")})`];
  });
  return table(["Flag", ""], rows);
}
