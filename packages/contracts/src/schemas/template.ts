/** Templates: stored flows, addressed by slug; each save that changes the flow is a new immutable version. */
import * as z from "zod";
import { digestSchema, type Infer, slugSchema, timeSchema } from "./common.ts";
import { diagnosticSchema } from "./event.ts";
import type { FlowGraph } from "./graph.ts";
import { flowGraphSchema, flowScheduleSchema } from "./graph.ts";

const folder = z
  .string()
  .describe("Mark of the folder whose file it is, as `millrace studio` keeps it.")
  .exactOptional();
const pushed = z
  .strictObject({
    by: slugSchema.describe("Name under which the folder pushes."),
    text: digestSchema.describe("Digest of the text that it has pushed."),
  })
  .describe("The folder that it was pushed from.")
  .exactOptional();
const source = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.enum(["local", "import"]), folder, pushed }),
  z.strictObject({
    kind: z.literal("hub"),
    folder,
    hub: z.string(),
    item: z.string(),
    version: z.string(),
    digest: digestSchema,
  }),
]);

/** Where a template came from. */
export type TemplateSource = Infer<typeof source>;

const summary = {
  slug: slugSchema,
  name: z.string(),
  description: z.string(),
  tags: z.array(z.string()),
  source,
  version: z.int().min(1),
  digest: digestSchema.describe("Identity of the graph."),
  updatedAt: timeSchema,
};
const content = {
  dsl: z.string().describe("The text, with the comments of its author."),
  graph: flowGraphSchema,
};
const version = {
  slug: slugSchema,
  version: z.int().min(1),
  digest: digestSchema,
  createdAt: timeSchema,
};

/** Schema of `TemplateSummary`. */
export const templateSummarySchema = z.strictObject(summary);
/** Schema of `Template`. */
export const templateSchema = z.strictObject({ ...summary, ...content });
/** Schema of `TemplateVersionSummary`. */
export const templateVersionSummarySchema = z.strictObject(version);
/** Schema of `TemplateVersion`. */
export const templateVersionSchema = z.strictObject({ ...version, ...content });

/** A template without its content. */
export type TemplateSummary = Infer<typeof templateSummarySchema>;
/** A template; `graph` is what runs. */
export type Template = Infer<typeof templateSchema>;
/** One immutable version of a template, without its content. */
export type TemplateVersionSummary = Infer<typeof templateVersionSummarySchema>;
/** One immutable version of a template. */
export type TemplateVersion = Infer<typeof templateVersionSchema>;

/** Schema of `PushReport`. */
export const pushReportSchema = z.strictObject({
  changes: z
    .array(
      z.strictObject({
        slug: slugSchema,
        change: z.enum(["created", "updated", "removed"]),
        version: z.int().min(0).describe("The newest version afterwards; 0 for one that is gone."),
        before: z.string().exactOptional().describe("The text that was there, of a dry run."),
        after: z.string().exactOptional().describe("The text that would be there, of a dry run."),
      }),
    )
    .describe("By slug."),
  same: z.int().min(0).describe("Flows that were there as they are."),
});

/** Changes of a push, or those that a dry run would make. */
export type PushReport = Infer<typeof pushReportSchema>;

/** Schema of `FlowReport`. */
export const flowReportSchema = z.strictObject({
  valid: z.boolean().describe("No diagnostic is an error."),
  diagnostics: z.array(diagnosticSchema),
  proposed: z
    .array(flowScheduleSchema)
    .exactOptional()
    .describe("Schedules of a valid flow; `create_schedule` activates one. Absent: none."),
});

/** The findings of a validation. */
export type FlowReport = Infer<typeof flowReportSchema>;

/** A flow as text or as graph, one of them. */
export type FlowArgs =
  | { readonly graph: FlowGraph; readonly dsl?: never }
  | { readonly dsl: string; readonly graph?: never };
