/** Answers of models on each wire that Millrace speaks, as lists of server-sent events. */

/** OpenAI's Chat Completions and Responses, Anthropic's Messages. */
export type Wire = "chat" | "responses" | "messages";

/** Content of a stream. */
export interface WireText {
  /** Pieces of text, one delta each. */
  readonly text?: readonly string[];
  readonly toolCalls?: readonly { readonly name: string; readonly args: string }[];
  /** Default that of a plain end. */
  readonly finish?: "stop" | "length" | "tool_calls" | "content_filter";
  /** Null: unknown. */
  readonly usage?: { readonly input: number; readonly output: number } | null;
}

/** How a wire is written. */
export interface WireWriter {
  /** The events of a whole answer. */
  stream(answer: WireText): readonly string[];
  /** Body of an answer that is an error. */
  error(error: { readonly code?: string; readonly message?: string }): unknown;
  /** An error in the middle of a stream. */
  readonly errorEvent: string;
}

const event = (data: object | string): string =>
  `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
const typed = (data: { readonly type: string; readonly [name: string]: unknown }): string =>
  `event: ${data.type}\n${event(data)}`;

const ID = "x1";
const MODEL = "m";

/** By name. */
export const WIRES: { readonly [wire in Wire]: WireWriter } = {
  /** @see https://platform.openai.com/docs/api-reference/chat-streaming */
  chat: {
    stream({ text = [], toolCalls = [], finish, usage = DEFAULT_USAGE }) {
      const chunk = (delta: object, finish_reason: string | null = null): string =>
        event({
          id: ID,
          object: "chat.completion.chunk",
          created: 1,
          model: MODEL,
          choices: [{ index: 0, delta, finish_reason }],
        });
      const plain = toolCalls.length > 0 ? "tool_calls" : "stop";
      return [
        chunk({ role: "assistant", content: "" }),
        ...text.map((content) => chunk({ content })),
        ...toolCalls.flatMap(({ name, args }, index) => {
          const half = Math.ceil(args.length / 2);
          const call = (inner: object): string => chunk({ tool_calls: [{ index, ...inner }] });
          return [
            call({ id: `call_${index}`, type: "function", function: { name, arguments: "" } }),
            call({ function: { arguments: args.slice(0, half) } }),
            call({ function: { arguments: args.slice(half) } }),
          ];
        }),
        chunk({}, finish ?? plain),
        ...(usage === null
          ? []
          : [
              event({
                id: ID,
                object: "chat.completion.chunk",
                created: 1,
                model: MODEL,
                choices: [],
                usage: {
                  prompt_tokens: usage.input,
                  completion_tokens: usage.output,
                  total_tokens: usage.input + usage.output,
                },
              }),
            ]),
        event("[DONE]"),
      ];
    },
    error: ({ code, message = "no" }) => ({ error: { message, type: "error", code, param: null } }),
    errorEvent: event({ error: { message: "it broke", type: "server_error", code: null } }),
  },

  /** @see https://platform.openai.com/docs/api-reference/responses-streaming */
  responses: {
    stream({ text = [], toolCalls = [], finish, usage = DEFAULT_USAGE }) {
      const response = {
        id: ID,
        object: "response",
        created_at: 1,
        model: MODEL,
        status: "in_progress",
        output: [],
      };
      const whole = text.join("");
      const message = { id: "msg_1", type: "message", role: "assistant", status: "completed" };
      const cut = finish === "length" || finish === "content_filter";
      const done = {
        ...response,
        status: cut ? "incomplete" : "completed",
        incomplete_details: cut
          ? { reason: finish === "length" ? "max_output_tokens" : "content_filter" }
          : null,
        usage:
          usage === null
            ? null
            : {
                input_tokens: usage.input,
                output_tokens: usage.output,
                total_tokens: usage.input + usage.output,
                input_tokens_details: { cached_tokens: 0 },
                output_tokens_details: { reasoning_tokens: 0 },
              },
      };
      return [
        typed({ type: "response.created", response }),
        ...(text.length === 0
          ? []
          : [
              typed({
                type: "response.output_item.added",
                output_index: 0,
                item: { ...message, status: "in_progress", content: [] },
              }),
              ...text.map((delta) =>
                typed({
                  type: "response.output_text.delta",
                  item_id: "msg_1",
                  output_index: 0,
                  content_index: 0,
                  delta,
                }),
              ),
              typed({
                type: "response.output_item.done",
                output_index: 0,
                item: {
                  ...message,
                  content: [{ type: "output_text", text: whole, annotations: [] }],
                },
              }),
            ]),
        ...toolCalls.flatMap(({ name, args }, index) => {
          const item = { id: `fc_${index}`, type: "function_call", call_id: `call_${index}`, name };
          const output_index = index + 1;
          return [
            typed({
              type: "response.output_item.added",
              output_index,
              item: { ...item, arguments: "", status: "in_progress" },
            }),
            typed({
              type: "response.function_call_arguments.delta",
              item_id: item.id,
              output_index,
              delta: args,
            }),
            typed({
              type: "response.output_item.done",
              output_index,
              item: { ...item, arguments: args, status: "completed" },
            }),
          ];
        }),
        typed({ type: cut ? "response.incomplete" : "response.completed", response: done }),
      ];
    },
    error: ({ code, message = "no" }) => ({ error: { message, type: "error", code, param: null } }),
    errorEvent: typed({
      type: "error",
      sequence_number: 9,
      error: { type: "server_error", code: "server_error", message: "it broke", param: null },
    }),
  },

  /** @see https://docs.anthropic.com/en/docs/build-with-claude/streaming */
  messages: {
    stream({ text = [], toolCalls = [], finish, usage = DEFAULT_USAGE }) {
      const plain = toolCalls.length > 0 ? "tool_use" : "end_turn";
      const reasons = {
        stop: "end_turn",
        length: "max_tokens",
        tool_calls: "tool_use",
        content_filter: "refusal",
      };
      const counts = usage ?? {};
      return [
        typed({
          type: "message_start",
          message: {
            id: ID,
            type: "message",
            role: "assistant",
            model: MODEL,
            content: [],
            stop_reason: null,
            stop_sequence: null,
            usage: "input" in counts ? { input_tokens: counts.input, output_tokens: 0 } : {},
          },
        }),
        ...(text.length === 0
          ? []
          : [
              typed({
                type: "content_block_start",
                index: 0,
                content_block: { type: "text", text: "" },
              }),
              ...text.map((piece) =>
                typed({
                  type: "content_block_delta",
                  index: 0,
                  delta: { type: "text_delta", text: piece },
                }),
              ),
              typed({ type: "content_block_stop", index: 0 }),
            ]),
        ...toolCalls.flatMap(({ name, args }, at) => {
          const index = at + 1;
          return [
            typed({
              type: "content_block_start",
              index,
              content_block: { type: "tool_use", id: `toolu_${at}`, name, input: {} },
            }),
            typed({
              type: "content_block_delta",
              index,
              delta: { type: "input_json_delta", partial_json: args },
            }),
            typed({ type: "content_block_stop", index }),
          ];
        }),
        typed({
          type: "message_delta",
          delta: {
            stop_reason: finish === undefined ? plain : reasons[finish],
            stop_sequence: null,
          },
          usage: "output" in counts ? { output_tokens: counts.output } : {},
        }),
        typed({ type: "message_stop" }),
      ];
    },
    error: ({ code = "api_error", message = "no" }) => ({
      type: "error",
      error: { type: code, message },
    }),
    errorEvent: typed({
      type: "error",
      error: { type: "overloaded_error", message: "it broke" },
    }),
  },
};

const DEFAULT_USAGE = { input: 7, output: 3 };
