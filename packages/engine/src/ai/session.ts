/** What the parts of one node attempt share: its fields, its time, its sums, and the audit of what it says. */
import type { AiMessage, LlmStarted, Usage } from "@millrace/contracts";
import type { CoreContext } from "../node-type.ts";
import { type Audit, createAudit } from "./audit.ts";
import { Budget } from "./budget.ts";
import { AiError } from "./failure.ts";
import type { AiFields } from "./fields.ts";
import { StepKeys } from "./keys.ts";
import { addUsage } from "./usage.ts";

export class Session {
  readonly ctx: CoreContext;
  readonly fields: AiFields;
  readonly audit: Audit;
  readonly budget: Budget;
  readonly keys: StepKeys;
  readonly startedAt: number;
  usage: Usage | null = null;
  /** Null as soon as one price or count is unknown. */
  costUsd: number | null = 0;
  readonly #warned: Set<string> = new Set();

  constructor(fields: AiFields, ctx: CoreContext) {
    const { ai } = ctx;
    this.ctx = ctx;
    this.fields = fields;
    this.startedAt = ctx.now();
    this.keys = new StepKeys(ai.sha256);
    this.audit = createAudit(fields.auditContent, {
      sha256: ai.sha256,
      key: ai.hmacKey,
      mask: (value) => ctx.mask(value),
      keep: (value) => ctx.keepValue(value),
    });
    this.budget = new Budget(ctx, fields.totalMs);
  }

  /** Steps of a node that keeps no content go with the run. */
  get stepOptions(): { private?: true } {
    const { level } = this.audit;
    return level === "none" || level === "hash" ? { private: true } : {};
  }

  /** Throws when the node was stopped or its time is up. */
  check(): void {
    if (this.budget.signal.aborted) throw new AiError(this.budget.failure());
  }

  /** Throws `budget` when the node has cost what it may. */
  checkCost(): void {
    const { maxCostUsd } = this.fields;
    if (maxCostUsd === undefined) return;
    if (this.costUsd === null) {
      this.warnOnce(
        "ai_cost_unknown",
        "maxCostUsd cannot be kept: a price or a count is not known",
      );
    } else if (this.costUsd >= maxCostUsd) {
      const text = `the calls so far have cost ${this.costUsd} USD, at most ${maxCostUsd}`;
      throw new AiError({ reason: "budget", text });
    }
  }

  /** Adds a call that has ended. A failed call without counts adds nothing. */
  add(usage: Usage | undefined, costUsd: number | null, isFailed = false): void {
    this.usage = addUsage(this.usage, usage);
    if (usage === undefined && isFailed) return;
    this.costUsd = this.costUsd === null || costUsd === null ? null : this.costUsd + costUsd;
  }

  warnOnce(code: string, text: string): void {
    if (this.#warned.has(code)) return;
    this.#warned.add(code);
    this.ctx.warn(code, text);
  }

  begin(
    start: Pick<LlmStarted, "call" | "provider" | "model" | "target" | "step" | "purpose">,
    messages: readonly AiMessage[],
  ): void {
    const audit = this.audit.messages(messages);
    this.ctx.emit({ kind: "llm.started", ...start, ...(audit !== undefined && { audit }) });
  }

  close(): void {
    this.budget.close();
  }
}
