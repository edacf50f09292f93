/**
 * A host behind a wire.
 *   S1  Every call is answered once, unless the wire ends first; then it is cancelled.
 *   S2  The answer to `listen` comes before the first event of the subscription, and nothing of it after `unlisten`.
 *   S3  Who does not keep up makes the host wait, not this end keep what is not sent.
 */
import type { Channel, EventSink, JsonObject } from "@millrace/contracts";
import { isObject } from "@millrace/contracts/kit";
import { createCoalescer } from "./coalescer.ts";
import { commandError, problemOf } from "./command-error.ts";
import { type ChannelHost, isChannel } from "./transport.ts";
import { type HostMessage, type HostWire, isCount } from "./wire.ts";

type Message = { readonly [member: string]: unknown };

/** One subscription of the window. */
interface Subscription {
  stop: () => void;
  /** Messages that the window has not handled yet, of those that it said it counts. */
  pending: number;
  readonly window: number;
  wake: (() => void) | undefined;
}

/** Serves a host to the window at the other end, until the wire ends; the answer ends it at once. */
export function serveWire(wire: HostWire, host: ChannelHost): () => void {
  const calls = new Map<number, AbortController>();
  const subscriptions = new Map<number, Subscription>();
  let ended = false;

  const refuse = (id: number, error: unknown): void =>
    void wire.send({ id, ok: false, problem: problemOf(error) });

  async function call(id: number, command: unknown, args: unknown): Promise<void> {
    const controller = new AbortController();
    calls.set(id, controller);
    try {
      if (typeof command !== "string") throw commandError("invalid_args", "a command is a name");
      const given = args as JsonObject; // the host checks it, as it does for every surface
      const result = await host.invoke(command, given, { signal: controller.signal });
      if (!ended) void wire.send({ id, ok: true, result });
    } catch (error) {
      if (!ended && !controller.signal.aborted) refuse(id, error);
    } finally {
      if (calls.get(id) === controller) calls.delete(id);
    }
  }

  function cancel(id: number): void {
    calls.get(id)?.abort(cancelled());
    calls.delete(id);
  }

  async function listen(id: number, message: Message): Promise<void> {
    const { listen: channel, runId, after, window } = message;
    const subscription: Subscription = {
      stop: () => {},
      pending: 0,
      window: isCount(window) && window > 0 ? window : Number.POSITIVE_INFINITY,
      wake: undefined,
    };
    subscriptions.set(id, subscription);
    try {
      if (!isChannel(channel)) throw commandError("channel_unknown", "there is no such channel");
      if (runId !== undefined && typeof runId !== "string") {
        throw commandError("invalid_args", "runId is the id of a run");
      }
      if (after !== undefined && !isCount(after)) {
        throw commandError("bad_cursor", "after is a whole number from 0 to 2^53 - 1");
      }
      const unlisten = await subscribe(id, channel, subscription, {
        ...(runId === undefined ? {} : { runId }),
        ...(after === undefined ? {} : { after }),
      });
      if (subscriptions.get(id) !== subscription) unlisten();
    } catch (error) {
      subscriptions.delete(id);
      if (!ended) refuse(id, error);
    }
  }

  async function subscribe(
    id: number,
    channel: Channel,
    subscription: Subscription,
    options: { readonly runId?: string; readonly after?: number },
  ): Promise<() => void> {
    let early: HostMessage[] | undefined = [];
    let busy: Promise<void> | undefined;
    const sink: EventSink = {
      emit(name, payload) {
        if (subscriptions.get(id) !== subscription) return;
        subscription.pending += 1;
        const message: HostMessage = { channel: name, id, payload };
        if (early === undefined) busy = wire.send(message) ?? undefined;
        else early.push(message);
      },
    };
    const coalescer = createCoalescer(sink);
    const unlisten = await host.listen(
      channel,
      (payload) => {
        coalescer.emit(channel, payload);
        if (busy === undefined && subscription.pending < subscription.window) return;
        return keepUp(subscription, busy);
      },
      options,
    );
    subscription.stop = () => {
      unlisten();
      coalescer.close();
      subscription.wake?.();
    };
    if (subscriptions.get(id) === subscription) {
      void wire.send({ id, ok: true, result: null });
      const held = early;
      early = undefined;
      for (const message of held) void wire.send(message);
    }
    return subscription.stop;
  }

  async function keepUp(
    subscription: Subscription,
    busy: Promise<void> | undefined,
  ): Promise<void> {
    await busy;
    while (subscription.pending >= subscription.window && !ended) {
      await new Promise<void>((resolve) => {
        subscription.wake = resolve;
      });
      if (![...subscriptions.values()].includes(subscription)) return;
    }
  }

  function unlisten(id: number): void {
    const subscription = subscriptions.get(id);
    subscriptions.delete(id);
    subscription?.stop();
  }

  function taken(id: number, count: unknown): void {
    const subscription = subscriptions.get(id);
    if (subscription === undefined || !isCount(count)) return;
    subscription.pending = Math.max(0, subscription.pending - count);
    subscription.wake?.();
  }

  function receive(message: unknown): void {
    if (!isObject(message)) {
      void wire.send({ ok: false, problem: commandError("bad_json").problem });
      return;
    }
    const { id } = message;
    if (isCount(message["unlisten"])) unlisten(message["unlisten"]);
    else if (isCount(message["cancel"])) cancel(message["cancel"]);
    else if (isCount(message["taken"])) taken(message["taken"], message["count"]);
    else if (!isCount(id)) {
      const problem = commandError("invalid_args", "a message has an id, a whole number").problem;
      void wire.send({ ok: false, problem });
    } else if (calls.has(id) || subscriptions.has(id)) {
      refuse(id, commandError("invalid_args", "this id is still in use"));
    } else if ("listen" in message) void listen(id, message);
    else void call(id, message["command"], message["args"]);
  }

  function end(): void {
    if (ended) return;
    ended = true;
    for (const controller of calls.values()) controller.abort(cancelled());
    for (const id of [...subscriptions.keys()]) unlisten(id);
  }

  wire.onEnd(end);
  wire.receive(receive);
  return () => {
    end();
    wire.close();
  };
}

function cancelled(): Error {
  return new DOMException("nobody waits for the answer any more", "AbortError");
}
