/** `confirm`: asks a person and parks until the answer, or until its deadline. */
import { type ConfirmAnswer, exit, type JsonSchema, NodeError } from "@millrace/contracts";
import type { CoreContext, NodeType } from "../node-type.ts";
import { coreEntry, record } from "./entry.ts";

/** `confirm`: waits for a person, and leaves by `approved`, `rejected` or `expired`. */
export const confirm: NodeType = {
  core: true,
  ownsTimeout: true,
  entry: coreEntry({
    type: "confirm",
    title: "Confirm",
    summary: "Asks a person; `@timeout` is the deadline.",
    category: "people",
    properties: {
      prompt: { type: "string", description: "What the person is asked." },
      schema: { type: "object", description: "JSON Schema of the value of an approval." },
    },
    required: ["prompt"],
    output: record({
      outcome: {
        enum: ["approved", "rejected", "expired"],
        "x-millrace": { aliases: ["answer", "approved", "decision", "status"] },
      },
      value: {},
      by: { type: ["string", "null"] },
      comment: { type: ["string", "null"] },
      at: { type: "string", format: "date-time" },
    }),
    ports: [
      { name: "approved", description: "The answer was yes." },
      { name: "rejected", description: "The answer was no; without an edge the node fails." },
      { name: "expired", description: "No answer in time; without an edge the node fails." },
    ],
    example: { title: "A refund", fields: { prompt: "Refund 12 EUR?" } },
  }),
  // A promise, and no function that waits: thousands of nodes may be parked for days.
  run(fields, ctx) {
    const { timeoutMs } = ctx;
    const schema = fields["schema"] as JsonSchema | undefined;
    const asked = ctx.confirm("answer", {
      prompt: fields["prompt"] as string,
      ...(schema !== undefined && { schema }),
      ...(timeoutMs !== undefined && { expiresInMs: timeoutMs }),
    });
    return asked.then((answer) => leave(answer, ctx));
  },
};

/** The exit of an answer. */
function leave(answer: ConfirmAnswer, ctx: CoreContext): unknown {
  const { outcome } = answer;
  if (outcome === "approved" || ctx.hasEdge(outcome)) return exit(outcome, { ...answer });
  const code = outcome === "rejected" ? "confirm_rejected" : "confirm_expired";
  const text = outcome === "rejected" ? "the confirmation was rejected" : "nobody answered in time";
  throw new NodeError(code, text, { reason: "confirm" });
}
