/**
 * Progress of a job as the channel tells it: `{stage, current, total, message}` and nothing else.
 *   P1  The first and the last event of each stage are always sent; between them at most ten a second.
 *   P2  `current` never falls within a stage, except by `restart`, whose message ends with `: restarted`.
 *   P3  One terminal event, after which nothing is sent.
 */
import type { EventSink } from "@millrace/contracts";

const EVERY_MS = 100; // ten a second

/** Where a job stands. */
export interface Position {
  readonly stage: string;
  readonly current: number;
  /** 0: unknown. */
  readonly total: number;
}

/** Tells how far a job has come. */
export interface Progress {
  readonly position: Position;
  /** Enters a stage. */
  stage(stage: string, current: number, total: number): void;
  /** Has come to `current` in this stage. */
  advance(current: number, total?: number): void;
  /** Starts the stage again from zero. */
  restart(total: number): void;
  /** Ends the job. `code` goes with `error`. */
  end(stage: "done" | "error" | "cancelled", code?: string): void;
}

/** Progress of the job of `name`, a model or an engine. `silent`: nothing is sent, only kept. */
export function createProgress(
  name: string,
  { sink, now }: { readonly sink: EventSink | null; readonly now: () => number },
): Progress {
  let position: Position = { stage: "resolve", current: 0, total: 0 };
  let sentAt = Number.NEGATIVE_INFINITY;
  let unsent = false;
  let ended = false;
  const send = (text?: string): void => {
    unsent = false;
    sentAt = now();
    const message = text === undefined ? name : `${name}: ${text}`;
    sink?.emit("models:install_progress", { ...position, message });
  };
  const to = (next: Position, text?: string): void => {
    if (ended) return;
    if (unsent) send(); // the last one of the stage that ends
    position = next;
    send(text);
  };
  return {
    get position() {
      return position;
    },
    stage: (stage, current, total) => to({ stage, current, total }),
    advance(to, total = position.total) {
      const current = total > 0 ? Math.min(to, total) : to; // a file may grow while it is read
      if (ended || (current <= position.current && total === position.total)) return;
      position = { ...position, current: Math.max(current, position.current), total };
      unsent = true;
      if (now() - sentAt >= EVERY_MS) send();
    },
    restart: (total) => to({ ...position, current: 0, total }, "restarted"),
    end(stage, code) {
      to({ ...position, stage }, stage === "error" ? code : undefined);
      ended = true;
    },
  };
}
