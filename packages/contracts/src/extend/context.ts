/** Contexts of node bodies. Structural types only: no Node and no DOM names, web objects satisfy them. */
import type { Json, JsonObject, JsonSchema } from "../json.ts";

/** The part of `AbortSignal` that bodies use. */
export interface AbortSignalLike {
  readonly aborted: boolean;
  readonly reason?: unknown;
  addEventListener(type: "abort", listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** The part of `Headers` that bodies use; names are case-insensitive. */
export interface HeadersLike {
  get(name: string): string | null;
  forEach(each: (value: string, name: string) => void): void;
}

/** A response. Each body method may be called once, one of them in all. */
export interface ResponseLike {
  readonly ok: boolean;
  readonly status: number;
  /** Final URL after redirects. */
  readonly url: string;
  readonly headers: HeadersLike;
  /** Chunks of the decoded body as they arrive; null when there is none. */
  readonly body: AsyncIterable<Uint8Array> | null;
  text(): Promise<string>;
  json(): Promise<unknown>;
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** A request through the host's egress client. Limits here may only lower those of the policy. */
export interface FetchInit {
  readonly method?: string;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignalLike;
  /** Redirects to follow; default the policy's. */
  readonly maxRedirects?: number;
  /** Follows no redirect: it is the answer, with its status and its `location`. */
  readonly redirect?: "manual";
  /** Decoded bytes of the answer; more ends it with `response_too_large`. */
  readonly maxBytes?: number;
  /** Names of headers that a redirect to another origin drops, beside `authorization` and `cookie`. */
  readonly originHeaders?: readonly string[];
  /** Refuses a redirect to another origin (`egress_denied`, rule `connection-origin`) instead of following it. */
  readonly sameOrigin?: true;
}

/** `fetch` behind the operator's egress policy. Refusals and network faults are thrown as `NodeError`. */
export type FetchLike = (url: string, init?: FetchInit) => Promise<ResponseLike>;

/** One file as `FilePort.list` reports it; `path` is relative to the root. */
export interface FileEntry {
  readonly path: string;
  readonly name: string;
  readonly bytes: number;
  readonly modifiedAt: string;
}

/**
 * Bytes of a file from `offset` on, at most `length`; fewer where the file ends, none beyond it. Limits hold for the part, so a
 * file of any size is read part by part; `modifiedAt` tells whether it was written meanwhile.
 */
export interface FileRange {
  readonly offset: number;
  readonly length: number;
}

/** Files below one root. Paths are relative with `/`; whatever leaves the root is refused with `file_denied`. */
export interface FilePort {
  read(
    path: string,
    options?: { maxBytes?: number; range?: FileRange; signal?: AbortSignalLike },
  ): Promise<{ path: string; data: Uint8Array; modifiedAt: string }>;
  write(
    path: string,
    data: Uint8Array,
    options?: { mode?: "create" | "replace" | "append"; signal?: AbortSignalLike },
  ): Promise<{ path: string; bytes: number; created: boolean }>;
  list(
    path: string,
    options?: { glob?: string; max?: number; signal?: AbortSignalLike },
  ): Promise<{ files: readonly FileEntry[]; truncated: boolean }>;
}

/** How a program is started; what it writes beyond `maxBytes` of one stream is read and dropped. */
export interface SpawnOptions {
  readonly args?: readonly string[];
  /** Absent: the program reads an empty input. */
  readonly stdin?: string;
  /** Variables beside those that the operator passes on. */
  readonly env?: { readonly [name: string]: string };
  /** Relative to the operator's folder, with `/`; default that folder. */
  readonly cwd?: string;
  /** Bytes kept of each stream; default 1 MiB. */
  readonly maxBytes?: number;
  /** Ends the program and all it has started; rejects with the reason. */
  readonly signal?: AbortSignalLike;
}

/** How a program ended. */
export interface SpawnEnd {
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
  /** Such as `SIGKILL`; null when it exited by itself. */
  readonly signal: string | null;
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
  /** Whether one of the streams was longer than `maxBytes`. */
  readonly truncated: boolean;
}

/**
 * Programs that the operator allows, by name; never a shell, never a search. Refuses with `NodeError`: `program_denied`,
 * `spawn_failed`. Whatever a program has started and left behind ends with it.
 */
export interface SpawnPort {
  run(program: string, options?: SpawnOptions): Promise<SpawnEnd>;
}

/** A secret that does not show itself: only `reveal` gives the text, which joins the run's redaction set. */
export interface Secret {
  reveal(): string;
  toString(): "[secret]";
  toJSON(): "[secret]";
}

/** A service connection; the host adds the token, a body cannot read it. */
export interface Connection {
  readonly slug: string;
  readonly baseUrl: string;
  /** `path` stays on the origin of `baseUrl`. */
  fetch(path: string, init?: FetchInit): Promise<ResponseLike>;
}

/** Context of a node body. It throws `attempt_over` after the attempt has ended. */
export interface NodeContext {
  readonly runId: string;
  /** Node path. */
  readonly node: string;
  /** 1-based. */
  readonly attempt: number;
  /** The same over all attempts and resumes of one node in one run. */
  readonly idempotencyKey: string;
  /** Aborts on cancel, timeout and shutdown. */
  readonly signal: AbortSignalLike;
  readonly fetch: FetchLike;
  readonly files: FilePort;
  readonly shell: SpawnPort;
  /** The operator's configuration of the adapter. */
  readonly config: JsonObject;
  /** Epoch milliseconds. */
  now(): number;
  /** In [0, 1). */
  random(): number;
  sleep(ms: number): Promise<void>;
  log(level: "debug" | "info" | "warn" | "error", text: string, data?: JsonObject): void;
  progress(done: number, total?: number): void;
  readonly credentials: {
    secret(name: string): Promise<Secret>;
    connection(slug: string): Promise<Connection>;
  };
}

/** An answer to `ControlContext.confirm`. */
export interface ConfirmAnswer {
  readonly outcome: "approved" | "rejected" | "expired";
  readonly value: Json;
  readonly by: string | null;
  readonly comment: string | null;
  /** ISO 8601 UTC. */
  readonly at: string;
}

/** Context of the body of a contributed node type: after a restart `confirm` and `step` answer from the journal. */
export interface ControlContext extends NodeContext {
  confirm(
    key: string,
    request: { prompt: string; schema?: JsonSchema; expiresInMs?: number },
  ): Promise<ConfirmAnswer>;
  step<T extends Json>(key: string, fn: () => Promise<T> | T): Promise<T>;
}
