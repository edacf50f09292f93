/** Diagnostics, as validation and imports tell them. */
import type * as z from "zod";
import type { Diagnostic, Range } from "../diagnostics.ts";
import { schemaOf } from "../events/part-schema.ts";
import { diagnostic, range } from "../events/parts.ts";

/** Schema of `Range`. */
export const rangeSchema: z.ZodType<Range> = schemaOf(range) as z.ZodType<Range>;

/** One finding; at least one of `pointer` and `range` is present. */
export const diagnosticSchema: z.ZodType<Diagnostic> = (
  schemaOf(diagnostic) as z.ZodType<Diagnostic>
).refine(
  (found) => found.pointer !== undefined || found.range !== undefined,
  "needs a pointer or a range",
);
