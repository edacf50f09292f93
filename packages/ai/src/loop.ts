/**
 * The `ai` node: messages, answers, tools, repairs, checks, until there is a record.
 *   L1  what was answered and what a tool has done is never asked or done again by the same try.
 *   L2  a repair asks the same model without tools; a check that asks again keeps the answer in the messages.
 *   L3  a node that falls back to another model after an answer that did not fit keeps what its tools have done, and
 *       nothing of the refused answers.
 */
import type { AiMessage, Json, JsonObject, JsonSchema } from "@millrace/contracts";
import type { CoreContext, Fields } from "@millrace/engine";
import { invalidField, type Prompt, type Turn } from "./call.ts";
import { type Answer, Caller } from "./caller.ts";
import { JUDGE_SCHEMA, runChecks } from "./checks.ts";
import { embed } from "./embed.ts";
import { AiError, type AiFailure, nodeErrorOf } from "./failure.ts";
import { type AiFields, readFields, taskOf } from "./fields.ts";
import { chosenLabels, labelSchema } from "./labels.ts";
import {
  embedTexts,
  type FileSource,
  inputForm,
  MAX_FETCHED_BYTES,
  readInput,
  textPart,
} from "./messages.ts";
import { presetText, repairText, retryText, type Task } from "./presets.ts";
import { type AnswerProblem, answerProblem, answerProblems, readAnswer } from "./read-answer.ts";
import { Session } from "./session.ts";
import { Targets } from "./targets.ts";
import { ToolRunner } from "./tool-run.ts";
import { resolveTools, type Tool } from "./tools.ts";

/** Runs an `ai` node. Rejects with `NodeError` with `ai_<reason>` or a code that exit codes depend on. */
export function runAi(fields: Fields, ctx: CoreContext): Promise<JsonObject> {
  let session: Session | null = null;
  try {
    session = new Session(readFields(fields), ctx);
    return new Loop(session, new Caller(session, new Targets(session.fields, ctx))).run();
  } catch (error) {
    session?.close();
    return Promise.reject(error);
  }
}

/** An answer with what it is worth. */
interface Accepted {
  readonly answer: Answer;
  /** Text, or the data of a structured answer. */
  readonly value: Json;
  readonly isOutOfSteps?: true;
}

class Loop {
  readonly #session: Session;
  readonly #caller: Caller;
  readonly #fields: AiFields;
  readonly #task: Task;
  readonly #schema: JsonSchema | undefined;
  #tools: readonly Tool[] = [];
  /** Made when the model first asks for tools. */
  #runner: ToolRunner | null = null;
  #turns: Turn[] = [];
  /** Turns about answers that were refused. */
  #said: readonly Turn[] = [];
  #steps = 0;

  constructor(session: Session, caller: Caller) {
    this.#session = session;
    this.#caller = caller;
    this.#fields = session.fields;
    this.#task = taskOf(session.fields);
    this.#schema = schemaOf(this.#task, session.fields);
  }

  // While the model is waited for, each asynchronous function on the way to it is kept: that is why there are few, and long ones.
  async run(): Promise<JsonObject> {
    try {
      if (this.#task === "embed") return await this.#embed();
      this.#turns = [...(await this.#readMessages())];
      this.#tools = await resolveTools(this.#session);
      for (let retries = 0; ; ) {
        const record = await this.#answer();
        const failed = await runChecks(this.#session, record.json);
        if (failed === null) return this.#withSums(record.json);
        const failure: AiFailure = { reason: "expect", text: failed.forLog };
        if (failed.onFail === "retry" && retries < this.#fields.expectRetries) {
          retries += 1;
          this.#say(record.answer, retryText(failed.forModel));
        } else if (this.#goesOver(failed.onFail, failure)) this.#clean();
        else throw new AiError(failure);
      }
    } catch (error) {
      throw error instanceof AiError ? nodeErrorOf(error.failure, this.#caller.model) : error;
    } finally {
      this.#session.close();
    }
  }

  /** Whether another target takes over from an answer that a check has refused. */
  #goesOver(onFail: string, failure: AiFailure): boolean {
    const { targets } = this.#caller;
    if (onFail === "failover") return targets.advanceAnyway();
    if (!targets.hasNext(failure)) return false;
    targets.advance(failure);
    return true;
  }

  /** One accepted answer as a record: calls the model until it asks for no more tools. */
  async #answer(): Promise<{ json: JsonObject; answer: Answer }> {
    const { maxSteps, onMaxSteps, toolChoice } = this.#fields;
    for (let step = 1; ; step += 1) {
      this.#steps += 1;
      const answer = await this.#caller.ask({
        ...this.#prompt("generate"),
        step: this.#steps,
        tools: this.#tools.map(({ shown }) => shown),
        toolChoice: toolChoice === "required" && step > 1 ? "auto" : toolChoice,
      });
      if (answer.tools.length === 0) {
        try {
          const accepted = await this.#accept(answer);
          return { json: this.#record(accepted), answer: accepted.answer };
        } catch (error) {
          const { targets } = this.#caller;
          if (!(error instanceof AiError) || error.failure.reason !== "output_schema") throw error;
          if (!targets.hasNext(error.failure)) throw error;
          targets.advance(error.failure);
          this.#clean();
          step = 0; // another model begins anew
          continue;
        }
      }
      if (step >= maxSteps) {
        const last = { answer, value: answer.text, isOutOfSteps: true } as const;
        if (onMaxSteps === "return") return { json: this.#record(last), answer };
        const text = `the model still asks for tools after ${maxSteps} calls`;
        throw new AiError({ reason: "max_steps", text });
      }
      this.#turns.push({ message: assistant(answer), by: answer.target });
      this.#runner ??= new ToolRunner(this.#session, this.#tools);
      const results = await this.#runner.run(answer.tools, answer.call);
      this.#session.check();
      this.#turns.push({ message: { role: "tool", content: results }, by: null });
    }
  }

  /** An answer that fits, after repairs where it does not. */
  async #accept(given: Answer): Promise<Accepted> {
    const { ctx, audit } = this.#session;
    const { repairMax } = this.#fields;
    let answer = given;
    for (let repairs = 0; ; ) {
      const read = this.#read(answer);
      if ("value" in read) return { answer, value: read.value };
      const repair = repairs < repairMax ? repairs + 1 : 0;
      const problems = audit.problems(read.problems, read.found);
      ctx.emit({
        kind: "llm.rejected",
        call: answer.call,
        problems: problems.map(({ path, message }) => ({ ...(path !== "" && { path }), message })),
        repair,
      });
      if (repair === 0) return { answer, value: this.#fallback(read.problems) };
      repairs = repair;
      this.#say(answer, repairText(read.problems));
      answer = await this.#caller.ask({ ...this.#prompt("repair"), step: this.#steps });
    }
  }

  /** The answer of a classification that never fitted; throws where none stands in. */
  #fallback(problems: readonly AnswerProblem[]): Json {
    const { fallbackLabel, multi } = this.#fields;
    if (this.#task === "classify" && fallbackLabel !== undefined) {
      const text = `no answer named a label; ${JSON.stringify(fallbackLabel)} stands in`;
      this.#session.ctx.warn("ai_fallback_label", text);
      return multi ? { labels: [fallbackLabel] } : { label: fallbackLabel };
    }
    const [first] = problems;
    const place = first === undefined || first.path === "" ? "" : `${first.path} `;
    const text = `the answer does not fit its schema: ${place}${first?.message ?? ""}`;
    throw new AiError({ reason: "output_schema", text });
  }

  /** The value of an answer, or what is wrong with it. */
  #read({
    text,
    finish,
  }: Answer):
    | { readonly value: Json }
    | { readonly problems: readonly AnswerProblem[]; readonly found: Json | undefined } {
    if (this.#schema === undefined) return { value: text };
    if (finish === "length") {
      return { problems: [answerProblem("", "cut at maxTokens")], found: undefined };
    }
    const read = readAnswer(text);
    if (!read.ok) return { problems: [read.problem], found: undefined };
    const problems = answerProblems(this.#schema, read.value);
    return problems.length === 0 ? { value: read.value } : { problems, found: read.value };
  }

  /** Lets the model see its answer and what is said of it. */
  #say(answer: Answer, text: string): void {
    const message = assistant(answer);
    const turns: Turn[] = [
      ...(message.content.length > 0 ? [{ message, by: answer.target }] : []),
      { message: { role: "user", content: [textPart(text)] }, by: null },
    ];
    this.#turns.push(...turns);
    this.#said = [...this.#said, ...turns];
  }

  /** The messages for another model: what tools have done stays, refused answers go. */
  #clean(): void {
    this.#turns = this.#turns.filter((turn) => !this.#said.includes(turn));
  }

  #prompt(purpose: "generate" | "repair"): Prompt {
    const { system, labels, multi, maxWords, rubric } = this.#fields;
    return {
      purpose,
      step: 1,
      system: [presetText(this.#task, { labels, multi, maxWords, rubric }), system],
      turns: [...this.#turns],
      tools: [],
      toolChoice: "none",
      schema: this.#schema,
    };
  }

  async #readMessages(): Promise<readonly Turn[]> {
    const { ctx, budget } = this.#session;
    const form = inputForm(ctx.source["input"] ?? null);
    if (this.#task === "chat" && form !== "messages") {
      throw invalidField("input", "task chat takes the form { messages: [...] }");
    }
    const input = this.#fields.input as Json | undefined;
    if (form === "value" && (input === null || input === undefined)) {
      throw invalidField(
        "input",
        'it is null: give what is asked, or what stands in for it, such as `input = … ?? ""`',
      );
    }
    const files: FileSource = {
      async fetch(url) {
        const response = await ctx.fetchWith(budget.signal)(url, { maxBytes: MAX_FETCHED_BYTES });
        if (!response.ok) {
          await response.body?.[Symbol.asyncIterator]().return?.(); // the rest is not read, so the socket is closed
          throw invalidField("input", `the file's address answers ${response.status}`);
        }
        return new Uint8Array(await response.arrayBuffer());
      },
      read: async (path) => (await ctx.files.read(path)).data,
    };
    const messages = await readInput(input as Json, { task: this.#task, form, files });
    this.#session.check();
    return messages.map((message) => ({ message, by: null }));
  }

  #record({ answer, value, isOutOfSteps }: Accepted): JsonObject {
    const { ctx } = this.#session;
    const { labels, multi, fallbackLabel } = this.#fields;
    const { text, finish } = answer;
    if (finish === "length") ctx.warn("ai_truncated", "the answer was cut at maxTokens");
    else if (text === "" && !isOutOfSteps)
      ctx.warn("ai_empty_output", "the model answered nothing");
    if (labels === undefined || isOutOfSteps) {
      return this.#common(value, { text, finish: isOutOfSteps ? "max_steps" : finish }, {});
    }
    const chosen = chosenLabels(value, { multi, fallbackLabel });
    if (chosen.isFallback) {
      ctx.warn("ai_fallback_label", `the answer names no label; ${fallbackLabel} stands in`);
    }
    const named = [...chosen.labels];
    const output = multi ? named : (named[0] ?? "");
    return this.#common(output, { text, finish }, multi ? { labels: named } : { label: output });
  }

  #common(
    output: Json,
    { text, finish }: { readonly text: string; readonly finish: string },
    more: JsonObject,
  ): JsonObject {
    const { provider, modelId } = this.#caller.targets.current;
    return this.#withSums({
      output,
      text,
      ...more,
      finish: FINISHES.has(finish) ? finish : "stop",
      provider,
      modelId,
      usage: null,
      costUsd: null,
      steps: this.#steps,
      toolCalls: this.#runner?.records.map((one) => ({ ...one })) ?? [],
    });
  }

  /** The record with what all calls so far have used, those of judges too. */
  #withSums(record: JsonObject): JsonObject {
    const { usage, costUsd } = this.#session.spent;
    const counts = usage === null ? null : usageOf({ cachedInputTokens: 0, ...usage });
    return { ...record, usage: counts, costUsd };
  }

  async #embed(): Promise<JsonObject> {
    const texts = embedTexts(this.#fields.input as Json);
    for (;;) {
      const { vectors, steps } = await embed(this.#session, this.#caller, texts);
      this.#steps += steps;
      const record = this.#common(vectors, { text: "", finish: "stop" }, {});
      const failed = await runChecks(this.#session, record);
      if (failed === null) return this.#withSums(record);
      const failure: AiFailure = { reason: "expect", text: failed.forLog };
      if (!this.#goesOver(failed.onFail, failure)) throw new AiError(failure);
    }
  }
}

const FINISHES: ReadonlySet<string> = new Set(["stop", "length", "content_filter", "max_steps"]);

/** Counts in the order of the documentation. */
function usageOf(usage: JsonObject & { cachedInputTokens: number }): JsonObject {
  const { inputTokens, outputTokens, cachedInputTokens, ...rest } = usage;
  return {
    inputTokens: inputTokens ?? 0,
    outputTokens: outputTokens ?? 0,
    cachedInputTokens,
    ...rest,
  };
}

function assistant({ parts }: Answer): AiMessage & { readonly content: readonly unknown[] } {
  return { role: "assistant", content: parts } as AiMessage & { content: readonly unknown[] };
}

/** The schema of the answer; undefined: it is text. */
function schemaOf(task: Task, fields: AiFields): JsonSchema | undefined {
  const { labels, multi, fallbackLabel, outputSchema } = fields;
  if (task === "classify") return labelSchema(labels ?? [], { multi, fallbackLabel });
  if (task === "judge") return outputSchema ?? JUDGE_SCHEMA;
  return outputSchema;
}
