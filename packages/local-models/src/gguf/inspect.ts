/** Looks at a model file: its header is read, nothing else of it. */
import { constants, type FileHandle, open } from "node:fs/promises";
import type { GgufFacts } from "../runners.ts";
import { HeaderFault } from "./byte-reader.ts";
import { factsOf } from "./facts.ts";
import { readHeader } from "./header.ts";
import { checkLayout } from "./layout.ts";
import type { SkipReason } from "./types.ts";

/** Which part of a split model a file is; `no` counts from 1. */
export interface SplitPart {
  readonly no: number;
  readonly count: number;
}

/** What a file holds, or why it is not taken. */
export type Inspection =
  | { readonly facts: GgufFacts; readonly reason?: undefined }
  | { readonly reason: SkipReason };

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
