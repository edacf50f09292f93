/** Run ids that sort by time: `run_` and 26 characters of Crockford's base 32. */
import { randomBytes } from "node:crypto";

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const TIME_CHARACTERS = 10; // 50 bits of milliseconds last until the year 37,000
const RANDOM_CHARACTERS = 16;

/** A fresh id for something that never became a run of the engine. */
export function createRunId(now: number): string {
  let time = "";
  for (let rest = now, i = 0; i < TIME_CHARACTERS; i++, rest = Math.floor(rest / 32)) {
    time = ALPHABET[rest % 32] + time;
  }
  let random = "";
  for (const byte of randomBytes(RANDOM_CHARACTERS)) random += ALPHABET[byte % 32];
  return `run_${time}${random}`;
}
