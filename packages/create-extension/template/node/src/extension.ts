import { defineExtension, defineNodeType, jsonSchema } from "@millrace/contracts";

const quorum = defineNodeType({
  type: "your-extension.quorum",
  title: "Quorum",
  summary: "Asks until enough people agree.",
  fields: jsonSchema({
    type: "object",
    properties: { needed: { type: "integer", minimum: 1, maximum: 100 } },
    required: ["needed"],
    additionalProperties: false,
  }),
  output: jsonSchema({
    type: "object",
    properties: { agreed: { type: "integer" } },
    required: ["agreed"],
  }),
  effect: "read",
  async run({ needed }, ctx) {
    let agreed = 0;
    for (let asked = 1; asked <= needed; asked += 1) {
      // Answered from the journal after a restart: each question has a key of its own.
      const answer = await ctx.confirm(`person-${asked}`, { prompt: `Do you agree? (${asked})` });
      if (answer.outcome === "approved") agreed += 1;
      ctx.progress(asked, needed);
    }
    return { agreed };
  },
});

export default defineExtension({ nodeTypes: [quorum] });
