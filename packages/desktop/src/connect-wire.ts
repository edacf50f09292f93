/**
 * The window's end of a wire as a `Transport`.
 *   T1  A call ends once: with its answer, with the reason of its signal, or with `transport_closed`.
 *   T2  No handler is called after its unlisten, nor before its `listen` has resolved.
 */
import type { AbortSignalLike, Channel, ChannelMap, Json } from "@millrace/contracts";
import { isObject } from "@millrace/contracts/kit";
import { CommandError, commandError, readProblem } from "./command-error.ts";
import {
  createDelivery,
  createHandlerGuard,
  createState,
  type Delivery,
  type TransportOptions,
} from "./handlers.ts";
import { isChannel, type ListenOptions, type Transport } from "./transport.ts";
import { isCount, type WindowWire } from "./wire.ts";

/** Messages of a subscription under way before the host waits; as many as a reader may be behind. */
const WINDOW = 8_192;
/** A window tells what it has handled so seldom that it costs nothing. */
const TELL_EVERY = 512;

interface Call {
  resolve(result: Json): void;
  reject(error: unknown): void;
}

interface Listener {
  readonly channel: Channel;
  readonly delivery: Delivery;
  /** Whether the host has answered; earlier messages are for an earlier owner of the id. */
  isOpen: boolean;
  handled: number;
}

/** Makes a transport of a wire. It is `open` from the first message of the host on, at once with `isOpen`. */
export function connectWire(
  wire: WindowWire,
  options: TransportOptions & { readonly isOpen?: boolean } = {},
): Transport {
  const callHandler = createHandlerGuard(options);
  const state = createState(options.isOpen === true ? "open" : "connecting", callHandler);
  const calls = new Map<number, Call>();
  const listeners = new Map<number, Listener>();
  let lastId = 0;

  function send(message: Parameters<WindowWire["send"]>[0]): void {
    void wire.send(message);
  }

  /** Sends what has an answer. */
  function ask(
    build: (id: number) => Parameters<WindowWire["send"]>[0],
    signal: AbortSignalLike | undefined,
    prepare: (id: number) => void = () => {},
  ): Promise<{ readonly id: number; readonly result: Json }> {
    if (state.now === "closed") return Promise.reject(commandError("transport_closed"));
    if (signal?.aborted) return Promise.reject(signal.reason);
    lastId += 1;
    const id = lastId;
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        if (!calls.delete(id)) return;
        send({ cancel: id });
        reject(signal?.reason);
      };
      const settle = (): void => signal?.removeEventListener("abort", onAbort);
      calls.set(id, {
        resolve(result) {
          settle();
          resolve({ id, result });
        },
        reject(error) {
          settle();
          reject(error);
        },
      });
      signal?.addEventListener("abort", onAbort, { once: true });
      prepare(id);
      try {
        send(build(id));
      } catch (cause) {
        // What cannot be cloned or written as JSON never left.
        calls.delete(id);
        settle();
        reject(commandError("invalid_args", "the arguments are not JSON", { cause }));
      }
    });
  }

  function answer(id: number, message: { readonly [member: string]: unknown }): void {
    const call = calls.get(id);
    calls.delete(id);
    const listener = listeners.get(id);
    if (listener !== undefined) listener.isOpen = true;
    if (message["ok"] === true) call?.resolve((message["result"] ?? null) as Json);
    else call?.reject(new CommandError(readProblem(message["problem"])));
  }

  function deliver(id: number, payload: unknown): void {
    const listener = listeners.get(id);
    if (listener?.isOpen !== true) return;
    listener.delivery.deliver(payload);
    listener.handled += 1;
    if (listener.handled < TELL_EVERY) return;
    send({ taken: id, count: listener.handled });
    listener.handled = 0;
  }

  function receive(message: unknown): void {
    if (!isObject(message)) return;
    state.to("open");
    const { id, channel } = message;
    if (!isCount(id)) return;
    if ("ok" in message) answer(id, message);
    else if (isChannel(channel) && listeners.get(id)?.channel === channel) {
      deliver(id, message["payload"]);
    }
  }

  function end(): void {
    state.to("closed");
    for (const call of calls.values()) call.reject(commandError("transport_closed"));
    calls.clear();
    for (const { delivery } of listeners.values()) delivery.stop();
    listeners.clear();
  }

  wire.onEnd(end);
  wire.receive(receive);
  return {
    get state() {
      return state.now;
    },
    onState: (handler) => state.watch(handler),
    async invoke(command, args, { signal } = {}) {
      return (await ask((id) => ({ id, command, args }), signal)).result;
    },
    async listen<C extends Channel>(
      channel: C,
      handler: (payload: ChannelMap[C]) => void,
      { runId, after }: ListenOptions = {},
    ) {
      if (!isChannel(channel)) throw commandError("channel_unknown", "there is no such channel");
      const delivery = createDelivery(handler, callHandler);
      let asked = 0;
      try {
        const { id } = await ask(
          (id) => ({
            listen: channel,
            id,
            window: WINDOW,
            ...(runId === undefined ? {} : { runId }),
            ...(after === undefined ? {} : { after }),
          }),
          undefined,
          (id) => {
            asked = id;
            listeners.set(id, { channel, delivery, isOpen: false, handled: 0 });
          },
        );
        delivery.begin();
        return () => {
          delivery.stop();
          if (listeners.delete(id)) send({ unlisten: id });
        };
      } catch (error) {
        listeners.delete(asked);
        throw error;
      }
    },
    async close() {
      for (const id of calls.keys()) send({ cancel: id });
      for (const id of listeners.keys()) send({ unlisten: id });
      end();
      wire.close();
    },
  };
}
