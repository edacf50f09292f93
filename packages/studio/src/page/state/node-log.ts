/**
 * The events of one node of a run, kept while somebody looks at it: the page keeps the last events of a run alone, and those of the node
 * would leave with them.
 *   N1  Up to `end` no event of the node is missing, but for the oldest of very many.
 *   N2  An event is looked at once, however often the log is followed.
 */
import type { ExecutionEvent } from "@millrace/contracts";
import { type EventLog, MAX_EVENTS } from "./event-log.ts";

/** Events of one node, in order. */
export class NodeLog {
  readonly #path: string;
  readonly #max: number;
  #events: ExecutionEvent[] = [];
  #end = 0;

  constructor(path: string, max: number = MAX_EVENTS) {
    this.#path = path;
    this.#max = max;
  }

  /** The known events; another list whenever there are more. */
  get events(): readonly ExecutionEvent[] {
    return this.#events;
  }

  /** `seq` up to which the log of the run is known for this node. */
  get end(): number {
    return this.#end;
  }

  /** Takes what has streamed since; nothing as long as events before it are missing. */
  follow(log: EventLog): void {
    if (log.since > this.#end) return;
    const streamed = log.ofNode(this.#path);
    let from = streamed.length;
    while (from > 0 && (streamed[from - 1] as ExecutionEvent).seq > this.#end) from -= 1;
    this.add(streamed.slice(from), log.last);
  }

  /** Takes the next events of the node, after which nothing is missing up to `end`. */
  add(events: readonly ExecutionEvent[], end: number): void {
    this.#end = Math.max(this.#end, end);
    if (events.length === 0) return;
    const all = [...this.#events, ...events];
    this.#events = all.length > this.#max ? all.slice(-this.#max) : all;
  }
}
