/** Vectors of texts: in batches of what the model takes, all by one model. */
import type { AiEmbedding, Json } from "@millrace/contracts";
import { untilAborted } from "@millrace/contracts/kit";
import { beginCall, endCircuit, failedTry, readyTarget, type Try } from "./call.ts";
import type { Caller } from "./caller.ts";
import { AiError, type AiFailure, failureOfError } from "./failure.ts";
import { textPart } from "./messages.ts";
import { AI } from "./runtime.ts";
import type { Session } from "./session.ts";
import { circuitKey, type Target } from "./targets.ts";
import { costOf, readUsage } from "./usage.ts";

/** Vectors of the first texts of a list, and the target that made them. */
interface Batch {
  readonly target: number;
  readonly vectors: readonly (readonly number[])[];
}

/** One vector for each text, in order. A failover begins again: vectors of two models cannot be compared. */
export async function embed(
  session: Session,
  caller: Caller,
  texts: readonly string[],
): Promise<{ vectors: Json; steps: number }> {
  let vectors: (readonly number[])[] = [];
  let madeBy: number | null = null;
  let steps = 0;
  while (vectors.length < texts.length) {
    const rest = texts.slice(vectors.length);
    steps += 1;
    const step = steps;
    const key = session.keys.part({ purpose: "embed", texts: [...rest] });
    const batch = await caller.kept(
      key,
      (target) => embedOnce(session, target, { texts: rest, step }),
      ({ target, tried }): Batch => ({ target: target.index, vectors: tried.value ?? [] }),
    );
    if (madeBy !== null && madeBy !== batch.target) vectors = [];
    else vectors.push(...batch.vectors);
    madeBy = batch.target;
    const length = vectors[0]?.length;
    if (vectors.some((vector) => vector.length !== length)) {
      throw new AiError({ reason: "server", text: "the vectors have different lengths" });
    }
  }
  return { vectors: vectors as unknown as Json, steps };
}

async function embedOnce(
  session: Session,
  target: Target,
  { texts, step }: { readonly texts: readonly string[]; readonly step: number },
): Promise<Try<readonly (readonly number[])[]>> {
  const { ctx } = session;
  const ready = await readyTarget(session, target);
  let made: { model: AiEmbedding; values: string[] } | null = null;
  let failure: AiFailure | null = ready.failure;
  try {
    if (ready.provider !== null && ready.context !== null) {
      const { provider, context } = ready;
      const model = provider.embeddingModel?.(target.modelId, context);
      if (model === undefined) {
        failure = { reason: "bad_request", text: "the provider makes no vectors" };
      } else {
        const own = await session.until(model);
        const most = await session.until(own.maxEmbeddingsPerCall);
        const size = most === undefined ? texts.length : Math.max(1, Math.floor(most) || 1);
        made = { model: own, values: texts.slice(0, size) };
      }
    }
  } catch (error) {
    if (error instanceof AiError) throw error;
    failure = failureOfError(error);
  }
  session.check();
  const call = ctx.newCall("c");
  const shown = made?.values ?? texts;
  const message = { role: "user" as const, content: shown.map(textPart) };
  beginCall(session, target, { call, prompt: { step, purpose: "embed" }, messages: [message] });
  if (made === null) return failedTry(call, failure);
  ctx.shared(AI).circuits.claim(circuitKey(target));
  const end = await doEmbed(session, made);
  endCircuit(session, target, end.failure);
  return {
    ...end,
    call,
    finish: "stop",
    costUsd: costOf(end.usage, ctx.shared(AI).price(target, ready.capabilities.price)),
    warnings: [],
  };
}

/** One request. Never rejects, and ends as soon as the node is to stop or the time of a first token is over. */
async function doEmbed(
  { ctx, budget, fields }: Session,
  { model, values }: { readonly model: AiEmbedding; readonly values: string[] },
): Promise<Pick<Try<readonly (readonly number[])[]>, "failure" | "value" | "usage">> {
  const controller = new AbortController();
  let isLate = false;
  const stop = (): void => controller.abort();
  budget.onEnd(stop);
  const stopTimer = ctx.after(fields.firstTokenMs, () => {
    isLate = true;
    controller.abort();
  });
  try {
    const asked = (async () => model.doEmbed({ values, abortSignal: controller.signal }))();
    const { embeddings, usage } = await untilAborted(asked, controller.signal);
    const tokens = usage?.tokens;
    const known = readUsage({ inputTokens: tokens, outputTokens: 0 });
    const isWhole = Array.isArray(embeddings) && embeddings.length === values.length;
    if (isWhole && embeddings.every(isVector)) {
      return { failure: null, value: embeddings, usage: known };
    }
    const text = "the provider did not give one vector of numbers for each text";
    return { failure: { reason: "server", text }, value: null, usage: known };
  } catch (error) {
    const text = `no vectors within ${fields.firstTokenMs} ms`;
    const failure: AiFailure = budget.isOver
      ? budget.failure()
      : isLate
        ? { reason: "timeout", text }
        : failureOfError(error);
    return { failure, value: null, usage: undefined };
  } finally {
    stopTimer();
    budget.offEnd(stop);
  }
}

function isVector(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => Number.isFinite(one));
}
