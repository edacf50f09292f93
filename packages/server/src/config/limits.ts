/** Every limit of the server with its default and the range it may be set to. Bytes and milliseconds. */

// The ceilings are where a number stops being a limit: what one process cannot hold, or a timer cannot express.
const MAX_BYTES = 1 << 30;
const MAX_COUNT = 1_000_000;
const MAX_TIMER_MS = 2 ** 31 - 1; // a Node timer beyond this fires at once

/** Every limit that an operator may set, with its default and range; each is an option of the same name. */
export const LIMITS = {
  /** Longest JSON body. */
  maxBodyBytes: { default: 1_048_576, min: 1, max: MAX_BYTES },
  /** Longest `.flow` text in a body. */
  maxDslBytes: { default: 524_288, min: 1, max: MAX_BYTES },
  /** Nodes of one flow, bodies included. */
  maxNodes: { default: 20_000, min: 1, max: MAX_COUNT },
  /** Node starts of one run. */
  maxSteps: { default: 100_000, min: 1, max: 100 * MAX_COUNT },
  /** Wall clock of one run; time paused for a confirmation is not counted. */
  maxRunMs: { default: 3_600_000, min: 1, max: MAX_TIMER_MS },
  /** Runs that work at the same time; a paused run does not count. */
  maxLiveRuns: { default: 64, min: 1, max: MAX_COUNT },
  /** Runs that wait for a place. */
  maxQueuedRuns: { default: 256, min: 0, max: MAX_COUNT },
  /** Event streams open at the same time. */
  maxStreams: { default: 4_096, min: 1, max: MAX_COUNT },
  /** Sockets open at the same time. */
  maxConnections: { default: 8_192, min: 1, max: MAX_COUNT },
  maxHeaderBytes: { default: 16_384, min: 1_024, max: MAX_BYTES },
  maxHeaders: { default: 100, min: 1, max: MAX_COUNT },
  /** How long a request's headers may take. */
  headersTimeoutMs: { default: 10_000, min: 1, max: MAX_TIMER_MS },
  /** How long a whole request may take to arrive. */
  requestTimeoutMs: { default: 30_000, min: 1, max: MAX_TIMER_MS },
  /** Silence after which a stream gets a comment. */
  heartbeatMs: { default: 15_000, min: 1, max: MAX_TIMER_MS },
  /** How long a socket may accept no byte before it is destroyed. */
  stallMs: { default: 60_000, min: 1, max: MAX_TIMER_MS },
  /** How long live runs go on when the server stops. */
  drainMs: { default: 30_000, min: 0, max: MAX_TIMER_MS },
};

/** The limits of a server; `get_meta` shows them all. */
export type ServerLimits = { readonly [K in keyof typeof LIMITS]: number };

/** How often Node looks for sockets past their time; 30 s, its default, is wider than the times themselves. */
export const CONNECTIONS_CHECK_MS = 5_000;

/** How long a socket with an unread body stays open after its answer, so that the client can read it before the reset. */
export const LINGER_MS = 1_000;

/** Longest body of a webhook call. The callers are strangers, and what they send becomes the input of a run. */
export const MAX_WEBHOOK_BYTES = 262_144;

/** Longest event line on a stream; larger values are references. The same number as `EVENT_LIMITS` in contracts. */
export const MAX_EVENT_BYTES = 262_144;
