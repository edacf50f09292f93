/** Every limit of the server with its default and the range it may be set to. Bytes and milliseconds. */

/** Limits an operator may set; `get_meta` shows them all. */
export interface ServerLimits {
  /** Longest JSON body. */
  readonly maxBodyBytes: number;
  /** Longest `.flow` text in a body. */
  readonly maxDslBytes: number;
  /** Nodes of one flow, bodies included. */
  readonly maxNodes: number;
  /** Node starts of one run. */
  readonly maxSteps: number;
  /** Wall clock of one run; time paused for a confirmation is not counted. */
  readonly maxRunMs: number;
  /** Runs that work at the same time; a paused run does not count. */
  readonly maxLiveRuns: number;
  /** Runs that wait for a place. */
  readonly maxQueuedRuns: number;
  /** Event streams open at the same time. */
  readonly maxStreams: number;
  /** Sockets open at the same time. */
  readonly maxConnections: number;
  readonly maxHeaderBytes: number;
  readonly maxHeaders: number;
  /** How long a request's headers may take. */
  readonly headersTimeoutMs: number;
  /** How long a whole request may take to arrive. */
  readonly requestTimeoutMs: number;
  /** Silence after which a stream gets a comment. */
  readonly heartbeatMs: number;
  /** How long a socket may accept no byte before it is destroyed. */
  readonly stallMs: number;
  /** How long live runs go on when the server stops. */
  readonly drainMs: number;
}

interface LimitSpec {
  readonly default: number;
  readonly min: number;
  readonly max: number;
}

// The ceilings are where a number stops being a limit: what one process cannot hold, or a timer cannot express.
const MAX_BYTES = 1 << 30;
const MAX_COUNT = 1_000_000;
const MAX_TIMER_MS = 2 ** 31 - 1; // a Node timer beyond this fires at once

/** Every limit with its default and range; each is an option of the same name. */
export const LIMITS: { readonly [K in keyof ServerLimits]: LimitSpec } = {
  maxBodyBytes: { default: 1_048_576, min: 1, max: MAX_BYTES },
  maxDslBytes: { default: 524_288, min: 1, max: MAX_BYTES },
  maxNodes: { default: 20_000, min: 1, max: MAX_COUNT },
  maxSteps: { default: 100_000, min: 1, max: 100 * MAX_COUNT },
  maxRunMs: { default: 3_600_000, min: 1, max: MAX_TIMER_MS },
  maxLiveRuns: { default: 64, min: 1, max: MAX_COUNT },
  maxQueuedRuns: { default: 256, min: 0, max: MAX_COUNT },
  maxStreams: { default: 4_096, min: 1, max: MAX_COUNT },
  maxConnections: { default: 8_192, min: 1, max: MAX_COUNT },
  maxHeaderBytes: { default: 16_384, min: 1_024, max: MAX_BYTES },
  maxHeaders: { default: 100, min: 1, max: MAX_COUNT },
  headersTimeoutMs: { default: 10_000, min: 1, max: MAX_TIMER_MS },
  requestTimeoutMs: { default: 30_000, min: 1, max: MAX_TIMER_MS },
  heartbeatMs: { default: 15_000, min: 1, max: MAX_TIMER_MS },
  stallMs: { default: 60_000, min: 1, max: MAX_TIMER_MS },
  drainMs: { default: 30_000, min: 0, max: MAX_TIMER_MS },
};

/** How often Node looks for sockets past their time; 30 s, its default, is wider than the times themselves. */
export const CONNECTIONS_CHECK_MS = 5_000;

/** How long a socket with an unread body stays open after its answer, so that the client can read it before the reset. */
export const LINGER_MS = 1_000;

/** Longest body of a webhook call. The callers are strangers, and what they send becomes the input of a run. */
export const MAX_WEBHOOK_BYTES = 262_144;

/** Longest event line on a stream; larger values are references. The same number as `EVENT_LIMITS` in contracts. */
export const MAX_EVENT_BYTES = 262_144;
