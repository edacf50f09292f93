/** Limits of what a body may report: lines of log and their rate, progress, arguments that do not fit in an event. */
import { cutText, EVENT_LIMITS, type JsonObject, NodeError } from "@millrace/contracts";
import type { Said } from "./event-makers.ts";
import { maskKeys } from "./redact.ts";

const LINES_A_SECOND = 1_000; // of an extension; more lines come from a loop, and are not read
/** The least time between two events of progress. */
export const PROGRESS_EVERY_MS = 100; // ten a second are as many as an eye can follow

/** State of a context that few bodies need, made at the first use. */
export class Notes {
  questions = 0;
  sleeps = 0;
  /** Units of log text so far. */
  logged = 0;
  /** Lines in the second that began at `logSecond`. */
  lines = 0;
  logSecond = 0;
  rateTold = false;
  progressed = 0;
  progressAt = 0;
  progress: Said<"node.progress"> | null = null;

  /** Counts a line of log: whether the second has room for it; for the first line beyond the limit, the text of a warning. */
  count(now: number): boolean | string {
    if (now - this.logSecond >= 1_000) {
      this.logSecond = now;
      this.lines = 0;
    }
    this.lines += 1;
    if (this.lines <= LINES_A_SECOND || this.rateTold) return this.lines <= LINES_A_SECOND;
    this.rateTold = true;
    return `more than ${LINES_A_SECOND} lines of log a second; what is beyond is dropped`;
  }
}

const LEVELS: ReadonlySet<unknown> = new Set(["debug", "info", "warn", "error"]);
export const UNITS: ReadonlySet<unknown> = new Set(["items", "iterations", "bytes"]);

export const isText: (value: unknown) => boolean = (value) => typeof value === "string";
export const isAmount: (value: unknown) => boolean = (value) =>
  Number.isFinite(value) && (value as number) >= 0;

/** Bodies of extensions may come from code without types; what no event can carry is theirs to hear of. */
export function takes(isSo: boolean, member: string, what: string): void {
  if (isSo) return;
  throw new NodeError("extension_threw", `ctx.${member} takes ${what}`, { reason: "internal" });
}

/** Throws for arguments of `ctx.log` that no event can carry. */
export function takesLine(level: unknown, text: unknown): void {
  takes(LEVELS.has(level) && isText(text), "log", `${[...LEVELS]}, and text`);
}

/** The same for `ctx.progress`. */
export function takesProgress(done: unknown, total: unknown): void {
  takes(isAmount(done) && (total === undefined || isAmount(total)), "progress", "numbers from 0");
}

/** The keys of questions and steps with one more; throws for a key that is among them. */
export function withKey(
  keys: string | string[] | null,
  key: string,
  member: "step" | "confirm",
): string | string[] {
  takes(isText(key), member, "a text as its key");
  if (keys === key || (Array.isArray(keys) && keys.includes(key))) {
    throw new NodeError("extension_key_reused", `the key "${key}" was used before in this attempt`);
  }
  if (keys === null) return key;
  if (typeof keys === "string") return [keys, key];
  keys.push(key);
  return keys;
}

/** Data of a log line: names of secrets lose their value, and more than 2,048 bytes are dropped. */
export function cutData(data: JsonObject | undefined): { data?: JsonObject } {
  if (data === undefined) return {};
  const masked = maskKeys(data) as JsonObject;
  const text = JSON.stringify(masked);
  if (text.length <= EVENT_LIMITS.logDataBytes / 3) return { data: masked };
  if (new TextEncoder().encode(text).length <= EVENT_LIMITS.logDataBytes) return { data: masked };
  return { data: { cut: cutText(text, EVENT_LIMITS.logDataBytes / 4).text } };
}
