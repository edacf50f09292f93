/** One call of a target: capabilities, credential, model, the call itself, and what came of it. */
import {
  type AiCall,
  type AiCapabilities,
  type AiContext,
  type AiCredentials,
  type AiMessage,
  type AiModel,
  type AiProvider,
  type AiTool,
  type FetchLike,
  type JsonSchema,
  type LlmStarted,
  NodeError,
  type PricePerMillion,
  type Usage,
} from "@millrace/contracts";
import { AiError, type AiFailure, failureOfError } from "./failure.ts";
import { SAMPLING, type Sampling } from "./fields.ts";
import { toSpecification } from "./messages.ts";
import { schemaText, systemText } from "./presets.ts";
import { AI } from "./runtime.ts";
import { type Session, withoutMarks } from "./session.ts";
import { readStream, type StreamEnd } from "./stream.ts";
import { circuitKey, type Target } from "./targets.ts";
import { costOf } from "./usage.ts";

/** A message, and the target whose marks it carries; null: nobody's. */
export interface Turn {
  readonly message: AiMessage;
  readonly by: number | null;
}

/** A request to a model, the same for every provider. */
export interface Prompt {
  readonly purpose: LlmStarted["purpose"];
  readonly step: number;
  /** Preset and author's text, in their order. */
  readonly system: readonly (string | undefined)[];
  readonly turns: readonly Turn[];
  readonly tools: readonly AiTool[];
  readonly toolChoice: "auto" | "required" | "none";
  /** Schema of the answer, where it is JSON. */
  readonly schema: JsonSchema | undefined;
}

/** How one try ended, before anybody has decided what follows. `value` is null exactly with a failure. */
export interface Try<T> {
  readonly call: string;
  readonly failure: AiFailure | null;
  readonly value: T | null;
  readonly finish: StreamEnd["finish"];
  readonly usage: Usage | undefined;
  readonly costUsd: number | null;
  readonly warnings: readonly unknown[];
}

const DEFAULT_MAX_TOKENS = 4_096; // always sent: one provider caps models that it does not know without a word

/** Of a provider that could not be asked. */
const UNKNOWN: AiCapabilities = { tools: true, jsonSchema: false };

/** A provider that is ready to make a model, or why it is not. */
export interface Ready {
  readonly provider: AiProvider | null;
  readonly capabilities: AiCapabilities;
  readonly context: AiContext | null;
  readonly failure: AiFailure | null;
}

/** A class, so that a provider without a network, which asks for no signal, costs its node none. */
class TargetContext implements AiContext {
  readonly credentials: AiCredentials;
  readonly fetch: FetchLike;
  readonly #session: Session;

  constructor(session: Session, credentials: AiCredentials) {
    this.#session = session;
    this.credentials = credentials;
    const { ctx } = session;
    // A host without a network has providers that need none.
    this.fetch = (url, options) => ctx.fetchWith(this.signal, ctx.shared(AI).fetch)(url, options);
  }

  get signal(): AbortSignal {
    return this.#session.budget.signal;
  }
}

/** Looks up provider, capabilities and credential. Throws only when the node is to stop. */
export async function readyTarget(session: Session, target: Target): Promise<Ready> {
  const { ctx } = session;
  let capabilities = UNKNOWN;
  try {
    const provider = ctx.shared(AI).provider(target.provider);
    capabilities = await session.until(provider.capabilities(target.modelId));
    const asked = ctx.shared(AI).credentials(target.provider, target.credential, session.budget);
    const credentials = await session.until(asked);
    for (const secret of Object.values(credentials)) {
      if (typeof secret === "string") ctx.learn(secret);
    }
    return {
      provider,
      capabilities,
      context: new TargetContext(session, credentials),
      failure: null,
    };
  } catch (error) {
    if (error instanceof AiError) throw error;
    return { provider: null, capabilities, context: null, failure: failureOfError(error) };
  }
}

/** Asks a target for an answer, once. Throws only when the node is to stop. */
export function askTarget(
  session: Session,
  target: Target,
  prompt: Prompt,
): Promise<Try<StreamEnd>> {
  return beginAnswer(session, target, prompt).then((begun) => {
    if ("failure" in begun) return begun;
    const { call, price } = begun;
    return begun.end.then((end) => {
      endCircuit(session, target, end.failure);
      return {
        ...end,
        call,
        value: end.failure === null ? end : null,
        costUsd: costOf(end.usage, session.ctx.shared(AI).price(target, price)),
      };
    });
  });
}

interface Begun {
  readonly call: string;
  readonly price: PricePerMillion | undefined;
  readonly end: Promise<StreamEnd>;
}

/** Apart, so that what a call is made of does not live as long as its answer takes. */
async function beginAnswer(
  session: Session,
  target: Target,
  prompt: Prompt,
): Promise<Begun | Try<never>> {
  const { ctx } = session;
  const ready = await readyTarget(session, target);
  const { capabilities } = ready;
  const isNative = capabilities.jsonSchema && prompt.tools.length === 0;
  const messages = messagesFor(prompt, target, isNative);
  const made = await modelOf(session, target, prompt, ready);
  session.check();
  const call = ctx.newCall("c");
  beginCall(session, target, { call, prompt, messages });
  const modelCall = made.failure === null ? callOf(session, target, prompt, capabilities) : null;
  if (made.model === null || modelCall === null) return failedTry(call, made.failure);
  const key = circuitKey(target);
  ctx.shared(AI).circuits.claim(key);
  const end = readStream(
    made.model,
    { ...modelCall, prompt: [...toSpecification(messages, made.model.specificationVersion)] },
    { session, call, channel: prompt.schema === undefined ? "text" : "object" },
  );
  return { call, price: capabilities.price, end };
}

export function beginCall(
  session: Session,
  target: Target,
  what: {
    readonly call: string;
    readonly prompt: Pick<Prompt, "step" | "purpose">;
    readonly messages: readonly AiMessage[];
  },
): void {
  const { call, prompt, messages } = what;
  const { step, purpose } = prompt;
  const { provider, modelId: model, index } = target;
  const audit = session.audit.messages(messages);
  session.ctx.emit({
    kind: "llm.started",
    ...{ call, provider, model, target: index, step, purpose },
    ...(audit !== undefined && { audit }),
  });
}

export function endCircuit(session: Session, target: Target, failure: AiFailure | null): void {
  const ai = session.ctx.shared(AI);
  if (failure?.reason === "auth") ai.forget(target.provider, target.credential);
  if (failure?.reason === "aborted") ai.circuits.end(circuitKey(target), "aborted", 0);
  else ai.circuits.end(circuitKey(target), failure?.reason ?? null, session.ctx.now());
}

export function failedTry(call: string, failure: AiFailure | null): Try<never> {
  return {
    call,
    failure: failure ?? { reason: "server", text: "the provider failed" },
    value: null,
    finish: "other",
    usage: undefined,
    costUsd: null,
    warnings: [],
  };
}

function messagesFor(prompt: Prompt, target: Target, isNative: boolean): readonly AiMessage[] {
  const { schema, turns } = prompt;
  const asks = schema === undefined || isNative ? undefined : schemaText(schema);
  const system = systemText(...prompt.system, asks);
  const messages = turns.map(({ message, by }) =>
    by === null || by === target.index ? message : withoutMarks(message),
  );
  return system === undefined ? messages : [{ role: "system", content: system }, ...messages];
}

/** The model, checked: what is no model of a known specification is refused. */
async function modelOf(
  session: Session,
  target: Target,
  prompt: Prompt,
  { provider, context, capabilities, failure }: Ready,
): Promise<{ model: AiModel | null; failure: AiFailure | null }> {
  if (provider === null || context === null) return { model: null, failure };
  const cannot = whatItCannot(target.sampling, capabilities, prompt, session.fields.strictParams);
  if (cannot !== null) return { model: null, failure: { reason: "bad_request", text: cannot } };
  try {
    const model = await session.until(provider.languageModel(target.modelId, context));
    if (isModel(model)) return { model, failure: null };
    const text = "the provider gave no model of specification v3 or v4";
    return { model: null, failure: { reason: "bad_request", text } };
  } catch (error) {
    if (error instanceof AiError) throw error;
    return { model: null, failure: failureOfError(error) };
  }
}

function isModel(model: unknown): model is AiModel {
  const { specificationVersion, doStream } = (model ?? {}) as Partial<AiModel>;
  const isKnown = specificationVersion === "v3" || specificationVersion === "v4";
  return isKnown && typeof doStream === "function";
}

function whatItCannot(
  sampling: Sampling,
  capabilities: AiCapabilities,
  { tools }: Prompt,
  isStrict: boolean,
): string | null {
  if (tools.length > 0 && !capabilities.tools) return "the model cannot call tools";
  const [first] = isStrict ? unsupported(sampling, capabilities) : [];
  return first === undefined ? null : `${first} is not supported by this model (strictParams)`;
}

function unsupported(sampling: Sampling, { params }: AiCapabilities): (keyof Sampling)[] {
  if (params === undefined) return [];
  const isKnown = (name: keyof Sampling) => name === "maxTokens" || params.includes(name);
  return SAMPLING.filter((name) => sampling[name] !== undefined && !isKnown(name));
}

/** The call without its messages. A parameter that the model does not take is left out, with a warning. */
function callOf(
  session: Session,
  { sampling }: Target,
  prompt: Prompt,
  capabilities: AiCapabilities,
): Omit<AiCall, "prompt"> {
  const dropped = unsupported(sampling, capabilities);
  for (const field of dropped) {
    const text = `${field} is not supported by this model and is left out`;
    session.ctx.warn("ai_param_unsupported", text, { field });
  }
  const has = <K extends keyof Sampling>(name: K): Sampling[K] | undefined =>
    dropped.includes(name) ? undefined : sampling[name];
  const most = Math.min(DEFAULT_MAX_TOKENS, capabilities.maxOutputTokens ?? DEFAULT_MAX_TOKENS);
  const { schema, tools, toolChoice } = prompt;
  const isNative = schema !== undefined && capabilities.jsonSchema && tools.length === 0;
  const stop = has("stop");
  const { providerOptions } = session.fields;
  return defined({
    maxOutputTokens: sampling.maxTokens ?? most,
    temperature: has("temperature"),
    topP: has("topP"),
    topK: has("topK"),
    seed: has("seed"),
    stopSequences: stop === undefined ? undefined : [...stop],
    frequencyPenalty: has("frequencyPenalty"),
    presencePenalty: has("presencePenalty"),
    reasoning: has("reasoning"),
    responseFormat: isNative ? { type: "json" as const, schema, name: "answer" } : undefined,
    tools: tools.length === 0 ? undefined : [...tools],
    toolChoice: tools.length === 0 ? undefined : { type: toolChoice },
    providerOptions,
  });
}

/** Without the members that are undefined: providers tell `in` from `=== undefined`. */
function defined<T extends object>(call: T): T {
  const entries = Object.entries(call).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as T;
}

/** The author's mistakes that only a run can see. */
export function invalidField(field: string, what: string): NodeError {
  return new NodeError("field_invalid", `${field}: ${what}`, { reason: "input" });
}
