/** State of one node attempt: its fields, its time, its usage, and its audit. */
import type { AiMessage, Json, JsonObject, Usage } from "@millrace/contracts";
import { canonicalJson } from "@millrace/contracts/kit";
import type { CoreContext } from "@millrace/engine";
import { Audit } from "./audit.ts";
import { Budget } from "./budget.ts";
import { AiError } from "./failure.ts";
import type { AiFields } from "./fields.ts";
import { AI } from "./runtime.ts";
import { addUsage } from "./usage.ts";

/** Tokens and US dollars of calls; null: not known. */
export interface Spent {
  usage: Usage | null;
  costUsd: number | null;
}

function addTo(sum: Spent, more: Readonly<Spent>): void {
  sum.usage = addUsage(sum.usage, more.usage);
  sum.costUsd = sum.costUsd === null || more.costUsd === null ? null : sum.costUsd + more.costUsd;
}

export class Session {
  readonly ctx: CoreContext;
  readonly fields: AiFields;
  readonly audit: Audit;
  readonly budget: Budget;
  readonly keys: StepKeys;
  readonly startedAt: number;
  readonly spent: Spent = { usage: null, costUsd: 0 };
  /** The same since the present answer was asked for. */
  #tally: Spent = { usage: null, costUsd: 0 };
  #warned: Set<string> | null = null;

  constructor(fields: AiFields, ctx: CoreContext) {
    const ai = ctx.shared(AI);
    this.ctx = ctx;
    this.fields = fields;
    this.startedAt = ctx.now();
    this.keys = new StepKeys(ai.sha256);
    this.audit = new Audit(fields.auditContent, { ctx, ai });
    this.budget = new Budget(ctx, fields.totalMs);
  }

  /** Steps of a node that keeps no content go with the run; those of the others stay as long as its log. Nobody reads them. */
  get stepOptions(): { private: true; kept?: true } {
    return this.audit.keepsValues ? { private: true, kept: true } : { private: true };
  }

  /** Throws when the node was stopped or its time is up. */
  check(): void {
    if (this.budget.isOver) throw new AiError(this.budget.failure());
  }

  /** `work`, unless the node is stopped or its time is up before; what comes later is dropped. */
  until<T>(work: PromiseLike<T> | T): Promise<T> {
    return this.budget.until(work);
  }

  /** Throws `budget` when the node has cost what it may. */
  checkCost(): void {
    const { maxCostUsd } = this.fields;
    if (maxCostUsd === undefined) return;
    const { costUsd } = this.spent;
    if (costUsd === null) {
      this.warnOnce(
        "ai_cost_unknown",
        "maxCostUsd cannot be kept: a price or a count is not known",
      );
    } else if (costUsd >= maxCostUsd) {
      const text = `the calls so far have cost ${costUsd} USD, at most ${maxCostUsd}`;
      throw new AiError({ reason: "budget", text });
    }
  }

  /** Adds a call that has ended. A failed call without counts adds nothing. */
  add(usage: Usage | undefined, costUsd: number | null, isFailed = false): void {
    const cost = usage === undefined && isFailed ? 0 : costUsd;
    this.addSpent({ usage: usage ?? null, costUsd: cost });
    addTo(this.#tally, { usage: usage ?? null, costUsd: cost });
  }

  /** Adds what an earlier part of this try has spent. */
  addSpent(spent: Readonly<Spent>): void {
    addTo(this.spent, spent);
  }

  /** Begins to count anew, and answers what is counted from now on. */
  tally(): Readonly<Spent> {
    this.#tally = { usage: null, costUsd: 0 };
    return this.#tally;
  }

  warnOnce(code: string, text: string): void {
    this.#warned ??= new Set();
    if (this.#warned.has(code)) return;
    this.#warned.add(code);
    this.ctx.warn(code, text);
  }

  close(): void {
    this.budget.close();
  }
}

const utf8 = new TextEncoder();

export class StepKeys {
  readonly #sha256: (bytes: Uint8Array) => string;
  readonly #seen: Map<string, number> = new Map();

  constructor(sha256: (bytes: Uint8Array) => string) {
    this.#sha256 = sha256;
  }

  /** Of an answer: messages, tools, schema and purpose of the call. */
  answer(prompt: {
    readonly purpose: string;
    readonly messages: readonly AiMessage[];
    readonly more: JsonObject;
  }): string {
    const messages = prompt.messages.map(withoutMarks) as unknown as Json;
    return this.#next("c", { purpose: prompt.purpose, messages, ...prompt.more });
  }

  tool(ref: string, args: Json): string {
    return this.#next("t", { ref, args });
  }

  /** Of one part of a list that is answered in parts. */
  part(what: JsonObject): string {
    return this.#next("c", what);
  }

  #next(prefix: string, content: Json): string {
    const digest = this.#sha256(utf8.encode(canonicalJson(content)));
    const before = this.#seen.get(prefix + digest) ?? 0;
    this.#seen.set(prefix + digest, before + 1);
    return `${prefix}:${this.#sha256(utf8.encode(`${digest} ${before}`))}`;
  }
}

/** A message for another provider than the one that made it: without its reasoning and without what it marked. */
export function withoutMarks({ role, content }: AiMessage): AiMessage {
  if (typeof content === "string") return { role, content };
  const parts = content
    .filter(({ type }) => type !== "reasoning")
    .map(({ providerOptions, ...part }) => part as (typeof content)[number]);
  return { role, content: parts };
}
