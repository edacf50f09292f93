/** A real folder that is removed when the test has ended, with a place beside it that must stay untouched. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { FilePort } from "@millrace/contracts";
import type { FilePolicy } from "@millrace/engine";
import { createNodeHost } from "@millrace/engine/node";
import { temporaryFolder } from "../folder.ts";

export interface TempRoot {
  /** What flows may use. */
  readonly root: string;
  /** Next to it; nothing may be read or written here. */
  readonly outside: string;
  readonly files: FilePort;
}

export function tempRoot(policy: Partial<FilePolicy> = {}): TempRoot {
  const base = temporaryFolder();
  const root = join(base, "root");
  const outside = join(base, "outside");
  mkdirSync(root);
  mkdirSync(outside);
  return { root, outside, files: createNodeHost().openFiles({ root, ...policy }) };
}

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
export const text = (data: Uint8Array): string => new TextDecoder().decode(data);
