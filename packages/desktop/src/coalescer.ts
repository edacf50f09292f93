/**
 * Fewer messages for a window that shows them, with the same meaning.
 *   C1  Order holds: whatever is kept back goes out before anything that came after it on its channel family.
 *   C2  Only adjacent `llm.delta` of one call become one (`mergeDeltas`); any other event goes out at once.
 *   C3  Nothing is kept back for longer than the window.
 */
import {
  type Channel,
  type ChannelMap,
  type EventSink,
  type LlmDelta,
  mergeDeltas,
} from "@millrace/contracts";

/** One frame of a screen at 60 Hz: too short to be seen. */
const EVERY_MS = 16;

type Progress = ChannelMap["models:install_progress"];

/** An `EventSink` that gathers; `flush` sends what is kept back, `close` does so and takes nothing more. */
export interface Coalescer extends EventSink {
  flush(): void;
  close(): void;
}

/**
 * Puts a window of `everyMs` milliseconds (default 16) before a sink. On `flow:execution` adjacent deltas of one call become one;
 * of `models:install_progress` the last of a window is kept, and goes out when its `stage` changes.
 */
export function createCoalescer(
  sink: EventSink,
  options: { readonly everyMs?: number } = {},
): Coalescer {
  const { everyMs = EVERY_MS } = options;
  let delta: LlmDelta | undefined;
  let progress: Progress | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let closed = false;

  function flushDelta(): void {
    if (delta === undefined) return;
    const held = delta;
    delta = undefined;
    sink.emit("flow:execution", held);
  }

  function flushProgress(): void {
    if (progress === undefined) return;
    const held = progress;
    progress = undefined;
    sink.emit("models:install_progress", held);
  }

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    flushDelta();
    flushProgress();
  }

  function openWindow(): void {
    timer ??= setTimeout(flush, everyMs);
  }

  function holdDelta(next: LlmDelta): void {
    const merged = delta === undefined ? next : mergeDeltas(delta, next);
    if (merged === null) flushDelta();
    delta = merged ?? next;
    openWindow();
  }

  function holdProgress(next: Progress): void {
    if (progress !== undefined && progress.stage !== next.stage) flushProgress();
    progress = next;
    openWindow();
  }

  return {
    emit<C extends Channel>(channel: C, payload: ChannelMap[C]) {
      if (closed) return;
      if (channel === "models:install_progress") holdProgress(payload as Progress);
      else if (channel !== "flow:execution") {
        flushProgress();
        sink.emit(channel, payload);
      } else {
        const event = payload as ChannelMap["flow:execution"];
        if (event.kind === "llm.delta") holdDelta(event);
        else {
          flushDelta();
          sink.emit(channel, payload);
        }
      }
    },
    flush,
    close() {
      flush();
      closed = true;
    },
  };
}
