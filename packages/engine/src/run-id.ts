/** Ids of runs: `run_` and 26 characters that sort by time. */
import type { Host } from "./host.ts";

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"; // Crockford base32: no letter that looks like another
const TIME_DIGITS = 10; // 50 bits of milliseconds, enough for 35,000 years
const RANDOM_DIGITS = 16; // 80 bits

/** A new id, from the clock and the randomness of the host. */
export function newRunId(host: Pick<Host, "now" | "random">): string {
  let time = host.now();
  let id = "";
  for (let i = 0; i < TIME_DIGITS; i += 1) {
    id = ALPHABET.charAt(time % 32) + id;
    time = Math.floor(time / 32);
  }
  for (let i = 0; i < RANDOM_DIGITS; i += 1) id += ALPHABET.charAt(Math.floor(host.random() * 32));
  return `run_${id}`;
}
