/**
 * Frames over the pipe between host and child, one JSON text a line. Not the channel of `fork`: whoever writes on that what is
 * no JSON throws in the process that reads it.
 */
import type { Duplex } from "node:stream";
import { NodeError } from "@millrace/contracts";

/** Longest frame; a larger value belongs into a file. */
const MAX_FRAME_BYTES = 16 * 1_048_576;

/** Descriptor of the pipe in the child. */
export const LINE_FD = 3;

export interface LineReader {
  /** A frame came; what it throws is a line that is broken. */
  frame(frame: unknown): void;
  /** No frame came, or one that is too long: nothing of it is read any more. Told once. */
  broken(): void;
}

/**
 * Reads a pipe, and answers what writes on it, which throws `output_too_large`. A pipe that is gone takes frames and drops them.
 */
export function openLine(pipe: Duplex, { frame, broken }: LineReader): (frame: object) => void {
  let held = "";
  let isBroken = false;
  const end = (): void => {
    isBroken = true;
    held = "";
    broken();
  };
  pipe.setEncoding("utf8");
  pipe.on("data", (text: string) => {
    const parts = text.split("\n");
    const rest = parts.pop() as string;
    for (const part of parts) {
      if (isBroken) return;
      try {
        frame(JSON.parse(held + part));
      } catch {
        end();
      }
      held = "";
    }
    if (isBroken) return;
    held += rest;
    if (held.length > MAX_FRAME_BYTES) end();
  });
  pipe.on("error", () => {}); // the end of the process says it
  return (given) => {
    if (pipe.destroyed) return;
    const text = JSON.stringify(given);
    if (text.length * MOST_BYTES > MAX_FRAME_BYTES) refuseLarge(text);
    pipe.write(`${text}\n`);
  };
}

const MOST_BYTES = 3; // of one unit of a text, in UTF-8

function refuseLarge(text: string): void {
  if (Buffer.byteLength(text) <= MAX_FRAME_BYTES) return;
  const problem = `a message between host and extension has more than ${MAX_FRAME_BYTES} bytes`;
  throw new NodeError("output_too_large", problem, { reason: "limit" });
}
