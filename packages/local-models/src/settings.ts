/** Settings of the operator, and dependencies that the host gives the manager. */
import type { CredentialsPort, EventSink, FetchLike } from "@millrace/contracts";

/** Operator settings of managed models; no flow, template or hub item can change them. */
export interface ModelSettings {
  /** Absolute folders that are scanned and never written. Default none. */
  readonly folders?: readonly string[];
  /** Largest file that is installed. Default 200 GiB. */
  readonly maxBytes?: number;
  /** npm registry that the engine is fetched from. Default `https://registry.npmjs.org`. */
  readonly registryUrl?: string;
  /** Models in memory at one time. Default 1. */
  readonly maxLoaded?: number;
  /** How long a load may take, in milliseconds. Default 120,000. */
  readonly loadTimeoutMs?: number;
}

/** Time, as the manager sees it. */
export interface ModelClock {
  /** Epoch milliseconds. */
  now(): number;
  /** Calls `fn` once after `ms`; the answer cancels it. */
  setTimer(fn: () => void, ms: number): () => void;
}

/** An item of a hub: its URL, digest and length. */
export interface HubModel {
  readonly source: { readonly url: string } | { readonly file: string };
  /** 64 hex digits. */
  readonly sha256: string;
  readonly bytes: number;
}

/** Options of `createModelManager`. */
export interface ModelManagerOptions {
  /** Absolute folder of models, registry and downloads; made when it is missing. */
  readonly dir: string;
  /** Absolute folder of fetched engines. */
  readonly enginesDir: string;
  /** The only way out. Its policy must let through as many bytes and minutes as the largest model needs. */
  readonly fetch: FetchLike;
  /** Gets the events of the three channels of models. */
  readonly sink: EventSink;
  readonly settings?: ModelSettings;
  /** Default the clock of the machine. */
  readonly clock?: ModelClock;
  /** Resolves `headersCredential` (`ai:<name>`). Absent: such an install is refused. */
  readonly credentials?: Pick<CredentialsPort, "secret">;
  /** Resolves `hub:<hub>/<item>`; undefined: there is no such item. Absent: such an install is refused. */
  readonly hubModel?: ((hub: string, item: string) => Promise<HubModel | undefined>) | undefined;
  /** Bytes that a folder has room for. Default `statfs` of the machine. */
  readonly freeBytes?: (dir: string) => Promise<number>;
  /** Called with messages for the operator, which hold no absolute path and no secret. Default: none. */
  readonly log?: (level: "info" | "warn", text: string) => void;
}
