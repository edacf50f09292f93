/** Ids of requests: unlike those of any other process, and in order within this one. */
import { createRunId } from "@millrace/contracts";

const PREFIX_BYTES = 6;

/** Makes ids such as `1k7ztqg3b0` + `2f`: six random bytes, chosen once, and a counter, in base 36. */
export function createRequestIds(random: (bytes: number) => Uint8Array): () => string {
  let value = 0;
  for (const byte of random(PREFIX_BYTES)) value = value * 256 + byte;
  const prefix = value.toString(36);
  let count = 0;
  return () => {
    count += 1;
    return prefix + count.toString(36);
  };
}

const BYTE_VALUES = 256;
const PREFIX_LENGTH = "run_".length;

/** A new id, such as `sch_` and 26 digits that sort by time. */
export function newId(
  kind: "sch" | "whk" | "msg",
  { now, random }: { now(): number; random(bytes: number): Uint8Array },
): string {
  const digits = createRunId(now(), () => (random(1)[0] ?? 0) / BYTE_VALUES).slice(PREFIX_LENGTH);
  return `${kind}_${digits}`;
}
