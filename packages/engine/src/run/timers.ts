/**
 * All timers of an engine: one binary heap by (due, order), one timer of the host for the next of them.
 *   T1  a timer fires only when the clock has reached `due`; host timers may come a millisecond early.
 *   T2  timers with one due time fire in the order they were set.
 *   T3  a cancelled timer never fires and holds nothing. That of the host stays while other timers are set, until it fires, and
 *       may then wake the engine for nothing; else until the turn is over: the next node of a chain sets its time limit before.
 *   T4  a host that sleeps stops its timers but not its clock: one armed before holds up what is first afterwards for a second at most.
 */
import type { Host } from "../host.ts";

/** The age up to which the timer of the host serves another one: what is new is late by a shorter sleep at most. */
const KEPT_MS = 1_000;

/** A set timer. `due` is in epoch milliseconds. No literal: ADR 0092. */
export class Timer {
  readonly due: number;
  readonly order: number;
  readonly fire: () => void;
  /** Place in the heap; -1 when fired or cancelled. */
  at = -1;

  constructor(due: number, fire: () => void, order: number) {
    this.due = due;
    this.fire = fire;
    this.order = order;
  }
}

export class Timers {
  readonly #host: Host;
  readonly #heap: Timer[] = [];
  #order = 0;
  #armed: (() => void) | null = null;
  #armedFor = 0;
  #armedAt = 0;
  #firing = false;
  /** A microtask will see whether any timer is left. */
  #isLeaving = false;

  constructor(host: Host) {
    this.#host = host;
  }

  get size(): number {
    return this.#heap.length;
  }

  /** Calls `fire` once at or after `due`. */
  set(due: number, fire: () => void): Timer {
    const timer = new Timer(due, fire, this.#order++);
    timer.at = this.#heap.push(timer) - 1;
    this.#up(timer);
    if (timer.at > 0 && this.#armed !== null) return timer;
    try {
      this.#arm();
    } catch (error) {
      this.#remove(timer);
      throw error;
    }
    return timer;
  }

  cancel(timer: Timer | null): void {
    if (timer === null || timer.at < 0) return;
    this.#remove(timer);
    if (this.#heap.length > 0 || this.#isLeaving) return;
    this.#isLeaving = true;
    queueMicrotask(() => {
      this.#isLeaving = false;
      if (this.#heap.length === 0) this.#arm();
    });
  }

  #arm(): void {
    if (this.#firing) return;
    const next = this.#heap[0];
    if (next === undefined) {
      this.#armed?.();
      this.#armed = null;
      return;
    }
    const now = this.#host.now();
    const { due } = next;
    if (this.#armed !== null && due >= this.#armedFor && now - this.#armedAt < KEPT_MS) return; // to wake too soon costs less than to arm again
    const armed = this.#host.setTimer(() => this.#wake(), Math.max(0, due - now)); // when it throws, what was armed stays
    this.#armed?.();
    this.#armed = armed;
    this.#armedFor = due;
    this.#armedAt = now;
  }

  #wake(): void {
    this.#armed = null;
    this.#firing = true;
    try {
      const now = this.#host.now();
      for (let next = this.#heap[0]; next !== undefined && next.due <= now; next = this.#heap[0]) {
        this.#remove(next);
        next.fire();
      }
    } finally {
      this.#firing = false;
      this.#arm();
    }
  }

  #remove(timer: Timer): void {
    const last = this.#heap.pop();
    if (last !== undefined && last !== timer) {
      last.at = timer.at;
      this.#heap[last.at] = last;
      this.#up(last);
      this.#down(last);
    }
    timer.at = -1;
  }

  #up(timer: Timer): void {
    while (timer.at > 0) {
      const parent = this.#heap[(timer.at - 1) >> 1] as Timer;
      if (!before(timer, parent)) return;
      this.#swap(timer, parent);
    }
  }

  #down(timer: Timer): void {
    for (;;) {
      const left = this.#heap[2 * timer.at + 1];
      const right = this.#heap[2 * timer.at + 2];
      if (left === undefined) return;
      const child = right !== undefined && before(right, left) ? right : left;
      if (!before(child, timer)) return;
      this.#swap(child, timer);
    }
  }

  #swap(child: Timer, parent: Timer): void {
    const at = parent.at;
    parent.at = child.at;
    child.at = at;
    this.#heap[parent.at] = parent;
    this.#heap[at] = child;
  }
}

function before(a: Timer, b: Timer): boolean {
  return a.due < b.due || (a.due === b.due && a.order < b.order);
}
