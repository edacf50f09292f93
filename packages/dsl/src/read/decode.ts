/** UTF-8 to text, with the place of the first bad byte. */

export interface Decoded {
  readonly text: string;
  /** The first bad byte: its byte offset, and the U+FFFD that stands for it in `text`. */
  readonly badByte?: { readonly offset: number; readonly at: number };
}

/** Decodes strictly; a byte order mark stays, so that offsets are those of the file's text. */
export function decodeUtf8(bytes: Uint8Array): Decoded {
  try {
    return { text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    const offset = firstBadByte(bytes);
    const at = decoder.decode(bytes.subarray(0, offset)).length;
    return { text: decoder.decode(bytes), badByte: { offset, at } };
  }
}

/** Offset of the first byte that begins no well-formed sequence (Unicode, table 3-7). */
function firstBadByte(bytes: Uint8Array): number {
  let at = 0;
  while (at < bytes.length) {
    const length = sequenceLength(bytes, at);
    if (length === 0) return at;
    at += length;
  }
  return at;
}

function sequenceLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at] as number;
  if (first < 0x80) return 1;
  const count = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return 0;
  const low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  for (let index = 1; index < count; index += 1) {
    const byte = bytes[at + index] ?? 0;
    if (byte < (index === 1 ? low : 0x80) || byte > (index === 1 ? high : 0xbf)) return 0;
  }
  return count;
}
