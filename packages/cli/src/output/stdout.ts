/**
 * Stdout where it is a file. Node's own stream takes a short write, which is what a disk gives that gets full, for a whole one: the
 * rest of the text would be lost without a word.
 */

import { writeSync } from "node:fs";
import { Writable } from "node:stream";

/** The stream, or one over the same file whose writes are whole, or fail. */
export function wholeWrites(stream: NodeJS.WriteStream & { readonly fd: number }): Writable {
  // Asking the system by `fstat` makes Node 20 resolve no link of a package any more.
  const { _type: type } = stream as { readonly _type?: string };
  if (type !== "fs") return stream;
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      try {
        for (let at = 0; at < chunk.length; ) at += writeSync(stream.fd, chunk, at);
        done();
      } catch (error) {
        done(error as Error);
      }
    },
  });
}

/** Codes of a write to a reader that has left. */
const GONE: ReadonlySet<string | undefined> = new Set([
  "EPIPE",
  "ECONNRESET",
  "ERR_STREAM_DESTROYED",
]);

/** Whether a write failed because its reader has left, which is no fault; anything else has lost text. */
export function isReaderGone({ code }: NodeJS.ErrnoException): boolean {
  return GONE.has(code);
}
