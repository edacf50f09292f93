/** Events, and shapes that records have in common with them, as zod schemas. Built from the table that every other check reads. */
import * as z from "zod";
import { EVENT_PARTS } from "../events/kinds.ts";
import { diagnostic, partProblem, range } from "../events/parts.ts";
import type { ExecutionEvent } from "../events/types.ts";
import type { Infer, ObjectShape, Shape } from "../shape/index.ts";

/** The zod schema of a shape; as strict as a writer has to be. */
export function schemaOf<S extends Shape>(shape: S): z.ZodType<Infer<S>, Infer<S>> {
  return convert(shape) as z.ZodType<Infer<S>, Infer<S>>;
}

function convert(shape: Shape): z.ZodType {
  switch (shape.is) {
    case "object":
      return z.strictObject(
        Object.fromEntries(
          Object.entries(shape.fields).map(([name, field]) => {
            const schema = convert(field);
            return [name, field.isOptional === true ? schema.exactOptional() : schema];
          }),
        ),
      );
    case "list": {
      const items = z.array(convert(shape.of));
      return shape.max < Number.MAX_SAFE_INTEGER ? items.max(shape.max) : items;
    }
    case "record":
      return judged(z.record(z.string(), convert(shape.of)), shape);
    case "text": {
      if (shape.pattern !== undefined) {
        return z.string().regex(shape.pattern, `is not ${shape.what}`);
      }
      const text = z.string().min(shape.min);
      return Number.isFinite(shape.max) ? text.max(shape.max) : text;
    }
    case "word": {
      const [first, ...others] = shape.values;
      if (typeof first === "boolean" && others.length > 0) return z.boolean();
      return others.length > 0 ? z.enum(shape.values as string[]) : z.literal(first ?? "");
    }
    case "nullable":
      return convert(shape.of).nullable();
    case "number": {
      if (shape.isWhole) return z.int().min(shape.min);
      const number = z.number().min(shape.min);
      return shape.max === Number.MAX_VALUE ? number : number.max(shape.max);
    }
    default: {
      const type = shape.is === "rule" ? shape.type : undefined;
      if (type === "string") return judged(z.string(), shape);
      return judged(type === "object" ? z.record(z.string(), z.unknown()) : z.unknown(), shape);
    }
  }
}

/** Adds what only the shape can tell. */
function judged(schema: z.ZodType, shape: Shape): z.ZodType {
  return schema.superRefine((value, context) => {
    const problem = partProblem(value, shape, true);
    if (problem !== undefined) context.addIssue({ code: "custom", message: problem.trim() });
  });
}

/** Every event that a writer of version 1 may make, told apart by `kind`; unknown kinds, keys and words are refused. */
export const executionEventSchema: z.ZodType<ExecutionEvent> = z.discriminatedUnion(
  "kind",
  Array.from(EVENT_PARTS, eventSchemaOf) as [z.ZodObject, z.ZodObject],
) as unknown as z.ZodType<ExecutionEvent>;

function eventSchemaOf([kind, part]: [string, ObjectShape]): z.ZodType {
  const schema = schemaOf(part);
  return kind === "log" ? schema.refine(hasWholePlace, "has node and attempt, or neither") : schema;
}

function hasWholePlace(event: unknown): boolean {
  const { node, attempt } = event as { node?: unknown; attempt?: unknown };
  return (node === undefined) === (attempt === undefined);
}

/** Schema of `Range`. */
export const rangeSchema = schemaOf(range);

/** One finding; at least one of `pointer` and `range` is present. */
export const diagnosticSchema = schemaOf(diagnostic).refine(
  (found) => found.pointer !== undefined || found.range !== undefined,
  "needs a pointer or a range",
);
