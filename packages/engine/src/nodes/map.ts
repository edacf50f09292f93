/** `map`: runs its body once for each item of a list. */
import { type Json, NodeError } from "@millrace/contracts";
import { FailureError, failureOf } from "../failures.ts";
import type { BodyEnd, CoreContext, Failure, NodeType } from "../node-type.ts";
import { coreEntry, record } from "./entry.ts";

const ITEMS_AT_ONCE = 8; // enough to hide waiting, kind to whatever the body calls

/** `map`: runs its body once for each item, in order of the items, several at once. */
export const map: NodeType = {
  core: true,
  slots: "none",
  entry: coreEntry({
    type: "map",
    title: "Map",
    summary: "Runs its body for each item of a list; `@concurrency` says how many at once.",
    category: "control",
    properties: {
      items: { type: "array", description: "The list." },
      as: {
        type: "string",
        default: "item",
        description: "Name of the item in the body.",
        "x-millrace": { literal: true },
      },
    },
    required: ["items"],
    output: record({
      items: { type: "array", "x-millrace": { aliases: ["results", "values", "output", "data"] } },
      errors: {
        type: "array",
        items: record({ index: { type: "integer" }, error: { type: "object" } }),
      },
      count: { type: "integer" },
    }),
    body: true,
    example: {
      title: "Each page",
      fields: { items: { $: "inputs.urls" }, as: "url" },
      body: {
        nodes: [{ id: "page", type: "http.request", fields: { url: { $: "url" } } }],
        edges: [],
        output: { $: "page.body" },
      },
    },
  }),
  run(fields, ctx) {
    const list = fields["items"] as readonly Json[];
    const most = ctx.limit("map.items");
    if (list.length > most) {
      throw new NodeError("limit_exceeded", `limit map.items: at most ${most} items`, {
        reason: "limit",
      });
    }
    if (list.length === 0) return { items: [], errors: [], count: 0 };
    return new Items(list, ctx).run();
  },
};

/** One activation of a map: starts items in order, keeps their values by index. */
class Items {
  readonly #list: readonly Json[];
  readonly #ctx: CoreContext;
  readonly #values: Json[];
  readonly #errors: { index: number; error: Json }[] = [];
  #next = 0;
  #open = 0;
  #ended = 0;
  #filling = false;
  #failure: { failure: Failure; index: number } | null = null;
  #cancelled = false;
  #resolve: (output: unknown) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;

  constructor(list: readonly Json[], ctx: CoreContext) {
    this.#list = list;
    this.#ctx = ctx;
    this.#values = new Array<Json>(list.length).fill(null);
  }

  run(): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      this.#fill();
    });
  }

  /** Opens rounds up to the limit. A body that ends at once only counts down; the loop here goes on. */
  #fill(): void {
    if (this.#filling) return;
    this.#filling = true;
    const atOnce = this.#ctx.concurrency ?? ITEMS_AT_ONCE;
    try {
      while (this.#open < atOnce && this.#next < this.#list.length && !this.#stopped()) {
        const index = this.#next;
        this.#next += 1;
        this.#open += 1;
        const locals = { [this.#ctx.bodyName]: this.#list[index] ?? null, index };
        this.#ctx.runBody(index, locals, (end) => this.#end(index, end));
      }
    } catch (error) {
      this.#open -= 1;
      this.#reject(error);
      return;
    } finally {
      this.#filling = false;
    }
    if (this.#open === 0) this.#finish();
  }

  #end(index: number, end: BodyEnd): void {
    this.#open -= 1;
    this.#ended += 1;
    if (end.status === "succeeded") this.#values[index] = end.value;
    else if (end.status === "cancelled") this.#cancelled = true;
    else this.#failed(index, end.failure);
    if (!this.#stopped()) this.#ctx.progress(this.#ended, this.#list.length, "items");
    this.#fill();
  }

  #failed(index: number, failure: Failure): void {
    if (this.#ctx.collects) {
      this.#errors.push({ index, error: { ...failure.info } });
      return;
    }
    if (this.#failure !== null) return;
    this.#failure = { failure, index };
    this.#ctx.abortBodies();
  }

  #stopped(): boolean {
    return this.#failure !== null || this.#cancelled;
  }

  #finish(): void {
    if (this.#failure !== null) {
      const { failure, index } = this.#failure;
      const { info } = failure;
      const text = `item ${index} failed: ${info.message}`;
      const options = { reason: "child", retryable: info.retryable, cause: info.code };
      this.#reject(new FailureError(failureOf("item_failed", text, options)));
      return;
    }
    if (this.#cancelled) {
      this.#reject(new NodeError("cancelled", "the items were stopped"));
      return;
    }
    const errors = this.#errors.sort((a, b) => a.index - b.index);
    this.#resolve({ items: this.#values, errors, count: this.#list.length });
  }
}
