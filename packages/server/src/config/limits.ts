/** Every limit of the server with its default and the range it may be set to. Bytes and milliseconds. */

// The ceilings are where a number stops being a limit: what one process cannot hold, or a timer cannot express.
const MAX_BYTES = 1 << 30;
const MAX_COUNT = 1_000_000;
/** Frames within each other that the stack of a process holds with room to spare. */
const MAX_DEPTH = 64;
const MAX_TIMER_MS = 2 ** 31 - 1; // a Node timer beyond this fires at once

/** Every limit that an operator may set, with its default and range; each is an option of the same name. */
export const LIMITS = {
  /** Longest JSON body. */
  maxBodyBytes: { default: 1_048_576, min: 1, max: MAX_BYTES },
  /** Longest JSON body of a push of flows. */
  maxPushBytes: { default: 33_554_432, min: 1, max: MAX_BYTES },
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
  /** Edges of one flow, bodies and called flows included. */
  maxEdges: { default: 400_000, min: 1, max: 100 * MAX_COUNT },
  /** Events of one run. */
  maxEvents: { default: 1_000_000, min: 1_000, max: 100 * MAX_COUNT },
  /** JSON bytes of one output. */
  maxOutputBytes: { default: 16_777_216, min: 1, max: MAX_BYTES },
  /** JSON bytes of all outputs of a run that a later node may still read. */
  maxLiveBytes: { default: 536_870_912, min: 1, max: 64 * MAX_BYTES },
  /** JSON bytes of a run's inputs; a body is no longer than `maxBodyBytes`. */
  maxInputBytes: { default: 8_388_608, min: 1, max: MAX_BYTES },
  /** Steps of one evaluation of an expression. */
  maxExprSteps: { default: 100_000, min: 1, max: 100 * MAX_COUNT },
  /** Text and elements that one evaluation of an expression makes. */
  maxExprBytes: { default: 16_777_216, min: 1, max: MAX_BYTES },
  /** Questions open at once in one run. */
  maxConfirmations: { default: 1_000, min: 0, max: MAX_COUNT },
  /** Items of one `map`. */
  maxMapItems: { default: 10_000, min: 1, max: MAX_COUNT },
  /** Rounds of one `loop`. */
  maxLoopRounds: { default: 10_000, min: 1, max: MAX_COUNT },
  /** Bodies and called flows within each other. */
  maxDepth: { default: 16, min: 1, max: MAX_DEPTH },
  /** How long a step may take to stop after it was told to. */
  stepGraceMs: { default: 2_000, min: 0, max: MAX_TIMER_MS },
  /** Log text of one step; more is dropped after one warning. */
  maxLogBytes: { default: 1_048_576, min: 0, max: MAX_BYTES },
  /** Pause before the second try to tell of a failed run; each further pause is twice as long. */
  notifyRetryMs: { default: 5_000, min: 1, max: MAX_TIMER_MS },
  /** Longest of these pauses. */
  notifyMaxRetryMs: { default: 3_600_000, min: 1, max: MAX_TIMER_MS },
  /** How long it is tried. */
  notifyGiveUpMs: { default: 86_400_000, min: 0, max: MAX_TIMER_MS },
  /** Messages and windows of failures that are kept; beyond them failures are only counted. */
  notifyMaxQueued: { default: 10_000, min: 1, max: MAX_COUNT },
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

/** The longest body that is read at a path: a push has all flows of a folder. */
export function bodyLimit(
  path: string,
  { maxBodyBytes, maxPushBytes }: Pick<ServerLimits, "maxBodyBytes" | "maxPushBytes">,
): number {
  return path.endsWith("/api/templates/push") ? maxPushBytes : maxBodyBytes;
}
