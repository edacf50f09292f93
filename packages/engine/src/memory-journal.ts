/** The journal port without a database: the same calls and refusals, kept in memory, answered in the same tick. */
import type {
  EncodedEvent,
  Journal,
  Json,
  ResumeState,
  RunHeader,
  StoredEvent,
} from "@millrace/contracts";
import { createPortableHost } from "./portable-host.ts";
import { digestOf } from "./values.ts";

const PAGE = 512; // events of one page of `read`
const RELEASED = Number.NEGATIVE_INFINITY; // end of a lease that was given back

interface Kept {
  readonly header: RunHeader;
  readonly events: StoredEvent[];
  readonly values: Map<string, Json>;
  readonly steps: Map<string, Json>;
  /** Those that are not `kept` go with the summary. */
  readonly privateValues: Map<string, { readonly value: Json; readonly kept: boolean }>;
  epoch: number;
  owner: string | null;
  leaseUntil: number;
}

/** A journal in memory. `now` (epoch milliseconds) is what leases run out by; default the clock of the platform. */
export function createMemoryJournal(options: { now?: () => number } = {}): Journal {
  const now = options.now ?? Date.now;
  const host = createPortableHost();
  const runs = new Map<string, Kept>();
  const get = (runId: string): Kept => {
    const kept = runs.get(runId);
    if (kept === undefined) throw new JournalError("not_found", `there is no run ${runId}`);
    return kept;
  };
  return {
    async create(header: RunHeader) {
      if (runs.has(header.runId)) {
        throw new JournalError("run_exists", `the run ${header.runId} exists already`);
      }
      runs.set(header.runId, {
        header,
        events: [],
        values: new Map(),
        steps: new Map(),
        privateValues: new Map(),
        epoch: 1,
        owner: null,
        leaseUntil: Number.POSITIVE_INFINITY,
      });
      return { epoch: 1 };
    },
    async append(runId, expectedSeq, events: readonly EncodedEvent[], { epoch }) {
      const kept = get(runId);
      if (kept.epoch !== epoch || kept.events.length !== expectedSeq) {
        throw new JournalError("lease_lost", `the run ${runId} has another owner`);
      }
      for (const { seq, kind, line } of events) kept.events.push({ seq, kind, line });
      if (events.at(-1)?.kind !== "summary") return;
      for (const [key, value] of kept.privateValues) {
        if (!value.kept) kept.privateValues.delete(key);
      }
    },
    async *read(runId, after) {
      const { events } = get(runId);
      const end = events.length;
      for (let at = after; at < end; at += PAGE) yield events.slice(at, Math.min(end, at + PAGE));
    },
    async putValue(runId, key, value, { private: hidden = false, kept: isKept = false } = {}) {
      const kept = get(runId);
      const ref = digestOf(value, host);
      if (hidden) kept.privateValues.set(key, { value, kept: isKept });
      else {
        kept.values.set(ref, value);
        kept.steps.set(key, value);
      }
      return ref;
    },
    async getValue(runId, ref) {
      return get(runId).values.get(ref);
    },
    async load(runId, { private: hidden = true } = {}): Promise<ResumeState | null> {
      const kept = runs.get(runId);
      if (kept === undefined) return null;
      return {
        ...kept.header,
        events: [...kept.events],
        steps: Object.fromEntries(kept.steps),
        privateValues: hidden
          ? Object.fromEntries([...kept.privateValues].map(([key, { value }]) => [key, value]))
          : {},
      };
    },
    async lease(runId, owner, ttlMs) {
      const kept = get(runId);
      const isLive = kept.leaseUntil > now();
      if (isLive && kept.owner !== owner) return null;
      if (kept.owner !== owner || kept.leaseUntil === RELEASED) kept.epoch += 1;
      kept.owner = owner;
      kept.leaseUntil = now() + ttlMs;
      return { epoch: kept.epoch };
    },
    async release(runId, epoch) {
      const kept = get(runId);
      if (kept.epoch === epoch) kept.leaseUntil = RELEASED;
    },
  };
}

/** A refusal of the journal, told by `code` like those of the stores. */
class JournalError extends Error {
  override readonly name = "JournalError";
  readonly code: "not_found" | "run_exists" | "lease_lost";
  readonly retryable = false;

  constructor(code: JournalError["code"], message: string) {
    super(message);
    this.code = code;
  }
}
