/** Values that follow each other in a file, read in steps, so that a header costs its own size and no more. */
import type { SkipReason } from "./types.ts";

const STEP = 262_144; // a small header is one read, a large one yields to the event loop at each
const MAX_HEADER_BYTES = 134_217_728; // the largest vocabularies of today take a tenth of it

/** A header that is not as the format says; thrown and caught inside this folder. */
export class HeaderFault extends Error {
  readonly reason: SkipReason;

  constructor(reason: SkipReason) {
    super(reason);
    this.reason = reason;
  }
}

/** Reads up to `length` bytes at a position. */
export type ReadAt = (position: number, length: number) => Promise<Buffer>;

/** Little-endian values. `need(n)` first, where `has(n)` is false; the others then answer at once. */
export class ByteReader {
  readonly #read: ReadAt;
  readonly #size: number;
  #chunk: Buffer = Buffer.alloc(0);
  #start = 0;
  #at = 0;

  constructor(read: ReadAt, size: number) {
    this.#read = read;
    this.#size = size;
  }

  get offset(): number {
    return this.#start + this.#at;
  }

  has(bytes: number): boolean {
    return this.#at + bytes <= this.#chunk.length;
  }

  /** Throws `HeaderFault` (`corrupt_header`) when the file or the longest header ends before. */
  async need(bytes: number): Promise<void> {
    if (this.has(bytes)) return;
    this.#mayHold(bytes);
    this.#start = this.offset;
    this.#at = 0;
    this.#chunk = await this.#read(this.#start, Math.max(STEP, bytes));
    if (!this.has(bytes)) throw new HeaderFault("corrupt_header"); // the file has shrunk
  }

  u32(): number {
    this.#at += 4;
    return this.#chunk.readUInt32LE(this.#at - 4);
  }

  /** Throws `HeaderFault` (`corrupt_header`) above 2^53 - 1, the largest exact number. */
  u64(): number {
    this.#at += 8;
    const value = this.#chunk.readBigUInt64LE(this.#at - 8);
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new HeaderFault("corrupt_header");
    return Number(value);
  }

  /** The next bytes, of the buffer itself. */
  bytes(length: number): Buffer {
    this.#at += length;
    return this.#chunk.subarray(this.#at - length, this.#at);
  }

  /** Goes on after `length` bytes, without reading them. */
  skip(length: number): void {
    this.#mayHold(length);
    this.#at += length;
    if (this.#at <= this.#chunk.length) return;
    this.#start += this.#at;
    this.#at = 0;
    this.#chunk = Buffer.alloc(0);
  }

  #mayHold(bytes: number): void {
    if (this.offset + bytes > Math.min(this.#size, MAX_HEADER_BYTES)) {
      throw new HeaderFault("corrupt_header");
    }
  }
}
