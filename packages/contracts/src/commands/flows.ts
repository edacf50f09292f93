/** Commands on flow text and graphs. Nothing is executed, stored or fetched. */
import * as z from "zod";
import { flowGraphSchema } from "../schemas/graph.ts";
import { type FlowArgs, flowReportSchema } from "../schemas/template.ts";
import { commandTable, post } from "./table.ts";

const dsl = z.string();

/** A flow as graph or as text; exactly one of them is present. */
const flow = z
  .strictObject({ graph: flowGraphSchema.exactOptional(), dsl: dsl.exactOptional() })
  .refine(
    (args) => (args.graph === undefined) !== (args.dsl === undefined),
    "give exactly one of graph and dsl",
  ) as unknown as z.ZodType<FlowArgs, FlowArgs>;

/** Commands on text and graphs that run nothing: validate, format, convert. */
export const flowCommands = commandTable({
  validate_flow: {
    summary: "Check a flow without running it",
    args: flow,
    result: flowReportSchema,
    effect: "read",
    idempotency: "natural",
    http: post("/api/flows/validate", 200),
  },
  format_flow: {
    summary: "Print flow text in its canonical form",
    args: z.strictObject({ dsl }),
    result: z.strictObject({ dsl }),
    effect: "read",
    idempotency: "natural",
    errors: ["flow_invalid"],
    http: post("/api/flows/format", 200),
  },
  convert_flow: {
    summary: "Turn flow text into a graph, or a graph into text",
    args: flow,
    result: z.union([z.strictObject({ dsl }), z.strictObject({ graph: flowGraphSchema })]),
    effect: "read",
    idempotency: "natural",
    errors: ["flow_invalid"],
    http: post("/api/flows/convert", 200),
  },
});
