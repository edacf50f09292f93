/** Desktop channels and what travels on them. */
import type { ExecutionEvent } from "./events/types.ts";
import type { ModelsFrame } from "./schemas/model.ts";

/** Payload of each desktop channel. The names are the specification's. @see specification, "Events" */
export type ChannelMap = { "flow:execution": ExecutionEvent } & {
  [F in ModelsFrame as F["channel"]]: F["payload"];
};

/** The name of a desktop channel. */
export type Channel = keyof ChannelMap;

/** Where events are emitted to; never throws, never blocks. */
export interface EventSink {
  emit<C extends Channel>(channel: C, payload: ChannelMap[C]): void;
}
