/**
 * The header of a GGUF file: its metadata, and the places of its tensors. Hostile files are ordinary input.
 *   G1  No memory is allocated by claimed lengths, and the result is smaller than the header.
 *   G2  Every length is checked against the file before it is used.
 */
import { ByteReader, HeaderFault, type ReadAt } from "./byte-reader.ts";
import { ARRAY, SCALAR_BYTES, STRING } from "./types.ts";

const MAX_TENSORS = 100_000;
const MAX_PAIRS = 100_000;
const MAX_KEY_BYTES = 65_536; // the format's own limit
const MAX_ARRAY = 10_000_000;
const MAX_DIMENSIONS = 4; // of every tensor that the engine knows
const KEPT_TEXT = 256; // longer texts, such as chat templates, are only known to be there
const KEPT_KEY = 256; // longer keys say nothing that is looked for
const KEPT_ITEMS = 4_096; // more than any network has layers
const SMALLEST = 24; // magic, version, two counts

/** A value of the metadata; texts that are too long to keep are "", of a list of numbers only the largest is kept. */
export type PairValue = string | number | boolean;

/** Where a tensor lies; `offset` counts from the start of the data. */
export interface TensorPlace {
  readonly type: number;
  /** Elements of the fastest dimension. */
  readonly row: number;
  readonly elements: number;
  readonly offset: number;
}

export interface GgufHeader {
  readonly pairs: ReadonlyMap<string, PairValue>;
  readonly tensors: readonly TensorPlace[];
  /** Bytes of the header, before the data is aligned. */
  readonly end: number;
}

/** Reads a header. Throws `HeaderFault`. */
export async function readHeader(read: ReadAt, size: number): Promise<GgufHeader> {
  if (size < SMALLEST) throw new HeaderFault("not_gguf");
  const from = new ByteReader(read, size);
  await from.need(SMALLEST);
  if (from.bytes(4).toString("latin1") !== "GGUF") throw new HeaderFault("not_gguf");
  const version = from.u32();
  if (version !== 2 && version !== 3) throw new HeaderFault("unsupported_version");
  const tensorCount = limited(from.u64(), MAX_TENSORS);
  const pairCount = limited(from.u64(), MAX_PAIRS);
  const pairs = new Map<string, PairValue>();
  for (let i = 0; i < pairCount; i++) {
    const key = await text(from, MAX_KEY_BYTES);
    await from.need(4);
    const value = await pairValue(from, from.u32());
    if (value !== undefined && key.length <= KEPT_KEY) pairs.set(key, value);
  }
  const tensors: TensorPlace[] = [];
  for (let i = 0; i < tensorCount; i++) tensors.push(await tensor(from));
  return { pairs, tensors, end: from.offset };
}

function limited(value: number, most: number): number {
  if (value > most) throw new HeaderFault("corrupt_header");
  return value;
}

async function text(from: ByteReader, most: number): Promise<string> {
  if (!from.has(8)) await from.need(8);
  const length = limited(from.u64(), most);
  if (!from.has(length)) await from.need(length);
  return from.bytes(length).toString("utf8");
}

/** Undefined: an array that is not kept. */
async function pairValue(from: ByteReader, kind: number): Promise<PairValue | undefined> {
  if (kind === STRING) return keptText(from);
  if (kind === ARRAY) return array(from);
  await from.need(scalarBytes(kind));
  return scalar(from, kind);
}

async function keptText(from: ByteReader): Promise<string> {
  await from.need(8);
  const length = from.u64();
  if (length > KEPT_TEXT) {
    from.skip(length);
    return "";
  }
  await from.need(length);
  return from.bytes(length).toString("utf8");
}

async function array(from: ByteReader): Promise<number | undefined> {
  await from.need(12);
  const kind = from.u32();
  const length = limited(from.u64(), MAX_ARRAY);
  if (kind === STRING) {
    for (let i = 0; i < length; i++) {
      // A vocabulary has 100,000 of them: no promise for each.
      if (!from.has(8)) await from.need(8);
      from.skip(from.u64());
    }
    return undefined;
  }
  const bytes = scalarBytes(kind); // an array of arrays is refused here
  if (length > KEPT_ITEMS) {
    from.skip(length * bytes);
    return undefined;
  }
  await from.need(length * bytes);
  let largest = 0;
  for (let i = 0; i < length; i++) largest = Math.max(largest, Number(scalar(from, kind)));
  return largest;
}

function scalarBytes(kind: number): number {
  const bytes = SCALAR_BYTES[kind];
  if (bytes === undefined) throw new HeaderFault("corrupt_header");
  return bytes;
}

function scalar(from: ByteReader, kind: number): number | boolean {
  const bytes = from.bytes(scalarBytes(kind));
  switch (kind) {
    case 1:
      return bytes.readInt8();
    case 2:
      return bytes.readUInt16LE();
    case 3:
      return bytes.readInt16LE();
    case 4:
      return bytes.readUInt32LE();
    case 5:
      return bytes.readInt32LE();
    case 6:
      return bytes.readFloatLE();
    case 7:
      return bytes[0] !== 0;
    case 10:
      return Number(bytes.readBigUInt64LE());
    case 11:
      return Number(bytes.readBigInt64LE());
    case 12:
      return bytes.readDoubleLE();
    default:
      return bytes.readUInt8();
  }
}

async function tensor(from: ByteReader): Promise<TensorPlace> {
  await text(from, MAX_KEY_BYTES);
  if (!from.has(4)) await from.need(4);
  const dimensions = from.u32();
  if (dimensions < 1 || dimensions > MAX_DIMENSIONS) throw new HeaderFault("corrupt_header");
  const rest = 8 * dimensions + 12;
  if (!from.has(rest)) await from.need(rest);
  const row = from.u64();
  let elements = row;
  for (let i = 1; i < dimensions; i++) elements *= from.u64();
  limited(elements, Number.MAX_SAFE_INTEGER);
  return { row, elements, type: from.u32(), offset: from.u64() };
}
