/** A line as an event. */
import { isObject } from "../kit/objects.ts";
import { envelopeProblem } from "./envelope.ts";
import { EventParseError } from "./errors.ts";
import { strictProblem } from "./kinds.ts";
import { EVENT_DEPTH, EVENT_LIMITS, utf8Length } from "./limits.ts";
import type { AnyEvent } from "./types.ts";

/**
 * Reads one line as readers should: the envelope is checked, unknown kinds and fields pass. Throws `EventParseError` with code
 * `event_malformed`, or `event_version_unsupported` for another `v`.
 * @see the events page, "Envelope"
 */
export function parseEvent(line: string): AnyEvent {
  if (isLonger(line, EVENT_LIMITS.snapshotBytes)) throw malformed("is longer than 8 MiB");
  if (isTooDeep(line)) throw malformed(`is nested deeper than ${EVENT_DEPTH} levels`);
  const event = parseJson(line);
  if (!isObject(event)) {
    throw malformed("is not a JSON object");
  }
  const { v } = event as Partial<AnyEvent>;
  if (typeof v !== "number") throw malformed("has no version: v is not a number");
  if (v !== 1) {
    const message = `events of version ${v} are not supported, only version 1; a newer reader is needed`;
    throw new EventParseError("event_version_unsupported", message);
  }
  const problem = envelopeProblem(event);
  if (problem !== undefined) throw malformed(`has a bad envelope: ${problem}`);
  return event as AnyEvent;
}

/** The same for tests and writers: the whole event must be one of version 1, with known fields only. */
export function parseEventStrict(line: string): AnyEvent {
  const event = parseEvent(line);
  const problem = strictProblem(event);
  if (problem !== undefined) throw malformed(`is no legal ${event.kind}: ${problem}`);
  if (event.kind !== "snapshot" && isLonger(line, EVENT_LIMITS.lineBytes)) {
    throw malformed(`is longer than ${EVENT_LIMITS.lineBytes} bytes`);
  }
  return event;
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw malformed("is not JSON"); // the parser's own message quotes the text
  }
}

function isLonger(line: string, maxBytes: number): boolean {
  if (line.length > maxBytes) return true;
  return line.length * 3 > maxBytes && utf8Length(line) > maxBytes;
}

/** Looks at the text, so that nothing ever walks a value that deep. */
function isTooDeep(line: string): boolean {
  if (line.length < 2 * EVENT_DEPTH) return false;
  let depth = 0;
  let inString = false;
  for (let i = 0; i < line.length; i += 1) {
    const unit = line.charCodeAt(i);
    if (inString) {
      if (unit === 0x5c) i += 1;
      else if (unit === 0x22) inString = false;
    } else if (unit === 0x22) inString = true;
    else if (unit === 0x7b || unit === 0x5b) {
      depth += 1;
      if (depth > EVENT_DEPTH) return true;
    } else if (unit === 0x7d || unit === 0x5d) depth -= 1;
  }
  return false;
}

function malformed(what: string): EventParseError {
  return new EventParseError("event_malformed", `the event ${what}`);
}
