/** Patterns of secrets, for the check that finds them and for messages and lines that must not quote one. */

const B = "[A-Za-z0-9_-]";
/** Prefixes that issuers give their keys, JSON web tokens, private keys in PEM. */
export const SECRET: RegExp = new RegExp(
  [
    `\\bsk-(?:ant-|proj-)?${B}{16,}`,
    "\\bgh[pousr]_[A-Za-z0-9]{20,}",
    `\\bgithub_pat_${B}{20,}`,
    `\\bglpat-${B}{16,}`,
    "\\bxox[abeprs]-[A-Za-z0-9-]{10,}",
    "\\b(?:AKIA|ASIA)[A-Z0-9]{16}\\b",
    `\\bAIza${B}{30,}`,
    "\\b[rs]k_(?:live|test)_[A-Za-z0-9]{12,}",
    "\\bwhsec_[A-Za-z0-9]{16,}",
    "\\bnpm_[A-Za-z0-9]{30,}",
    "\\bhf_[A-Za-z0-9]{20,}",
    `\\bya29\\.${B}{20,}`,
    `\\bSG\\.${B}{16,}\\.${B}{16,}`,
    `(?<!${B})eyJ${B}{8,}\\.eyJ${B}{8,}\\.${B}{8,}`,
    "-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----",
  ].join("|"),
);

/** Names of what holds a secret. */
const SECRET_NAME =
  /token|secret|passw|api[-_]?key|access[-_]?key|private[-_]?key|authori[sz]ation|credential/i;

/** No secret is shorter. */
export const MIN_SECRET_TEXT = 12;

/** Shortest word without a known prefix that is taken for a secret, and how evenly its characters are spread. */
const MIN_WORD_LENGTH = 32;
const MIN_ENTROPY_BITS = 4;

/** Whether a text in a place of that name looks like a secret. */
export function isSecret(text: string, name: string): boolean {
  if (text.length < MIN_SECRET_TEXT) return false;
  if (SECRET.test(text)) return true;
  if (text.length < MIN_WORD_LENGTH || !SECRET_NAME.test(name)) return false;
  return text.split(/\s+/).some(isRandom);
}

const EVERY_SECRET = new RegExp(SECRET, "g");
const PEM = /(-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----)([^-]*)/g;
const WORD = /[^\s"'`]{32,}/g;

/**
 * A text, of a flow or of anything, with stars for what looks like a secret in it: lines and columns stay what they are. Random
 * words count as secrets on a line that names one.
 */
export function maskSecrets(text: string): string {
  const masked = text
    .replace(PEM, (_, head: string, key: string) => head + stars(key))
    .replace(EVERY_SECRET, stars);
  if (!SECRET_NAME.test(masked)) return masked;
  const line = (each: string): string =>
    SECRET_NAME.test(each)
      ? each.replace(WORD, (word) => (isRandom(word) ? stars(word) : word))
      : each;
  return masked.split("\n").map(line).join("\n");
}

function stars(text: string): string {
  return text.replace(/[^\n]/g, "*");
}

function isRandom(word: string): boolean {
  return word.length >= MIN_WORD_LENGTH && entropyBits(word) >= MIN_ENTROPY_BITS;
}

/** Shannon entropy of the characters of a text. */
function entropyBits(text: string): number {
  const counts = new Map<string, number>();
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) {
    const share = count / text.length;
    bits -= share * Math.log2(share);
  }
  return bits;
}
