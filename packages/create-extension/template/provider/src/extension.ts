import { defineExtension, defineProvider, NodeError } from "@millrace/contracts";

const ENDINGS = new Map([
  ["stop", "stop"],
  ["length", "length"],
  ["content_filter", "content-filter"],
]);

const provider = defineProvider({
  id: "your-extension",
  title: "your-extension",
  create: () => ({
    id: "your-extension",
    capabilities: async () => ({ tools: false, jsonSchema: false }),
    languageModel: (modelId, { credentials, fetch, signal }) => ({
      specificationVersion: "v3",
      provider: "your-extension",
      modelId,
      async doStream({ prompt, maxOutputTokens, abortSignal = signal }) {
        const { apiKey } = credentials;
        if (apiKey === undefined) {
          const text =
            "your-extension has no key: millrace secrets set ai:your-extension stores one";
          throw new NodeError("credentials_missing", text);
        }
        const messages = prompt.map(({ role, content }) => ({
          role,
          content: typeof content === "string" ? content : content.map(({ text }) => text).join(""),
        }));
        const answer = await fetch("https://api.example.com/v1/chat/completions", {
          method: "POST",
          headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
          body: JSON.stringify({
            model: modelId,
            messages,
            max_tokens: maxOutputTokens,
            stream: true,
            stream_options: { include_usage: true },
          }),
          signal: abortSignal,
        });
        if (!answer.ok) {
          // By these the host decides whether and when it asks again.
          throw Object.assign(new Error(`the service answered ${answer.status}`), {
            statusCode: answer.status,
            responseHeaders: { "retry-after": answer.headers.get("retry-after") ?? undefined },
          });
        }
        /** The parts of an answer in server-sent events. One that breaks off throws: it must not look whole. */
        async function* parts() {
          const decoder = new TextDecoder();
          let rest = "";
          let ending;
          let usage;
          yield { type: "text-start", id: "text" };
          for await (const bytes of answer.body ?? []) {
            const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
            rest = lines.pop() ?? "";
            for (const line of lines.filter((each) => each.startsWith("data: {"))) {
              const event = JSON.parse(line.slice("data: ".length));
              if (event.error !== undefined) {
                throw new NodeError("answer_failed", "the answer broke off");
              }
              const [choice] = event.choices ?? [];
              const delta = choice?.delta?.content;
              if (delta) yield { type: "text-delta", id: "text", delta };
              ending = choice?.finish_reason ?? ending;
              usage = event.usage ?? usage;
            }
          }
          if (ending === undefined) throw new NodeError("answer_failed", "the answer has no end");
          yield { type: "text-end", id: "text" };
          yield {
            type: "finish",
            finishReason: { unified: ENDINGS.get(ending) ?? "other", raw: ending },
            usage: {
              inputTokens: { total: usage?.prompt_tokens },
              outputTokens: { total: usage?.completion_tokens },
            },
          };
        }
        return { stream: ReadableStream.from(parts()) };
      },
    }),
  }),
});

export default defineExtension({ providers: [provider] });
