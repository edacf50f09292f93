/** Values of flags: lengths of time, and `name=value`. */
import { usage } from "../errors.ts";

const UNITS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of `250ms`, `30s`, `5m`, `2h`, `1d`; a bare number is refused, since nobody agrees on its unit. */
export function parseDuration(text: string, flag: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text);
  const ms = match === null ? Number.NaN : Number(match[1]) * (UNITS[match[2] as string] as number);
  if (!Number.isSafeInteger(ms)) {
    throw usage(`${flag} takes a duration, found "${text}"`, "write it as 250ms, 30s, 5m or 2h");
  }
  return ms;
}

/** A length of time at a glance: `4ms`, `2.4s`, `3m 10s`, `2h 5m`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)}ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)}s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes}m ${Math.floor((ms % 60_000) / 1_000)}s`;
  return `${Math.floor(minutes / 60)}h ${minutes % 60}m`;
}

/** The value of `--port`, 0 to 65535; 0 lets the system choose. Undefined where it is not given. Throws a usage error for other text. */
export function readPort(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw usage(`--port takes 0 to 65535, found "${text}"`);
}

/** `key=value` of a repeated flag. */
export function splitPair(word: string, flag: string): [string, string] {
  const at = word.indexOf("=");
  if (at <= 0) throw usage(`${flag} takes name=value, found "${word}"`);
  return [word.slice(0, at), word.slice(at + 1)];
}
