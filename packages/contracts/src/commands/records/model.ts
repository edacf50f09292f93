/** Managed local models, and the port behind their commands. */
import type { AbortSignalLike } from "../../extend/context.ts";

/** Where a managed model stands, from known to loaded. */
export type ModelState =
  | "installing"
  | "ready"
  | "loading"
  | "loaded"
  | "busy"
  | "unloading"
  | "crashed"
  | "invalid";

/** A model on this machine. `source.url` has neither user info nor query. */
export interface Model {
  readonly id: string;
  readonly state: ModelState;
  readonly bytes: number;
  readonly sha256: string | null;
  /** Whether the digest was known beforehand and fits. */
  readonly verified: boolean;
  readonly files: readonly string[];
  readonly source:
    | { readonly kind: "url"; readonly url: string }
    | { readonly kind: "hub"; readonly hub: string; readonly item: string }
    | { readonly kind: "file" }
    | null;
  /** `folder`: in a folder of the operator's, never changed by us. */
  readonly origin: "managed" | "folder" | "external";
  readonly gguf: {
    readonly arch: string;
    readonly contextLength: number;
    readonly quant: string;
    readonly parameters: number;
    readonly chatTemplate: boolean;
    readonly embedding: boolean;
  } | null;
  readonly defaults: {
    readonly contextSize: number | null;
    readonly threads: number | null;
    readonly ttlMs: number;
  };
  readonly runtime: ModelRuntime | null;
  readonly error: {
    readonly code: string;
    readonly message?: string;
    readonly signal?: string;
    readonly at?: string;
  } | null;
  readonly lastUsedAt: string | null;
}

/** A loaded model; neither its port nor its token is told. */
export interface ModelRuntime {
  readonly pid: number;
  readonly loadedAt: string;
  readonly threads: number;
  readonly contextSize: number;
  readonly active: number;
  readonly queued: number;
  readonly expiresAt: string | null;
}

/** Work on models. A job that fails ends in the stage `error`, never in a failed command. */
export interface Job {
  readonly id: string;
  readonly kind: "install" | "engine" | "scan";
  readonly modelId?: string;
  readonly stage: string;
  readonly current: number;
  /** 0: unknown. */
  readonly total: number;
  readonly startedAt: string;
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** A job that was begun; its progress is in the stream of models. */
export interface JobRef {
  readonly jobId: string;
}

/** A program that runs models. */
export interface ModelEngine {
  readonly id: string;
  readonly version: string | null;
  readonly platform: string;
  readonly state: "absent" | "fetching" | "ready" | "invalid";
  readonly source: "peer" | "fetched" | "external" | null;
}

/** Where a model comes from: an https URL, `hub:<hub>/<item>`, or a file of this machine (admin only). */
export interface ModelInstallArgs {
  readonly source: string | { readonly file: string };
  readonly id?: string;
  /** 64 hex digits; needed for a URL unless `allowUnverified`. */
  readonly sha256?: string;
  readonly allowUnverified?: boolean;
  /** Account `ai:<name>` of the credential store, sent to the first origin only. */
  readonly headersCredential?: string;
  /** Also fetches the engine where none is; default false. */
  readonly fetchEngine?: boolean;
}

/** Overrides of one load. `ttlMs` 0: unload when idle, -1: never. */
export interface ModelLoadOptions {
  readonly contextSize?: number;
  readonly threads?: number;
  readonly ttlMs?: number;
}

/**
 * The port behind the model commands; `get` and what takes an id throw `not_found`. `scan` and `install` have made their job,
 * which `jobs` lists, when they return; a scan under way is joined.
 */
export interface ModelManager {
  /** Resolves when the first scan has ended, whatever it found; before that `list` knows what the last process knew. */
  readonly scanned: Promise<void>;
  scan(options?: { signal?: AbortSignalLike }): Promise<{
    count: number;
    skipped: readonly { file: string; reason: string }[];
    ms: number;
  }>;
  list(filter?: { state?: ModelState }): readonly Model[];
  get(id: string): Model;
  install(request: ModelInstallArgs): Job;
  cancelJob(jobId: string): Job;
  jobs(): readonly Job[];
  load(id: string, options?: ModelLoadOptions): Promise<Model>;
  unload(id: string, options?: { force?: boolean }): Promise<Model>;
  /** A loaded model is `in_use` unless `force`. */
  remove(id: string, options?: { force?: boolean }): Promise<void>;
  engines(): readonly ModelEngine[];
  fetchEngine(id: string): Job;
  /** Loads if needed, and pins the model until `release`. */
  acquire(id: string, signal?: AbortSignalLike): Promise<ModelLease>;
  close(): Promise<void>;
}

/** An OpenAI-compatible endpoint on loopback, for as long as it is held. */
export interface ModelLease {
  readonly baseUrl: string;
  readonly token: string;
  release(): void;
}
