/** Payloads judged: quickly, as a reader must, or by their zod schemas, as writers and tests want it. */
import * as z from "zod";
import {
  count,
  type Fields,
  id,
  integer,
  literal,
  object,
  optional,
  path,
  problemIn,
} from "./parts.ts";
import { PAYLOADS } from "./payloads.ts";
import type { AnyEvent, ExecutionEvent, Kind } from "./types.ts";

/** Schema of every event of version 1, known fields only; for writers, tests and descriptions of the service. */
export function executionEventSchema(): z.ZodType<ExecutionEvent> {
  built.union ??= z.union([...strictSchemas().values()]) as unknown as z.ZodType<ExecutionEvent>;
  return built.union;
}

/** The first thing that is wrong with an event for one who writes version 1, or `undefined`. */
export function strictProblem(event: AnyEvent): string | undefined {
  const schema = strictSchemas().get(event.kind);
  if (schema === undefined) return "no such kind in version 1";
  const issue = schema.safeParse(event).error?.issues[0];
  if (issue === undefined) return undefined;
  return issue.path.length === 0 ? issue.message : `${issue.path.join(".")}: ${issue.message}`;
}

const FIELDS = new Map<string, readonly (readonly [string, Fields[string]])[]>(
  Object.entries(PAYLOADS).map(([kind, fields]) => [kind, Object.entries(fields)]),
);

/** The first field of the payload that no reader could use, or `undefined`; unknown kinds and fields pass. */
export function payloadProblem(event: AnyEvent): string | undefined {
  const entries = FIELDS.get(event.kind);
  return entries && problemIn(entries, event as unknown as Record<string, unknown>);
}

const built: { strict?: Map<string, z.ZodType>; union?: z.ZodType<ExecutionEvent> } = {};

/** Built at first use: most programs that read events never need them. */
function strictSchemas(): Map<string, z.ZodType> {
  built.strict ??= new Map(
    (Object.keys(PAYLOADS) as Kind[]).map((kind) => {
      const fields = { ...envelope(kind), ...PAYLOADS[kind] };
      return [kind, object(fields).schema(true)];
    }),
  );
  return built.strict;
}

function envelope(kind: Kind): Fields {
  const common = { v: literal(1), kind: literal(kind), runId: id, seq: integer(1), ts: count };
  const attempt = integer(1);
  if (kind === "log") return { ...common, node: optional(path), attempt: optional(attempt) };
  const isRunEvent = kind.startsWith("run.") || kind === "snapshot" || kind === "summary";
  return isRunEvent ? common : { ...common, node: path, attempt };
}
