/** `log`: writes a line to the log of the run. */
import type { JsonObject, LogLevel } from "@millrace/contracts";
import type { NodeType } from "../node-type.ts";
import { coreEntry, record } from "./entry.ts";

/** `log`: writes one line into the log of the run. */
export const log: NodeType = {
  core: true,
  entry: coreEntry({
    type: "log",
    title: "Log",
    summary: "Writes a line to the log of the run.",
    category: "data",
    properties: {
      level: {
        enum: ["debug", "info", "warn", "error"],
        default: "info",
        description: "How much the line matters.",
      },
      message: { type: "string", description: "The line." },
      data: { type: ["object", "null"], default: null, description: "At most 2,048 bytes." },
    },
    required: ["message"],
    output: record({}),
    example: { title: "A note", fields: { message: "late" } },
  }),
  run(fields, ctx) {
    const data = fields["data"] as JsonObject | null;
    ctx.log(fields["level"] as LogLevel, fields["message"] as string, data ?? undefined);
    return {};
  },
};
