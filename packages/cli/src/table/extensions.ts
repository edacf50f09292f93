/** Commands on extensions. */
import type { CliCommand } from "../command.ts";

export const EXTENSIONS_COMMANDS: readonly CliCommand[] = [];
