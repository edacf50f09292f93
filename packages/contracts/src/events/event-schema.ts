/** Events as zod schemas, for those who describe or guard a border with them. Built from the same parts as every other check. */
import * as z from "zod";
import { EVENT_KINDS } from "./kinds.ts";
import { partProblem } from "./part-problem.ts";
import type { ObjectPart, Part } from "./parts.ts";
import { eventPart } from "./payloads.ts";
import type { ExecutionEvent, Kind } from "./types.ts";

/** Every event that a writer of version 1 may make, told apart by `kind`; unknown kinds, keys and words are refused. */
export const executionEventSchema: z.ZodType<ExecutionEvent> = z.discriminatedUnion(
  "kind",
  EVENT_KINDS.map(eventSchemaOf) as [z.ZodObject, z.ZodObject],
) as unknown as z.ZodType<ExecutionEvent>;

function eventSchemaOf(kind: Kind): z.ZodType {
  const schema = schemaOf(eventPart(kind));
  return kind === "log" ? schema.refine(hasWholePlace, "has node and attempt, or neither") : schema;
}

function hasWholePlace(event: unknown): boolean {
  const { node, attempt } = event as { node?: unknown; attempt?: unknown };
  return (node === undefined) === (attempt === undefined);
}

function schemaOf(part: Part): z.ZodType {
  switch (part.is) {
    case "object":
      return z.strictObject(shapeOf(part));
    case "list":
      return Number.isFinite(part.max)
        ? z.array(schemaOf(part.of)).max(part.max)
        : z.array(schemaOf(part.of));
    case "record":
      return judged(z.record(z.string(), schemaOf(part.of)), part);
    case "text": {
      const text = z.string().min(part.min);
      return Number.isFinite(part.max) ? text.max(part.max) : text;
    }
    case "pattern":
      return z.string().regex(part.expression, `is not ${part.says}`);
    case "word":
      return z.enum(part.words as [string, ...string[]]);
    case "literal":
      return z.literal(part.value);
    case "nullable":
      return schemaOf(part.of).nullable();
    case "integer":
      return z.int().min(part.min);
    case "number":
      return part.max === Number.MAX_VALUE
        ? z.number().min(part.min)
        : z.number().min(part.min).max(part.max);
    case "flag":
      return z.boolean();
    case "path":
      return judged(z.string(), part);
    case "json":
      return judged(part.isObject ? z.record(z.string(), z.unknown()) : z.unknown(), part);
  }
}

function shapeOf({ entries }: ObjectPart): z.ZodRawShape {
  return Object.fromEntries(
    entries.map(([key, part]) => {
      const schema = schemaOf(part);
      return [key, part.isOptional === true ? schema.exactOptional() : schema];
    }),
  );
}

/** Adds what only the part can tell. */
function judged(schema: z.ZodType, part: Part): z.ZodType {
  return schema.superRefine((value, context) => {
    const problem = partProblem(part, value, true);
    if (problem !== undefined) context.addIssue({ code: "custom", message: problem.trim() });
  });
}
