/**
 * `POST /api/run`: starts a run and streams its events from the first one. The reader that asked for the run owns it: when
 * the last such reader leaves, the run is cancelled, unless it was started with `onDisconnect: "continue"`.
 */
import type { ParsedArgs } from "@millrace/contracts";
import { REPLAYED } from "../commands/index.ts";
import type { Exchange } from "../http/index.ts";
import type { CommandCall } from "../ports.ts";
import type { StreamHandler } from "../routes.ts";
import { acceptsKinds, startRun } from "../runs/index.ts";
import type { EventStreams } from "./event-stream.ts";

/** Makes the stream of `POST /api/run`. */
export function createRunFlowStream(streams: EventStreams): StreamHandler {
  /** Open owners by run. */
  const owners = new Map<string, number>();

  function leave(call: CommandCall, runId: string, cancel: boolean): void {
    const left = (owners.get(runId) ?? 1) - 1;
    if (left > 0) owners.set(runId, left);
    else owners.delete(runId);
    if (!cancel || left > 0) return;
    const { executor, log } = call.host;
    executor.cancel(runId, { reason: "disconnect" }).catch((error: unknown) => {
      // The run may have ended at the same moment: then there is nothing to cancel.
      log.debug({ runId, err: error }, "run.not_cancelled");
    });
  }

  return async (args: ParsedArgs<"run_flow">, call: CommandCall, exchange: Exchange) => {
    streams.checkCapacity();
    const { value: ref, replayed } = await startRun(call, "run_flow", args);
    const { runId } = ref;
    const { onDisconnect = "cancel", events } = args.options ?? {};
    const accepts = acceptsKinds(events);
    owners.set(runId, (owners.get(runId) ?? 0) + 1);
    return streams.answer(exchange, {
      format: "sse",
      headers: {
        "Millrace-Run-Id": runId,
        "Content-Location": `/api/runs/${runId}`,
        Link: `</api/runs/${runId}/events>; rel="monitor"`,
        ...(replayed ? REPLAYED : {}),
      },
      read: (signal) => call.host.executor.attach(runId, { after: 0, signal }),
      ...(accepts === undefined ? {} : { accepts }),
      onEnd: (why) => leave(call, runId, why === "left" && onDisconnect === "cancel"),
    });
  };
}
