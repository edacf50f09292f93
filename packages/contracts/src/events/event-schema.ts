/** Events as zod schemas, for those who describe or guard a border with them. Built from the same parts as every other check. */
import * as z from "zod";
import { schemaOf } from "./part-schema.ts";
import type { ObjectPart } from "./parts.ts";
import { EVENT_PARTS } from "./payloads.ts";
import type { ExecutionEvent } from "./types.ts";

/** Every event that a writer of version 1 may make, told apart by `kind`; unknown kinds, keys and words are refused. */
export const executionEventSchema: z.ZodType<ExecutionEvent> = z.discriminatedUnion(
  "kind",
  Array.from(EVENT_PARTS, eventSchemaOf) as [z.ZodObject, z.ZodObject],
) as unknown as z.ZodType<ExecutionEvent>;

function eventSchemaOf([kind, part]: [string, ObjectPart]): z.ZodType {
  const schema = schemaOf(part);
  return kind === "log" ? schema.refine(hasWholePlace, "has node and attempt, or neither") : schema;
}

function hasWholePlace(event: unknown): boolean {
  const { node, attempt } = event as { node?: unknown; attempt?: unknown };
  return (node === undefined) === (attempt === undefined);
}
