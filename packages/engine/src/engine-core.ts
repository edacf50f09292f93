/** State that the runs of one engine share: host, timers, slots, cache, capabilities. It knows no run. */
import type { FetchLike, FilePort, Json, JsonObject } from "@millrace/contracts";
import { Renewals } from "./connections/renewals.ts";
import type { Host, ProgramsPort } from "./host.ts";
import { engineLimits, type Limits } from "./limits.ts";
import type { Grants, NodeType } from "./node-type.ts";
import type { EngineOptions } from "./options.ts";
import { createPortableHost } from "./portable-host.ts";
import type { EventLog } from "./run/event-log.ts";
import { PortKey, type PortKeyOwner } from "./run/port-key.ts";
import { Redactor } from "./run/redact.ts";
import { ResultCache } from "./run/result-cache.ts";
import { type KeyHold, Keys, Limit } from "./run/slots.ts";
import { Timers } from "./run/timers.ts";
import type { Shared, SharedKey } from "./shared.ts";
import { digestOf } from "./values.ts";

/** Credentials that all runs know: each costs every text some time, and older ones have been renewed. */
const SHARED_SECRETS = 16;

export class EngineCore {
  readonly options: EngineOptions;
  readonly host: Host;
  readonly timers: Timers;
  readonly limits: Limits;
  readonly cache: ResultCache = new ResultCache();
  readonly fetch: FetchLike | null;
  readonly files: FilePort | null;
  readonly renewals: Renewals;
  /** The newest credentials that any run has used; none of them shows in the log of another. */
  readonly secrets: Redactor = new Redactor(null, SHARED_SECRETS);
  readonly #shared: Map<object, Shared> = new Map();
  readonly #settings: ReadonlyMap<object, unknown>;
  readonly #slots: Map<string, Limit> = new Map();
  readonly shell: ProgramsPort | null;
  /** When this turn of the process was first looked at, in which timers and sockets wait; 0: not yet. */
  turnSeen = 0;
  closed = false;
  readonly #granted: WeakMap<Grants, FetchLike | null> = new WeakMap();
  readonly #keys: Keys = new Keys();
  #noInputs: string | null = null;
  readonly #digests: WeakMap<object, string> = new WeakMap();
  readonly #toWake: Set<EventLog> = new Set();
  #isYielding = false;

  constructor(options: EngineOptions) {
    this.options = options;
    this.host = options.host ?? createPortableHost();
    this.#settings = new Map(options.settings?.map(({ key, value }) => [key, value]));
    this.timers = new Timers(this.host);
    this.limits = engineLimits(options.limits);
    this.renewals = new Renewals(() => this.host.now());
    this.fetch = this.host.openFetch?.(options.egress ?? {}) ?? null;
    this.files = (options.files && this.host.openFiles?.(options.files)) ?? null;
    this.shell = (options.shell && this.host.openSpawn?.(options.shell)) ?? null;
  }

  /** The slots of all nodes of a type; undefined: as many as there are. */
  slotsOf({ entry, slots }: NodeType): Limit | undefined {
    const known = this.#slots.get(entry.type);
    if (known !== undefined) return known;
    const { types = {} } = this.options.concurrency ?? {};
    const max = Object.hasOwn(types, entry.type) ? types[entry.type] : slots;
    if (typeof max !== "number") return undefined;
    const limit = new Limit(max);
    this.#slots.set(entry.type, limit);
    return limit;
  }

  /** A value that nodes of this engine share. */
  shared<T extends Shared, S>(key: SharedKey<T, S>): T {
    let value = this.#shared.get(key) as T | undefined;
    if (value === undefined) {
      const settings = this.#settings.get(key) as S | undefined;
      value = key.make({ host: this.host, egress: this.options.egress ?? {}, settings });
      this.#shared.set(key, value);
    }
    return value;
  }

  /** The network as a type may use it: core's is the engine's, an extension's ends at the hosts that it was granted. */
  fetchOf({ grants }: NodeType): FetchLike | null {
    if (grants === undefined) return this.fetch;
    let fetch = this.#granted.get(grants);
    if (fetch === undefined) {
      fetch = this.host.openFetch?.({ ...this.options.egress, only: grants.net }) ?? null;
      this.#granted.set(grants, fetch);
    }
    return fetch;
  }

  /** Digest of the inputs of a run; most often there are none. */
  inputsDigest(inputs: JsonObject): string {
    if (Object.keys(inputs).length > 0) return digestOf(inputs, this.host);
    this.#noInputs ??= digestOf({}, this.host);
    return this.#noInputs;
  }

  /** Digest of `plain`, which is always the same for `shared`. */
  sharedDigest(shared: object, plain: Json): string {
    let digest = this.#digests.get(shared);
    if (digest === undefined) {
      digest = digestOf(plain, this.host);
      this.#digests.set(shared, digest);
    }
    return digest;
  }

  /** Wakes the readers of a log with the next macrotask; all logs of one tick together. */
  wakeReaders(log: EventLog): void {
    this.#toWake.add(log);
    if (this.#isYielding) return;
    this.#isYielding = true;
    this.host.yield(() => {
      this.#isYielding = false;
      this.turnSeen = 0;
      for (const one of [...this.#toWake]) one.wakeNow();
    });
  }

  /** The readers of a log are awake: it need not be kept for them. */
  readersAwake(log: EventLog): void {
    this.#toWake.delete(log);
  }

  claimKey(key: string, how: { max: number; heldBefore: boolean }, owner: PortKeyOwner): KeyHold {
    const { keys } = this.options;
    if (keys === undefined) return this.#keys.claim(key, how, owner);
    return new PortKey(keys, { name: key, ...how }, owner);
  }

  /** Tells shared values that a run has ended. */
  endRun(runId: string): void {
    for (const value of this.#shared.values()) value.endRun?.(runId);
  }
}
