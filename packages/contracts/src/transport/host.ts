/** The side that has the flows: what every transport is put before. */
import type { Channel, ChannelMap, CommandBus } from "../channels.ts";

/** Which events of `flow:execution` are wanted. Without `runId`: starts, pauses, questions and ends of all runs from now on. */
export interface ListenOptions {
  readonly runId?: string;
  /** `seq` of the last event that is known; with `runId`. Default 0: all of them. */
  readonly after?: number;
}

/** Commands and events, wherever they come from; a `Transport` is one as well. */
export interface ChannelHost extends CommandBus {
  /**
   * Resolves when subscribed; the answer ends the subscription and may be called twice. When `deliver` answers a promise, nothing
   * more is delivered before it resolves: a host with a journal reads on from there, one without sends a snapshot in place
   * of what would be too much to keep. Rejects with `CommandError`.
   */
  listen<C extends Channel>(
    channel: C,
    deliver: (payload: ChannelMap[C]) => void | Promise<void>,
    options?: ListenOptions,
  ): Promise<() => void>;
}

/** The names of the channels, in their order on the page of events. */
export const CHANNELS: readonly Channel[] = [
  "flow:execution",
  "models:install_progress",
  "models:registered",
  "models:scan_complete",
];

/** Whether a name from outside is one of a channel. */
export function isChannel(name: unknown): name is Channel {
  return CHANNELS.includes(name as Channel);
}
