/** Nodes that may start, first in first out, as two numbers each in one typed array that doubles when it is full. */

const FIRST_SIZE = 16; // a small flow never grows it; 128 bytes

const NOTHING = new Int32Array(0);

export class ReadyRing {
  #pairs: Int32Array = NOTHING;
  #head = 0;
  size = 0;

  push(frame: number, node: number): void {
    if (2 * this.size === this.#pairs.length) this.#grow();
    const at = (this.#head + 2 * this.size) & (this.#pairs.length - 1);
    this.#pairs[at] = frame;
    this.#pairs[at + 1] = node;
    this.size += 1;
  }

  /** The frame of the first pair; `takeNode` must follow. */
  peekFrame(): number {
    return this.#pairs[this.#head] as number;
  }

  takeNode(): number {
    const node = this.#pairs[this.#head + 1] as number;
    this.#head = (this.#head + 2) & (this.#pairs.length - 1);
    this.size -= 1;
    return node;
  }

  /** Empties the ring and gives its memory back. */
  clear(): void {
    this.#pairs = NOTHING;
    this.#head = 0;
    this.size = 0;
  }

  #grow(): void {
    const grown = new Int32Array(2 * this.#pairs.length || 2 * FIRST_SIZE);
    grown.set(this.#pairs.subarray(this.#head));
    grown.set(this.#pairs.subarray(0, this.#head), this.#pairs.length - this.#head);
    this.#pairs = grown;
    this.#head = 0;
  }
}
