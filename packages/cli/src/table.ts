/** Every command as data, in the order of help. Nothing here loads a command's code. */
import type { CliCommand } from "./command.ts";
import { EXTENSIONS_COMMANDS } from "./table/extensions.ts";
import { FLOWS_COMMANDS } from "./table/flows.ts";
import { HISTORY_COMMANDS } from "./table/history.ts";
import { MODELS_COMMANDS } from "./table/models.ts";
import { PROJECT_COMMANDS } from "./table/project.ts";
import { RUNS_COMMANDS } from "./table/runs.ts";
import { SERVICES_COMMANDS } from "./table/services.ts";
import { SERVING_COMMANDS } from "./table/serving.ts";
import { STORED_COMMANDS } from "./table/stored.ts";

export const COMMANDS: readonly CliCommand[] = [
  ...RUNS_COMMANDS,
  ...HISTORY_COMMANDS,
  ...FLOWS_COMMANDS,
  ...PROJECT_COMMANDS,
  ...SERVING_COMMANDS,
  ...STORED_COMMANDS,
  ...SERVICES_COMMANDS,
  ...MODELS_COMMANDS,
  ...EXTENSIONS_COMMANDS,
];

/** The commands that help, documentation and completion list. */
export const SHOWN: readonly CliCommand[] = COMMANDS.filter(({ hidden }) => !hidden);
