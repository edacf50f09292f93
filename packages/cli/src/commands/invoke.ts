/** `millrace invoke`: any command of the registry by its name, with its arguments as JSON. */

import { ClientError } from "@millrace/client";
import type { CommandArgs, CommandDef, CommandName, RunRef } from "@millrace/contracts";
import { isObject } from "@millrace/contracts/kit";
import type { Api } from "../api/api.ts";
import { withApi } from "../api/command.ts";
import { arg, printAnswer, serverCommand } from "../argv/flags.ts";
import type { CliCommand, CommandIo, Input } from "../argv/spec.ts";
import { meant } from "../argv/suggest.ts";
import { CliError, usage } from "../errors.ts";
import { clean } from "../output/text.ts";
import { followToEnd } from "../run/follow-to-end.ts";

export const commands: readonly CliCommand[] = [
  serverCommand("invoke", "call any command of the API by its name", {
    args: [
      arg("name", "such as get_meta; list_commands tells them all", "command"),
      { name: "args", summary: "its arguments as JSON; - for stdin (default {})" },
    ],
    examples: [["invoke get_meta", "versions, limits and features"]],
    run,
  }),
];

/** Arguments that are secrets: command lines are kept in histories, and others can see them. */
const SECRET: ReadonlyMap<string, string> = new Map([
  ["set_service_secret", "value"],
  ["create_webhook", "secret"],
]);
/** Commands that start a run and answer at once. */
const STARTS: ReadonlySet<string> = new Set([
  "run_flow",
  "start_run",
  "retry_run",
  "run_schedule_now",
]);

/** Calls a command and tells its answer as it is. Ends with 6 for one that is not known or not wired. */
async function run(input: Input, io: CommandIo): Promise<number> {
  const [name = "", text = "{}"] = input.args;
  const args = toObject(
    text === "-" ? await stdinText(io) : text,
    text === "-" ? "stdin" : "the arguments",
  );
  const secret = SECRET.get(name);
  if (secret !== undefined && text !== "-" && Object.hasOwn(args, secret)) {
    throw usage(`${secret} of ${name} must not be written on the command line`, "give - and stdin");
  }
  // Its schemas are loaded here and by no other command.
  const { COMMANDS } = await import("@millrace/contracts/commands");
  const command = COMMANDS.get(name);
  if (command?.stream?.only === true) throw onlyStreams(command);
  const write = command === undefined || command.effect === "read" ? undefined : true;
  const call = async (api: Api): Promise<number> => {
    const result = await api
      .invoke(name as CommandName, args as CommandArgs<CommandName>)
      .catch(async (error: unknown) => {
        const isUnknown = ClientError.isInstance(error) && error.code === "command_not_wired";
        if (command !== undefined || !isUnknown) throw error;
        throw new CliError("unavailable", `there is no command "${name}"`, {
          hint:
            (await meant(name, [...COMMANDS.keys()])) ??
            "millrace invoke list_commands tells them all",
          problem: error.code,
        });
      });
    const lines = result === null ? [] : JSON.stringify(result, null, 2).split("\n");
    await printAnswer({ value: result, data: lines.map(clean) }, io);
    const context = { input, io, api };
    return STARTS.has(name) ? followToEnd(result as RunRef, context, { answered: true }) : 0;
  };
  // What an answer is about stands in the arguments, wherever its command wants it.
  return withApi({ ...input, args: [] }, io, write, call);
}

async function stdinText(io: CommandIo): Promise<string> {
  const { readInput } = await import("../files.ts");
  return new TextDecoder().decode(await readInput("-", io));
}

function toObject(text: string, what: string): object {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw usage(`${what} is not JSON`, `write it as '{"name": value}', or give - and stdin`);
  }
  if (!isObject(value)) {
    throw usage(`${what} is not a JSON object`, `write it as '{"name": value}'`);
  }
  return value;
}

function onlyStreams({ name, http }: CommandDef): CliError {
  return new CliError("usage", `${name} answers with a stream and with nothing else`, {
    hint: `read it from a server: GET ${http?.path ?? ""}; millrace runs tail follows one run`,
    problem: "stream_only",
  });
}
