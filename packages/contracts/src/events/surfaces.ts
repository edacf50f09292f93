/** Events as the bytes of each surface. Every one of them is `serialiseEvent` with something constant around it. */
import { serialiseEvent } from "./serialise.ts";
import type { AnyEvent } from "./types.ts";

/**
 * Server-sent events. `frame`: `data: …`, for a stream that cannot be re-attached by position. `frameWithId`: the same
 * with `id: <seq>`, so `Last-Event-ID` names the place to go on from. `line` is the event's line where it is made already.
 */
export const sse: {
  frame(event: AnyEvent, line?: string): string;
  frameWithId(event: AnyEvent, line?: string): string;
} = {
  frame: (event, line = serialiseEvent(event)) => `data: ${line}\n\n`,
  frameWithId: (event, line = serialiseEvent(event)) => `data: ${line}\nid: ${event.seq}\n\n`,
};

/** One event a line, as `--json` writes them. */
export const ndjson: { line(event: AnyEvent): string } = {
  line: (event) => `${serialiseEvent(event)}\n`,
};
