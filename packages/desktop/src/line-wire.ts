/**
 * A wire of lines: one JSON value each, in UTF-8, whatever pieces they come in.
 *   L1  A line is at most 16 MiB; a longer one is never gathered, and what is too long to send is refused to whoever asked for it.
 *   L2  Nothing but lines is written.
 */

import { isObject } from "@millrace/contracts/kit";
import { type CommandProblem, commandError } from "./command-error.ts";
import type { Wire } from "./wire.ts";

/** Longest line, in bytes. */
export const MAX_LINE_BYTES: number = 16 * 1_024 * 1_024;
/** Most bytes that one UTF-16 unit takes in UTF-8. */
const BYTES_OF_UNIT = 3;

/** Where lines are written to and come from. */
export interface LineEnds {
  /** Writes text. A promise: resolves when it may go on. */
  write(text: string): void | Promise<void>;
  /** Calls with each piece of text, until the end. */
  onText(handler: (text: string) => void): void;
  onEnd(handler: () => void): void;
  close(): void;
}

/** Makes a wire of two streams of text. A line that is no JSON, or too long, arrives as the text it is not: `null`. */
export function createLineWire<Out extends object, In>(ends: LineEnds): Wire<Out, In> {
  let ended = false;
  const handlers = new Set<() => void>();
  const end = (): void => {
    if (ended) return;
    ended = true;
    for (const handler of handlers) handler();
  };
  ends.onEnd(end);
  return {
    send(message) {
      if (ended) return;
      const line = JSON.stringify(message);
      return ends.write(`${isTooLong(line) ? JSON.stringify(refusalOf(message)) : line}\n`);
    },
    receive(handler) {
      ends.onText(
        createLineReader((line) => {
          if (!ended && line !== "") handler(parse(line) as In);
        }),
      );
    },
    onEnd: (handler) => void handlers.add(handler),
    close() {
      end();
      ends.close();
    },
  };
}

/** Cuts text into lines; null for one that is too long. */
function createLineReader(told: (line: string | null) => void): (text: string) => void {
  let pieces: string[] = [];
  let length = 0;
  let skips = false;
  return (text) => {
    let from = 0;
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", from)) {
      pieces.push(text.slice(from, at));
      const line = pieces.join("");
      pieces = [];
      length = 0;
      from = at + 1;
      if (!skips) told(isTooLong(line) ? null : line);
      skips = false;
    }
    if (skips || from === text.length) return;
    pieces.push(text.slice(from));
    length += text.length - from;
    if (length <= MAX_LINE_BYTES) return;
    told(null);
    skips = true;
    pieces = [];
    length = 0;
  };
}

function isTooLong(line: string): boolean {
  if (line.length > MAX_LINE_BYTES) return true;
  if (line.length * BYTES_OF_UNIT <= MAX_LINE_BYTES) return false;
  return new TextEncoder().encode(line).byteLength > MAX_LINE_BYTES;
}

function parse(line: string | null): unknown {
  if (line === null) return null;
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

/** Replacement of a message that is too long to send. */
function refusalOf(message: object): { readonly ok: false; readonly problem: CommandProblem } {
  const id = isObject(message) ? { id: message["id"] } : {};
  const { problem } = commandError("body_too_large", "a message is at most 16 MiB");
  return { ...id, ok: false, problem };
}
