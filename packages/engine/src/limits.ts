/**
 * How much one flow and one run may take. The operator may set any of them, a run may only lower what its engine allows.
 * A limit of one node fails that node with `limit_exceeded` (or the code named here), one of the run fails the run.
 */

const MIB = 1_048_576;

/** Limits by name; every number is inclusive. */
export interface Limits {
  /** Nodes of a plan, bodies and subflows included. */
  readonly nodes: number;
  /** Edges of a plan, bodies and subflows included. */
  readonly edges: number;
  /** Node starts of a run, retries and items included. */
  readonly executions: number;
  /** Events of a run; 64 and one per open node are kept for the end. */
  readonly events: number;
  /** JSON bytes of one output; more is `output_too_large`. */
  readonly outputBytes: number;
  /** JSON bytes of all outputs that a later node may still read. */
  readonly liveBytes: number;
  /** JSON bytes of a run's inputs. */
  readonly inputBytes: number;
  /** Steps of one evaluation of an expression. */
  readonly exprSteps: number;
  /** Text and elements that one evaluation may make. */
  readonly exprBytes: number;
  /** Confirmations open at once. */
  readonly confirmations: number;
  readonly "map.items": number;
  readonly "loop.max": number;
  /** Frames within each other: bodies and subflows. */
  readonly depth: number;
  /** Milliseconds of a run; time paused for a confirmation does not count. */
  readonly wallClockMs: number;
  /** Milliseconds that a body has to settle after it was aborted. */
  readonly graceMs: number;
  /** UTF-16 units of log text of one node; the rest is dropped after one warning. */
  readonly logBytes: number;
}

/** JSON bytes of the input and of the output of one call of an extension; larger data is a file's. */
export const EXTENSION_BYTES: number = 4 * MIB;

/** Defaults: far above the needs of people, far below the limits of a process. */
export const DEFAULT_LIMITS: Limits = Object.freeze({
  nodes: 100_000,
  edges: 400_000,
  executions: 250_000,
  events: 1_000_000,
  outputBytes: 16 * MIB,
  liveBytes: 512 * MIB,
  inputBytes: 8 * MIB,
  exprSteps: 100_000,
  exprBytes: 16 * MIB,
  confirmations: 1_000,
  "map.items": 10_000,
  "loop.max": 10_000,
  depth: 16,
  wallClockMs: 24 * 3_600_000,
  graceMs: 2_000,
  logBytes: MIB,
});

/** Limits of an engine: what the operator says over the defaults. */
export function engineLimits(own: Partial<Limits> = {}): Limits {
  return { ...DEFAULT_LIMITS, ...defined(own) };
}

/** Limits of a run: the engine's, lowered where the run asks for less. */
export function lowerLimits(engine: Limits, run: Partial<Limits> | undefined): Limits {
  if (run === undefined) return engine;
  const lowered: { [name: string]: number } = { ...engine };
  for (const [name, value] of Object.entries(defined(run))) {
    lowered[name] = Math.min(value, lowered[name] ?? value);
  }
  return lowered as unknown as Limits;
}

function defined(limits: Partial<Limits>): { [name: string]: number } {
  const entries = Object.entries(limits).filter((entry) => entry[1] !== undefined);
  return Object.fromEntries(entries) as { [name: string]: number };
}
