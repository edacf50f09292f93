/** Traces of the runs of a command, where the variables `OTEL_*` want them. */

import type { Logger } from "@millrace/server";
import { openTraces, type Traces } from "@millrace/server/traces";
import type { CommandIo } from "../argv/spec.ts";
import { clean } from "../output/text.ts";

/** How long the end of a command waits for the receiver at most. */
const TIMEOUT_MS = 2_000;

/** Opens them. */
export function tracesOf(io: CommandIo): Promise<Traces | undefined> {
  return openTraces(io.env, { log: traceLog(io), timeoutMs: TIMEOUT_MS });
}

/** Messages for a person about traces. */
export function traceLog({ err }: CommandIo): Pick<Logger, "warn" | "info"> {
  return {
    info() {},
    warn(fields, message) {
      const { problem = "" } = fields as { readonly problem?: string };
      const lost = "the receiver of traces takes none: ";
      const text = `${message === "traces.lost" ? lost : ""}${problem}`;
      if (message?.startsWith("traces.")) void err.write(`warning: ${clean(text)}\n`);
    },
  };
}
