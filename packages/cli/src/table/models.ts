/** Commands on managed local models. */
import type { CliCommand } from "../command.ts";

export const MODELS_COMMANDS: readonly CliCommand[] = [];
