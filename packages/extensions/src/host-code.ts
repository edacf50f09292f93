/** How a host uses the code of an extension, wherever that runs, and what goes wrong with it everywhere. */
import { setTimeout as delay } from "node:timers/promises";
import {
  type AiProvider,
  type ControlContext,
  type FieldFinding,
  type HostContext,
  type JsonObject,
  NodeError,
} from "@millrace/contracts";
import type { CoreContext, Fields } from "@millrace/engine";
import { type Imported, loadFailure } from "./load-failure.ts";
import { type ExtensionProblem, ProblemFound } from "./problem.ts";

/** Lengths of time in the life of code, in milliseconds; a test may shorten them. */
export interface CodeTimes {
  /** To import it; default 5,000. */
  readonly loadMs: number;
  /** To check literal fields; default 5,000. */
  readonly checkMs: number;
  /** First pause after a crash, which doubles up to 30 s; default 500. */
  readonly backoffMs: number;
  /** From the signal to the end of a process whose body goes on; default 5,000. */
  readonly killMs: number;
  /** Without a call to the end of the process; default 60,000. */
  readonly idleMs: number;
}

/** The defaults, in milliseconds. */
export const CODE_TIMES: CodeTimes = {
  loadMs: 5_000,
  checkMs: 5_000,
  backoffMs: 500,
  killMs: 5_000,
  idleMs: 60_000,
};

/** Milliseconds for closing adapters; stopping a host does not take longer. */
const CLOSE_MS = 1_000;

export interface HostCode {
  /** Function that runs the body of one type: it returns at once where it can, else a promise. */
  body(of: TypeOfCode): HostBody;
  check(type: string, fields: Fields): Promise<readonly FieldFinding[]>;
  provider(id: string): AiProvider;
  close(): Promise<void>;
}

/** `Body`, with what tells of the end of its attempt and costs less than the signal of `ctx`. */
export type HostBody = (
  fields: Fields,
  ctx: ControlContext,
  core: Pick<CoreContext, "onAbort">,
) => unknown;

export interface TypeOfCode {
  /** `weather.forecast@1`. */
  readonly type: string;
  /** Whether the same call may be made again after it was cut off. */
  readonly isRepeatable: boolean;
}

/** Options of code, the same wherever it runs. */
export interface HostCodeOptions extends Imported {
  /** Digest of `catalog.json`. */
  readonly digest: string;
  readonly config: { readonly [id: string]: JsonObject };
  readonly times: CodeTimes;
  /** Network and log outside of any attempt. */
  readonly host: HostContext;
  /** It cannot be used from here on. */
  failed(problem: ExtensionProblem): void;
  warn(code: string, text: string): void;
  /** Takes a line that its code writes to standard output or error, or what it throws while it is loaded. */
  said(stream: "stdout" | "stderr", text: string): void;
  /** Throws `ProblemFound` for files that are not those that were reviewed. */
  unchanged(): Promise<void>;
}

/** The catalog says something else than the code. */
export const STALE: ExtensionProblem = {
  code: "extension_catalog_stale",
  message: "catalog.json is not that of the code; whoever made the package builds it again",
};

/** The problem of an import that failed, with its place. Logs hold it, so what code threw is named without its message. */
export async function loadProblem(error: unknown, at: Imported): Promise<ExtensionProblem> {
  if (error instanceof ProblemFound) return error.problem;
  const { code, message } = (NodeError.isInstance(error) ? error : {}) as Partial<NodeError>;
  if (code === "extension_api_unsupported") return { code, message: message ?? "" };
  if (code === "extension_load_failed") return { code, message: message ?? "" };
  return { code: "extension_load_failed", message: await loadFailure(error, at, false) };
}

/** The answer of loading, or a problem when there is none in time. */
export function inTime<T>(ms: number, loaded: Promise<T>): Promise<T> {
  return within(ms, loaded, () => {
    throw didNotLoad(`its code did not load within ${ms} ms`);
  });
}

/** Ends with the promise, resolved or rejected, or at the limit of stopping a host. */
export async function settled(work: Promise<unknown>): Promise<void> {
  await within(CLOSE_MS, work, () => {}).catch(() => {});
}

/** The result of the promise, or `late` after so many milliseconds. */
export async function within<T>(
  ms: number,
  work: Promise<T>,
  late: () => T | Promise<T>,
): Promise<T> {
  const waited = new AbortController();
  work.catch(() => {});
  try {
    return await Promise.race([work, delay(ms, undefined, waited).then(late)]);
  } finally {
    waited.abort();
  }
}

/** The problem `extension_load_failed` with its reason, to be thrown. */
export function didNotLoad(text: string): ProblemFound {
  return new ProblemFound("extension_load_failed", text);
}

/** A provider whose code is loaded when it is used: `load` is called at every use. */
export function lazyProvider(id: string, load: () => Promise<AiProvider>): AiProvider {
  return {
    id,
    capabilities: async (modelId) => (await load()).capabilities(modelId),
    languageModel: async (modelId, ctx) => (await load()).languageModel(modelId, ctx),
    async embeddingModel(modelId, ctx) {
      const model = await (await load()).embeddingModel?.(modelId, ctx);
      if (model !== undefined) return model;
      throw new NodeError("ai_unsupported", `the provider ${id} makes no vectors`);
    },
    listModels: async (ctx) => (await (await load()).listModels?.(ctx)) ?? [],
  };
}
