import {
  defineAction,
  defineActionAdapter,
  defineExtension,
  jsonSchema,
  NodeError,
} from "@millrace/contracts";

const lookup = defineAction({
  name: "lookup",
  title: "Look something up",
  summary: "The first answer to a question.",
  fields: jsonSchema({
    type: "object",
    properties: { query: { type: "string", minLength: 1, "x-millrace": { sink: "url" } } },
    required: ["query"],
    additionalProperties: false,
  }),
  output: jsonSchema({
    type: "object",
    properties: { text: { type: "string" } },
    required: ["text"],
  }),
  effect: "read",
  needs: { secrets: ["API_KEY"] },
  async run({ query }, ctx) {
    const key = await ctx.credentials.secret("API_KEY");
    const answer = await ctx.fetch(`https://api.example.com/v1/${encodeURIComponent(query)}`, {
      headers: { authorization: `Bearer ${key.reveal()}` },
    });
    if (!answer.ok) {
      const retryable = answer.status >= 500;
      throw new NodeError("lookup_http", `the service answered ${answer.status}`, { retryable });
    }
    return JSON.parse(await answer.text()); // the engine holds it to `output`
  },
});

export default defineExtension({
  adapters: [
    defineActionAdapter({ id: "your-extension", title: "your-extension", actions: [lookup] }),
  ],
});
