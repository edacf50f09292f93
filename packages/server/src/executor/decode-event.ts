/** From the bytes of a stored event back to the event. */
import { type AnyEvent, parseEvent, type StoredEvent } from "@millrace/contracts";

const decoder = new TextDecoder();

/** The event of a line. Throws `EventParseError` when the journal holds something else. */
export function decodeEvent(stored: StoredEvent): AnyEvent {
  return parseEvent(decoder.decode(stored.line));
}
