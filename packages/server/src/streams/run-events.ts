/**
 * `GET /api/runs/{id}/events`: the log of a run from a position on, then live, without a gap and without a repeat. Any
 * number of readers may come, leave and come back; none of them owns the run.
 * @see the server page, "Run streams", the table of re-attaching
 */
import {
  type AnyEvent,
  createView,
  foldEvents,
  makeSnapshot,
  type ParsedArgs,
  type StoredEvent,
  serialiseEvent,
} from "@millrace/contracts";
import type { CommandCall } from "../command.ts";
import { decodeEvent } from "../decode-event.ts";
import type { EventStreams } from "../event-stream.ts";
import type { Exchange } from "../exchange.ts";
import type { FrameFormat } from "../frames.ts";
import type { ServerHost } from "../host.ts";
import { acceptsKinds, checkPosition } from "../positions.ts";
import type { StreamHandler } from "../routes.ts";
import { isEnded, knownRun } from "../runs.ts";

/** The fold of a log up to `seq`, as one event. */
async function snapshotAt(
  host: ServerHost,
  runId: string,
  seq: number,
): Promise<StoredEvent | undefined> {
  if (seq === 0) return undefined;
  const view = createView(runId);
  for await (const page of host.journal.read(runId, 0)) {
    for (const stored of page) {
      if (stored.seq > seq) break;
      foldEvents(view, decodeEvent(stored) as AnyEvent);
    }
    if ((page.at(-1)?.seq ?? seq) >= seq) break;
  }
  const snapshot = makeSnapshot(view, view.updatedAt);
  return { seq, kind: "snapshot", line: Buffer.from(serialiseEvent(snapshot)) };
}

async function* prepend(
  first: StoredEvent,
  rest: AsyncIterable<readonly StoredEvent[]>,
): AsyncGenerator<readonly StoredEvent[], void> {
  yield [first];
  yield* rest;
}

export function createRunEventsStream(streams: EventStreams): StreamHandler {
  return async (args: ParsedArgs<"get_run_events">, call: CommandCall, exchange: Exchange) => {
    const { host } = call;
    const { runId, kinds, after: asked = 0, snapshot = false } = args;
    const run = await knownRun(host, runId);
    checkPosition(run, asked);
    const ended = isEnded(run.status);
    if (ended && asked === run.lastSeq && !snapshot) return exchange.reply({ status: 204 });
    streams.checkCapacity();
    // A snapshot never contains the summary: of an ended run it is that of the event before.
    const at = ended ? run.lastSeq - 1 : run.lastSeq;
    const first = snapshot ? await snapshotAt(host, runId, at) : undefined;
    const after = snapshot ? at : asked;
    const accepts = acceptsKinds(kinds);
    const ndjson = /\bapplication\/x-ndjson\b/i.test(exchange.header("accept") ?? "");
    const format: FrameFormat = ndjson ? "ndjson" : "sse-id";
    return streams.answer(exchange, {
      format,
      headers: { "Millrace-Run-Id": runId },
      read: (signal) => {
        const live = host.executor.attach(runId, { after, signal });
        return first === undefined ? live : prepend(first, live);
      },
      ...(accepts === undefined ? {} : { accepts }),
    });
  };
}
