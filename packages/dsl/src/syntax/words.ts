/** The words of a text, mostly one string for each: they repeat, and the same string is compared and found faster. */

import { CHAR, CLASSES } from "./chars.ts";

/** Characters of a text for which one place for a known word is kept, and the most places: powers of two. */
const CHARS_PER_WORD = 256;
const MAX_WORDS = 65_536;

/** Characters of a word that its bits tell, six bits each. */
const TOLD = 10;
/** The bits of five characters. */
export const FIVE = 0x3fffffff;
/** The bits of a `-`, which are the highest; what is above is no part of a name. */
export const DASH = 63;

/** The six bits of every ASCII character that may be in an ident; above `DASH` for the others. */
export const NAME_BITS: Uint8Array = nameBits();

function nameBits(): Uint8Array {
  const table = new Uint8Array(128).fill(DASH + 1);
  let bits = 0;
  for (let code = 0; code < 128; code += 1) {
    if ((CLASSES[code] as number) <= CHAR.digit) table[code] = bits++;
  }
  table[45] = DASH;
  return table;
}

/** A table with one place for every few words: a word that needs the place of another takes it. */
export class Words {
  private readonly words: (string | undefined)[];
  /** The bits of the word at each place; -1: they do not tell it. */
  private readonly bits: Int32Array;

  /** `length`: that of the text. */
  constructor(length: number) {
    let places = 16;
    while (places < MAX_WORDS && places * CHARS_PER_WORD < length) places *= 2;
    this.words = new Array(places).fill(undefined);
    this.bits = new Int32Array(2 * places).fill(-1);
  }

  /** The word from `start` to `end`. `high` and `low`: the bits of its last ten characters; -1 and any number when it is no ident. */
  read(src: string, start: number, end: number, high: number, low: number): string {
    const { words, bits } = this;
    const isTold = high >= 0 && end - start <= TOLD;
    const mix = Math.imul(high, 0x2c1b3c6d) + Math.imul(low, 0x297a2d39);
    const at = ((mix ^ (mix >>> 15)) & (words.length - 1)) << 1;
    if (isTold) {
      // No ident begins with a digit, so none of another length has the same bits.
      if (bits[at] === high && bits[at + 1] === low) return words[at >> 1] as string;
    } else {
      const known = words[at >> 1];
      if (known?.length === end - start && src.startsWith(known, start)) return known;
    }
    const word = src.slice(start, end);
    words[at >> 1] = word;
    bits[at] = isTold ? high : -1;
    bits[at + 1] = low;
    return word;
  }
}
