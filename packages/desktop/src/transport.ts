/** The two sides of every transport: what a window calls, and the host that has the flows. */
import type {
  AbortSignalLike,
  Channel,
  ChannelMap,
  CommandArgs,
  CommandName,
  CommandResult,
  Json,
  JsonObject,
} from "@millrace/contracts";

/** Runs commands by name, with the answers of `POST /api/invoke`. A failure rejects with the problem document. */
export interface CommandBus {
  invoke(command: string, args: JsonObject, options?: { signal?: AbortSignalLike }): Promise<Json>;
}

/** The other side as a window sees it, over any wire: commands, and events of a channel. */
export interface Transport extends CommandBus {
  /** Resolves when subscribed, with a function that ends the subscription and may be called twice. */
  listen<C extends Channel>(
    channel: C,
    handler: (payload: ChannelMap[C]) => void,
    options?: ListenOptions,
  ): Promise<() => void>;
  readonly state: TransportState;
  /** Called at each change; the answer stops it. */
  onState(handler: (state: TransportState) => void): () => void;
  close(): Promise<void>;
}

/** Whether messages get through: `connecting` before the first, `open`, or `closed` for good. */
export type TransportState = "connecting" | "open" | "closed";

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

/** A transport whose commands have the types of the table, as `invoke` of a client has them. */
export interface TypedTransport extends Omit<Transport, "invoke"> {
  invoke<N extends CommandName>(
    command: N,
    args: CommandArgs<N>,
    options?: Parameters<CommandBus["invoke"]>[2],
  ): Promise<CommandResult<N>>;
}

/** The same transport, with types: `typed(createElectronTransport(api)).invoke("get_run", { runId })` answers a `Run`. */
export function typed(transport: Transport): TypedTransport {
  return transport as unknown as TypedTransport;
}

/** The names of the channels, in their order on the page of events. */
export const CHANNELS: readonly Channel[] = [
  "flow:execution",
  "models:install_progress",
  "models:registered",
  "models:scan_complete",
];

/** True for the name of a channel. */
export function isChannel(name: unknown): name is Channel {
  return CHANNELS.includes(name as Channel);
}
