/** `millrace vars`: what flows read as `vars`, of this installation or of a server. */
import type { Json } from "@millrace/contracts";
import { apiCommand } from "../api/command.ts";
import { arg, inEnvironment, OWN_ENV_FLAG } from "../argv/flags.ts";
import { type CliCommand, flagText, type Input } from "../argv/spec.ts";
import { environmentIn } from "../config/load.ts";
import { usage } from "../errors.ts";
import { tableLines } from "../output/table.ts";
import { clean } from "../output/text.ts";

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;
const EVERYWHERE = "all";

const set = apiCommand("vars set", "set what flows read as vars.NAME", {
  args: [
    arg("name", "letters, digits and _"),
    { name: "value", summary: "JSON, or else text", required: true, mayBeEmpty: true },
  ],
  flags: [OWN_ENV_FLAG],
  examples: [
    ["vars set region eu-west", "text"],
    ["vars set limits '{\"items\": 20}' --env prod", "an object, in one environment"],
  ],
  command: "set_var",
  write: true,
  request: ({ input }) => ({ ...nameIn(input), value: jsonOrText(input.args[1] ?? "") }),
  show: (each) => ({
    said: [`vars.${each.name} is ${shown(each.value)} ${inEnvironment(each.environment)}`],
  }),
});

const list = apiCommand("vars list", "list what flows read as vars", {
  examples: [["vars list", "of all environments"]],
  command: "list_vars",
  request: () => ({}),
  show: async ({ items }) =>
    items.length === 0
      ? { said: ["no variable is set; millrace vars set NAME VALUE sets one"] }
      : {
          data: await tableLines(
            ["NAME", "ENVIRONMENT", "VALUE"],
            items.map((each) => [each.name, each.environment ?? EVERYWHERE, shown(each.value)]),
          ),
        },
});

const remove = apiCommand("vars remove", "delete a variable", {
  args: [arg("name", "as vars list shows it")],
  flags: [OWN_ENV_FLAG],
  examples: [["vars remove region", "flows that read it are refused from now on"]],
  command: "delete_var",
  write: true,
  request: ({ input }) => nameIn(input),
  show: (_null, { input }) => {
    const { name, environment } = nameIn(input);
    const from = environment === undefined ? "" : ` ${inEnvironment(environment)}`;
    return { said: [`vars.${name} is deleted${from}`] };
  },
});

export const commands: readonly CliCommand[] = [set, list, remove];

function nameIn(input: Input): { readonly name: string; readonly environment: string | undefined } {
  const [name = ""] = input.args;
  if (!NAME.test(name)) {
    throw usage(
      `"${clean(name)}" is no name of a variable`,
      "letters, digits and _, such as region",
    );
  }
  return { name, environment: environmentIn(flagText(input, "env"), "--env") };
}

/** Text that is not JSON stands for itself. */
function jsonOrText(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function shown(value: Json): string {
  return JSON.stringify(value);
}
