/** Diagnostics, as validation and imports tell them. */
import * as z from "zod";
import type { Diagnostic, Fix, Position, Range } from "../diagnostics.ts";

const position: z.ZodType<Position> = z.strictObject({
  line: z.int().min(1),
  column: z.int().min(1),
  offset: z.int().min(0),
});

/** Schema of `Range`. */
export const rangeSchema: z.ZodType<Range> = z.strictObject({ start: position, end: position });

const fix: z.ZodType<Fix> = z.strictObject({
  title: z.string(),
  edits: z.array(z.strictObject({ range: rangeSchema, newText: z.string() })),
});

/** One finding; at least one of `pointer` and `range` is present. */
export const diagnosticSchema: z.ZodType<Diagnostic> = z
  .strictObject({
    code: z.string().min(1),
    severity: z.enum(["error", "warning", "info"]),
    message: z.string(),
    pointer: z.string().exactOptional(),
    range: rangeSchema.exactOptional(),
    hint: z.string().exactOptional(),
    related: z.array(z.strictObject({ range: rangeSchema, message: z.string() })).exactOptional(),
    fixes: z.array(fix).exactOptional(),
  })
  .refine(
    (found) => found.pointer !== undefined || found.range !== undefined,
    "needs a pointer or a range",
  );
