/** Diagnostics, as validation and imports tell them. */
import { diagnostic, range } from "../events/parts.ts";
import { schemaOf } from "./event.ts";

/** Schema of `Range`. */
export const rangeSchema = schemaOf(range);

/** One finding; at least one of `pointer` and `range` is present. */
export const diagnosticSchema = schemaOf(diagnostic).refine(
  (found) => found.pointer !== undefined || found.range !== undefined,
  "needs a pointer or a range",
);
