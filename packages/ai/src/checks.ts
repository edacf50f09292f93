/** The checks of `expect` on one record: expressions and models beside what `expect.ts` does alone. */
import type { FieldValue, Json, JsonObject, LlmStarted } from "@millrace/contracts";
import { toFailure } from "@millrace/engine/pack";
import type { Prompt } from "./call.ts";
import { Caller } from "./caller.ts";
import {
  type CheckOutcome,
  checkRecord,
  failedCondition,
  failureText,
  judged,
  memberAt,
} from "./expect.ts";
import { type Check, readCheck } from "./expect-entry.ts";
import { AiError } from "./failure.ts";
import { type AiFields, SAMPLING, type TargetField } from "./fields.ts";
import { inputText, textPart } from "./messages.ts";
import { presetText, userText } from "./presets.ts";
import { answerProblems, readAnswer } from "./read-answer.ts";
import { AI } from "./runtime.ts";
import type { Session } from "./session.ts";
import { Targets } from "./targets.ts";

/** The first check that failed and counts. */
export interface FailedCheck {
  readonly onFail: Check["onFail"];
  readonly forModel: string;
  readonly forLog: string;
}

export const JUDGE_SCHEMA: JsonObject = Object.freeze({
  type: "object",
  properties: {
    score: { type: "number", minimum: 0, maximum: 1 },
    reason: { type: "string", maxLength: 1_000 },
  },
  required: ["score", "reason"],
  additionalProperties: false,
});

/** Carries out all checks, in order, and tells of each. Null: none that counts has failed. */
export async function runChecks(session: Session, record: JsonObject): Promise<FailedCheck | null> {
  const { ctx, fields, audit, startedAt } = session;
  const evaluated = fields.expect?.elements ?? [];
  let first: FailedCheck | null = null;
  for (const [index, source] of entriesOf(ctx.source["expect"]).entries()) {
    const latencyMs = ctx.now() - startedAt;
    const { check, error } = checkOf(source, index, () => {
      return evaluated[index]?.(rootsOf(record, latencyMs)) ?? null;
    });
    const found =
      error ??
      (check.kind === "judge"
        ? await judge(session, check, record)
        : checkRecord(check, { record, latencyMs }));
    const outcome =
      found.pass || check.kind !== "expr" || error !== undefined
        ? found
        : { ...found, ...failedCondition(source, found, rootsOf(record, latencyMs)) };
    const { pass, score } = outcome;
    const { kind, level } = check;
    ctx.emit({
      kind: "node.checked",
      index,
      check: kind,
      pass,
      level,
      ...(!pass && { detail: audit.detail(outcome) }),
      ...(score !== undefined && { score }),
    });
    if (!pass && level === "error") {
      first ??= {
        onFail: check.onFail,
        forModel: failureText(check, outcome, "model"),
        forLog: failureText(check, outcome, "log"),
      };
    }
  }
  return first;
}

function entriesOf(source: FieldValue | undefined): readonly FieldValue[] {
  const list = isLiteral(source) ? source["$lit"] : source;
  return Array.isArray(list) ? (list as readonly FieldValue[]) : [];
}

function isLiteral(source: FieldValue | undefined): source is { readonly $lit: Json } {
  return typeof source === "object" && source !== null && "$lit" in source;
}

/** Names that a check sees beside those of the node. */
function rootsOf(record: JsonObject, latencyMs: number): JsonObject {
  const { output, text, label, labels, usage, costUsd, finish } = record;
  return {
    output: output ?? null,
    text: text ?? "",
    label: label ?? null,
    labels: labels ?? null,
    usage: usage ?? null,
    costUsd: costUsd ?? null,
    latencyMs,
    finish: finish ?? null,
  };
}

/** A check, evaluated. An expression that fails is a failed check of the kind and level that the author wrote. */
function checkOf(
  source: FieldValue,
  index: number,
  evaluate: () => Json,
): { check: Check; error?: CheckOutcome } {
  let value: Json;
  try {
    value = evaluate();
  } catch (error) {
    const rule = `could not be evaluated: ${toFailure(error).info.message}`;
    return { check: readCheck(source, index), error: { pass: false, rule } };
  }
  return { check: readCheck(source, index, value) };
}

/** Asks another model for a score. Whatever it does wrong is a failed check. */
async function judge(session: Session, check: Check, record: JsonObject): Promise<CheckOutcome> {
  const { rubric, target } = check.fields as unknown as { rubric: string; target: TargetField };
  const path = check.path ?? "text";
  const value = memberAt(record, path);
  if (value === undefined) return { pass: false, rule: "is not there", path };
  const { maxTokens } = session.fields;
  const node = session.fields.provider ?? session.ctx.shared(AI).options.defaultProvider;
  const own: AiFields = {
    ...withoutSampling(session.fields),
    ...(maxTokens !== undefined && { maxTokens }),
    ...target.params,
    provider: target.provider,
    modelId: target.modelId,
    failover: [],
  };
  const credential =
    target.credential ?? (target.provider === node ? session.fields.credential : undefined);
  const fields = credential === undefined ? own : { ...own, credential };
  const prompt: Prompt = {
    purpose: "judge" satisfies LlmStarted["purpose"],
    step: 1,
    system: [presetText("judge", { rubric })],
    turns: [
      {
        message: { role: "user", content: [textPart(userText("judge", inputText(value)))] },
        by: null,
      },
    ],
    tools: [],
    toolChoice: "none",
    schema: JUDGE_SCHEMA,
  };
  try {
    const { text } = await new Caller(session, new Targets(fields, session.ctx)).ask(prompt);
    const read = readAnswer(text);
    const fits = read.ok && answerProblems(JUDGE_SCHEMA, read.value).length === 0;
    return judged(check, fits ? ((read.value as JsonObject)["score"] as number) : undefined);
  } catch (error) {
    if (!(error instanceof AiError) || OURS.has(error.failure.reason)) throw error;
    return judged(check, undefined);
  }
}

/** Reasons that end the node, not only the judge. */
const OURS: ReadonlySet<string> = new Set(["aborted", "deadline", "budget"]);

/** A judge has its own parameters and its own credential. */
function withoutSampling(fields: AiFields): AiFields {
  const own: readonly string[] = [...SAMPLING, ...OF_THE_TARGET];
  const kept = Object.entries(fields).filter(([name]) => !own.includes(name));
  return Object.fromEntries(kept) as unknown as AiFields;
}

const OF_THE_TARGET = ["credential", "provider", "modelId", "providerOptions"];
