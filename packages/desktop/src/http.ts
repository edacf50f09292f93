/**
 * A transport to a server: commands by `POST /api/invoke`, events by streams of server-sent events. The token travels in a header.
 *   H1  A stream that is cut is read on from where it was; a server that cannot be reached any more closes the transport.
 *   H2  All listeners of models share one stream.
 */

import {
  CLIENT_OPTIONS,
  type Client,
  ClientError,
  type ClientOptions,
  callFetch,
  createClient,
} from "@millrace/client";
import type {
  AbortSignalLike,
  Channel,
  ChannelMap,
  CommandName,
  ExecutionEvent,
  Json,
} from "@millrace/contracts";
import { checkOptions, type OptionNames } from "@millrace/contracts/options";
import { createCoalescer } from "./coalescer.ts";
import { CommandError, commandError, readProblem } from "./command-error.ts";
import {
  createDelivery,
  createHandlerGuard,
  createState,
  TRANSPORT_OPTIONS,
  type TransportOptions,
} from "./handlers.ts";
import { isChannel, type ListenOptions, type Transport } from "./transport.ts";

/** Where the server is; as `ClientOptions`. */
export interface HttpTransportOptions extends ClientOptions, TransportOptions {}

type ModelChannel = Exclude<Channel, "flow:execution">;
type ModelHandler = { readonly channel: ModelChannel; readonly tell: (payload: unknown) => void };

/** Makes a transport; nothing is sent before its first call. */
export function createHttpTransport(options: HttpTransportOptions): Transport {
  const names: OptionNames<HttpTransportOptions> = { ...CLIENT_OPTIONS, ...TRANSPORT_OPTIONS };
  checkOptions("createHttpTransport", options, names);
  const call = createHandlerGuard(options);
  const state = createState("connecting", call);
  const closing = new AbortController();
  const { report: _, ...reaching } = options;
  const client = createClient(reaching);
  const modelHandlers = new Set<ModelHandler>();
  let models: { readonly stop: AbortController; readonly opened: Promise<void> } | undefined;

  function close(): void {
    state.to("closed");
    closing.abort(commandError("transport_closed"));
  }

  /** An error as a transport reports it; when the server is gone, the transport closes. */
  function failure(error: unknown): unknown {
    if (closing.signal.aborted) return commandError("transport_closed");
    if (!ClientError.isInstance(error)) return error;
    if (error.problem !== undefined) return new CommandError(readProblem(error.problem));
    if (error.code !== "unreachable") return commandError("upstream_failed", error.message);
    close();
    return commandError("transport_closed", error.message, { cause: error });
  }

  /** A signal that the end of the transport aborts as well. */
  function linked(outer?: AbortSignalLike): { readonly controller: AbortController; free(): void } {
    const controller = new AbortController();
    const onClose = (): void => controller.abort(closing.signal.reason);
    const onAbort = (): void => controller.abort(outer?.reason);
    if (closing.signal.aborted) onClose();
    if (outer?.aborted) onAbort();
    closing.signal.addEventListener("abort", onClose);
    outer?.addEventListener("abort", onAbort, { once: true });
    return {
      controller,
      free() {
        closing.signal.removeEventListener("abort", onClose);
        outer?.removeEventListener("abort", onAbort);
      },
    };
  }

  /** Pumps a log to its end. Resolves when its first answer is there; later faults end the transport. */
  function pump<T>(
    source: (opened: () => void) => AsyncIterable<T>,
    each: (item: T) => void,
    stop: AbortController,
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      let isOpen = false;
      const opened = (): void => {
        isOpen = true;
        state.to("open");
        resolve();
      };
      void (async () => {
        try {
          for await (const item of source(opened)) {
            if (stop.signal.aborted) return;
            each(item);
          }
          opened(); // a log that has ended has nothing to answer
        } catch (error) {
          if (stop.signal.aborted && !closing.signal.aborted) return;
          const told = failure(error);
          if (!isOpen) reject(told);
          else close(); // the subscription is lost, and the window has to know
        }
      })();
    });
  }

  /** A client that tells of its first answer. */
  const telling = (opened: () => void): Client =>
    createClient({
      ...reaching,
      async fetch(url, init) {
        const response = await callFetch(options.fetch, url, init);
        if (response.ok) opened();
        return response;
      },
    });

  /** The log of one run, over as many connections as that takes. */
  const runLog = (runId: string, after: number, { signal }: AbortController, opened: () => void) =>
    telling(opened).runEvents(runId, { after, signal });

  async function* feed({ signal }: AbortController, opened: () => void) {
    for await (const { event } of telling(opened).feed({ signal })) yield event;
  }

  const modelFrames = ({ signal }: AbortController, opened: () => void) =>
    telling(opened).modelEvents({ signal });

  async function listenModels(handler: ModelHandler): Promise<() => void> {
    modelHandlers.add(handler);
    if (models === undefined) {
      const { controller: stop } = linked();
      const opened = pump(
        (isOpen) => modelFrames(stop, isOpen),
        ({ channel, payload }) => {
          for (const each of modelHandlers) if (each.channel === channel) each.tell(payload);
        },
        stop,
      );
      models = { stop, opened };
    }
    const leave = (): void => {
      if (!modelHandlers.delete(handler) || modelHandlers.size > 0) return;
      models?.stop.abort();
      models = undefined;
    };
    try {
      await models.opened;
      return leave;
    } catch (error) {
      leave();
      throw error;
    }
  }

  return {
    get state() {
      return state.now;
    },
    onState: (handler) => state.watch(handler),
    async invoke(command, args, { signal } = {}) {
      const { controller, free } = linked(signal);
      try {
        // Any name: the server says which it knows.
        const result: unknown = await client.invoke(command as CommandName, args as never, {
          signal: controller.signal,
        });
        state.to("open");
        return result as Json;
      } catch (error) {
        if (signal?.aborted) throw signal.reason;
        const told = failure(error);
        if (CommandError.isInstance(told) && told.code !== "transport_closed") state.to("open");
        throw told;
      } finally {
        free();
      }
    },
    async listen<C extends Channel>(
      channel: C,
      handler: (payload: ChannelMap[C]) => void,
      { runId, after = 0 }: ListenOptions = {},
    ) {
      if (!isChannel(channel)) throw commandError("channel_unknown", "there is no such channel");
      if (closing.signal.aborted) throw commandError("transport_closed");
      const delivery = createDelivery(handler, call);
      const coalescer = createCoalescer({ emit: (_, payload) => delivery.deliver(payload) });
      const tell = (payload: unknown): void => coalescer.emit(channel, payload as ChannelMap[C]);
      let leave: () => void;
      if (channel === "flow:execution") {
        const { controller: stop, free } = linked();
        const source = (opened: () => void) =>
          runId === undefined ? feed(stop, opened) : runLog(runId, after, stop, opened);
        leave = () => {
          free();
          stop.abort();
        };
        await pump(source, (event) => tell(event as ExecutionEvent), stop);
      } else leave = await listenModels({ channel: channel as ModelChannel, tell });
      delivery.begin();
      return () => {
        delivery.stop();
        leave();
        coalescer.close();
      };
    },
    async close() {
      close();
    },
  };
}
