/**
 * Times at which a receiver gets notices about failures of one flow.
 *   N1  Each failure is counted by exactly one message.
 *   N2  The first failure is sent at once; later ones are collected in windows, with one message at the end of each.
 *   N3  A window in which nothing failed is the last one.
 *   N4  While too many messages wait (`isFull`) failures are only counted.
 */

/** A notice about a failed run: no input and no output, but `message` is the text of the error, which a flow may make of them. */
export type Failure = {
  readonly runId: string;
  /** Id of the flow. */
  readonly flow: string;
  readonly template: string | null;
  readonly code: string;
  readonly message: string;
  /** Path of the node that failed; null: none did. */
  readonly node: string | null;
  readonly trigger: string;
  /** When it ended, ISO 8601. */
  readonly time: string;
  /** The run in the browser, or in the API; null: the server does not know its public address. */
  readonly url: string | null;
};

/** The newest failure, and how many there were from `since` on, itself included. */
export type Message = Failure & { readonly count: number; readonly since: string };

/** The window of a flow. `last` null: nothing has failed in it yet. */
export type FailureWindow = {
  readonly to: string;
  readonly count: number;
  readonly since: string;
  readonly last: Failure | null;
};

/** A window with its end, epoch milliseconds; null: there is none. */
export type OpenWindow = { readonly body: FailureWindow; readonly dueAt: number } | null;

/** The new window of a flow, and the notice to send now. */
export interface Told {
  readonly window: OpenWindow;
  readonly message: Message | null;
}

/** When it is, and how things are. */
interface Now {
  readonly now: number;
  readonly windowMs: number;
  readonly isFull: boolean;
}

/** How long a window that may not be told is open at least. */
const FULL_MS = 60_000;

/** A run of the flow has failed. `to`: the receiver of the notice, now or at the end of the window. */
export function noteFailure(
  open: OpenWindow,
  failure: Failure,
  { now, windowMs, isFull, to }: Now & { readonly to: string },
): Told {
  const { time: since } = failure;
  // No window ends later than one that opens now: the clock was ahead, or windows were longer.
  const latest = now + windowMs;
  const isOver =
    open === null || (open.body.count === 0 && (open.dueAt <= now || open.dueAt > latest));
  if (!isOver) {
    const { body, dueAt } = open;
    const first = body.count === 0 ? since : body.since;
    const window = { to, count: body.count + 1, since: first, last: failure };
    return { window: { body: window, dueAt: Math.min(dueAt, latest) }, message: null };
  }
  if (isFull) {
    const counted = { to, count: 1, since, last: failure };
    return { window: { body: counted, dueAt: now + Math.max(windowMs, FULL_MS) }, message: null };
  }
  const window = { body: { to, count: 0, since, last: null }, dueAt: latest };
  return { window: windowMs === 0 ? null : window, message: { ...failure, count: 1, since } };
}

/** The window of a flow has ended. */
export function endWindow(
  { to, count, since, last }: FailureWindow,
  { now, windowMs, isFull }: Now,
): Told {
  if (last === null) return { window: null, message: null };
  if (isFull) {
    const body = { to, count, since, last };
    return { window: { body, dueAt: now + Math.max(windowMs, FULL_MS) }, message: null };
  }
  const next = { body: { to, count: 0, since, last: null }, dueAt: now + windowMs };
  return { window: windowMs === 0 ? null : next, message: { ...last, count, since } };
}
