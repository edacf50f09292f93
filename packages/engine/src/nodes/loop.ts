/** `loop`: runs its body round after round, handing a state on. */
import { type Json, NodeError } from "@millrace/contracts";
import { FailureError, failureOf } from "../failures.ts";
import type { BodyEnd, CoreContext, DeferredField, Fields, NodeType } from "../node-type.ts";
import { coreEntry, record } from "./entry.ts";

const MOST_ROUNDS = 10_000; // more is a service of its own, not a step of a flow

/** `loop`: repeats its body, each round reading the state that the last one left. */
export const loop: NodeType = {
  core: true,
  slots: "none",
  entry: coreEntry({
    type: "loop",
    title: "Loop",
    summary: "Runs its body until a condition holds, at most `max` rounds.",
    category: "control",
    properties: {
      max: {
        type: "integer",
        minimum: 1,
        maximum: MOST_ROUNDS,
        description: "Rounds at most.",
        "x-millrace": { literal: true },
      },
      init: { default: null, description: "State of the first round." },
      until: {
        type: "boolean",
        description: "Tested after a round; true ends the loop.",
        "x-millrace": { deferred: ["state", "index"] },
      },
      while: {
        type: "boolean",
        description: "Tested before a round; false ends the loop.",
        "x-millrace": { deferred: ["state", "index"] },
      },
      as: {
        type: "string",
        default: "state",
        description: "Name of the state in the body.",
        "x-millrace": { literal: true },
      },
    },
    required: ["max"],
    output: record({
      state: { "x-millrace": { aliases: ["value", "result", "output", "data"] } },
      rounds: { type: "integer", "x-millrace": { aliases: ["count", "index", "iterations"] } },
    }),
    body: true,
    example: {
      title: "Poll",
      fields: { init: { status: "queued" }, until: { $: 'state.status == "done"' }, max: 20 },
      body: {
        nodes: [
          { id: "job", type: "http.request", fields: { url: "https://shop.example/jobs/7" } },
        ],
        edges: [],
        output: { $: "job.body" },
      },
    },
  }),
  check: (fields) =>
    "until" in fields && "while" in fields
      ? [
          {
            pointer: "/while",
            code: "field_invalid",
            message: "`until` and `while` cannot be used together",
            severity: "error",
          },
        ]
      : [],
  run(fields, ctx) {
    const most = ctx.limit("loop.max");
    if ((fields["max"] as number) > most) throw tooMany(`at most ${most} rounds are allowed here`);
    return new Rounds(fields, ctx).run();
  },
};

function tooMany(detail: string): NodeError {
  return new NodeError("limit_exceeded", `limit loop.max: ${detail}`, { reason: "limit" });
}

/** One activation of a loop. */
class Rounds {
  readonly #ctx: CoreContext;
  readonly #max: number;
  readonly #until: DeferredField | undefined;
  readonly #while: DeferredField | undefined;
  #state: Json;
  #rounds = 0;
  #going = false;
  #ended: BodyEnd | null = null;
  #resolve: (output: unknown) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;

  constructor(fields: Fields, ctx: CoreContext) {
    this.#ctx = ctx;
    this.#max = fields["max"] as number;
    this.#until = fields["until"] as DeferredField | undefined;
    this.#while = fields["while"] as DeferredField | undefined;
    this.#state = (fields["init"] ?? null) as Json;
  }

  run(): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      this.#go();
    });
  }

  /** Goes on from the state that is there. A round that ends at once is taken up here, not by recursion. */
  #go(): void {
    if (this.#going) return;
    this.#going = true;
    try {
      while (this.#ended === null || this.#take(this.#ended)) {
        this.#ended = null;
        if (this.#while !== undefined && !this.#holds(this.#while, this.#rounds)) {
          this.#done();
          return;
        }
        if (this.#rounds >= this.#max) {
          this.#full();
          return;
        }
        const index = this.#rounds;
        this.#ctx.runBody(index, this.#names(index), (end) => {
          this.#ended = end;
          this.#go();
        });
        if (this.#ended === null) return;
      }
    } catch (error) {
      this.#reject(error);
    } finally {
      this.#going = false;
    }
  }

  /** Takes the result of a round; false when the loop is over. */
  #take(end: BodyEnd): boolean {
    if (end.status === "cancelled") {
      this.#reject(new NodeError("cancelled", "the loop was stopped"));
      return false;
    }
    if (end.status === "failed") {
      const { info } = end.failure;
      const text = `round ${this.#rounds} failed: ${info.message}`;
      const options = { reason: "child", retryable: info.retryable, cause: info.code };
      this.#reject(new FailureError(failureOf("item_failed", text, options)));
      return false;
    }
    this.#state = end.value;
    this.#rounds += 1;
    this.#ctx.progress(this.#rounds, undefined, "iterations");
    if (this.#until === undefined || !this.#holds(this.#until, this.#rounds - 1)) return true;
    this.#done();
    return false;
  }

  /** All rounds are used up: fine without a condition. */
  #full(): void {
    if (this.#until === undefined && this.#while === undefined) {
      this.#done();
      return;
    }
    this.#reject(tooMany(`the condition did not hold within ${this.#max} rounds`));
  }

  #done(): void {
    this.#resolve({ state: this.#state, rounds: this.#rounds });
  }

  #holds(condition: DeferredField, index: number): boolean {
    const value = condition(this.#names(index));
    if (typeof value === "boolean") return value;
    throw new NodeError("expression_error", "the condition of a loop must be true or false", {
      reason: "input",
    });
  }

  #names(index: number): { [name: string]: Json } {
    return { [this.#ctx.bodyName]: this.#state, index };
  }
}
