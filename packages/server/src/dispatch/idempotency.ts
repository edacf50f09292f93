/**
 * Idempotency keys: a second request with the same key gets the answer of the first, also after a restart.
 *   K1  A key belongs to one token and one command.
 *   K2  The work behind a key is done once as long as the key is kept. What a later try may change, a failure of the server
 *       or a full queue, is not kept.
 *   K3  A run and its key are committed together: a repeated request finds the run, however the process ended.
 */
import { createHash } from "node:crypto";
import type { CommandName, Json, Problem, RunRef, StartRows } from "@millrace/contracts";
import { type Idempotency, isShared, type Seen, type Store } from "@millrace/store";
import { ProblemError } from "../errors.ts";
import type { CommandCall, ServerHost } from "../ports.ts";
import { canonicalHash } from "./conditions.ts";
import { Answer } from "./dispatch.ts";

/** How often keys that have run out are deleted. They do not count before that either. */
const EXPIRE_EVERY_MS = 3_600_000;

/** No command takes longer: a server that began one earlier than that is dead. */
const WORK_MS = 120_000;

const BUSY = 429;

/** Header of an answer that is that of an earlier call. */
export const REPLAYED: { readonly [name: string]: string } = { "Idempotent-Replayed": "true" };

const KEY = /^[\x21-\x7e]{1,128}$/;

type Request = NonNullable<StartRows["request"]>;

/** The stored part of an answer: a value, or a refusal that would be the same again. The store itself keeps a `RunRef`. */
type Kept = { readonly value: Json } | { readonly problem: KeptProblem };
interface KeptProblem {
  readonly code: ProblemError["code"];
  readonly detail: string | undefined;
  readonly errors: readonly Problem[] | undefined;
  readonly members: { readonly [name: string]: unknown } | undefined;
}

interface Working {
  readonly fingerprint: string;
  readonly work: Promise<unknown>;
}

export interface KeyedCall {
  readonly tokenId: string | null;
  readonly command: string;
  /** The value of `Idempotency-Key`; undefined: the work is simply done. */
  readonly key: string | undefined;
  readonly args: unknown;
  /**
   * Whether the work is the start of a run, which keeps the key itself, by `StartRows`, and answers its `RunRef`. A second
   * request waits for such a start; any other is refused while the first one works.
   */
  readonly joins: boolean;
  /** How long the key of a start is kept, in milliseconds; default 24 hours. */
  readonly ttlMs?: number;
  /** Whether a start that was refused for good is refused to a later request as well; default true. */
  readonly keepsRefusals?: boolean;
}

/** Result of a call; `replayed` when an earlier call did the work. */
export interface KeyedResult<T> {
  readonly value: T;
  readonly replayed: boolean;
}

/** The requests that this process works on, by store. */
const inFlight = new WeakMap<Idempotency, Map<string, Working>>();
/** When keys that have run out were last deleted, by store. */
const expired = new WeakMap<Idempotency, number>();

/**
 * Does `work`, or answers what the first call with this key did. The start of a run gets the rows that keep its key. Throws
 * `bad_idempotency_key`, `idempotency_mismatch` for a key with other args, `idempotency_in_flight`.
 */
export async function oncePerKey<T>(
  { store: whole, now }: Pick<ServerHost, "store" | "now">,
  call: KeyedCall,
  work: (rows: Pick<StartRows, "request">) => Promise<T>,
): Promise<KeyedResult<T>> {
  const { key, joins } = call;
  const store = whole.idempotency;
  if (key === undefined) return { value: await work({}), replayed: false };
  if (!KEY.test(key)) {
    throw new ProblemError("bad_idempotency_key", {
      detail: "A key is 1 to 128 visible ASCII characters",
    });
  }
  expire(store, now());
  const scope = `${call.tokenId ?? ""}\n${call.command}`;
  const fingerprint = canonicalHash(call.args);
  const request: Request = {
    scope,
    key,
    fingerprint: createHash("sha256").update(fingerprint).digest(),
    ...(call.ttlMs !== undefined && { ttlMs: call.ttlMs }),
  };
  const name = `${scope}\n${key}`;
  const all = inFlight.get(store) ?? new Map<string, Working>();
  inFlight.set(store, all);
  const working = all.get(name);
  if (working !== undefined) {
    if (working.fingerprint !== fingerprint) throw new ProblemError("idempotency_mismatch");
    if (!joins) throw new ProblemError("idempotency_in_flight");
    return { value: (await working.work.catch(replayProblem)) as T, replayed: true };
  }
  const promise = joins ? startRun(store, request, { work, ...call }) : once(whole, request, work);
  const answer = promise.then(({ value }) => value);
  answer.catch(() => {}); // a request that joins gets the error
  all.set(name, { fingerprint, work: answer });
  try {
    return await promise;
  } finally {
    all.delete(name);
  }
}

/** The start of a run: it keeps the key in its own transaction. */
async function startRun<T>(
  store: Idempotency,
  request: Request,
  {
    work,
    keepsRefusals = true,
  }: Pick<KeyedCall, "keepsRefusals"> & {
    readonly work: (rows: Pick<StartRows, "request">) => Promise<T>;
  },
): Promise<KeyedResult<T>> {
  const seen = await store.find(request);
  if (seen?.state === "working") await store.abandon(request.scope, request.key);
  else if (seen !== null && seen.state !== "new") return answerOf(seen);
  try {
    return { value: await work({ request }), replayed: false };
  } catch (error) {
    if (!isFinal(error) || !keepsRefusals) throw error;
    const begun = await store.begin(request);
    if (begun.state === "new") await keep(store, request, { problem: problemOf(error) });
    throw error;
  }
}

async function once<T>(
  whole: Store,
  request: Request,
  work: (rows: Pick<StartRows, "request">) => Promise<T>,
): Promise<KeyedResult<T>> {
  const store = whole.idempotency;
  const seen = await store.begin(request);
  if (seen.state === "working") {
    // Another server may be at it. A process that is gone is found by its time: how far it came is unknown, and it is done again.
    const isElsewhere = isShared(whole) && whole.now() - seen.since < WORK_MS;
    if (isElsewhere || !(await store.takeOver(request, seen.since))) {
      throw new ProblemError("idempotency_in_flight");
    }
  } else if (seen.state !== "new") return answerOf(seen);
  try {
    const value = await work({});
    await keep(store, request, { value: (value ?? null) as Json });
    return { value, replayed: false };
  } catch (error) {
    if (isFinal(error)) await keep(store, request, { problem: problemOf(error) });
    else await store.abandon(request.scope, request.key);
    throw error;
  }
}

function keep(store: Idempotency, { scope, key }: Request, kept: Kept): Promise<void> {
  return store.finish(scope, key, kept as unknown as Json);
}

/** Deletes what has run out, at most once an hour, in the background. */
function expire(store: Idempotency, now: number): void {
  if (now - (expired.get(store) ?? Number.NEGATIVE_INFINITY) < EXPIRE_EVERY_MS) return;
  expired.set(store, now);
  store.expire().catch(() => expired.delete(store)); // the next request tries again
}

/** The answer of an earlier call. Throws its refusal. */
function answerOf<T>(seen: Exclude<Seen, { state: "new" } | { state: "working" }>): KeyedResult<T> {
  if (seen.state === "mismatch") throw new ProblemError("idempotency_mismatch");
  const kept = seen.answer as Kept | { readonly runId: string };
  if ("problem" in kept) {
    const { code, ...options } = kept.problem;
    throw new ProblemError(code, { ...options, headers: REPLAYED });
  }
  return { value: ("value" in kept ? kept.value : kept) as T, replayed: true };
}

/** Whether the same request would be refused again. */
function isFinal(error: unknown): error is ProblemError {
  return ProblemError.isInstance(error) && error.status < 500 && error.status !== BUSY;
}

function problemOf({ code, options }: ProblemError): KeptProblem {
  const { detail, errors, members } = options;
  return { code, detail, errors, members };
}

/** The refusal of the first call, as that of a later one. */
function replayProblem(error: unknown): never {
  if (!ProblemError.isInstance(error)) throw error;
  const { headers, ...options } = error.options;
  throw new ProblemError(error.code, { ...options, headers: { ...headers, ...REPLAYED } });
}

/** Does `work` once for each key of the caller; a later call with the key gets the same answer, marked as such. */
export async function keyed<T>(
  call: CommandCall,
  command: CommandName,
  args: object,
  work: () => Promise<T>,
): Promise<Answer<T>> {
  const { value, replayed } = await keyedRun(call, { command, args, joins: false }, work);
  return new Answer(value, replayed ? { headers: REPLAYED } : {});
}

/**
 * The same for a command that starts a run: `start` hands the rows on to the executor, which commits the key with the run. The
 * answer has the `Location` of the run.
 */
export async function keyedStart(
  call: CommandCall,
  command: CommandName,
  args: object,
  start: (rows: StartRows) => Promise<RunRef>,
): Promise<Answer<RunRef>> {
  const { value, replayed } = await keyedRun(call, { command, args, joins: true }, start);
  const Location = `/api/runs/${value.runId}`;
  return new Answer(value, { headers: replayed ? { Location, ...REPLAYED } : { Location } });
}

function keyedRun<T>(
  { host, caller, key }: CommandCall,
  about: Pick<KeyedCall, "command" | "args" | "joins">,
  work: (rows: StartRows) => Promise<T>,
): Promise<KeyedResult<T>> {
  return oncePerKey(host, { ...about, tokenId: caller.tokenId, key }, work);
}
