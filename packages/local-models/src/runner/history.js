/** Messages of the wire as the engine's history, and the words in which a tool is forced. */
import { ANY_OBJECT, toGrammarSchema } from "./grammar.js";

/** A call of a tool and its result belong to the answer in which the model has asked for it. */
export function toHistory(messages) {
  const results = new Map(
    messages.filter(({ role }) => role === "tool").map(({ call, text }) => [call, text]),
  );
  const history = [];
  for (const { role, text, calls } of messages) {
    if (role === "system" || role === "user") history.push({ type: role, text });
    if (role !== "assistant") continue;
    const response = [
      ...(text === "" ? [] : [text]),
      ...calls.map(({ id, name, params }) => ({
        type: "functionCall",
        name,
        params,
        result: results.get(id) ?? "",
      })),
    ];
    const last = history.at(-1);
    if (last?.type === "model") last.response.push(...response);
    else history.push({ type: "model", response });
  }
  return history;
}

/**
 * The request with the tools in its messages and a schema whose answer is one call: `{"name": …, "arguments": {…}}`. The engine
 * itself can offer tools, but not demand one.
 */
export function withForcedTools(request) {
  const { tools, forced, messages } = request;
  const offered = forced === true ? tools : tools.filter(({ name }) => name === forced);
  const text = [
    'Call one of these tools. Answer with JSON only: {"name": …, "arguments": {…}}.',
    ...offered.map((tool) => JSON.stringify(tool)),
  ].join("\n");
  return {
    ...request,
    messages: [...messages, { role: "system", text, calls: [] }],
    schema: {
      oneOf: offered.map(({ name, parameters }) => ({
        type: "object",
        properties: {
          name: { const: name },
          arguments: toGrammarSchema(parameters ?? ANY_OBJECT, { strict: false }),
        },
      })),
    },
  };
}

/** Reads the answer to a forced call; null where it was cut. */
export function readForcedCall(text) {
  try {
    const { name, arguments: args } = JSON.parse(text);
    return { name, text: JSON.stringify(args) };
  } catch {
    return null;
  }
}
