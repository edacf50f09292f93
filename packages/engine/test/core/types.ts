/** Node types for tests: bodies that do what the test says. */
import {
  type ControlContext,
  defineNodeType,
  type Effect,
  jsonSchema,
  NodeError,
  type NodeTypeDefinition,
} from "@millrace/contracts";

/** A type `test.<name>` whose body is a function. */
export function bodyType(
  name: string,
  run: (fields: { readonly [name: string]: unknown }, ctx: ControlContext) => unknown,
  options: { effect?: Effect; idempotent?: true } = {},
): NodeTypeDefinition {
  return defineNodeType<{ [name: string]: unknown }, unknown>({
    type: `test.${name}`,
    title: name,
    summary: "A body of a test.",
    fields: jsonSchema({ type: "object" }),
    output: jsonSchema({}),
    effect: options.effect ?? "pure",
    ...(options.idempotent !== undefined && { idempotent: true as const }),
    run: run as never,
  }) as NodeTypeDefinition;
}

/** A type that counts how many of it work at the same time, and takes `ms` of simulated time. */
export function gauge(name = "gauge"): {
  type: NodeTypeDefinition;
  seen: { now: number; most: number };
} {
  const seen = { now: 0, most: 0 };
  const type = bodyType(name, async (fields, ctx) => {
    seen.now += 1;
    seen.most = Math.max(seen.most, seen.now);
    await ctx.sleep((fields["ms"] as number | undefined) ?? 10);
    seen.now -= 1;
    return {};
  });
  return { type, seen };
}

/** A type that fails the first `times` tries with `code`, then answers `{tries}`. */
export function flaky(
  times: number,
  options: {
    code?: string;
    retryable?: boolean;
    retryAfterMs?: number;
    reason?: string;
    sent?: boolean;
  } = {},
): NodeTypeDefinition {
  const { code = "broken", retryable = true, ...more } = options;
  return bodyType("flaky", (_fields, ctx) => {
    if (ctx.attempt <= times) throw new NodeError(code, "not yet", { retryable, ...more });
    return { tries: ctx.attempt };
  });
}

/** A body that never settles, whatever it is told. */
export const deaf: NodeTypeDefinition = bodyType("deaf", () => new Promise(() => undefined));

/** A body that settles only when it is aborted, by throwing. */
export const patient: NodeTypeDefinition = bodyType(
  "patient",
  (_fields, ctx) =>
    new Promise((_resolve, reject) => {
      ctx.signal.addEventListener("abort", () => reject(new Error("aborted")));
    }),
);
