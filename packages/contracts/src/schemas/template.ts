/** Templates and their versions. */
import * as z from "zod";
import type {
  FlowReport,
  Template,
  TemplateSource,
  TemplateSummary,
  TemplateVersion,
  TemplateVersionSummary,
} from "../commands/records/template.ts";
import { digestSchema, slugSchema, timeSchema } from "./common.ts";
import { diagnosticSchema } from "./diagnostic.ts";
import { flowGraphSchema } from "./graph.ts";

const source: z.ZodType<TemplateSource> = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.enum(["local", "import"]) }),
  z.strictObject({
    kind: z.literal("hub"),
    hub: z.string(),
    item: z.string(),
    version: z.string(),
    digest: digestSchema,
  }),
]);

const summary = {
  slug: slugSchema,
  name: z.string(),
  description: z.string(),
  tags: z.array(z.string()),
  source,
  version: z.int().min(1),
  digest: digestSchema,
  updatedAt: timeSchema,
};
const content = { dsl: z.string(), graph: flowGraphSchema };
const version = {
  slug: slugSchema,
  version: z.int().min(1),
  digest: digestSchema,
  createdAt: timeSchema,
};

/** Schema of `TemplateSummary`. */
export const templateSummarySchema: z.ZodType<TemplateSummary> = z.strictObject(summary);
/** Schema of `Template`. */
export const templateSchema: z.ZodType<Template> = z.strictObject({ ...summary, ...content });
/** Schema of `TemplateVersionSummary`. */
export const templateVersionSummarySchema: z.ZodType<TemplateVersionSummary> =
  z.strictObject(version);
/** Schema of `TemplateVersion`. */
export const templateVersionSchema: z.ZodType<TemplateVersion> = z.strictObject({
  ...version,
  ...content,
});

/** Schema of `FlowReport`. */
export const flowReportSchema: z.ZodType<FlowReport> = z.strictObject({
  valid: z.boolean(),
  diagnostics: z.array(diagnosticSchema),
});
