/** A transport without a wire: direct calls, and frozen payloads. */
import type { AbortSignalLike, Channel, ChannelMap, Json } from "@millrace/contracts";
import { checkOptions } from "@millrace/contracts/options";
import { createCoalescer } from "./coalescer.ts";
import { commandError } from "./command-error.ts";
import {
  createDelivery,
  createHandlerGuard,
  createState,
  TRANSPORT_OPTIONS,
  type TransportOptions,
} from "./handlers.ts";
import { type ChannelHost, isChannel, type ListenOptions, type Transport } from "./transport.ts";

/** Makes a transport to a host in this process. It is open at once, until `close`; the host goes on. */
export function createInProcessTransport(
  host: ChannelHost,
  options: TransportOptions = {},
): Transport {
  checkOptions("createInProcessTransport", options, TRANSPORT_OPTIONS);
  const call = createHandlerGuard(options);
  const state = createState("open", call);
  const ends = new Set<() => void>();

  /** A promise of the host, or the end of this transport, or the reason of the signal. */
  function whileOpen<T>(
    work: (signal: AbortSignal) => Promise<T>,
    outer?: AbortSignalLike,
  ): Promise<T> {
    if (state.now === "closed") return Promise.reject(commandError("transport_closed"));
    if (outer?.aborted) return Promise.reject(outer.reason);
    const controller = new AbortController();
    return new Promise((resolve, reject) => {
      const stop = (reason: unknown): void => {
        settle();
        controller.abort(reason);
        reject(reason);
      };
      const onAbort = (): void => stop(outer?.reason);
      const onEnd = (): void => stop(commandError("transport_closed"));
      const settle = (): void => {
        ends.delete(onEnd);
        outer?.removeEventListener("abort", onAbort);
      };
      ends.add(onEnd);
      outer?.addEventListener("abort", onAbort, { once: true });
      work(controller.signal).finally(settle).then(resolve, reject);
    });
  }

  return {
    get state() {
      return state.now;
    },
    onState: (handler) => state.watch(handler),
    invoke: (command, args, { signal } = {}) =>
      whileOpen<Json>((inner) => host.invoke(command, args, { signal: inner }), signal),
    async listen<C extends Channel>(
      channel: C,
      handler: (payload: ChannelMap[C]) => void,
      listening: ListenOptions = {},
    ) {
      if (!isChannel(channel)) throw commandError("channel_unknown", "there is no such channel");
      const delivery = createDelivery(handler, call);
      const coalescer = createCoalescer({
        emit: (_, payload) => delivery.deliver(deepFreeze(payload)),
      });
      const unlisten = await whileOpen(() =>
        host.listen(channel, (payload) => coalescer.emit(channel, payload), listening),
      );
      const stop = (): void => {
        delivery.stop();
        ends.delete(stop);
        unlisten();
        coalescer.close();
      };
      ends.add(stop);
      delivery.begin();
      return stop;
    },
    async close() {
      state.to("closed");
      for (const end of [...ends]) end();
    },
  };
}

/** Freezes JSON; what is frozen already has been frozen whole. */
function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) deepFreeze(member);
  return Object.freeze(value);
}
