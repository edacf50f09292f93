/** Parts as zod schemas, so that whoever describes or guards a border says nothing twice. */
import * as z from "zod";
import { partProblem } from "./part-problem.ts";
import type { ObjectPart, Part } from "./parts.ts";

/** The zod schema of a part; as strict as a writer has to be. */
export function schemaOf(part: Part): z.ZodType {
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
