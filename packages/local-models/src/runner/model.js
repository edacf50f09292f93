/**
 * A loaded model with its requests and answers. One answer is generated at a time; the others wait in their order.
 */
import { ANY_OBJECT, onOneLine, toGrammarSchema, unsupported } from "./grammar.js";
import { toHistory, withForcedTools } from "./history.js";
import { Refusal } from "./refusal.js";

const SPARE_TOKENS = 4; // of the context: what the engine adds around an answer
const REPEAT_TOKENS = 64; // how far penalties look back, as in llama.cpp
const MAX_SEED = 2 ** 31;

const tooLong = (tokens, size) =>
  new Refusal(
    400,
    "context_length_exceeded",
    `the messages are ${tokens} tokens long, and the context of this model holds ${size}`,
  );

/** Loads the model that the first message names. Rejects with the error of the engine. */
export async function openModel({ modelPath, threads, contextSize, gpu, embedding, engine }) {
  const llm = await import(engine ?? "node-llama-cpp");
  const llama = await llm.getLlama({
    gpu: gpu ?? false,
    build: "never",
    progressLogs: false,
    logLevel: llm.LlamaLogLevel.error,
    logger: (_level, text) => process.stderr.write(text),
    maxThreads: threads,
  });
  const model = await llama.loadModel({ modelPath });
  const context = embedding
    ? null
    : await model.createContext({ contextSize, threads, sequences: 1 });
  let vectors = embedding ? model.createEmbeddingContext({ contextSize, threads }) : undefined;
  await vectors;
  const chat =
    context === null ? null : new llm.LlamaChat({ contextSequence: context.getSequence() });
  const inTurn = createTurns();

  /** Refuses before the first byte of an answer what cannot be answered. */
  async function prepare(request) {
    if (chat === null) throw new Refusal(400, "unsupported", "the model makes embeddings only");
    const { tools, forced } = request;
    const asked = forced === false ? request : withForcedTools(request);
    const history = toHistory(asked.messages);
    const functions = forced === false && tools.length > 0 ? functionsOf(tools) : undefined;
    const { contextText } = chat.chatWrapper.generateContextState({
      chatHistory: [...history, { type: "model", response: [] }],
      availableFunctions: functions,
      documentFunctionParams: true,
    });
    const promptTokens = contextText.tokenize(model.tokenizer).length;
    const room = context.contextSize - promptTokens - SPARE_TOKENS;
    if (room < 1) throw tooLong(promptTokens, context.contextSize);
    return {
      history,
      functions,
      grammar: await grammarOf(llama, asked),
      promptTokens,
      maxTokens: Math.min(request.maxTokens ?? room, room),
    };
  }

  /** Answers `{ text, calls, finish, completionTokens }`; pieces are told as they come. */
  async function generate(request, prepared, { signal, onText, onThought }) {
    const { history, functions, grammar, maxTokens } = prepared;
    const { sequence } = chat;
    const before = sequence.tokenMeter.getState();
    const penalised = request.frequencyPenalty !== 0 || request.presencePenalty !== 0;
    const answer = await chat.generateResponse(history, {
      signal,
      maxTokens,
      temperature: request.temperature,
      topP: request.topP,
      topK: request.topK,
      seed: request.seed ?? Math.floor(Math.random() * MAX_SEED),
      customStopTriggers: request.stop,
      repeatPenalty: penalised && {
        lastTokens: REPEAT_TOKENS,
        penalty: 1,
        frequencyPenalty: request.frequencyPenalty,
        presencePenalty: request.presencePenalty,
      },
      contextShift: { strategy: () => Promise.reject(new Error("the context is full")) },
      ...(functions !== undefined && { functions, documentFunctionParams: true }),
      ...(grammar !== undefined && { grammar }),
      onResponseChunk: ({ type, text }) => (type === "segment" ? onThought(text) : onText(text)),
    });
    const { stopReason } = answer.metadata;
    const calls = (answer.functionCalls ?? []).map(({ functionName, params }) => ({
      name: functionName,
      text: JSON.stringify(params ?? {}),
    }));
    return {
      text: answer.response,
      calls,
      finish: stopReason === "maxTokens" ? "length" : calls.length > 0 ? "tool_calls" : "stop",
      completionTokens: sequence.tokenMeter.diff(before).usedOutputTokens,
    };
  }

  return {
    prepare: (request) => inTurn(() => prepare(request)),
    generate: (request, prepared, io) => inTurn(() => generate(request, prepared, io), io.signal),
    embed: (values, signal) =>
      inTurn(async () => {
        vectors ??= model.createEmbeddingContext({ contextSize, threads });
        return embedAll(await vectors, values, { model, contextSize, signal });
      }, signal),
  };
}

async function embedAll(context, values, { model, contextSize, signal }) {
  let tokens = 0;
  const found = [];
  for (const value of values) {
    signal.throwIfAborted();
    const own = model.tokenize(value).length;
    if (own + SPARE_TOKENS > contextSize) throw tooLong(own, contextSize);
    tokens += own;
    found.push([...(await context.getEmbeddingFor(value)).vector]);
  }
  return { vectors: found, tokens };
}

async function grammarOf(llama, { schema, json }) {
  if (schema === null && !json) return undefined;
  const wanted = schema === null ? ANY_OBJECT : toGrammarSchema(schema, { strict: true });
  try {
    const { grammar } = await llama.createGrammarForJsonSchema(wanted);
    return await llama.createGrammar({ grammar: onOneLine(grammar) });
  } catch {
    throw unsupported("a schema of this size");
  }
}

/** Tools as the engine takes them; their arguments are checked by the code that runs the tool. */
function functionsOf(tools) {
  return Object.fromEntries(
    tools.map(({ name, description, parameters }) => [
      name,
      { description, params: toGrammarSchema(parameters ?? ANY_OBJECT, { strict: false }) },
    ]),
  );
}

/** Runs one piece of work after the other; one whose caller has left is skipped. */
function createTurns() {
  let last = Promise.resolve();
  return (work, signal) => {
    const turn = last.then(() => {
      signal?.throwIfAborted();
      return work();
    });
    last = turn.catch(() => {});
    return turn;
  };
}
