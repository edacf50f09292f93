/**
 * A transport through a sidecar of Tauri: the shell starts `millrace serve --stdio`, its lines are the wire.
 *   T1  Events of runs stay on the pipe of the sidecar, which Tauri carries through a channel of its own; they never become
 *       Tauri events, which are not made for such rates.
 *   T2  Events of models are re-emitted under the name of their channel, for every other window.
 */

import type { Channel, ChannelMap } from "@millrace/contracts";
import { checkOptions, type OptionNames } from "@millrace/contracts/options";
import { connectWire } from "./connect-wire.ts";
import { TRANSPORT_OPTIONS, type TransportOptions } from "./handlers.ts";
import { createLineWire } from "./line-wire.ts";
import { CHANNELS, type Transport } from "./transport.ts";
import type { WindowMessage } from "./wire.ts";

/** The part of `Child` of `@tauri-apps/plugin-shell` that is used. */
export interface SidecarChild {
  write(text: string): Promise<void>;
  kill(): Promise<void>;
}

/** The part of `Command` of `@tauri-apps/plugin-shell` that is used. */
export interface SidecarCommand {
  readonly stdout: { on(event: "data", listener: (line: string) => void): unknown };
  on(event: "close" | "error", listener: (payload: never) => void): unknown;
  spawn(): Promise<SidecarChild>;
}

/** Options of the window that owns the sidecar. */
export interface TauriOptions extends TransportOptions {
  /** `Command.sidecar("binaries/millrace", ["serve", "--stdio"])`. */
  readonly command: SidecarCommand;
  /** `emit` of `@tauri-apps/api/event`; with it the other windows hear of models. Default: they do not. */
  readonly emit?: (event: string, payload: unknown) => Promise<void>;
}

/** Starts the sidecar; rejects with what the shell says when it cannot be started. It ends with the transport. */
export async function createTauriTransport(options: TauriOptions): Promise<Transport> {
  const names: OptionNames<TauriOptions> = { ...TRANSPORT_OPTIONS, command: true, emit: true };
  checkOptions("createTauriTransport", options, names);
  const { command, emit } = options;
  let told = (_: string): void => {};
  let end = (): void => {};
  command.stdout.on("data", (line) => told(line.endsWith("\n") ? line : `${line}\n`));
  command.on("close", () => end());
  command.on("error", () => end());
  const child = await command.spawn();
  const wire = createLineWire<WindowMessage, unknown>({
    write: (text) => child.write(text).catch(() => end()),
    onText(handler) {
      told = handler;
    },
    onEnd(handler) {
      end = handler;
    },
    close: () => void child.kill().catch(() => {}),
  });
  const transport = connectWire(wire, options);
  if (emit !== undefined) {
    for (const channel of CHANNELS.filter((name) => name.startsWith("models:"))) {
      // A host that manages no models refuses these; then there is nothing to tell.
      transport
        .listen(channel, (payload) => void emit(channel, payload).catch(() => {}))
        .catch(() => {});
    }
  }
  return transport;
}

/** The part of `listen` of `@tauri-apps/api/event` that is used. */
export type TauriListen = (
  event: string,
  handler: (event: { readonly payload: unknown }) => void,
) => Promise<() => void>;

/** In any other window: hears a channel of models that the owner of the sidecar re-emits. */
export function listenTauri<C extends Exclude<Channel, "flow:execution">>(
  listen: TauriListen,
  channel: C,
  handler: (payload: ChannelMap[C]) => void,
): Promise<() => void> {
  return listen(channel, ({ payload }) => handler(payload as ChannelMap[C]));
}
