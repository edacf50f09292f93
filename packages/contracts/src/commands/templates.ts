/** Commands on stored flows. Each save that changes the graph is a new version; versions never change. */
import * as z from "zod";
import { digestSchema, pageSchema, slugSchema } from "../schemas/common.ts";
import { flowGraphSchema } from "../schemas/graph.ts";
import {
  pushReportSchema,
  templateSchema,
  templateSummarySchema,
  templateVersionSchema,
  templateVersionSummarySchema,
} from "../schemas/template.ts";
import {
  change,
  commandTable,
  get,
  ifMatch,
  ifMatchHeader,
  nothing,
  pageArgs,
  post,
  remove,
} from "./table.ts";

const slug = slugSchema;
const version = z.int().min(1);

/** Commands on templates and their versions. */
export const templateCommands = commandTable({
  list_templates: {
    summary: "List templates",
    args: z.strictObject({
      q: z.string().min(1).max(200).describe("Text in slug, name or description.").exactOptional(),
      tag: z.string().min(1).max(128).exactOptional(),
      source: z.enum(["local", "import", "hub"]).exactOptional(),
      ...pageArgs,
    }),
    result: pageSchema(templateSummarySchema),
    http: get("/api/templates"),
  },
  get_template: {
    summary: "Show the newest version of a template",
    args: z.strictObject({ slug }),
    result: templateSchema,
    http: get("/api/templates/:slug"),
  },
  save_template: {
    summary: "Store a flow as a template",
    args: z
      .strictObject({
        slug,
        name: z.string().min(1).max(200).exactOptional(),
        description: z.string().max(2_000).exactOptional(),
        tags: z.array(z.string().min(1).max(128)).max(16).exactOptional(),
        dsl: z.string().exactOptional(),
        graph: flowGraphSchema.exactOptional(),
        takeErrors: z
          .boolean()
          .default(false)
          .describe(
            "Also stores a flow that can be read but has errors: it does not start until they are mended.",
          ),
        ifMatch,
        ifNoneMatch: ifMatch,
      })
      .refine(
        (args) => (args.dsl === undefined) !== (args.graph === undefined),
        "give exactly one of dsl and graph",
      ),
    result: templateSchema,
    effect: "write",
    errors: ["flow_invalid", "store_read_only", "store_full"],
    http: change("PUT", "/api/templates/:slug", {
      alsoStatus: [201],
      headers: { "if-match": "ifMatch", "if-none-match": "ifNoneMatch" },
    }),
  },
  delete_template: {
    summary: "Delete a template with all its versions",
    args: z.strictObject({ slug, ifMatch }),
    result: nothing,
    effect: "write",
    errors: ["in_use"],
    http: remove("/api/templates/:slug", ifMatchHeader),
  },
  list_template_versions: {
    summary: "List the versions of a template, newest first",
    args: z.strictObject({ slug, ...pageArgs }),
    result: pageSchema(templateVersionSummarySchema),
    http: get("/api/templates/:slug/versions"),
  },
  get_template_version: {
    summary: "Show one version of a template",
    args: z.strictObject({ slug, version }),
    result: templateVersionSchema,
    http: get("/api/templates/:slug/versions/:version"),
  },
  restore_template_version: {
    summary: "Write the content of an old version as a new one",
    args: z.strictObject({ slug, version, ifMatch }),
    result: templateSchema,
    effect: "write",
    idempotency: "key",
    http: post("/api/templates/:slug/versions/:version/restore", 200, ifMatchHeader),
  },
  import_template: {
    summary: "Store flow text as a template; nothing of it is executed",
    args: z.strictObject({
      text: z.string(),
      slug: slug.exactOptional(),
      overwrite: z.boolean().default(false),
    }),
    result: templateSchema,
    effect: "write",
    idempotency: "key",
    errors: ["flow_invalid", "already_exists", "store_read_only", "store_full"],
    http: post("/api/templates/import", 201),
  },
  push_templates: {
    summary: "Store the flows of a folder as templates, all of them or none",
    args: z.strictObject({
      by: slugSchema.describe("Name under which the folder pushes."),
      flows: z
        .array(
          z.strictObject({
            slug,
            dsl: z.string(),
            base: digestSchema
              .exactOptional()
              .describe(
                "Digest of the text that was pulled: a template that still has it may be changed.",
              ),
          }),
        )
        .max(20_000),
      prune: z
        .boolean()
        .default(false)
        .describe(
          "Deletes what the folder has pushed and that is not among the flows, with the schedules that it declares.",
        ),
      force: z
        .boolean()
        .default(false)
        .describe(
          "Also replaces what was changed since the last push, or was not pushed by the folder.",
        ),
      dryRun: z.boolean().default(false).describe("Says what would change, and changes nothing."),
    }),
    result: pushReportSchema,
    effect: "write",
    errors: ["flow_invalid", "in_use", "state_conflict", "store_read_only", "store_full"],
    http: post("/api/templates/push", 200),
  },
  export_template: {
    summary: "Read a template as canonical flow text",
    args: z.strictObject({ slug }),
    result: z.strictObject({ text: z.string() }),
    http: get("/api/templates/:slug/export"),
  },
});
