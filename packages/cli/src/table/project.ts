/** Commands on a project and on this installation. */
import type { CliCommand } from "../command.ts";

export const PROJECT_COMMANDS: readonly CliCommand[] = [];
