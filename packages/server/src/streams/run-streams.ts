/**
 * `POST /api/run`: starts a run and streams its events from the first one. The reader that asked for the run owns it: when
 * the last such reader leaves, the run is cancelled, unless it was started with `onDisconnect: "continue"`.
 */
import type { ParsedArgs, StoredEvent } from "@millrace/contracts";
import type { StreamHandler } from "../app/routes.ts";
import type { Exchange } from "../http/index.ts";
import type { CommandCall, ServerHost } from "../ports.ts";
import {
  acceptsEvents,
  checkPosition,
  isEnded,
  knownSummary,
  snapshotOf,
  startRun,
} from "../runs/index.ts";
import type { EventStreams, FrameFormat } from "./event-stream.ts";

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
    const { value, headers } = await startRun(call, "run_flow", args);
    const { runId } = value;
    const { Location = "", ...replayed } = headers;
    const { onDisconnect = "cancel", events } = args.options ?? {};
    const accepts = acceptsEvents({ kinds: events });
    owners.set(runId, (owners.get(runId) ?? 0) + 1);
    return streams.answer(exchange, {
      format: "sse",
      headers: {
        "Millrace-Run-Id": runId,
        "Content-Location": Location,
        Link: `<${Location}/events>; rel="monitor"`,
        ...replayed,
      },
      read: (signal) => call.host.executor.attach(runId, { after: 0, signal }),
      accepts,
      onEnd: (why) => leave(call, runId, why === "left" && onDisconnect === "cancel"),
    });
  };
}

/** Events handed over at once by an executor; a reader that gets so many is behind. */
const FULL_PAGE = 512;
/** Events that a reader with `lag=snapshot` may be behind before it is brought to the present. */
const LAG_EVENTS = 8_192;

/** Request of one reader; positions are `seq` of the last event it has. */
interface Reading {
  readonly host: ServerHost;
  readonly runId: string;
  readonly after: number;
  readonly snapshot: boolean;
  /** Whether a reader that falls far behind gets the present instead of the past. */
  readonly skips: boolean;
  readonly signal: AbortSignal;
}

/** The log as its reader wants it. */
async function* readLog(reading: Reading): AsyncGenerator<readonly StoredEvent[], void> {
  const { host, runId, signal } = reading;
  let at = reading.after;
  let leap = reading.snapshot;
  do {
    if (leap) {
      const snapshot = await snapshotOf(host, runId);
      leap = false;
      if (snapshot !== undefined) {
        yield [snapshot];
        at = snapshot.seq;
      }
    }
    for await (const page of host.executor.attach(runId, { after: at, signal })) {
      yield page;
      at = page.at(-1)?.seq ?? at;
      if (reading.skips && page.length >= FULL_PAGE) {
        const { lastSeq } = await knownSummary(host, runId);
        leap = lastSeq - at > LAG_EVENTS;
        if (leap) break;
      }
    }
  } while (leap);
}

/** Makes the stream of `GET /api/runs/{id}/events`: replay, then live, to the summary. */
export function createRunEventsStream(streams: EventStreams): StreamHandler {
  return async (args: ParsedArgs<"get_run_events">, call: CommandCall, exchange: Exchange) => {
    const { host } = call;
    const { runId, lag, after = 0, snapshot = false } = args;
    const run = await knownSummary(host, runId);
    checkPosition(run, after);
    if (isEnded(run.status) && after === run.lastSeq && !snapshot) {
      return exchange.reply({ status: 204 });
    }
    streams.checkCapacity();
    const accepts = acceptsEvents(args);
    const ndjson = /\bapplication\/x-ndjson\b/i.test(exchange.header("accept") ?? "");
    const format: FrameFormat = ndjson ? "ndjson" : "sse-id";
    return streams.answer(exchange, {
      format,
      headers: { "Millrace-Run-Id": runId },
      read: (signal) =>
        readLog({ host, runId, after, snapshot, skips: lag === "snapshot", signal }),
      accepts,
    });
  };
}
