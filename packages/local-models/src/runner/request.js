/**
 * Requests of the OpenAI wire, read: every parameter is checked, and unknown ones are ignored as other servers do.
 * @see https://platform.openai.com/docs/api-reference/chat/create
 */
import { Refusal, refused } from "./refusal.js";

// What llama.cpp's own server takes where a request says nothing.
const TEMPERATURE = 0.8;
const TOP_K = 40;
const TOP_P = 0.95;
const MAX_STOPS = 16;
const MAX_INPUTS = 2_048; // the limit of the original

/** A chat request, every member there. Throws `Refusal`. */
export function readChat(body) {
  const given = object(body, "the body");
  const { schema, json } = readFormat(given);
  const tools = readTools(given.tools);
  const forced = readChoice(given.tool_choice, tools);
  if (tools.length > 0 && (schema !== null || json) && forced !== "none") {
    throw new Refusal(400, "unsupported", "tools and response_format cannot be used together");
  }
  return {
    messages: readMessages(given.messages),
    stream: flag(given.stream, "stream"),
    withUsage: flag(given.stream_options?.include_usage, "stream_options.include_usage"),
    maxTokens: integer(given.max_completion_tokens ?? given.max_tokens, "max_tokens", 1) ?? null,
    temperature: number(given.temperature, "temperature", 0, 2) ?? TEMPERATURE,
    topP: number(given.top_p, "top_p", 0, 1) ?? TOP_P,
    topK: integer(given.top_k, "top_k", 0) ?? TOP_K,
    seed: integer(given.seed, "seed", 0) ?? null,
    frequencyPenalty: number(given.frequency_penalty, "frequency_penalty", -2, 2) ?? 0,
    presencePenalty: number(given.presence_penalty, "presence_penalty", -2, 2) ?? 0,
    stop: texts(given.stop ?? [], "stop", MAX_STOPS),
    schema,
    json,
    tools: forced === "none" ? [] : tools,
    /** Name of the tool that must be called, `true` for any of them, else false. */
    forced: forced === "none" ? false : forced,
  };
}

/** The texts of an embeddings request. Throws `Refusal`. */
export function readEmbeddings(body) {
  const { input, encoding_format: format = "float" } = object(body, "the body");
  if (format !== "float") throw refused("encoding_format must be float");
  const values = texts(input, "input", MAX_INPUTS);
  if (values.length === 0) throw refused("input must not be empty");
  return values;
}

function readFormat({ response_format: format, json_schema: plain }) {
  if (plain !== undefined) return { schema: object(plain, "json_schema"), json: false };
  if (format === undefined || format === null) return { schema: null, json: false };
  const { type, json_schema: wrapped } = object(format, "response_format");
  if (type === "text") return { schema: null, json: false };
  if (type === "json_object") return { schema: format.schema ?? null, json: true };
  if (type !== "json_schema") throw refused("response_format.type is not known");
  const { schema } = object(wrapped, "response_format.json_schema");
  return { schema: schema ?? null, json: schema === undefined };
}

function readTools(tools = []) {
  if (!Array.isArray(tools)) throw refused("tools must be a list");
  return tools.map((tool) => {
    const { name, description, parameters } = object(tool?.function, "tools[].function");
    if (typeof name !== "string" || name === "") throw refused("tools[].function.name is missing");
    return { name, description: String(description ?? ""), parameters: parameters ?? null };
  });
}

function readChoice(choice = "auto", tools) {
  if (choice === "none" || tools.length === 0) return "none";
  if (choice === "auto") return false;
  if (choice === "required") return true;
  const name = choice?.function?.name;
  if (tools.some((tool) => tool.name === name)) return name;
  throw refused("tool_choice names no tool of the request");
}

function readMessages(messages) {
  if (!Array.isArray(messages) || messages.length === 0)
    throw refused("messages must not be empty");
  return messages.map((message) => {
    const {
      role,
      content,
      tool_calls: calls = [],
      tool_call_id: call,
    } = object(message, "messages[]");
    if (!["system", "developer", "user", "assistant", "tool"].includes(role)) {
      throw refused("messages[].role is not known");
    }
    if (!Array.isArray(calls)) throw refused("messages[].tool_calls must be a list");
    return {
      role: role === "developer" ? "system" : role,
      text: contentText(content),
      calls: calls.map(readCall),
      call,
    };
  });
}

function readCall(call) {
  const { name, arguments: text = "{}" } = object(call?.function, "tool_calls[].function");
  let params;
  try {
    params = JSON.parse(text);
  } catch {
    params = text; // a model may have said what is no JSON; it is shown its own words
  }
  return { id: call.id, name: String(name), params };
}

function contentText(content) {
  if (content === null || content === undefined) return "";
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) throw refused("messages[].content must be a text or a list");
  return content
    .map((part) => {
      if (part?.type !== "text" || typeof part.text !== "string") {
        throw new Refusal(400, "unsupported", "the model reads text only");
      }
      return part.text;
    })
    .join("");
}

function object(value, name) {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw refused(`${name} must be an object`);
}

function number(value, name, min, max) {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "number" && value >= min && value <= max) return value;
  throw refused(`${name} must be a number from ${min} to ${max}`);
}

function integer(value, name, min) {
  if (value === undefined || value === null) return undefined;
  if (Number.isSafeInteger(value) && value >= min) return value;
  throw refused(`${name} must be a whole number from ${min}`);
}

function flag(value, name) {
  if (value === undefined || value === null) return false;
  if (typeof value === "boolean") return value;
  throw refused(`${name} must be true or false`);
}

function texts(value, name, most) {
  const list = typeof value === "string" ? [value] : value;
  const fits =
    Array.isArray(list) &&
    list.length <= most &&
    list.every((each) => typeof each === "string" && each !== "");
  if (fits) return list;
  throw refused(`${name} must be a text, or at most ${most} of them, none empty`);
}
