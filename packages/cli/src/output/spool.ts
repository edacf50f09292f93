/**
 * Text on its way to a reader that may be slow.
 *   S1  writing does not wait, so that the reader slows nobody down, as long as there is room on the disk.
 *   S2  nothing is lost and nothing changes places.
 *   S3  memory holds at most `MAX_WAITING_BYTES`; the rest waits in a file without a name. Where that cannot be written, writing waits
 *       for the reader.
 */

import { closeSync, ftruncateSync, openSync, readSync, unlinkSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Output } from "./io.ts";

const MAX_WAITING_BYTES = 4 * 1_024 * 1_024; // what the engine itself keeps for a reader that is late
const PIECE_BYTES = 1_024 * 1_024;

/** An output that takes everything at once; `drained` resolves when the reader has all of it, or has left. */
export interface Spool extends Output {
  drained(): Promise<void>;
}

/** A spool before `output`. Its file appears, already unlinked, when memory does not suffice. */
export function createSpool(output: Output): Spool {
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  let file: number | undefined;
  let readAt = 0;
  let writeAt = 0;
  let pump: Promise<void> | undefined;
  /** Data that the file has not taken yet; its writers wait. */
  let late: Buffer[] = [];

  const next = (): Buffer | undefined => {
    if (waiting.length > 0) {
      const all = Buffer.concat(waiting);
      waiting = [];
      waitingBytes = 0;
      return all;
    }
    if (file === undefined || readAt === writeAt) {
      waiting = late;
      late = [];
      return waiting.length > 0 ? next() : undefined;
    }
    const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, writeAt - readAt));
    const bytes = readSync(file, piece, 0, piece.length, readAt);
    readAt += bytes;
    if (readAt === writeAt) {
      ftruncateSync(file, 0);
      readAt = 0;
      writeAt = 0;
    }
    return piece.subarray(0, bytes);
  };
  /** Whether the file took all of it. */
  const append = (bytes: Buffer): boolean => {
    let end = writeAt;
    try {
      file ??= openUnnamed();
      for (let done = 0; done < bytes.length; ) {
        const count = writeSync(file, bytes, done, bytes.length - done, end);
        done += count;
        end += count;
      }
    } catch {
      return false;
    }
    writeAt = end;
    return true;
  };
  const run = async (): Promise<void> => {
    for (let piece = next(); piece !== undefined; piece = next()) {
      if (!(await output.write(piece))) break;
    }
    pump = undefined;
  };

  return {
    get closed() {
      return output.closed;
    },
    get failure() {
      return output.failure;
    },
    onClose: (listener) => output.onClose(listener),
    write(text) {
      if (output.closed) return Promise.resolve(false);
      const bytes = Buffer.from(text);
      const isLate = late.length > 0;
      if (!isLate && writeAt === 0 && waitingBytes + bytes.length <= MAX_WAITING_BYTES) {
        waiting.push(bytes);
        waitingBytes += bytes.length;
      } else if (isLate || !append(bytes)) {
        late.push(bytes);
      }
      pump ??= run();
      return late.length === 0 ? Promise.resolve(true) : pump.then(() => !output.closed);
    },
    async drained() {
      await pump;
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
}

function openUnnamed(): number {
  const path = join(tmpdir(), `millrace-${process.pid}-${Math.random().toString(36).slice(2)}`);
  const file = openSync(path, "wx+", 0o600);
  unlinkSync(path);
  return file;
}
