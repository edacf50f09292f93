/**
 * What code of an extension sees of an attempt: the members of `ControlContext` and nothing of the engine behind them. A
 * connection can be had only where the fields name it.
 */
import {
  type AbortSignalLike,
  type ConfirmAnswer,
  type Connection,
  type ControlContext,
  type FetchLike,
  type FilePort,
  type Json,
  type JsonObject,
  NodeError,
  type Secret,
  type SpawnPort,
} from "@millrace/contracts";
import type { Fields } from "@millrace/engine";
import { randomFrom, seedOf } from "./child/chance.ts";

export interface GuardOptions {
  /** The field that holds the name of a connection, where the type has one. */
  readonly connection: string | undefined;
  /** Told of every secret. */
  readonly learn: (secret: string) => void;
}

/** Guards a context: one object per attempt, made of getters, so that what is not asked for is not made. */
export class GuardedContext implements ControlContext {
  readonly #ctx: ControlContext;
  readonly #fields: Fields;
  readonly #how: GuardOptions;
  /** Null: not asked for yet. */
  #random: (() => number) | null = null;

  constructor(ctx: ControlContext, fields: Fields, how: GuardOptions) {
    this.#ctx = ctx;
    this.#fields = fields;
    this.#how = how;
  }

  get runId(): string {
    return this.#ctx.runId;
  }

  get node(): string {
    return this.#ctx.node;
  }

  get attempt(): number {
    return this.#ctx.attempt;
  }

  get idempotencyKey(): string {
    return this.#ctx.idempotencyKey;
  }

  get signal(): AbortSignalLike {
    return this.#ctx.signal;
  }

  get fetch(): FetchLike {
    return this.#ctx.fetch;
  }

  get files(): FilePort {
    return this.#ctx.files;
  }

  get shell(): SpawnPort {
    return this.#ctx.shell;
  }

  get config(): JsonObject {
    return this.#ctx.config;
  }

  now(): number {
    return this.#ctx.now();
  }

  random(): number {
    this.#ctx.now(); // refused once the attempt is over
    this.#random ??= randomFrom(seedOf(this.#ctx));
    return this.#random();
  }

  sleep(ms: number): Promise<void> {
    return this.#ctx.sleep(ms);
  }

  log(level: "debug" | "info" | "warn" | "error", text: string, data?: JsonObject): void {
    this.#ctx.log(level, text, data);
  }

  progress(done: number, total?: number): void {
    this.#ctx.progress(done, total);
  }

  get credentials(): {
    secret(name: string): Promise<Secret>;
    connection(slug: string): Promise<Connection>;
  } {
    const { credentials } = this.#ctx;
    const { connection, learn } = this.#how;
    const named = connection === undefined ? undefined : this.#fields[connection];
    return {
      secret: async (name) => {
        const secret = await credentials.secret(name);
        learn(secret.reveal());
        return secret;
      },
      connection: async (slug) => {
        if (typeof slug === "string" && slug === named) return credentials.connection(slug);
        const text = `the fields of ${this.node} do not name the connection "${String(slug).slice(0, 64)}"`;
        throw new NodeError("capability_denied", text, { reason: "denied", sent: false });
      },
    };
  }

  confirm(key: string, request: Parameters<ControlContext["confirm"]>[1]): Promise<ConfirmAnswer> {
    const { prompt, schema, expiresInMs } = request;
    return this.#ctx.confirm(key, {
      prompt,
      ...(schema !== undefined && { schema }),
      ...(expiresInMs !== undefined && { expiresInMs }),
    });
  }

  step<T extends Json>(key: string, fn: () => Promise<T> | T): Promise<T> {
    return this.#ctx.step(key, fn);
  }
}
