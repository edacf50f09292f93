/** The whole table of version 1. It is a Map: a name from a request never reaches a prototype. */
import type * as z from "zod";
import type { CommandDef } from "./define.ts";
import { flowCommands } from "./flows.ts";
import { hubCommands } from "./hubs.ts";
import { metaCommands } from "./meta.ts";
import { modelCommands } from "./models.ts";
import type { CommandName, CommandResult, ParsedArgs } from "./names.ts";
import { nodeCommands } from "./nodes.ts";
import { runCommands } from "./runs.ts";
import { scheduleCommands } from "./schedules.ts";
import { serviceCommands } from "./services.ts";
import { settingsCommands } from "./settings.ts";
import { templateCommands } from "./templates.ts";
import { webhookCommands } from "./webhooks.ts";

/** Every command by name, in the order of the table on the server page. */
export const COMMANDS: ReadonlyMap<string, CommandDef> = new Map(
  [
    runCommands,
    flowCommands,
    templateCommands,
    nodeCommands,
    modelCommands,
    settingsCommands,
    hubCommands,
    scheduleCommands,
    webhookCommands,
    serviceCommands,
    metaCommands,
  ].flatMap((area) => Object.entries<CommandDef>(area)),
);

/** The definition of a command whose name is known where it is written. */
export function commandOf<N extends CommandName>(
  name: N,
): CommandDef<N, z.ZodType<ParsedArgs<N>>, z.ZodType<CommandResult<N>>> {
  return COMMANDS.get(name) as CommandDef<N, z.ZodType<ParsedArgs<N>>, z.ZodType<CommandResult<N>>>;
}
