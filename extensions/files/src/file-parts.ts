/** A file part by part, so that one of any size needs the memory of one part. */
import type { NodeContext } from "@millrace/contracts";
import { beyond, unreadable } from "./table.ts";

/** A message between an extension and its host holds no more than 11 MiB; a smaller part is waited for less. */
const PART_BYTES = 1_048_576;

/** The bytes of a file in order. Throws `limit_exceeded` beyond `maxBytes`, `file_changed` for one that is written meanwhile. */
export async function* partsOf(
  { files }: NodeContext,
  path: string,
  maxBytes: number,
): AsyncGenerator<Uint8Array, void> {
  let modifiedAt: string | undefined;
  for (let offset = 0; ; ) {
    const part = await files.read(path, { range: { offset, length: PART_BYTES } });
    modifiedAt ??= part.modifiedAt;
    if (part.modifiedAt !== modifiedAt) {
      throw unreadable("file_changed", `${path} was written while it was read`);
    }
    offset += part.data.length;
    if (offset > maxBytes) throw beyond("maxBytes", `${path} has more than ${maxBytes} bytes`);
    if (part.data.length > 0) yield part.data;
    if (part.data.length < PART_BYTES) return;
  }
}

/** Encodings by the names that fields take. `latin1` is what web and spreadsheets mean by it: windows-1252. */
export const ENCODINGS = ["auto", "utf-8", "latin1", "utf-16le", "utf-16be"] as const;

/** One of `ENCODINGS`. */
export type Encoding = (typeof ENCODINGS)[number];

/** The text of bytes, without its mark of order. Throws `decode_failed` for bytes that are none of the encoding. */
export async function* decoded(
  parts: AsyncIterable<Uint8Array>,
  encoding: Encoding,
): AsyncGenerator<string, void> {
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  const text = (bytes: Uint8Array, stream: boolean): string => {
    try {
      return decoder?.decode(bytes, { stream }) ?? "";
    } catch {
      const why = `the file is no text in ${decoder?.encoding}; say which encoding it has`;
      throw unreadable("decode_failed", why);
    }
  };
  for await (const part of parts) {
    decoder ??= new TextDecoder(encoding === "auto" ? markOf(part) : encoding, { fatal: true });
    yield text(part, true);
  }
  yield text(new Uint8Array(), false);
}

/** The encoding that a mark of order names; UTF-8 where there is none. */
function markOf([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  return "utf-8";
}
