/** The first bytes of a stream. */
export class Kept {
  readonly #chunks: Uint8Array[] = [];
  #left: number;
  truncated = false;

  constructor(maxBytes: number) {
    this.#left = maxBytes;
  }

  add(chunk: Uint8Array): void {
    if (chunk.length > this.#left) this.truncated = true;
    if (this.#left === 0) return;
    const kept = chunk.subarray(0, this.#left);
    this.#left -= kept.length;
    this.#chunks.push(kept);
  }

  bytes(): Uint8Array {
    return Buffer.concat(this.#chunks);
  }
}
