/**
 * The one session of a server that lasts: it says that the server is alive, hears what others have changed, tells them what has changed
 * here, and reads the clock of the database.
 *   V1  A server is at work while its row has a young heartbeat, by the clock of the database, or while its session holds its lock.
 *       PostgreSQL ends a session that says nothing for as long as a heartbeat is young, so a process that stands still loses both.
 *   V2  Notices are sent after the COMMIT that they are about, many at once, in a transaction of their own: in each transaction they
 *       would make all COMMITs of the database wait for each other. One that is lost with its server is made up for by polling.
 */
import { randomInt } from "node:crypto";
import { hostname } from "node:os";
import { codeOf, READ_ONLY_STATE } from "./connect/faults.ts";
import type { Link } from "./connect/link.ts";
import { SERVER_LOCKS, STALE_MS, WORK_LOCKS } from "./schema/names.ts";
import { composed, prepared } from "./sql/statements.ts";

const BEAT_MS = 1_000;
const POLL_MS = 500;
const AGAIN_MS = 1_000; // between two tries to get a session
const NOTICE_MS = 5; // notices of so much time are one
const NOTICE_BYTES = 7_000; // of at most 8000
const DEAD_MS = 600_000; // the row of a dead server goes after so long
const SILENT_MS = 3_000; // a call that fails later than that had no answer at all
const NEAR_MS = 20; // an answer that took longer says little about the clock

export interface SessionParts {
  /** Name of this opening. */
  readonly id: string;
  readonly channel: string;
  readonly connect: () => Promise<Link>;
  /** Told why, when the database has given no answer to a sign of life, or takes none. */
  readonly silent: (error: unknown) => void;
}

const BEAT = prepared(
  "INSERT INTO server AS s (id, lock, heartbeat, started_at, host, url) " +
    "VALUES(?, ?, clock_ms(), clock_ms(), ?, ?) " +
    "ON CONFLICT (id) DO UPDATE SET heartbeat = clock_ms(), lock = excluded.lock, url = excluded.url " +
    "RETURNING heartbeat",
);
const NOTIFY = prepared("SELECT pg_notify(?, ?)");
const SWEEP = prepared(
  "DELETE FROM server WHERE heartbeat < clock_ms() - ?::bigint AND NOT is_at_work(id)",
);

export class Session {
  readonly #parts: SessionParts;
  /** Of the present session: that of a session which was cut may be held until PostgreSQL notices. */
  #lock = 0;
  readonly #watchers = new Set<(topic: string) => void>();
  readonly #atWork = new Set<string>();
  readonly #waiting = new Set<string>();
  #url: string | null = null;
  #offset = 0;
  #link: Link | undefined;
  #beat: ReturnType<typeof setTimeout> | undefined;
  #poll: ReturnType<typeof setInterval> | undefined;
  #notice: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  /** Begins. Rejects with the error of the driver when there is no session. */
  async open(): Promise<void> {
    await this.#connect();
    await this.#link?.send(SWEEP, [DEAD_MS]);
    this.#next(BEAT_MS);
  }

  /** Whether others are heard. */
  get isOpen(): boolean {
    return this.#link?.isOpen === true;
  }

  /** Epoch milliseconds by the clock of the database. */
  now(): number {
    return Date.now() + this.#offset;
  }

  /** Other servers are told where this one serves. */
  announce(url: string): void {
    this.#url = url;
    this.#next(0);
  }

  /** Tells other servers what has changed. */
  tell(topics: readonly string[]): void {
    for (const topic of topics) this.#waiting.add(topic);
    this.#notice ??= setTimeout(() => this.#send(), NOTICE_MS).unref();
  }

  watch(told: (topic: string) => void): () => void {
    this.#watchers.add(told);
    this.#poll ??= setInterval(() => this.#say("*"), POLL_MS).unref();
    return () => {
      this.#watchers.delete(told);
      if (this.#watchers.size > 0) return;
      clearInterval(this.#poll);
      this.#poll = undefined;
    };
  }

  /** Does `work` while no other session does work of this name; undefined: another one does, or there is no session. */
  async alone<T>(name: string, work: () => Promise<T>): Promise<T | undefined> {
    const link = this.#link;
    if (link === undefined || this.#atWork.has(name)) return undefined;
    this.#atWork.add(name);
    try {
      const key = [WORK_LOCKS, name];
      const taken = prepared(
        "SELECT pg_try_advisory_lock(?, hashtext(current_schema() || ?)) AS taken",
      );
      const { rows } = await link.send(taken, key);
      if (rows[0]?.["taken"] !== 1) return undefined;
      try {
        return await work();
      } finally {
        const freed = prepared("SELECT pg_advisory_unlock(?, hashtext(current_schema() || ?))");
        if (link.isOpen) await link.send(freed, key).catch(() => {}); // a session that ends frees all
      }
    } finally {
      this.#atWork.delete(name);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#beat);
    clearInterval(this.#poll);
    clearTimeout(this.#notice);
    const link = this.#link;
    if (link?.isOpen !== true) return;
    this.#send();
    void link.send(composed("DELETE FROM server WHERE id = ?"), [this.#parts.id]);
    await link.close();
  }

  async #connect(): Promise<void> {
    const { connect, channel } = this.#parts;
    const link = await connect();
    this.#lock = randomInt(2 ** 31 - 1);
    try {
      link.onNotice((_channel, payload) => this.#hear(payload));
      await Promise.all([
        link.run(`SET idle_session_timeout = ${STALE_MS}; SET synchronous_commit = off`),
        link.send(composed("SELECT pg_advisory_lock(?, ?)"), [SERVER_LOCKS, this.#lock]),
        link.run(`LISTEN ${channel}`),
      ]);
      if (this.#isClosed) throw new Error("closed");
      await this.#sign(link);
    } catch (error) {
      link.cut();
      throw error;
    }
    this.#link = link;
    void link.gone.then(() => {
      if (this.#link === link) this.#link = undefined;
      this.#next(0);
    });
  }

  /** A sign of life, and a look at the clock. */
  async #sign(link: Link): Promise<void> {
    const { id } = this.#parts;
    const before = Date.now();
    const { rows } = await link.send(BEAT, [id, this.#lock, hostname(), this.#url]);
    const ms = Date.now() - before;
    const offset = Math.round(Number(rows[0]?.["heartbeat"]) - (before + ms / 2));
    // a far database says little, but where the clock of this machine has jumped it says enough
    const isWrong = Math.abs(offset - this.#offset) > ms;
    if (ms <= NEAR_MS || isWrong) this.#offset = offset;
  }

  #next(ms: number): void {
    clearTimeout(this.#beat);
    if (!this.#isClosed) this.#beat = setTimeout(() => void this.#go(), ms).unref();
  }

  async #go(): Promise<void> {
    let ms = BEAT_MS;
    const begunAt = performance.now();
    try {
      if (this.#link?.isOpen === true) await this.#sign(this.#link);
      else {
        await this.#connect();
        this.#say("*"); // what was said in between was not heard
      }
    } catch (error) {
      // a session that was ended says so at once
      const isSilent = performance.now() - begunAt >= SILENT_MS;
      if (isSilent || codeOf(error) === READ_ONLY_STATE) this.#parts.silent(error);
      ms = AGAIN_MS;
    }
    this.#next(ms);
  }

  #send(): void {
    clearTimeout(this.#notice);
    this.#notice = undefined;
    const link = this.#link;
    let topics: string[] = [];
    let bytes = 0;
    const flush = (): void => {
      const payload = JSON.stringify([this.#parts.id, ...topics]);
      if (topics.length > 0 && link?.isOpen === true) {
        void link.send(NOTIFY, [this.#parts.channel, payload]);
      }
      topics = [];
      bytes = 0;
    };
    for (const topic of this.#waiting) {
      const size = Buffer.byteLength(JSON.stringify(topic)) + 1;
      if (bytes + size > NOTICE_BYTES) flush();
      topics.push(topic);
      bytes += size;
    }
    flush();
    this.#waiting.clear();
  }

  #hear(payload: string): void {
    let words: unknown;
    try {
      words = JSON.parse(payload);
    } catch {
      return; // anybody may say something on a channel
    }
    if (!Array.isArray(words) || words[0] === this.#parts.id) return;
    for (const topic of words.slice(1)) if (typeof topic === "string") this.#say(topic);
  }

  #say(topic: string): void {
    for (const told of [...this.#watchers]) told(topic);
  }
}
