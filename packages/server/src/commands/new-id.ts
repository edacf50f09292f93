/** Ids of what a server keeps. */
import { createRunId } from "@millrace/contracts";

const BYTE_VALUES = 256;
const PREFIX_LENGTH = "run_".length;

/** A new id, such as `sch_` and 26 digits that sort by time. */
export function newId(
  kind: "sch" | "whk",
  { now, random }: { now(): number; random(bytes: number): Uint8Array },
): string {
  const digits = createRunId(now(), () => (random(1)[0] ?? 0) / BYTE_VALUES).slice(PREFIX_LENGTH);
  return `${kind}_${digits}`;
}
