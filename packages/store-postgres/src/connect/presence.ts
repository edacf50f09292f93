/**
 * Whether the database can be reached. When a connection cannot be made, or it does not answer, it is away; then one caller looks for
 * it, with growing pauses, until it is back.
 */
import type { Condition } from "@millrace/store/sql";
import { isSilence } from "./faults.ts";
import type { Link } from "./link.ts";

const FIRST_MS = 50;
const MAX_MS = 2_000;
const FULL_MS = 5_000; // how long a full disk is remembered: the next write that succeeds ends it sooner

export class Presence {
  readonly #connect: () => Promise<Link>;
  readonly #unreachable: () => void;
  readonly #watchers = new Set<(isWaiting: boolean, problem?: string) => void>();
  #condition: Condition = "ok";
  #problem: string | undefined;
  #isClosed = false;
  #search: Promise<void> | undefined;
  #pause: { end(): void } | undefined;
  #fullTimer: ReturnType<typeof setTimeout> | undefined;

  /**
   * `connect` makes a new connection, which is only tried here. `unreachable` is told when there is no way to the database, so that
   * what is open leads nowhere either.
   */
  constructor(connect: () => Promise<Link>, unreachable: () => void) {
    this.#connect = connect;
    this.#unreachable = unreachable;
  }

  get condition(): Condition {
    return this.#condition;
  }

  /** Tells whether writes wait, and why: at once when they do, then at every change. */
  watch(told: (isWaiting: boolean, problem?: string) => void): () => void {
    this.#watchers.add(told);
    if (this.#condition !== "ok") told(true, this.#problem);
    return () => void this.#watchers.delete(told);
  }

  /** Begins to look for the database. */
  leave(problem: string): void {
    if (this.#isClosed || this.#search !== undefined) return;
    this.#stand("store_unavailable", problem);
    this.#search = this.#look().finally(() => {
      this.#search = undefined;
    });
  }

  /** The disk of the database is full, until a write succeeds or some time has passed. */
  fill(): void {
    if (this.#condition === "store_unavailable" || this.#isClosed) return;
    this.#stand("store_full");
    clearTimeout(this.#fullTimer);
    this.#fullTimer = setTimeout(() => this.drain(), FULL_MS).unref();
  }

  /** A write has succeeded. */
  drain(): void {
    if (this.#condition === "store_full") this.#stand("ok");
  }

  /** Waits until the database is there, at most until `deadline` (by `performance.now()`). False: it is not. */
  async isBack(deadline: number): Promise<boolean> {
    if (this.#search === undefined) return !this.#isClosed;
    const left = deadline - performance.now();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const over = new Promise<void>((done) => {
      timer = setTimeout(done, Math.max(0, left));
    });
    await Promise.race([this.#search, over]);
    clearTimeout(timer);
    return this.#search === undefined && !this.#isClosed;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#fullTimer);
    this.#pause?.end();
    await this.#search;
  }

  async #look(): Promise<void> {
    for (let ms = FIRST_MS; !this.#isClosed; ms = Math.min(ms * 2, MAX_MS)) {
      try {
        const link = await this.#connect();
        await link.close();
        if (!this.#isClosed) this.#stand("ok");
        return;
      } catch (error) {
        if (isSilence(error)) this.#unreachable();
        await this.#sleep(ms * (0.5 + Math.random() / 2)); // all servers look at the same time otherwise
      }
    }
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((done) => {
      const timer = setTimeout(done, ms).unref();
      this.#pause = {
        end() {
          clearTimeout(timer);
          done();
        },
      };
    });
  }

  #stand(condition: Condition, problem?: string): void {
    const before = this.#condition;
    this.#condition = condition;
    this.#problem = problem;
    if ((before === "ok") === (condition === "ok")) return;
    for (const told of [...this.#watchers]) told(condition !== "ok", problem);
  }
}
