/** The manager as others get it. */
import type { ModelManager } from "@millrace/contracts";
import { checkOptions, type OptionNames } from "@millrace/contracts/options";
import { composeManager } from "./manager.ts";
import { createRunners } from "./runner/create-runners.ts";
import type { ModelManagerOptions } from "./settings.ts";

const OPTIONS: OptionNames<ModelManagerOptions> = {
  ...{ dir: true, enginesDir: true, fetch: true, sink: true, settings: true, clock: true },
  ...{ credentials: true, hubModel: true, freeBytes: true, log: true },
};

/**
 * Manages the models of a folder: scans it, installs into it, and runs its models, each in a process of its own. The first scan
 * begins at once; nothing native is loaded in this process, ever. Where another process manages the folder, this manager lists
 * and loads, and refuses changes with `models_locked`. Throws what the file system says when the folder cannot be made.
 */
export function createModelManager(options: ModelManagerOptions): ModelManager {
  checkOptions("createModelManager", options, OPTIONS);
  return composeManager(options, { createRunners });
}
