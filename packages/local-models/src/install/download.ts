/**
 * Fetches a file into its part, over one connection, and goes on where it broke off.
 *   T1  Bytes of the part are never requested again, unless the server cannot confirm that its file is the same.
 *   T2  It gives up after five tries that brought nothing new, however much was sent again.
 *   T3  When it rejects, the connection is closed and the part says what is on disk.
 */
import { type FetchLike, NodeError, type ResponseLike } from "@millrace/contracts";
import { sleep } from "@millrace/contracts/kit";
import { ModelError } from "../errors.ts";
import type { Progress } from "../progress.ts";
import type { ModelClock } from "../settings.ts";
import { Interrupted, readAnswer, requestHeaders } from "./answer.ts";
import type { PartFile } from "./part-file.ts";

const WAITS_MS = [1_000, 2_000, 4_000, 8_000, 15_000] as const;
const MAX_VAIN_TRIES = 5;
const MAX_REDIRECTS = 5;
const ROOM_EVERY = 268_435_456; // how often the disk is looked at

export interface DownloadOptions {
  readonly url: string;
  /** Sent to the first origin alone. */
  readonly bearer: string | null;
  /** Expected length; null: as the server says. */
  readonly bytes: number | null;
  readonly maxBytes: number;
  readonly fetch: FetchLike;
  readonly clock: ModelClock;
  readonly progress: Progress;
  readonly signal: AbortSignal;
  /** Throws `disk_full` unless the disk has room for so many bytes more. */
  readonly makeSure: (rest: number) => Promise<void>;
  /** Runs once the server has answered; true: it took long, so the server is asked anew. */
  readonly resolved: () => Promise<boolean>;
}

/** Resolves when the part is as long as the file. Rejects with `ModelError` or the reason of `signal`. */
export async function download(part: PartFile, options: DownloadOptions): Promise<void> {
  const { clock, signal } = options;
  const state: Try = { isResolved: false, most: part.bytes, wasRefused: false };
  let vain = 0;
  for (let waits = 0; ; waits++) {
    const before = state.most;
    try {
      while (!(await once(part, options, state)));
      return await part.settle();
    } catch (error) {
      signal.throwIfAborted();
      const interrupted = interruptionOf(error);
      if (state.most > before) [vain, waits] = [0, 0];
      else vain += 1;
      if (vain >= MAX_VAIN_TRIES) {
        throw new ModelError(
          "download_interrupted",
          `five tries brought nothing new: ${interrupted.message}; the next install goes on`,
          { cause: error },
        );
      }
      const wait = WAITS_MS[Math.min(waits, WAITS_MS.length - 1)] as number;
      await sleep(interrupted.retryAfterMs ?? wait, signal, clock);
    }
  }
}

/** State that one attempt passes to the next. */
interface Try {
  isResolved: boolean;
  /** The most bytes that the part ever had. */
  most: number;
  wasRefused: boolean;
}

/** Asks once; true when the part is complete, false when it has to be asked again at once. */
async function once(part: PartFile, options: DownloadOptions, state: Try): Promise<boolean> {
  const { url, bearer, fetch, clock, signal } = options;
  const have = { ...part.validators, bytes: part.bytes };
  const headers = requestHeaders(have, bearer);
  const ranged = headers["range"] !== undefined;
  if (!ranged && have.bytes > 0) await restart(part, options, 0);
  const answer = await fetch(url, { headers, signal, maxRedirects: MAX_REDIRECTS });
  try {
    checkScheme(answer.url, url);
    const verdict = readAnswer(answer, have, { ranged, now: clock.now() });
    if (verdict.act === "again") {
      await restart(part, options, 0);
      if (verdict.because === "range" && state.wasRefused) {
        throw new ModelError("download_failed", "the server refuses every range of the file (416)");
      }
      state.wasRefused ||= verdict.because === "range";
      return false;
    }
    if (!state.isResolved && (await options.resolved())) {
      state.isResolved = true;
      return false;
    }
    if (verdict.act === "replace") {
      if (part.bytes > 0) await restart(part, options, verdict.validators.total);
      part.describe({
        ...verdict.validators,
        total: verdict.validators.total || (options.bytes ?? 0),
      });
    } else if (verdict.act === "append") part.describe(verdict.validators);
    else part.describe({ ...part.validators, total: part.bytes });
    begin(part, options, state);
    if (verdict.act !== "complete") await receive(part, answer, options, state);
    return true;
  } finally {
    await discard(answer);
  }
}

/** Enters the stage `download`, once. */
function begin(part: PartFile, { progress }: DownloadOptions, state: Try): void {
  state.isResolved = true;
  if (progress.position.stage === "download") return;
  progress.stage("download", part.bytes, part.validators.total);
}

async function restart(
  part: PartFile,
  { progress }: DownloadOptions,
  total: number,
): Promise<void> {
  await part.restart();
  if (progress.position.stage === "download") progress.restart(total);
}

async function receive(
  part: PartFile,
  answer: ResponseLike,
  options: DownloadOptions,
  state: Try,
): Promise<void> {
  const { progress, maxBytes, signal } = options;
  const { total } = part.validators;
  if (options.bytes !== null && total !== options.bytes) {
    throw new ModelError("download_failed", "the file is not as long as its hub says");
  }
  if (total > maxBytes) throw tooLarge(maxBytes);
  await options.makeSure(Math.max(0, total - part.bytes));
  let lookAt = part.bytes + ROOM_EVERY;
  for await (const chunk of answer.body ?? []) {
    signal.throwIfAborted();
    if (part.bytes + chunk.length > (total || maxBytes)) {
      await part.restart(); // it is unknown which of the bytes are right
      if (total === 0) throw tooLarge(maxBytes);
      throw new ModelError("download_failed", "the server sends more bytes than the file has");
    }
    await part.write(chunk);
    state.most = Math.max(state.most, part.bytes);
    progress.advance(part.bytes, total);
    if (part.bytes < lookAt) continue;
    lookAt = part.bytes + ROOM_EVERY;
    await options.makeSure(Math.max(0, total - part.bytes));
  }
  if (total > 0 && part.bytes < total) throw new Interrupted("the file ended too early");
}

function tooLarge(maxBytes: number): ModelError {
  return new ModelError("download_failed", `the file is larger than models.maxBytes (${maxBytes})`);
}

/** A redirect may not leave https; plain http is for this machine. */
function checkScheme(reached: string, asked: string): void {
  const url = new URL(reached || asked);
  if (url.protocol === "https:" || isLoopback(url)) return;
  throw new ModelError("download_denied", "the server redirects to a URL that is not https");
}

export function isLoopback({ hostname }: URL): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d+){3}$/.test(hostname);
}

/** Closes the connection of an answer that is not wanted, or not to its end. */
async function discard({ body }: ResponseLike): Promise<void> {
  try {
    await body?.[Symbol.asyncIterator]().return?.();
  } catch {
    // it has been read, or the other side was quicker
  }
}

/** Why the transfer broke off. Throws what will be the same the next time. */
function interruptionOf(error: unknown): Interrupted {
  if (error instanceof Interrupted) return error;
  if (ModelError.isInstance(error)) throw error;
  if (NodeError.isInstance(error)) {
    if (error.retryable) return new Interrupted(error.message, { cause: error });
    const code = error.code === "egress_denied" ? "download_denied" : "download_failed";
    throw new ModelError(code, `the file cannot be fetched: ${error.message}`, { cause: error });
  }
  return new Interrupted("the connection failed", { cause: error });
}
