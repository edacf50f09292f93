/** Every command as data, in the order of help. Nothing here loads a command's code. */

import type { CliCommand } from "../../argv/spec.ts";
import { EXTENSIONS_COMMANDS } from "./extensions.ts";
import { FLOWS_COMMANDS } from "./flows.ts";
import { HISTORY_COMMANDS } from "./history.ts";
import { MODELS_COMMANDS } from "./models.ts";
import { PROJECT_COMMANDS } from "./project.ts";
import { RUNS_COMMANDS } from "./runs.ts";
import { SERVICES_COMMANDS } from "./services.ts";
import { SERVING_COMMANDS } from "./serving.ts";
import { STORED_COMMANDS } from "./stored.ts";

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
