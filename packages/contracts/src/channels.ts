/** Desktop channels and what travels on them. The names are the specification's. */
import type { ExecutionEvent } from "./events/types.ts";
import type { AbortSignalLike } from "./extend/context.ts";
import type { Json, JsonObject } from "./json.ts";

/** Payload of each channel. @see specification, "Events" */
export interface ChannelMap {
  "flow:execution": ExecutionEvent;
  /** `total` 0 means unknown. */
  "models:install_progress": { stage: string; current: number; total: number; message: string };
  /** The model id itself. */
  "models:registered": string;
  "models:scan_complete": {
    count: number;
    skipped: readonly { file: string; reason: string }[];
    ms: number;
  };
}

/** The name of a desktop channel. */
export type Channel = keyof ChannelMap;

/** Where events are emitted to; never throws, never blocks. */
export interface EventSink {
  emit<C extends Channel>(channel: C, payload: ChannelMap[C]): void;
}

/** Runs commands by name, with the answers of `POST /api/invoke`. A failure rejects with the problem document. */
export interface CommandBus {
  invoke(command: string, args: JsonObject, options?: { signal?: AbortSignalLike }): Promise<Json>;
}

/** What a window sees of the other side, whatever lies between: commands, and events of a channel. */
export interface Transport extends CommandBus {
  /** Resolves when subscribed, with a function that ends the subscription and may be called twice. */
  listen<C extends Channel>(
    channel: C,
    handler: (payload: ChannelMap[C]) => void,
    options?: { runId?: string; after?: number },
  ): Promise<() => void>;
  readonly state: TransportState;
  /** Called at each change; the answer stops it. */
  onState(handler: (state: TransportState) => void): () => void;
  close(): Promise<void>;
}

/** Whether messages get through: `connecting` before the first, `open`, or `closed` for good. */
export type TransportState = "connecting" | "open" | "closed";
