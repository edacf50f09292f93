/** Ids of runs: in the order of their time, and never the same twice. */

/** Crockford's base 32: no letter that looks like another, or like a digit. */
const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/** 48 bits of milliseconds: enough until the year 10889. */
const TIME_DIGITS = 10;
/** 80 random bits. */
const RANDOM_DIGITS = 16;

/** A new id, `run_` and 26 digits, from a clock (epoch milliseconds) and random bytes. */
export function createRunId(now: number, random: (bytes: number) => Uint8Array): string {
  let time = "";
  for (let rest = now, i = 0; i < TIME_DIGITS; i += 1, rest = Math.floor(rest / 32)) {
    time = digit(rest % 32) + time;
  }
  let tail = "";
  for (const byte of random(RANDOM_DIGITS)) tail += digit(byte % 32);
  return `run_${time}${tail}`;
}

function digit(value: number): string {
  return ALPHABET[value] as string;
}
