/** Events of models for a caller in this process: nothing is missed from the call on, however late it is read. */
import type { ModelsFrame } from "@millrace/contracts";
import type { ModelEvents } from "./model-events.ts";

/** Frames from now on, until the signal; there are at most ten a second of each job. */
export function framesFrom(
  events: ModelEvents,
  signal: AbortSignal,
): AsyncGenerator<ModelsFrame, void> {
  const waiting: ModelsFrame[] = [];
  let wake = (): void => {};
  const stop = events.listen((channel, payload) => {
    waiting.push({ channel, payload } as ModelsFrame);
    wake();
  });
  const end = (): void => {
    stop();
    wake();
  };
  if (signal.aborted) end();
  else signal.addEventListener("abort", end, { once: true });
  return read();

  async function* read(): AsyncGenerator<ModelsFrame, void> {
    try {
      while (!signal.aborted) {
        yield* waiting.splice(0);
        if (signal.aborted || waiting.length > 0) continue;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    } finally {
      stop();
      signal.removeEventListener("abort", end);
    }
  }
}
