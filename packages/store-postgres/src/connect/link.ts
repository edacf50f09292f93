/**
 * One connection. Calls are sent at once, without waiting for the answers of earlier ones; the server works through them in order.
 *   L1  A transaction is alone on its link from its first statement to its COMMIT: `exclusively` is a queue.
 *   L2  A link that was cut is never used again, and all its calls reject.
 */
import type { Duplex } from "node:stream";
import { type SqlRow, type SqlValue, storable } from "@millrace/store/sql";
import pg, { type ClientConfig, type QueryResult } from "pg";
import type { Prepared } from "../sql/statements.ts";
import { faultOf, READ_ONLY_STATE } from "./faults.ts";

/** Rows and the number of changed ones. */
export interface Answer {
  readonly rows: readonly SqlRow[];
  readonly count: number;
  readonly command: string;
}

/** What the driver has of a connection, beside its types. */
interface Connection {
  readonly stream: Duplex;
  on(
    event: "parameterStatus",
    told: (status: { readonly parameterName: string; readonly parameterValue: string }) => void,
  ): void;
}

const READ_ONLY: ReadonlySet<string> = new Set(["in_hot_standby", "default_transaction_read_only"]);

const BOOL = 16;
const BYTEA = 17;
const INTEGERS: ReadonlySet<number> = new Set([20, 21, 23, 26]);
const FLOATS: ReadonlySet<number> = new Set([700, 701, 1700]);

const asText = (value: string): string => value;
const asBytes = (value: string): Uint8Array => Buffer.from(value.slice(2), "hex"); // \x0a0b
const asBit = (value: string): number => (value === "t" ? 1 : 0);

/** Integers of SQL that JavaScript cannot hold are errors, not other numbers. */
function asInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError("an integer of the store is too large");
  return value;
}

const TYPES: NonNullable<ClientConfig["types"]> = {
  getTypeParser: ((oid: number) => {
    if (INTEGERS.has(oid)) return asInteger;
    if (oid === BYTEA) return asBytes;
    if (FLOATS.has(oid)) return Number;
    return oid === BOOL ? asBit : asText;
  }) as pg.CustomTypesConfig["getTypeParser"],
};

export class Link {
  readonly #client: pg.Client;
  readonly #gone: Promise<void>;
  #isOpen = false;
  #isGathering = false;
  /** Settings that PostgreSQL tells by itself, whenever they change, and that let nobody write. */
  readonly #readOnly = new Set<string>();
  #load = 0;
  #last: Promise<unknown> = Promise.resolve();

  /** `config` is that of `addressOf`. Its type is the one of the driver, which those who use this package may not have. */
  constructor(config: object) {
    this.#client = new pg.Client({ ...config, types: TYPES, pipeline: true } as ClientConfig);
    this.#gone = new Promise((done) => {
      const end = (): void => {
        this.#isOpen = false;
        done();
      };
      this.#client.on("error", end);
      this.#client.on("end", end);
    });
    this.#connection.on("parameterStatus", ({ parameterName, parameterValue }) => {
      if (!READ_ONLY.has(parameterName)) return;
      if (parameterValue === "on") this.#readOnly.add(parameterName);
      else this.#readOnly.delete(parameterName);
    });
  }

  /** Connects. Rejects with the error of the driver. */
  async open(): Promise<this> {
    await this.#client.connect();
    this.#isOpen = true;
    return this;
  }

  /** The same; rejects where nothing can be written, such as at a standby. */
  async openToWrite(): Promise<this> {
    await this.open();
    if (!this.isReadOnly) return this;
    this.cut();
    throw Object.assign(new Error("read only"), { code: READ_ONLY_STATE });
  }

  /** Whether it refuses all writes: a standby, or a server that was set so. */
  get isReadOnly(): boolean {
    return this.#readOnly.size > 0;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** How many callers wait for it. */
  get load(): number {
    return this.#load;
  }

  /** Resolves when the connection is gone, whoever has ended it. */
  get gone(): Promise<void> {
    return this.#gone;
  }

  /** Sends a statement. Its rejection may be handled later. */
  send({ text, name }: Prepared, values: readonly SqlValue[] = []): Promise<Answer> {
    this.#gather();
    const query = { text, values: values.map(storable), ...(name !== undefined && { name }) };
    const answer = this.#client.query(query).then(answerOf);
    answer.catch((error) => {
      if (this.#isOpen && faultOf(error) === "cut") this.cut(); // also one that answers, with plans that are out of date
    });
    return answer;
  }

  /** Sends several statements without values, such as those of a migration. */
  run(text: string): Promise<Answer> {
    return this.send({ text, name: undefined });
  }

  /** Calls `told` with what other sessions say. */
  onNotice(told: (channel: string, payload: string) => void): void {
    this.#client.on("notification", ({ channel, payload = "" }) => told(channel, payload));
  }

  /** Counts as load until `work` has ended. */
  async use<T>(work: (link: this) => Promise<T>): Promise<T> {
    this.#load += 1;
    try {
      return await work(this);
    } finally {
      this.#load -= 1;
    }
  }

  /** Waits until no transaction is open here, and holds the link until `work` calls `leave` or ends. */
  async exclusively<T>(work: (leave: () => void) => Promise<T>): Promise<T> {
    const before = this.#last;
    let leave: () => void = () => {};
    this.#last = new Promise<void>((done) => {
      leave = done;
    });
    try {
      return await this.use(async () => {
        await before;
        return await work(leave);
      });
    } finally {
      leave();
    }
  }

  /** Drops the connection at once. */
  cut(): void {
    this.#isOpen = false;
    this.#stream.destroy();
  }

  /** Messages of one turn go out in one write: a system call costs more than the data it carries. */
  #gather(): void {
    if (this.#isGathering) return;
    this.#isGathering = true;
    const stream = this.#stream;
    stream.cork();
    process.nextTick(() => {
      this.#isGathering = false;
      stream.uncork();
    });
  }

  get #stream(): Duplex {
    return this.#connection.stream;
  }

  get #connection(): Connection {
    return (this.#client as unknown as { readonly connection: Connection }).connection;
  }

  /** Ends after the calls that were sent. */
  async close(): Promise<void> {
    const wasOpen = this.#isOpen;
    this.#isOpen = false;
    if (wasOpen) await this.#client.end().catch(() => {});
  }
}

function answerOf(result: QueryResult | readonly QueryResult[]): Answer {
  const last = (Array.isArray(result) ? result.at(-1) : result) as QueryResult;
  return { rows: last.rows as SqlRow[], count: last.rowCount ?? 0, command: last.command };
}
