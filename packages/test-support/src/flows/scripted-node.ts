/** A node type whose behaviour is data, so that a random graph is a whole program. */
import {
  catalogEntryOf,
  defineNodeType,
  exit,
  type JsonSchema,
  jsonSchema,
  NodeError,
} from "@millrace/contracts";
import type { CoreContext, Fields, NodeType } from "@millrace/engine";

export interface ScriptedFields {
  /** Of the record `{ value }`; default null. */
  readonly value?: unknown;
  /** `out` (default), `left` or `right`. */
  readonly port?: string;
  /** The first attempts fail, so many of them; default 0. */
  readonly fail?: number;
  /** Code of such a failure; default `scripted`. */
  readonly code?: string;
  /** Whether it may be retried; default true. */
  readonly retryable?: boolean;
  /** Absent: the body is synchronous. 0: it ends in a microtask. More: it sleeps so long, by the host's clock. */
  readonly delayMs?: number;
  /** The body never settles, and ignores its signal. */
  readonly hang?: boolean;
}

const fields: JsonSchema = {
  type: "object",
  additionalProperties: false,
  properties: {
    value: {},
    port: { enum: ["out", "left", "right"] },
    fail: { type: "integer", minimum: 0 },
    code: { type: "string", pattern: "^[a-z][a-z0-9_]{0,63}$" },
    retryable: { type: "boolean" },
    delayMs: { type: "integer", minimum: 0 },
    hang: { type: "boolean" },
  },
};

const definition = defineNodeType<ScriptedFields, { readonly value: unknown }>({
  type: "test.scripted",
  title: "Scripted",
  summary: "Does what its fields say.",
  fields: jsonSchema<ScriptedFields>(fields),
  output: jsonSchema<{ readonly value: unknown }>({
    type: "object",
    required: ["value"],
    properties: { value: {} },
  }),
  ports: [{ name: "out" }, { name: "left" }, { name: "right" }],
  effect: "pure",
  run: async (own, ctx) => outcome(own, ctx.attempt),
});

/** The type `test.scripted`, for `createRegistry([scriptedNode])`. Its fields are `ScriptedFields`. */
export const scriptedNode: NodeType = Object.freeze({
  entry: catalogEntryOf(definition),
  run(own: Fields, ctx: CoreContext) {
    const { delayMs, hang } = own as ScriptedFields;
    if (hang === true) return new Promise(() => {});
    const { attempt } = ctx;
    if (delayMs === undefined) return outcome(own, attempt);
    const slept = delayMs === 0 ? Promise.resolve() : ctx.sleep(delayMs);
    return slept.then(() => outcome(own, attempt));
  },
});

function outcome(
  own: ScriptedFields,
  attempt: number,
): ReturnType<typeof exit<{ value: unknown }>> {
  const { value = null, port = "out", fail = 0, code = "scripted", retryable = true } = own;
  if (attempt <= fail) throw new NodeError(code, `failure ${attempt} of ${fail}`, { retryable });
  return exit(port, { value });
}
