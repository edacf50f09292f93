/**
 * Events of models: the three channels of the specification.
 *   M1  A reader is a position among the last events, so a slow one costs no memory; what it is too late for it does not get.
 *   M2  The first event of a new reader is the progress of the open job, if there is one.
 * @see specification, "Events"
 */
import type { Channel, ChannelMap, StoredEvent } from "@millrace/contracts";
import type { ModelEvents } from "../ports.ts";

const KEPT = 1_000; // at ten a second: a reader may be away for more than a minute
const PAGE = 100;
const PROGRESS = "models:install_progress";
const TERMINAL: ReadonlySet<string> = new Set(["done", "error", "cancelled"]);

/** No events yet. */
export function createModelEvents(): ModelEvents {
  const kept: StoredEvent[] = [];
  const listeners = new Set<Parameters<ModelEvents["listen"]>[0]>();
  let last = 0;
  let progress: ChannelMap[typeof PROGRESS] | undefined;

  const toEvent = (channel: Channel, payload: unknown, seq: number): StoredEvent => ({
    seq,
    kind: channel,
    line: Buffer.from(JSON.stringify({ channel, payload })),
  });

  return {
    emit(channel, payload) {
      if (channel === PROGRESS) progress = payload as typeof progress;
      last += 1;
      kept.push(toEvent(channel, payload, last));
      if (kept.length > KEPT) kept.shift();
      for (const listener of [...listeners]) listener(channel, payload);
    },
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async *read(signal) {
      let at = last;
      let wake = () => {};
      const onChange = () => wake();
      listeners.add(onChange);
      signal.addEventListener("abort", onChange);
      try {
        if (progress !== undefined && !TERMINAL.has(progress.stage)) {
          yield [toEvent(PROGRESS, progress, at)];
        }
        while (!signal.aborted) {
          const page = kept.filter(({ seq }) => seq > at).slice(0, PAGE);
          if (page.length > 0) {
            yield page;
            at = page.at(-1)?.seq ?? at;
          } else {
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
          }
        }
      } finally {
        listeners.delete(onChange);
        signal.removeEventListener("abort", onChange);
      }
    },
  };
}
