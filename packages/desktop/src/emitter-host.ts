/**
 * A host without a journal: events go to those who listen at the moment.
 *   E1  A listener gets events in order; one that is behind by too much gets a snapshot of the run in place of what it has missed.
 *   E2  A listener that comes late gets a snapshot of the run as it is, then what follows.
 *   E3  A run that has ended is forgotten, but for the last few.
 */
import {
  type Channel,
  type ChannelMap,
  createView,
  type ExecutionEvent as Event,
  type EventSink,
  foldEvents,
  makeSnapshot,
  type RunView,
  type Summary,
  serialiseEvent,
} from "@millrace/contracts";
import { commandError } from "./command-error.ts";
import { type ChannelHost, type CommandBus, isChannel, type ListenOptions } from "./transport.ts";

/** How far a listener may be behind before it is brought to the present, whichever is reached first. */
const MAX_PENDING_EVENTS = 8_192;
const MAX_PENDING_BYTES = 4 * 1_024 * 1_024;
/** Ended runs whose state late listeners still get: a window may open right after a short run. */
const KEPT_RUNS = 64;

/** Events that a subscription to all runs gets. */
const OF_ALL_RUNS = /^(?:run\.|confirm\.|summary$)/;

/** A host, and where its events come from. */
export interface EmitterHost extends ChannelHost, EventSink {}

interface KnownRun {
  readonly view: RunView;
  summary: Summary | undefined;
}

interface Listener {
  readonly channel: Channel;
  readonly options: ListenOptions;
  readonly deliver: (payload: never) => void | Promise<void>;
  pending: unknown[];
  pendingBytes: number;
  busy: boolean;
  /** Runs of which it has missed events. */
  readonly missed: Set<KnownRun>;
}

/** Makes a host around commands; `emit` is called with every event of every run, in order. */
export function createEmitterHost(commands: CommandBus): EmitterHost {
  const listeners = new Set<Listener>();
  const runs = new Map<string, KnownRun>();

  function remember(event: Event): void {
    let run = runs.get(event.runId);
    if (run === undefined) {
      run = { view: createView(event.runId), summary: undefined };
      runs.set(event.runId, run);
    }
    if (event.kind !== "summary") {
      foldEvents(run.view, event);
      return;
    }
    run.summary = event;
    const ended = [...runs].filter(([, { summary }]) => summary !== undefined);
    for (const [id] of ended.slice(0, -KEPT_RUNS)) runs.delete(id);
  }

  function push(listener: Listener, payload: unknown): void {
    if (!listener.busy) {
      hand(listener, payload);
      return;
    }
    listener.pending.push(payload);
    listener.pendingBytes += sizeOf(listener.channel, payload);
    const tooMany = listener.pending.length > MAX_PENDING_EVENTS;
    if (tooMany || listener.pendingBytes > MAX_PENDING_BYTES || listener.missed.size > 0) {
      drop(listener);
    }
  }

  /** Of runs their state is kept instead; late listeners to models miss past events. */
  function drop(listener: Listener): void {
    for (const payload of listener.pending) {
      const run = listener.channel === "flow:execution" && runs.get((payload as Event).runId);
      if (run) listener.missed.add(run);
    }
    listener.pending = [];
    listener.pendingBytes = 0;
  }

  function hand(listener: Listener, payload: unknown): void {
    const wait = listener.deliver(payload as never);
    if (wait === undefined) return;
    listener.busy = true;
    void wait.then(() => {
      listener.busy = false;
      catchUp(listener);
    });
  }

  function catchUp(listener: Listener): void {
    if (!listeners.has(listener)) return;
    const missed = [...listener.missed].flatMap((run) => presentOf(run, 0));
    const next = [...missed, ...listener.pending];
    listener.missed.clear();
    listener.pending = [];
    listener.pendingBytes = 0;
    for (const payload of next) push(listener, payload);
  }

  return {
    invoke: (command, args, options) => commands.invoke(command, args, options),
    async listen(channel, deliver, options = {}) {
      if (!isChannel(channel)) throw commandError("channel_unknown", "there is no such channel");
      const listener: Listener = {
        channel,
        options,
        deliver,
        pending: [],
        pendingBytes: 0,
        busy: false,
        missed: new Set(),
      };
      listeners.add(listener);
      const { runId, after = 0 } = options;
      if (channel === "flow:execution" && runId !== undefined) {
        const run = runs.get(runId);
        for (const event of run === undefined ? [] : presentOf(run, after)) push(listener, event);
      }
      return () => void listeners.delete(listener);
    },
    emit<C extends Channel>(channel: C, payload: ChannelMap[C]) {
      if (channel === "flow:execution") remember(payload as Event);
      for (const listener of listeners) {
        if (listener.channel === channel && isFor(listener.options, channel, payload)) {
          push(listener, payload);
        }
      }
    },
  };
}

/** The events that bring a reader at `after` up to date. */
function presentOf({ view, summary }: KnownRun, after: number): readonly Event[] {
  const snapshot = view.seq > after ? [makeSnapshot(view, view.updatedAt)] : [];
  return summary === undefined || summary.seq <= after ? snapshot : [...snapshot, summary];
}

function isFor({ runId, after = 0 }: ListenOptions, channel: Channel, payload: unknown): boolean {
  if (channel !== "flow:execution") return true;
  const event = payload as Event;
  return runId === undefined
    ? OF_ALL_RUNS.test(event.kind)
    : event.runId === runId && event.seq > after;
}

function sizeOf(channel: Channel, payload: unknown): number {
  return channel === "flow:execution"
    ? serialiseEvent(payload as Event).length
    : JSON.stringify(payload).length;
}
