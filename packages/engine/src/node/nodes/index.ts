/** The node types `file.read`, `file.write`, `file.list` and `shell.exec`. */
import { typesOf } from "../../definitions.ts";
import type { NodeType } from "../../node-type.ts";
import { fileAdapter, isIdempotentWrite } from "./file/index.ts";
import { shellAdapter } from "./shell.ts";

const FILE_SLOTS = 32; // of one type at once in an engine
const PROGRAM_SLOTS = 4; // each is a process

/** Node types for `createRegistry([nodePack()])`. What they may touch is `files` and `shell` of `createEngine`. */
export function nodePack(): readonly NodeType[] {
  return [
    ...typesOf(fileAdapter).map((type) => ({ ...type, slots: FILE_SLOTS, ...idempotence(type) })),
    ...typesOf(shellAdapter).map((type) => ({ ...type, slots: PROGRAM_SLOTS })),
  ];
}

/** Only a file that is replaced as a whole may be written twice. */
function idempotence({ entry }: NodeType): Pick<NodeType, "idempotentOf"> {
  return entry.type === "file.write" ? { idempotentOf: isIdempotentWrite } : {};
}
