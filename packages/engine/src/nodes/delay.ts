/** `delay`: parks until a time has come. */
import { type FieldFinding, NodeError } from "@millrace/contracts";
import type { Fields, NodeType } from "../node-type.ts";
import { coreEntry, record } from "./entry.ts";

const LONGEST_MS = 366 * 24 * 3_600_000; // a longer wait needs a schedule

/** `delay`: waits for a time or until one. */
export const delay: NodeType = {
  core: true,
  entry: coreEntry({
    type: "delay",
    title: "Delay",
    summary: "Waits for a while or until a time, without holding a slot.",
    category: "time",
    properties: {
      for: { type: "number", minimum: 0, maximum: LONGEST_MS, description: "A duration: `90s`." },
      until: { type: "string", format: "date-time", description: "ISO 8601; past means at once." },
    },
    output: record({ at: { type: "string", format: "date-time" } }),
    example: { title: "A pause", fields: { for: { $: "90s" } } },
  }),
  check: (fields) => (both(fields) ? [finding("`for` and `until` cannot be used together")] : []),
  async run(fields, ctx) {
    await ctx.waitUntil(dueOf(fields, ctx.now()));
    return { at: new Date(ctx.now()).toISOString() };
  },
};

function both(fields: Fields): boolean {
  return Object.hasOwn(fields, "for") && Object.hasOwn(fields, "until");
}

function finding(message: string): FieldFinding {
  return { pointer: "/for", code: "field_invalid", message, severity: "error" };
}

/** Epoch milliseconds at which the wait ends. */
function dueOf(fields: Fields, now: number): number {
  const { for: forMs, until } = fields as { for?: number; until?: string };
  if ((forMs === undefined) === (until === undefined)) {
    throw invalid("exactly one of `for` and `until` is needed");
  }
  const due = forMs !== undefined ? now + forMs : Date.parse(until as string);
  if (!Number.isFinite(due)) throw invalid("`until` is no date");
  if (due - now > LONGEST_MS) throw invalid("a delay is at most 366 days");
  return Math.ceil(due);
}

function invalid(message: string): NodeError {
  return new NodeError("field_invalid", message, { reason: "input" });
}
