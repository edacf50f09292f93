/**
 * From a prompt to an answer: tries, pauses, and the walk along the targets.
 *   W1  every call that began has an end event, which names the next step.
 *   W2  an answer is kept under the name of its content; a try that begins again takes it from there.
 *   W3  an answer that broke off is asked for again from the beginning: no part of it stays in the messages.
 */
import type { Json, JsonObject } from "@millrace/contracts";
import { pause, waitMs } from "./budget.ts";
import { askTarget, type Prompt, type Try } from "./call.ts";
import { AiError, type AiFailure, mayRetry } from "./failure.ts";
import type { Session, Spent } from "./session.ts";
import type { StreamEnd } from "./stream.ts";
import { nameOf, type Target, type Targets } from "./targets.ts";

export interface Answer extends Pick<StreamEnd, "text" | "parts" | "tools" | "finish"> {
  readonly call: string;
  /** Index of the target that gave it. */
  readonly target: number;
}

/** A value with what all tries of it have used. */
interface Made<T> extends Readonly<Spent> {
  readonly value: T;
}

interface Answered<T> {
  readonly target: Target;
  readonly tried: Try<T>;
}

export class Caller {
  readonly #session: Session;
  readonly targets: Targets;

  constructor(session: Session, targets: Targets) {
    this.#session = session;
    this.targets = targets;
  }

  /** The name of the target that was asked last. */
  get model(): string {
    return nameOf(this.targets.current);
  }

  /** Asks until a target answers. Throws `AiError` with the failure of the last call. */
  ask(prompt: Prompt): Promise<Answer> {
    const tryOnce = (target: Target) => askTarget(this.#session, target, prompt);
    return this.kept(this.#keyOf(prompt), tryOnce, answerOf);
  }

  /** A function of its own, so that its arguments do not live as long as the call. */
  #keyOf({ purpose, turns, system, tools, schema }: Prompt): string {
    const target = purpose === "judge" ? this.model : null;
    return this.#session.keys.answer({
      purpose,
      messages: turns.map(({ message }) => message),
      more: JSON.parse(
        JSON.stringify({ system, tools, schema: schema ?? null, target }),
      ) as JsonObject,
    });
  }

  /** The result of `made` for a target: reused from an earlier part of this try, else computed by the first target that `tryOnce` reaches. */
  kept<V, T extends { readonly target: number }>(
    key: string,
    tryOnce: (target: Target) => Promise<Try<V>>,
    made: (answered: Answered<V>) => T,
  ): Promise<T> {
    const session = this.#session;
    let isNew = false;
    const work = () => {
      isNew = true;
      const spent = session.tally();
      return this.#walk(tryOnce).then(
        (answered) => ({ value: made(answered), ...spent }) as unknown as Json,
      );
    };
    return session.ctx.step(key, work, session.stepOptions).then((step) => {
      const kept = step as unknown as Made<T>;
      if (!isNew) {
        const { usage, costUsd } = kept;
        session.addSpent({ usage, costUsd });
        this.targets.moveTo(kept.value.target);
      }
      return kept.value;
    });
  }

  async #walk<T>(tryOnce: (target: Target) => Promise<Try<T>>): Promise<Answered<T>> {
    const session = this.#session;
    try {
      this.targets.skipOpen();
      for (let failed = 0; ; ) {
        session.check();
        session.checkCost();
        const target = this.targets.current;
        const tried = await tryOnce(target);
        this.targets.release();
        const { failure, usage, costUsd } = tried;
        session.add(usage, costUsd, failure !== null);
        if (failure === null) {
          this.#finished(tried);
          return { target, tried };
        }
        if (failure.reason === "aborted") throw new AiError(failure); // the engine closes the call with the node
        failed += 1;
        const wait = this.#waitMs(failure, failed);
        const next = wait !== null ? "retry" : this.targets.hasNext(failure) ? "failover" : "none";
        this.#failed(tried, failure, next);
        if (next === "none") throw new AiError(failure);
        if (next === "failover") {
          this.targets.advance(failure);
          this.targets.skipOpen();
          failed = 0;
        } else await pause(session.ctx, wait ?? 0, session.budget.signal);
      }
    } finally {
      this.targets.release();
    }
  }

  /** The pause before another try of the same target; null: there is none. */
  #waitMs(failure: AiFailure, failed: number): number | null {
    const { fields, ctx, budget } = this.#session;
    if (!mayRetry(failure) || failed > fields.failoverRetries) return null;
    const { failoverDelayMs: delayMs, failoverMaxWaitMs: maxWaitMs } = fields;
    const { retryAfterMs } = failure;
    if ((retryAfterMs ?? 0) > maxWaitMs) return null;
    const wait = waitMs(failed, { delayMs, maxWaitMs, retryAfterMs, random: ctx.random() });
    return wait < budget.leftMs() ? wait : null;
  }

  #failed(tried: Try<unknown>, failure: AiFailure, next: "retry" | "failover" | "none"): void {
    const { call, usage, costUsd } = tried;
    const { reason, status, retryAfterMs } = failure;
    this.#session.ctx.emit({
      kind: "llm.failed",
      call,
      reason,
      ...(status !== undefined && { status }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
      ...(usage !== undefined && { usage, costUsd }),
      next,
    });
  }

  #finished({ call, finish, usage, costUsd, warnings }: Try<unknown>): void {
    const session = this.#session;
    for (const warning of warnings) this.#warn(warning);
    if (usage === undefined) {
      session.warnOnce("ai_usage_missing", "the provider does not say how many tokens it has used");
    }
    session.ctx.emit({
      kind: "llm.finished",
      call,
      finish,
      ...(usage !== undefined && { usage }),
      costUsd,
    });
  }

  /** A warning of a provider, in the words of the log. */
  #warn(warning: unknown): void {
    const { type, feature, setting, details, message } = (warning ?? {}) as {
      readonly [name: string]: unknown;
    };
    const field = typeof feature === "string" ? feature : setting;
    const { ctx } = this.#session;
    const more = [message, details].find((text) => typeof text === "string");
    const said = more === undefined ? "" : `: ${String(more).slice(0, MAX_WARNING_UNITS)}`;
    if (typeof field === "string" && String(type).startsWith("unsupported")) {
      const name = field.slice(0, MAX_FIELD_UNITS);
      ctx.warn("ai_param_unsupported", `the provider does not support ${name}${said}`, {
        field: name,
      });
    } else ctx.warn("ai_provider_warning", `the provider warns${said}`);
  }
}

const MAX_WARNING_UNITS = 300;
const MAX_FIELD_UNITS = 64;

function answerOf({ target, tried }: Answered<StreamEnd>): Answer {
  const { text, parts, tools, finish } = tried.value as StreamEnd;
  return { call: tried.call, target: target.index, text, parts, tools, finish };
}
