/** The context of a body in a child: every member is a message to the host, which makes all decisions. */
import {
  type AbortSignalLike,
  type ConfirmAnswer,
  type Connection,
  type ControlContext,
  type FetchInit,
  type FetchLike,
  type FileEntry,
  type FilePort,
  type Json,
  type JsonObject,
  NodeError,
  type ResponseLike,
  type Secret,
  type SpawnEnd,
  type SpawnPort,
} from "@millrace/contracts";
import { untilAborted } from "@millrace/contracts/kit";
import { takesLine, takesProgress } from "@millrace/engine/pack";
import { randomFrom, seedOf } from "./chance.ts";
import { bytesOf, fromWire, toWire } from "./wire.ts";

/** Message of the host at the beginning of an attempt. */
export interface CallStart {
  readonly runId: string;
  readonly node: string;
  readonly attempt: number;
  readonly idempotencyKey: string;
  readonly now: number;
  readonly config: JsonObject;
}

export interface CallLine {
  ask(op: string, body: object): Promise<unknown>;
  tell(kind: "log" | "progress", body: object): void;
}

/** A response as the host sends it: whole. */
export interface WireResponse {
  readonly status: number;
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Base64; absent: no body. */
  readonly body?: string;
}

/** The context of one call, which ends with `over`. */
export class ChildContext implements ControlContext {
  readonly runId: string;
  readonly node: string;
  readonly attempt: number;
  readonly idempotencyKey: string;
  readonly config: JsonObject;
  readonly #line: CallLine;
  #controller: AbortController | null = null;
  #reason: unknown;
  readonly #steps: Map<string, () => unknown> = new Map();
  readonly #offsetMs: number;
  /** Null: not asked for yet. */
  #random: (() => number) | null = null;
  #isOver = false;

  constructor(start: CallStart, line: CallLine) {
    this.runId = start.runId;
    this.node = start.node;
    this.attempt = start.attempt;
    this.idempotencyKey = start.idempotencyKey;
    this.config = start.config;
    this.#line = line;
    this.#offsetMs = start.now - performance.now();
  }

  /** Made at the first look: most bodies never look. */
  get signal(): AbortSignalLike {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  get fetch(): FetchLike {
    return async (url, init = {}) => this.#fetched("host.fetch", { url: String(url) }, init);
  }

  get files(): FilePort {
    return {
      read: async (path, options = {}) =>
        (await this.#ask("host.files.read", {
          path,
          maxBytes: options.maxBytes,
          range: options.range,
        })) as {
          path: string;
          data: Uint8Array;
          modifiedAt: string;
        },
      write: async (path, data, { mode } = {}) =>
        (await this.#ask("host.files.write", { path, data, mode })) as {
          path: string;
          bytes: number;
          created: boolean;
        },
      list: async (path, { glob, max } = {}) =>
        (await this.#ask("host.files.list", { path, glob, max })) as {
          files: readonly FileEntry[];
          truncated: boolean;
        },
    };
  }

  get shell(): SpawnPort {
    return {
      run: async (program, { signal: _, ...options } = {}) =>
        (await this.#ask("host.shell", { program, options })) as SpawnEnd,
    };
  }

  get credentials(): {
    secret(name: string): Promise<Secret>;
    connection(slug: string): Promise<Connection>;
  } {
    return {
      secret: async (name) => {
        const value = String(await this.#ask("host.secret", { name }));
        const hidden = (): "[secret]" => "[secret]";
        return { reveal: () => value, toString: hidden, toJSON: hidden };
      },
      connection: async (slug) => {
        const { baseUrl } = (await this.#ask("host.connection", { slug })) as { baseUrl: string };
        return {
          slug,
          baseUrl,
          fetch: async (path, init = {}) =>
            this.#fetched("host.connection.fetch", { slug, path: String(path) }, init),
        };
      },
    };
  }

  now(): number {
    this.#live();
    return Math.floor(performance.now() + this.#offsetMs);
  }

  random(): number {
    this.#live();
    this.#random ??= randomFrom(seedOf(this));
    return this.#random();
  }

  async sleep(ms: number): Promise<void> {
    await this.#ask("host.sleep", { ms });
  }

  log(level: "debug" | "info" | "warn" | "error", text: string, data?: JsonObject): void {
    this.#live();
    takesLine(level, text); // the host would drop the frame as unknown
    this.#line.tell("log", { level, text, ...(data !== undefined && { data: toWire(data) }) });
  }

  progress(done: number, total?: number): void {
    this.#live();
    takesProgress(done, total);
    this.#line.tell("progress", { done, ...(total !== undefined && { total }) });
  }

  async confirm(
    key: string,
    request: Parameters<ControlContext["confirm"]>[1],
  ): Promise<ConfirmAnswer> {
    return (await this.#ask("host.confirm", { key, request })) as ConfirmAnswer;
  }

  async step<T extends Json>(key: string, fn: () => Promise<T> | T): Promise<T> {
    let thrown: { readonly error: unknown } | undefined;
    this.#steps.set(key, async () => {
      try {
        return await fn();
      } catch (error) {
        thrown = { error };
        throw error;
      }
    });
    try {
      return (await this.#ask("host.step", { key })) as T;
    } catch (error) {
      // The host answers without the message of what the step threw.
      throw thrown === undefined ? error : thrown.error;
    } finally {
      this.#steps.delete(key);
    }
  }

  /** The host wants the result of a step that its journal does not have. */
  async runStep(key: string): Promise<unknown> {
    const fn = this.#steps.get(key);
    if (fn === undefined) throw new NodeError("extension_threw", "no such step is open");
    return fn();
  }

  /** The attempt is to stop. */
  cancel(reason: unknown): void {
    this.#reason ??= reason;
    this.#controller?.abort(reason);
  }

  /** Nothing of it works from here on. */
  over(): void {
    this.#isOver = true;
    if (this.#controller !== null) this.cancel(OVER);
  }

  async #fetched(op: string, where: object, init: FetchInit): Promise<ResponseLike> {
    const { signal, ...rest } = init;
    if (signal?.aborted === true) throw signal.reason;
    const asked = this.#ask(op, { ...where, init: rest });
    return toResponse((await untilAborted(asked, signal)) as WireResponse);
  }

  async #ask(op: string, body: object): Promise<unknown> {
    this.#live();
    const { signal } = this;
    if (signal.aborted) throw signal.reason;
    return fromWire(await untilAborted(this.#line.ask(op, toWire(body) as object), signal));
  }

  #live(): void {
    if (!this.#isOver) return;
    throw OVER;
  }
}

const OVER = new NodeError("attempt_over", "the attempt of this node has ended", {
  reason: "internal",
});

/** A response over bytes that are there already. */
function toResponse({ status, url, headers, body }: WireResponse): ResponseLike {
  const bytes = body === undefined ? null : bytesOf(body);
  let isRead = false;
  const take = (): Uint8Array => {
    if (isRead) throw new TypeError("the body was read before");
    isRead = true;
    return bytes ?? new Uint8Array();
  };
  const text = async (): Promise<string> => new TextDecoder().decode(take());
  return {
    ok: status >= 200 && status < 300,
    status,
    url,
    headers: new Headers(headers.map(([name, value]): [string, string] => [name, value])),
    body:
      bytes === null
        ? null
        : {
            async *[Symbol.asyncIterator]() {
              yield take();
            },
          },
    text,
    json: async () => JSON.parse(await text()) as unknown,
    arrayBuffer: async () => new Uint8Array(take()).buffer,
  };
}
