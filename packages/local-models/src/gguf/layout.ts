/** Whether the tensors of a header lie where they may, and whether the file is long enough for them. */
import { HeaderFault } from "./byte-reader.ts";
import type { GgufHeader, TensorPlace } from "./header.ts";
import { TENSOR_TYPES } from "./types.ts";

const DEFAULT_ALIGNMENT = 32;
const MIN_ALIGNMENT = 8;
const MAX_ALIGNMENT = 65_536;

/** Throws `HeaderFault`: `corrupt_header`, or `truncated` when the file ends before its last tensor. */
export function checkLayout(header: GgufHeader, size: number): void {
  const alignment = alignmentOf(header);
  const placed = header.tensors
    .map((tensor) => ({ from: tensor.offset, to: tensor.offset + (bytesOf(tensor) ?? 0) }))
    .sort((a, b) => a.from - b.from);
  let end = 0;
  for (const { from, to } of placed) {
    if (from % alignment !== 0 || from < end) throw new HeaderFault("corrupt_header");
    end = to;
  }
  const start = Math.ceil(header.end / alignment) * alignment;
  if (start + end > size) throw new HeaderFault("truncated");
}

function alignmentOf({ pairs }: GgufHeader): number {
  const alignment = pairs.get("general.alignment") ?? DEFAULT_ALIGNMENT;
  const isPower = typeof alignment === "number" && Number.isInteger(Math.log2(alignment));
  if (!isPower || alignment < MIN_ALIGNMENT || alignment > MAX_ALIGNMENT) {
    throw new HeaderFault("corrupt_header");
  }
  return alignment;
}

/** Undefined for a type that is not known: newer engines have more of them. */
function bytesOf({ type, row, elements }: TensorPlace): number | undefined {
  const block = TENSOR_TYPES.get(type);
  if (block === undefined) return undefined;
  const [size, bytes] = block;
  if (row % size !== 0) throw new HeaderFault("corrupt_header");
  return (elements / size) * bytes;
}
