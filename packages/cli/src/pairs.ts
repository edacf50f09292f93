/** `name=value`, as flags that may be repeated take it. */
import { usage } from "./errors.ts";

/** `key=value` of a repeated flag. */
export function splitPair(word: string, flag: string): [string, string] {
  const at = word.indexOf("=");
  if (at <= 0) throw usage(`${flag} takes name=value, found "${word}"`);
  return [word.slice(0, at), word.slice(at + 1)];
}
