/**
 * Who may work at the same time. A limit is a number of slots and a queue; a node that works holds one slot of each of its
 * limits.
 *   S1  no attempt holds some of its slots while it waits for others.
 *   S2  first in, first out per limit; a blocked node does not block others at another limit.
 *   S3  `used` never passes `max`, but for attempts that had a key when their process died, and those that call `take`.
 */
import type { Json } from "@millrace/contracts";
import type { Layout } from "../compile/layout.ts";
import type { NodePolicy } from "../compile/policy.ts";
import type { Host } from "../host.ts";
import type { NodeType } from "../node-type.ts";
import { digestOf } from "../values.ts";

/** Holder of slots: it takes those of all `limits` at once. */
export interface Claimant {
  readonly limits: readonly Limit[];
  /** Called when all slots are taken, after `acquire` had answered false. */
  granted(): void;
  /** No longer interested; it is skipped in the queues. */
  readonly gone: boolean;
}

const NOBODY: Claimant[] = []; // never changed

export class Limit {
  max: number;
  used = 0;
  /** Shared while there are no waiters. */
  queue: Claimant[] = NOBODY;
  #head = 0;

  constructor(max: number) {
    this.max = max;
  }

  wait(claimant: Claimant): void {
    if (this.queue === NOBODY) this.queue = [claimant];
    else this.queue.push(claimant);
  }

  /** The first that still waits; taken out of the queue. */
  next(): Claimant | undefined {
    while (this.#head < this.queue.length) {
      const claimant = this.queue[this.#head] as Claimant;
      this.#head += 1;
      if (this.#head > 1_024 && 2 * this.#head > this.queue.length) {
        this.queue.splice(0, this.#head);
        this.#head = 0;
      }
      if (!claimant.gone) return claimant;
    }
    this.queue = NOBODY;
    this.#head = 0;
    return undefined;
  }
}

/** Takes all slots, or queues at the first limit without one and answers false. */
export function acquire(claimant: Claimant): boolean {
  const { limits } = claimant;
  for (let i = 0; i < limits.length; i += 1) {
    const limit = limits[i] as Limit;
    if (limit.used >= limit.max) {
      limit.wait(claimant);
      return false;
    }
  }
  take(limits);
  return true;
}

/** Takes all slots, free or not: for a holder that had them and lent them to nodes within it. */
export function take(limits: readonly Limit[]): void {
  for (let i = 0; i < limits.length; i += 1) (limits[i] as Limit).used += 1;
}

/** Gives all slots back and hands them to the waiters. */
export function release(limits: readonly Limit[]): void {
  for (let i = 0; i < limits.length; i += 1) (limits[i] as Limit).used -= 1;
  for (let i = 0; i < limits.length; i += 1) {
    const limit = limits[i] as Limit;
    if (limit.queue.length > 0) admit(limit);
  }
}

/** Admits the waiters at `limit` while it has room. */
function admit(limit: Limit): void {
  while (limit.used < limit.max && limit.queue.length > 0) {
    const claimant = limit.next();
    if (claimant === undefined) return;
    if (acquire(claimant)) claimant.granted();
  }
}

const NO_LIMITS: readonly Limit[] = [];

/** The slots of all nodes of a type in an engine. */
interface SharedSlots {
  slotsOf(type: NodeType): Limit | undefined;
}

/** The slots that nodes of one run need: of the run, of their type, and of their own policy. */
export class RunSlots {
  readonly #own: readonly Limit[];
  readonly #engine: SharedSlots;
  /** The slots of the type that was asked for last: neighbours are often alike. */
  #lastType: NodeType | null = null;
  #lastSlots: readonly Limit[] = NO_LIMITS;
  /** Slots by type name, or by the policy of a node that has a limit of its own. */
  #sets: Map<unknown, readonly Limit[]> | null = null;

  constructor(most: number, engine: SharedSlots) {
    this.#own = [new Limit(most)];
    this.#engine = engine;
  }

  /** The slots that a node needs to work. */
  of(layout: Layout, node: number): readonly Limit[] {
    const type = layout.types[node] as NodeType;
    const policy = layout.policies[node] as NodePolicy;
    if (policy.concurrency === null && type === this.#lastType) return this.#lastSlots;
    const slots = type.slots === "none" ? NO_LIMITS : this.#make(type, policy);
    if (policy.concurrency === null) {
      this.#lastType = type;
      this.#lastSlots = slots;
    }
    return slots;
  }

  #make(type: NodeType, policy: NodePolicy): readonly Limit[] {
    const { type: name } = type.entry;
    const ofType = this.#engine.slotsOf(type);
    const own = policy.concurrency;
    if (own === null && ofType === undefined) return this.#own;
    this.#sets ??= new Map();
    const key = own === null ? name : policy;
    let slots = this.#sets.get(key);
    if (slots === undefined) {
      slots = [...this.#own];
      if (ofType !== undefined) slots = [...slots, ofType];
      if (own !== null) slots = [...slots, new Limit(own)];
      this.#sets.set(key, slots);
    }
    return slots;
  }
}

/** An attempt's hold on the concurrency key of its policy: the key itself, or a place in its queue. */
export interface KeyHold {
  readonly name: string;
  readonly held: boolean;
  /** Whether it has the key at once is not known yet. */
  readonly isAsking: boolean;
  /** Called instead of `granted` of the owner when it is known. */
  onAnswer: ((held: boolean) => void) | null;
  /** Gives it back. `isLeft`: the run has not ended, and may be driven elsewhere. */
  release(isLeft: boolean): void;
}

/** A place among the holders of one key in the whole engine. */
export class KeyClaim implements Claimant, KeyHold {
  readonly isAsking = false;
  onAnswer: ((held: boolean) => void) | null = null;
  readonly name: string;
  readonly max: number;
  readonly limits: readonly Limit[];
  held = false;
  readonly #owner: Claimant;
  readonly #keys: Keys;

  constructor(
    keys: Keys,
    { name, max, limit }: { name: string; max: number; limit: Limit },
    owner: Claimant,
  ) {
    this.name = name;
    this.max = max;
    this.limits = [limit];
    this.#owner = owner;
    this.#keys = keys;
  }

  release(): void {
    this.#keys.release(this);
  }

  get gone(): boolean {
    return this.#owner.gone;
  }

  granted(): void {
    this.held = true;
    if (acquire(this.#owner)) this.#owner.granted();
  }
}

/** Holders of keys. Of different `max` for one key the lowest of those present counts. */
export class Keys {
  readonly #keys: Map<string, { limit: Limit; claims: Set<KeyClaim> }> = new Map();

  /** `heldBefore`: the owner is not refused, even when others have the key meanwhile. */
  claim(
    name: string,
    { max, heldBefore }: { max: number; heldBefore: boolean },
    owner: Claimant,
  ): KeyClaim {
    const known = this.#keys.get(name);
    const key = known ?? { limit: new Limit(max), claims: new Set<KeyClaim>() };
    if (known === undefined) this.#keys.set(name, key);
    const claim = new KeyClaim(this, { name, max, limit: key.limit }, owner);
    key.claims.add(claim);
    key.limit.max = Math.min(key.limit.max, max);
    if (heldBefore) key.limit.used += 1;
    claim.held = heldBefore || acquire(claim);
    return claim;
  }

  release(claim: KeyClaim): void {
    const key = this.#keys.get(claim.name);
    if (key === undefined || !key.claims.delete(claim)) return;
    if (claim.held) key.limit.used -= 1;
    claim.held = false;
    if (key.claims.size === 0) {
      this.#keys.delete(claim.name);
      return;
    }
    key.limit.max = Math.min(...[...key.claims].map(({ max }) => max));
    admit(key.limit);
  }
}

const MAX_KEY_UNITS = 256; // events and logs show keys

/** A key that is too long to show, or holds half a character, goes by its digest: two keys are never one. */
export function nameOfKey(key: Json, host: Host): string {
  const text = typeof key === "string" ? key : JSON.stringify(key);
  const isShown = text.length <= MAX_KEY_UNITS && !/\p{Surrogate}/u.test(text);
  return isShown ? text : digestOf(text, host);
}

const FIRST_SIZE = 4; // nodes; a chain never grows it

const NOTHING: number[] = []; // shared; never changed

export class ReadyRing {
  #pairs: number[] = NOTHING;
  #head = 0;
  size = 0;

  push(frame: number, node: number): void {
    if (2 * this.size === this.#pairs.length) this.#grow();
    const at = (this.#head + 2 * this.size) & (this.#pairs.length - 1);
    this.#pairs[at] = frame;
    this.#pairs[at + 1] = node;
    this.size += 1;
  }

  /** The frame of the first pair; `takeNode` must follow. */
  peekFrame(): number {
    return this.#pairs[this.#head] as number;
  }

  takeNode(): number {
    const node = this.#pairs[this.#head + 1] as number;
    this.#head = (this.#head + 2) & (this.#pairs.length - 1);
    this.size -= 1;
    return node;
  }

  /** Empties the ring and gives its memory back. */
  clear(): void {
    this.#pairs = NOTHING;
    this.#head = 0;
    this.size = 0;
  }

  #grow(): void {
    const pairs = this.#pairs;
    const inOrder = pairs.slice(this.#head).concat(pairs.slice(0, this.#head));
    // Written twice, it has room for as many again; a typed array costs more to make than to use here.
    this.#pairs = pairs === NOTHING ? new Array(2 * FIRST_SIZE).fill(0) : inOrder.concat(inOrder);
    this.#head = 0;
  }
}
