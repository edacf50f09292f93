/** Ids of runs: in the order of their time, and never the same twice. */

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"; // Crockford's base 32: no letter that looks like another
const TIME_DIGITS = 10; // 50 bits of milliseconds: 35,000 years
const RANDOM_DIGITS = 16; // 80 bits

/** A new id, `run_` and 26 digits that sort by time. `now` is epoch milliseconds, `random` answers numbers in [0, 1). */
export function createRunId(now: number, random: () => number): string {
  const digits = new Array<string>(TIME_DIGITS + RANDOM_DIGITS);
  for (let i = TIME_DIGITS - 1, rest = now; i >= 0; i -= 1, rest = Math.floor(rest / 32)) {
    digits[i] = ALPHABET.charAt(rest % 32);
  }
  for (let i = TIME_DIGITS; i < digits.length; i += 1) {
    digits[i] = ALPHABET.charAt(Math.floor(random() * 32));
  }
  return `run_${digits.join("")}`; // joined: adding digit by digit keeps a string for each of them
}
