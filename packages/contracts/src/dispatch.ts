/**
 * The port that says which server drives a run. A dispatcher knows ids and times only; what a run is and how far it got is in the
 * store.
 *   D1  Every ring that was taken leads to a call of a drive that begins after the ring.
 *   D2  Drives of one run never overlap, on whatever servers, unless the first one is lost: it may hear of that by `lost` a moment
 *       after another one was called.
 *   D3  A call that fails is repeated, with a growing delay, until it ends.
 */
import type { AbortSignalLike } from "./extend/context.ts";

/**
 * How a drive ended. `done`: the run has ended, or waits for something that rings. `again`: it waits for a time, and is to be
 * called again after so many milliseconds, or earlier when it is rung.
 */
export type DriveResult = "done" | { readonly again: number };

/** Options of a drive. */
export interface DriveOptions {
  /** Aborts when the run must be left, because this server stops. The drive settles soon after, however it settles. */
  readonly signal: AbortSignalLike;
  /**
   * Aborts when the dispatcher has lost sight of this drive, so that another server may be called for the same run. A drive whose
   * store refuses a second driver may go on to its end; any other must stop.
   */
  readonly lost: AbortSignalLike;
}

/**
 * Drives a run as far as it goes. It may be called for a run that has nothing to do, that has ended, or that nobody knows: it
 * answers `done`. Whatever it throws is repeated later, on any server; `Again` says that this is expected.
 */
export type Drive = (runId: string, options: DriveOptions) => Promise<DriveResult>;

/** When a run is to be driven. */
export interface RingOptions {
  /** The call comes not before so many milliseconds; default 0. */
  readonly delayMs?: number | undefined;
}

/** Calls the drives of runs, on one server or on many. One object for each server. */
export interface Dispatcher {
  /** `degraded`: what it depends on did not answer the last time, so that rings fail or are late. */
  readonly condition: "ok" | "degraded";
  /**
   * Makes sure that the run is driven somewhere, at once or after the delay. Resolves when the ring is kept: by a dispatcher of
   * many servers so that it outlives this one, by one of a single server in its memory. Rings of one run may be merged, if a call
   * begins after each of them. Rejects with `DispatcherError`; then nothing is promised, and who keeps the runs rings again later.
   */
  ring(runId: string, options?: RingOptions): Promise<void>;
  /** Takes calls on this server from now on; resolves when it does. Once. A server that only rings does not call it. */
  serve(drive: Drive): Promise<void>;
  /**
   * Takes no calls any more. Drives at work have `graceMs` (default 0) to end; then their `signal` aborts, and their runs are
   * driven by another server, when there is one. Resolves when none is at work here. Later calls get the same promise.
   */
  close(options?: { readonly graceMs?: number | undefined }): Promise<void>;
}

const AGAIN = Symbol.for("@millrace/contracts.error.Again");

/** Thrown by a drive when this server cannot drive the run now, and another one, or a later call, shall. */
export class Again extends Error {
  override readonly name = "Again";

  constructor(message = "another server shall drive the run") {
    super(message);
    Object.defineProperty(this, AGAIN, { value: true });
  }

  /** Works across two copies of this package in one process, where `instanceof` does not. */
  static isInstance(value: unknown): value is Again {
    return typeof value === "object" && value !== null && AGAIN in value;
  }
}

const MARK = Symbol.for("@millrace/contracts.error.DispatcherError");

/** `dispatcher_unavailable`: the ring was not stored. `dispatcher_closed`: this server stops. `dispatcher_serves`: `serve` was called. */
export type DispatcherErrorCode =
  | "dispatcher_unavailable"
  | "dispatcher_closed"
  | "dispatcher_serves";

/** A call that a dispatcher refuses; branch on `code`. `retryable`: the same call may succeed later. */
export class DispatcherError extends Error {
  override readonly name = "DispatcherError";
  readonly code: DispatcherErrorCode;
  readonly retryable: boolean;

  constructor(
    code: DispatcherErrorCode,
    message: string,
    options: { readonly cause?: unknown } = {},
  ) {
    super(message, options);
    Object.defineProperty(this, MARK, { value: true });
    this.code = code;
    this.retryable = code === "dispatcher_unavailable";
  }

  /** Works across two copies of this package in one process, where `instanceof` does not. */
  static isInstance(value: unknown): value is DispatcherError {
    return typeof value === "object" && value !== null && MARK in value;
  }
}
