/**
 * Managed models of an installation, where the package that manages them is installed. Nothing of it is loaded before the first
 * use, and a manager is made once. Of their events, the three channels of the specification:
 *   M1  A reader is a position among the last events, so a slow one costs no memory; what it is too late for it does not get.
 *   M2  The first event of a new reader is the progress of the open job, if there is one.
 * @see specification, "Events"
 */

import { createRequire } from "node:module";
import { dirname, isAbsolute, join } from "node:path";
import type {
  Channel,
  ChannelMap,
  CredentialsPort,
  FetchLike,
  ModelManager,
  StoredEvent,
} from "@millrace/contracts";
import type { EgressPolicy } from "@millrace/engine";
import type { NodeHost } from "@millrace/engine/node";
import { createLocalProvider } from "@millrace/providers";
import type { ManagedModels, ModelEvents } from "../ports.ts";
import { followPages } from "../streams/follow-pages.ts";

/** Options of an operator about models. */
export interface ModelsOption {
  /** Absolute folder of models. Default `models` in the data directory. */
  readonly dir?: string;
  /** Absolute folders that are scanned and never changed. Default none. */
  readonly folders?: readonly string[];
  /** Largest file that is installed. Default 200 GiB. */
  readonly maxBytes?: number;
  /** npm registry that the engine is fetched from. Default the public one. */
  readonly registryUrl?: string;
  /** Models in memory at one time. Default 1. */
  readonly maxLoaded?: number;
  /** How long a load may take, in milliseconds. Default 120,000. */
  readonly loadTimeoutMs?: number;
}

/** Ports of model management. */
export interface ModelPorts {
  readonly machine: Pick<NodeHost, "openFetch" | "now" | "setTimer">;
  readonly egress: EgressPolicy | undefined;
  readonly credentials: Pick<CredentialsPort, "secret">;
  /** Data of a hub about a model; absent: there are no hubs. */
  readonly hubModel?: HubModelPort | undefined;
  log(level: "info" | "warn", text: string): void;
}

/** Where a model of a hub is, with its digest and length; undefined: there is none. */
export type HubModelPort = (
  hub: string,
  item: string,
) => Promise<
  | {
      readonly source: { readonly url: string } | { readonly file: string };
      readonly sha256: string;
      readonly bytes: number;
    }
  | undefined
>;

const PACKAGE = "@millrace/local-models";
const MAX_TIMER_MS = 2 ** 31 - 1; // a file of a slow line may take days
const ANSWER_MS = 3_600_000; // a large prompt on a small machine; the limits of the node come first
const MAX_REQUEST_BYTES = 32 * 1024 * 1024; // what a model's process takes

/**
 * The models below a data directory (`store`), or in the folder that the operator names. Null where neither is there, such as
 * beside a store in memory, where the operator wants none, and where the package is not installed.
 */
export async function openModels(
  option: ModelsOption | false,
  store: string,
  { machine, egress, credentials, hubModel, log }: ModelPorts,
): Promise<ManagedModels | null> {
  if (option === false) return null;
  const { dir, ...settings } = option;
  if (dir === undefined && store === "memory") return null;
  if (!(await isInstalled())) return null;
  const folder = dir ?? join(store, "models");
  const enginesDir = join(store === "memory" ? dirname(folder) : store, "engines");
  const events = createModelEvents();
  let made: Promise<ModelManager> | undefined;
  const manager = (): Promise<ModelManager> => {
    made ??= (async () => {
      const { createModelManager } = await import("@millrace/local-models");
      return createModelManager({
        dir: folder,
        enginesDir,
        settings,
        sink: events,
        credentials,
        clock: machine,
        log,
        fetch: machine.openFetch({
          ...egress,
          totalMs: MAX_TIMER_MS,
          maxResponseBytes: Number.MAX_SAFE_INTEGER,
        }),
        hubModel,
      });
    })();
    return made;
  };
  return {
    manager,
    events,
    provider: createLocalProvider(
      {
        acquire: async (id, signal) => (await manager()).acquire(id, signal),
        list: async () => (await manager()).list(),
      },
      { fetch: lazily(() => loopbackFetch(machine)) },
    ),
    async close() {
      await (await made?.catch(() => undefined))?.close();
    },
  };
}

/** A client for the processes of models alone; the egress policy is about flows. */
function loopbackFetch(machine: Pick<NodeHost, "openFetch">): FetchLike {
  return machine.openFetch({
    allow: [{ cidr: "127.0.0.1/32" }],
    only: ["127.0.0.1"],
    maxRedirects: 0,
    idleMs: ANSWER_MS,
    totalMs: ANSWER_MS,
    maxRequestBytes: MAX_REQUEST_BYTES,
  });
}

function lazily(open: () => FetchLike): FetchLike {
  let opened: FetchLike | undefined;
  return (url, init) => {
    opened ??= open();
    return opened(url, init);
  };
}

/** Looks for the package without loading it, which takes a hundred files; a bundle of CommonJS that has no address can only try. */
async function isInstalled(): Promise<boolean> {
  const base: string | undefined = import.meta.url;
  try {
    if (base === undefined) await import("@millrace/local-models");
    else createRequire(base).resolve(PACKAGE);
    return true;
  } catch (error) {
    const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
    if (/MODULE_NOT_FOUND$/.test(String(code)) && String(message).includes(PACKAGE)) return false;
    throw error;
  }
}

type Check = (value: unknown) => boolean;

const isFolder: Check = (value) => typeof value === "string" && isAbsolute(value);
const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) > 0;

const MEMBERS: { readonly [K in keyof ModelsOption]-?: readonly [Check, string] } = {
  dir: [isFolder, "an absolute folder"],
  folders: [(value) => Array.isArray(value) && value.every(isFolder), "a list of absolute folders"],
  maxBytes: [isCount, "a number of bytes"],
  registryUrl: [
    (value) => typeof value === "string" && /^https?:/.test(value) && URL.canParse(value),
    "an http or https URL",
  ],
  maxLoaded: [isCount, "a whole number from 1"],
  loadTimeoutMs: [isCount, "a number of milliseconds"],
};

/** The problem of the option of a server, or the key of a configuration, as the rest of a sentence. */
export function modelsProblem(value: unknown): string | undefined {
  if (value === false) return undefined;
  if (typeof value !== "object" || value === null) return "must be an object, or false";
  for (const [name, member] of Object.entries(value)) {
    const [fits, what] =
      (Object.hasOwn(MEMBERS, name) && MEMBERS[name as keyof ModelsOption]) || [];
    if (fits === undefined) return `has no member "${name}"`;
    if (!fits(member)) return `has a "${name}" that is not ${what}`;
  }
  return undefined;
}

/** Model options from environment variables. */
export function modelsFrom({
  MILLRACE_MODELS_DIR: dir,
}: Readonly<Record<string, string | undefined>>): ModelsOption {
  return dir === undefined || dir === "" ? {} : { dir };
}

const KEPT = 1_000; // at ten a second: a reader may be away for more than a minute
const PAGE = 100;
const PROGRESS = "models:install_progress";
/** Stages of a job after which nothing follows. */
export const OVER: ReadonlySet<string> = new Set(["done", "error", "cancelled"]);

/** No events yet. */
function createModelEvents(): ModelEvents {
  const kept: StoredEvent[] = [];
  const listeners = new Set<Parameters<ModelEvents["listen"]>[0]>();
  let last = 0;
  let progress: ChannelMap[typeof PROGRESS] | undefined;

  const toEvent = (channel: Channel, payload: unknown, seq: number): StoredEvent => ({
    seq,
    kind: channel,
    line: Buffer.from(JSON.stringify({ channel, payload })),
  });

  const listen: ModelEvents["listen"] = (listener) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };

  return {
    emit(channel, payload) {
      if (channel === PROGRESS) progress = payload as typeof progress;
      last += 1;
      kept.push(toEvent(channel, payload, last));
      if (kept.length > KEPT) kept.shift();
      for (const listener of [...listeners]) listener(channel, payload);
    },
    listen,
    read: (signal) => pages(last, signal),
  };

  async function* pages(
    from: number,
    signal: AbortSignal,
  ): AsyncGenerator<readonly StoredEvent[], void> {
    if (progress !== undefined && !OVER.has(progress.stage))
      yield [toEvent(PROGRESS, progress, from)];
    const read = (at: number) => kept.filter(({ seq }) => seq > at).slice(0, PAGE);
    yield* followPages({ read, listen }, from, signal);
  }
}
