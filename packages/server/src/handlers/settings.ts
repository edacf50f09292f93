/** Commands of the settings document. What an operator configures is no part of it. */
import type { CommandName } from "@millrace/contracts";
import { tagged, wire } from "../commands/index.ts";
import type { CommandHandler } from "../ports.ts";
import { readSettings, SETTINGS_SCHEMA, updateSettings } from "../settings/index.ts";

/** Handlers of the settings commands. */
export const settingsHandlers: readonly (readonly [CommandName, CommandHandler])[] = [
  wire("get_settings", (_args, { host }) => tagged(readSettings(host.store.settings))),
  wire("get_settings_schema", () => tagged(SETTINGS_SCHEMA)),
  wire("update_settings", async (args, { host }) =>
    tagged(await updateSettings(host.store.settings, args)),
  ),
];
