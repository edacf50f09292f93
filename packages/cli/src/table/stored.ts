/** Commands on what a store keeps beside runs: templates, schedules, hubs; and on the catalog. */
import type { CliCommand } from "../command.ts";

export const STORED_COMMANDS: readonly CliCommand[] = [];
