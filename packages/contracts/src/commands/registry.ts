/** The whole table of version 1. It is a Map: a name from a request never reaches a prototype. */
import type * as z from "zod";
import type { InferArgs, ReadOnly } from "../schemas/common.ts";
import type { CommandDef } from "./define.ts";
import { flowCommands } from "./flows.ts";
import { hubCommands } from "./hubs.ts";
import { modelCommands } from "./models.ts";
import { nodeCommands } from "./nodes.ts";
import { runCommands } from "./runs.ts";
import { scheduleCommands } from "./schedules.ts";
import { metaCommands, providerCommands, settingsCommands } from "./server.ts";
import { serviceCommands } from "./services.ts";
import { templateCommands } from "./templates.ts";
import { varCommands } from "./vars.ts";
import { webhookCommands } from "./webhooks.ts";

type Table = typeof runCommands &
  typeof flowCommands &
  typeof templateCommands &
  typeof nodeCommands &
  typeof modelCommands &
  typeof providerCommands &
  typeof settingsCommands &
  typeof varCommands &
  typeof hubCommands &
  typeof scheduleCommands &
  typeof webhookCommands &
  typeof serviceCommands &
  typeof metaCommands;

const TABLE: Table = {
  ...runCommands,
  ...flowCommands,
  ...templateCommands,
  ...nodeCommands,
  ...modelCommands,
  ...providerCommands,
  ...settingsCommands,
  ...varCommands,
  ...hubCommands,
  ...scheduleCommands,
  ...webhookCommands,
  ...serviceCommands,
  ...metaCommands,
};

/** The name of a command of version 1. */
export type CommandName = keyof Table;

/** Arguments of the command `N`, as callers pass them. */
export type CommandArgs<N extends CommandName> = InferArgs<Table[N]["args"]>;

/** Arguments of the command `N` as its handler gets them, with defaults filled in. */
export type ParsedArgs<N extends CommandName> = ReadOnly<z.output<Table[N]["args"]>>;

/** Result of the command `N`, as sent on the wire. */
export type CommandResult<N extends CommandName> = ReadOnly<z.output<Table[N]["result"]>>;

/** Every command by name, in the order of the table on the server page. */
export const COMMANDS: ReadonlyMap<string, CommandDef> = new Map(Object.entries<CommandDef>(TABLE));

/** The definition of a command whose name is known where it is written. */
export function commandOf<N extends CommandName>(
  name: N,
): CommandDef<N, z.ZodType<ParsedArgs<N>>, z.ZodType<CommandResult<N>>> {
  return TABLE[name] as unknown as CommandDef<
    N,
    z.ZodType<ParsedArgs<N>>,
    z.ZodType<CommandResult<N>>
  >;
}
