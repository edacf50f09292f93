/** Options of executors, with a store of their own or a shared one. */
import type { Dispatcher } from "@millrace/contracts";
import type { OptionNames } from "@millrace/contracts/options";
import type { FlowCatalog } from "@millrace/dsl";
import type { Engine, Registry, SubflowPort } from "@millrace/engine";
import type { SharedStore, Store } from "@millrace/store";
import { LIMITS } from "../config/limits.ts";
import { createStandardRegistry } from "../host/registry.ts";
import type { Logger } from "../ports.ts";
import { createPlans, type Plans } from "./plans.ts";

/** The part of the options that executors have in common. */
export interface ExecutorOptions {
  /** Writes to the journal of the store. */
  readonly engine: Engine;
  /** Node types of the flows. Default: the core ones. */
  readonly registry?: Registry;
  /** Whose variables runs read; default those of all environments alone. */
  readonly environment?: string | undefined;
  /** Catalog for the validation of new runs' flows. Default: the node types of `registry` alone. */
  readonly catalog?: FlowCatalog | undefined;
  readonly subflows?: SubflowPort;
  /** Runs that work at once in this process, those that it takes over included; default 64. */
  readonly maxLiveRuns?: number;
  /** Runs of the store that wait for a place; default 256. */
  readonly maxQueuedRuns?: number;
  /** Nodes of one flow, bodies included; default 20,000. */
  readonly maxNodes?: number;
}

const EXECUTOR_OPTIONS: OptionNames<ExecutorOptions> = {
  ...{ engine: true, registry: true, environment: true, catalog: true, subflows: true },
  ...{ maxLiveRuns: true, maxQueuedRuns: true, maxNodes: true },
};

/** Options of a local executor. */
export interface LocalExecutorOptions extends ExecutorOptions {
  readonly store: Store;
  /** Told of runs that could not be taken up. */
  readonly log?: Pick<Logger, "error">;
  /** Epoch milliseconds; default the machine's clock. */
  readonly now?: () => number;
}

/** Their names, for `checkOptions`. */
export const LOCAL_OPTIONS: OptionNames<LocalExecutorOptions> = {
  ...EXECUTOR_OPTIONS,
  ...{ store: true, log: true, now: true },
};

/** Options of a shared executor. */
export interface SharedExecutorOptions extends ExecutorOptions {
  readonly store: SharedStore;
  /** How the executor calls itself: after its dispatcher. */
  readonly kind: "postgres" | "restate";
  /** Its `close` is the executor's business. */
  readonly dispatcher: Dispatcher;
  readonly log?: Pick<Logger, "error" | "warn">;
}

/** Their names, for `checkOptions`. */
export const SHARED_OPTIONS: OptionNames<SharedExecutorOptions> = {
  ...EXECUTOR_OPTIONS,
  ...{ store: true, kind: true, dispatcher: true, log: true },
};

/** The plans and limits of an executor, with every default filled in. */
export function resolveOptions(options: ExecutorOptions): {
  readonly plans: Plans;
  readonly maxLive: number;
  readonly maxQueued: number;
} {
  const { registry = createStandardRegistry(), catalog, subflows } = options;
  const limits = { nodes: options.maxNodes ?? LIMITS.maxNodes.default };
  return {
    plans: createPlans({ registry, catalog, limits, subflows }),
    maxLive: options.maxLiveRuns ?? LIMITS.maxLiveRuns.default,
    maxQueued: options.maxQueuedRuns ?? LIMITS.maxQueuedRuns.default,
  };
}
