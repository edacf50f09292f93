/** The pen of a made-up log: it writes events, keeps the clock and the ids, and knows what every node has open. */
import {
  createView,
  type DeltaChannel,
  type ExecutionEvent,
  foldEvents,
  type RunView,
} from "@millrace/contracts";
import type { Dice } from "./dice.ts";

/** What a node's process waits for before its next event. */
export type Need =
  /** Nothing. */
  | "step"
  /** A run that starts nodes. */
  | "start"
  /** A run that goes on: neither paused nor cancelled. */
  | "resume"
  | "answer"
  | "children";

export interface Walker {
  readonly path: string;
  readonly type: string;
  readonly parent: Walker | undefined;
  readonly waitsFor: readonly { readonly source: Walker; readonly port: string }[];
  process: Generator<Need, void, undefined>;
  need: Need;
  phase: "pending" | "running" | "retrying" | "waiting" | "over";
  attempt: number;
  startedAt: number;
  dueAt: number;
  children: Walker[];
  calls: Map<string, { kind: "llm" | "tool"; lengths: Record<DeltaChannel, number>; ts: number }>;
  asks: Set<string>;
  /** Ports it left by. */
  ports: readonly string[];
}

/** What a writer gives: the event without its envelope, but with its place. */
export type Words<E extends ExecutionEvent = ExecutionEvent> = E extends ExecutionEvent
  ? Omit<E, "v" | "runId" | "seq" | "ts">
  : never;

export class Walk {
  readonly events: ExecutionEvent[] = [];
  readonly view: RunView = createView();
  readonly walkers: Walker[] = [];
  readonly dice: Dice;
  readonly runId: string;
  ts = 1_750_000_000_000;
  failed = false;
  #ids = 0;

  constructor(dice: Dice, runId: string) {
    this.dice = dice;
    this.runId = runId;
  }

  /** Writes the next event; time passes, or does not. */
  write(words: Words): void {
    this.writeAt(this.ts + (this.dice.chance(0.5) ? 0 : this.dice.between(1, 40)), words);
  }

  /** Writes the next event at a moment that was chosen before. */
  writeAt(ts: number, { kind, ...words }: Words): void {
    this.ts = ts;
    const envelope = { v: 1, kind, runId: this.runId, seq: this.events.length + 1, ts };
    const event = { ...envelope, ...words } as unknown as ExecutionEvent;
    this.events.push(event);
    foldEvents(this.view, event);
  }

  /** Keeps the clock from standing before `ts`. */
  waitUntil(ts: number): void {
    this.ts = Math.max(this.ts, ts);
  }

  id(prefix: string): string {
    this.#ids += 1;
    return `${prefix}${this.#ids}`;
  }

  openConfirmations(): string[] {
    return this.walkers.flatMap(({ asks }) => [...asks]).sort();
  }

  /** Ends every open call and confirmation of a node. */
  closeAll(walker: Walker, why: "aborted" | "interrupted"): void {
    const place = placeOf(walker);
    for (const [call, { kind, lengths, ts }] of walker.calls) {
      if (kind === "llm") {
        const discarded = lengths.text + lengths.reasoning + lengths.object;
        this.write({ kind: "llm.failed", ...place, call, reason: why, discarded, next: "none" });
        continue;
      }
      this.write({
        kind: "tool.finished",
        ...place,
        call,
        outcome: why === "aborted" ? "cancelled" : "error",
        durationMs: this.ts - ts,
      });
    }
    walker.calls.clear();
    for (const id of walker.asks) {
      this.write({ kind: "confirm.resolved", ...place, id, outcome: "cancelled" });
    }
    walker.asks.clear();
  }
}

export function placeOf({ path, attempt }: Walker): { node: string; attempt: number } {
  return { node: path, attempt };
}
