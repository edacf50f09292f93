/** Codes of a write to a reader that has left. */
const GONE: ReadonlySet<string | undefined> = new Set([
  "EPIPE",
  "ECONNRESET",
  "ERR_STREAM_DESTROYED",
]);

/** Whether a write failed because its reader has left, which is no fault; anything else has lost text. */
export function isReaderGone({ code }: NodeJS.ErrnoException): boolean {
  return GONE.has(code);
}
