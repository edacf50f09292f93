/** Logs that the suite of transports reads, as they lie in the journal of its host. */
import {
  createView,
  type ExecutionEvent,
  type FlowGraph,
  foldEvents,
  type Journal,
  type JsonObject,
  makeSummary,
  type RunHeader,
  serialiseEvent,
} from "@millrace/contracts";
import { casesOf } from "../index.ts";

/** Deltas of the one call of the long log, unless fewer are asked for; each is one letter. */
export const DELTAS: number = Math.max(10_000, casesOf(100_000));
/** Events written at once. */
const PAGE = 5_000;
/** Now: a store forgets what is old. */
const STARTED_AT = Date.now();
const DIGEST = `sha256:${"9f".repeat(32)}` as const;

/** Text that wires tend to break: line ends of other languages, half a character, quotes, a byte order mark. */
const HOSTILE: readonly string[] = [
  "a\u2028b\u2029c\u0085d",
  "half \ud83d",
  "\udc00 half",
  '"\\\n\r\t\0\u007f',
  "\ufeffstart",
  "data: x\n\ndata: y",
  "😀é漢",
];

const GRAPH: FlowGraph = {
  version: 1,
  id: "recorded",
  inputs: [],
  nodes: [{ id: "say", type: "log", fields: { message: "" } }],
  edges: [],
  outputs: [],
} as unknown as FlowGraph;

export const RECORDED: { readonly hostile: string; readonly deltas: string } = {
  hostile: "transport_hostile",
  deltas: "transport_deltas",
};

type Words = JsonObject & { readonly kind: ExecutionEvent["kind"] };

export interface TransportLogs {
  /** Deltas of the long log; default `DELTAS`. */
  readonly deltas?: number;
}

export function recordedLog(
  runId: string,
  { deltas = DELTAS }: TransportLogs = {},
): readonly ExecutionEvent[] {
  const words = runId === RECORDED.deltas ? deltasOf(deltas) : hostile();
  const place = { node: "say", attempt: 1 };
  const all: Words[] = [
    {
      kind: "run.started",
      flow: { id: "recorded", hash: DIGEST },
      nodeCount: 1,
      onFailure: "stop",
      inputs: DIGEST,
      trigger: "desktop",
    },
    { kind: "node.started", ...place, type: "log" },
    ...words.map((each): Words => ({ ...each, ...place })),
    {
      kind: "node.succeeded",
      ...place,
      output: JSON.parse('{"__proto__":{"x":1},"constructor":2}') as JsonObject,
      durationMs: 0,
    },
  ];
  const events = all.map(
    ({ kind, ...rest }, index) =>
      ({ v: 1, kind, runId, seq: index + 1, ts: STARTED_AT, ...rest }) as unknown as ExecutionEvent,
  );
  const view = createView(runId);
  for (const event of events) foldEvents(view, event);
  const summary = makeSummary(view, { status: "succeeded", ts: STARTED_AT });
  const envelope = {
    v: 1,
    kind: "summary",
    runId,
    seq: events.length + 1,
    ts: STARTED_AT,
  } as const;
  return [...events, { ...envelope, ...summary }];
}

function hostile(): Words[] {
  return HOSTILE.map((text) => ({ kind: "log", level: "info", channel: "node", text }));
}

function deltasOf(length: number): Words[] {
  const letters = "abcdefghijklmnopqrstuvwxyz";
  const call = "c1";
  return [
    {
      kind: "llm.started",
      call,
      provider: "p",
      model: "m",
      target: 0,
      step: 1,
      purpose: "generate",
    },
    ...Array.from(
      { length },
      (_, offset): Words => ({
        kind: "llm.delta",
        call,
        channel: "text",
        offset,
        text: letters[offset % letters.length] as string,
      }),
    ),
    {
      kind: "llm.finished",
      call,
      finish: "stop",
      lengths: { text: length },
      costUsd: null,
      durationMs: 0,
    },
  ];
}

/** Writes the logs that `transportConformance` reads into the journal of its host. */
export async function recordTransportLogs(
  journal: Journal,
  logs: TransportLogs = {},
): Promise<void> {
  const encoder = new TextEncoder();
  for (const runId of Object.values(RECORDED)) {
    const header: RunHeader = {
      runId,
      planDigest: DIGEST,
      flowHash: DIGEST,
      graph: GRAPH,
      inputs: {},
      trigger: "desktop",
    };
    const { epoch } = await journal.create(header);
    const log = recordedLog(runId, logs);
    for (let at = 0; at < log.length; at += PAGE) {
      const page = log.slice(at, at + PAGE).map((event) => ({
        seq: event.seq,
        kind: event.kind,
        line: encoder.encode(serialiseEvent(event)),
        event,
      }));
      await journal.append(runId, at, page, { epoch, sync: false });
    }
  }
}
