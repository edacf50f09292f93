/** Desktop channels and what travels on them. */
import type { ExecutionEvent } from "./events/types.ts";

/** Payload of each desktop channel. The names are the specification's. @see specification, "Events" */
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
