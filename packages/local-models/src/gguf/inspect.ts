/** Looks at a model file: its header is read, nothing else of it. */
import { constants, type FileHandle, open } from "node:fs/promises";
import type { Model } from "@millrace/contracts";
import { HeaderFault } from "./byte-reader.ts";
import { type GgufHeader, type PairValue, readHeader, type TensorPlace } from "./header.ts";
import { FILE_TYPES, type SkipReason, TENSOR_TYPES } from "./types.ts";

/** The used facts of a header: those in the API, and those that memory depends on. Numbers that it does not tell are 0. */
export interface GgufFacts extends NonNullable<Model["gguf"]> {
  /** Blocks of the network. */
  readonly layers: number;
  /** Heads of keys and values in a layer. */
  readonly kvHeads: number;
  readonly headDim: number;
}

/** Which part of a split model a file is; `no` counts from 1. */
export interface SplitPart {
  readonly no: number;
  readonly count: number;
}

/** The facts of a file, or the reason why it is skipped. */
export type Inspection =
  | { readonly facts: GgufFacts; readonly reason?: undefined }
  | { readonly facts?: undefined; readonly reason: SkipReason };

/**
 * Reads the header of a file. `part`: what its name says; absent, a file that says it is a part misses the others. Later parts
 * need neither architecture nor tensors of their own.
 */
export async function inspectGguf(path: string, part?: SplitPart): Promise<Inspection> {
  let file: FileHandle | undefined;
  try {
    // A pipe that took the place of the file must not hold the scan.
    file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stat = await file.stat();
    if (!stat.isFile()) return { reason: "unreadable" };
    return { facts: await inspect(file, stat.size, part) };
  } catch (error) {
    return { reason: error instanceof HeaderFault ? error.reason : "unreadable" };
  } finally {
    await file?.close();
  }
}

async function inspect(file: FileHandle, size: number, part?: SplitPart): Promise<GgufFacts> {
  const header = await readHeader(async (position, length) => {
    const buffer = Buffer.allocUnsafe(Math.max(0, Math.min(length, size - position)));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, position);
    return buffer.subarray(0, bytesRead);
  }, size);
  const arch = header.pairs.get("general.architecture");
  const follows = part !== undefined && part.no > 1;
  if (!follows && (typeof arch !== "string" || arch === ""))
    throw new HeaderFault("corrupt_header");
  if (header.tensors.length === 0 && part === undefined) throw new HeaderFault("corrupt_header");
  const count = header.pairs.get("split.count") ?? 1;
  const no = header.pairs.get("split.no") ?? 0;
  if (count !== (part?.count ?? 1) || no !== (part?.no ?? 1) - 1) {
    throw new HeaderFault("missing_part");
  }
  checkLayout(header, size);
  return factsOf(header, typeof arch === "string" ? arch : "");
}

const NO_POOLING = 0; // a model whose tokens are not pooled writes text

/** Networks that only embed. */
const EMBEDDING_ARCH = /bert|t5encoder/;

function factsOf({ pairs, tensors }: GgufHeader, arch: string): GgufFacts {
  const own = (key: string): PairValue | undefined => pairs.get(`${arch}.${key}`);
  const heads = whole(own("attention.head_count"));
  const pooling = own("pooling_type");
  return {
    arch,
    contextLength: whole(own("context_length")),
    quant: tensors.every(({ type }) => TENSOR_TYPES.has(type))
      ? (FILE_TYPES.get(Number(pairs.get("general.file_type") ?? -1)) ?? "unknown")
      : "unknown",
    parameters: tensors.reduce((sum, { elements }) => sum + elements, 0),
    chatTemplate: pairs.has("tokenizer.chat_template"),
    embedding: EMBEDDING_ARCH.test(arch) || (typeof pooling === "number" && pooling !== NO_POOLING),
    layers: whole(own("block_count")),
    kvHeads: whole(own("attention.head_count_kv") ?? own("attention.head_count")),
    headDim:
      whole(own("attention.key_length")) ||
      (heads === 0 ? 0 : Math.ceil(whole(own("embedding_length")) / heads)),
  };
}

/** A whole number of the header; of one for each layer the largest, which is what memory must hold. */
function whole(value: PairValue | undefined): number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : 0;
}

const DEFAULT_ALIGNMENT = 32;
const MIN_ALIGNMENT = 8;
const MAX_ALIGNMENT = 65_536;

/** Throws `HeaderFault`: `corrupt_header`, or `truncated` when the file ends before its last tensor. */
function checkLayout(header: GgufHeader, size: number): void {
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
