/**
 * The events of a run that the page keeps, and the state of the run at any of them.
 *   L1  The view at a position is the fold of all events up to it, wherever folding began.
 *   L2  No more than `max` events are kept; those that leave are folded into the view that the kept ones begin with.
 */
import {
  createView,
  type ExecutionEvent,
  foldEvents,
  type RunView,
  type RunViewJson,
  viewFromJson,
  viewToJson,
} from "@millrace/contracts";

/** Events that are kept: a run of this length can be looked through without the server. */
export const MAX_EVENTS = 20_000;
/** Events between two views that are kept for going back. */
const KEYFRAME_EVERY = 500;

/** Bounds of what is kept. */
export interface EventLogOptions {
  readonly max?: number;
  readonly every?: number;
}

/** A window on the log of a run that ends with its last event. */
export class EventLog {
  readonly #max: number;
  readonly #every: number;
  /** The state of the run before the first event that is kept. */
  #base: RunView = createView();
  #events: ExecutionEvent[] = [];
  readonly #ofNode = new Map<string, ExecutionEvent[]>();
  /** Views by `seq`, made when somebody first goes back. */
  #keyframes = new Map<number, RunViewJson>();

  constructor({ max = MAX_EVENTS, every = KEYFRAME_EVERY }: EventLogOptions = {}) {
    this.#max = max;
    this.#every = every;
  }

  /** The kept events, in order. A merged delta stands for several positions. */
  get events(): readonly ExecutionEvent[] {
    return this.#events;
  }

  /** `seq` of the last event before the kept ones; 0: nothing of the log is missing. */
  get since(): number {
    return this.#base.seq;
  }

  /** `seq` of the last event. */
  get last(): number {
    return this.#events.at(-1)?.seq ?? this.#base.seq;
  }

  /** The kept events of one node. */
  ofNode(path: string): readonly ExecutionEvent[] {
    return this.#ofNode.get(path) ?? NONE;
  }

  /** Takes the next event. A snapshot takes the place of all that came before. */
  push(event: ExecutionEvent): void {
    if (event.seq <= this.last && event.kind !== "snapshot") return;
    if (event.kind === "snapshot") {
      this.#base = foldEvents(createView(), event);
      this.#events = [];
      this.#ofNode.clear();
      this.#keyframes.clear();
      return;
    }
    this.#events.push(event);
    const node = nodeOf(event);
    if (node !== undefined) {
      const known = this.#ofNode.get(node);
      if (known === undefined) this.#ofNode.set(node, [event]);
      else known.push(event);
    }
    if (this.#events.length > this.#max) this.#drop();
  }

  /** The event at a position; undefined: it is not kept as it is in the log of the server. */
  at(seq: number): ExecutionEvent | undefined {
    const event = this.#events[this.#indexAfter(seq) - 1];
    const isMerged = event?.kind === "llm.delta" && event.merged !== undefined;
    return event?.seq === seq && !isMerged ? event : undefined;
  }

  /** The state of the run after the event `seq`; undefined: events before it are missing. */
  viewAt(seq: number): RunView | undefined {
    if (seq < this.#base.seq) return undefined;
    const end = this.#indexAfter(seq);
    let at = end - (end % this.#every);
    while (at > 0 && !this.#keyframes.has(at)) at -= this.#every;
    const known = this.#keyframes.get(at);
    const view = viewFromJson(known ?? viewToJson(this.#base));
    for (; at < end; ) {
      foldEvents(view, this.#events[at] as ExecutionEvent);
      at += 1;
      if (at % this.#every === 0) this.#keyframes.set(at, viewToJson(view));
    }
    return view;
  }

  /** Number of kept events up to a position. */
  #indexAfter(seq: number): number {
    let low = 0;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#events[middle] as ExecutionEvent).seq <= seq) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Lets the oldest events go, many at a time, so that one event costs the same. */
  #drop(): void {
    const gone = this.#events.splice(0, Math.min(this.#every, this.#events.length));
    const counts = new Map<string, number>();
    for (const event of gone) {
      foldEvents(this.#base, event);
      const node = nodeOf(event);
      if (node !== undefined) counts.set(node, (counts.get(node) ?? 0) + 1);
    }
    for (const [node, count] of counts) {
      const known = this.#ofNode.get(node) ?? [];
      if (known.length === count) this.#ofNode.delete(node);
      else known.splice(0, count);
    }
    this.#keyframes = new Map(
      [...this.#keyframes].flatMap(([at, view]) =>
        at > gone.length ? [[at - gone.length, view] as const] : [],
      ),
    );
  }
}

const NONE: readonly ExecutionEvent[] = [];

/** The path of the node that an event is about. */
export function nodeOf(event: ExecutionEvent): string | undefined {
  return "node" in event ? event.node : undefined;
}
