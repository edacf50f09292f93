/** The keys of `serve.limits` one by one, to show or check the configuration; most commands need none of them. */

import { LIMITS } from "@millrace/server/limits";
import { CONFIG_KEYS, type ConfigKey } from "./keys.ts";

const SUMMARIES: { readonly [name in keyof typeof LIMITS]: string } = {
  maxBodyBytes: "bytes of a request",
  maxPushBytes: "bytes of a push of flows",
  maxDslBytes: "bytes of a flow's text",
  maxNodes: "nodes of a flow, bodies and called flows included",
  maxSteps: "starts of nodes in a run, retries and items included",
  maxRunMs: "how long a run may take, without the time that it waits for people",
  maxLiveRuns: "runs at work at once",
  maxQueuedRuns: "runs that wait for a place",
  maxStreams: "event streams open at once",
  maxConnections: "sockets open at once",
  maxHeaderBytes: "bytes of a request's headers",
  maxHeaders: "headers of a request",
  headersTimeoutMs: "how long headers may take to arrive",
  requestTimeoutMs: "how long a request may take to arrive",
  heartbeatMs: "silence of a stream before it gets a comment",
  stallMs: "how long a socket may take nothing",
  drainMs: "how long runs go on when the server stops",
  maxEdges: "edges of a flow, bodies and called flows included",
  maxEvents: "events of a run",
  maxOutputBytes: "bytes of one output",
  maxLiveBytes: "bytes of all outputs of a run that a later node may still read",
  maxInputBytes: "bytes of a run's inputs",
  maxExprSteps: "steps of one expression",
  maxExprBytes: "text and elements that one expression makes",
  maxConfirmations: "questions open at once in a run",
  maxMapItems: "items of a map",
  maxLoopRounds: "rounds of a loop",
  maxDepth: "bodies and flows within each other",
  stepGraceMs: "how long a node may take to stop after it was told to",
  maxLogBytes: "bytes of log text of one node",
  notifyRetryMs: "pause before the second try to tell of a failed run; it doubles",
  notifyMaxRetryMs: "longest pause between two tries to tell of a failed run",
  notifyGiveUpMs: "how long it is tried to tell of a failed run",
  notifyMaxQueued: "messages of failed runs that wait; beyond them failures are only counted",
};

const RECORD = "serve.limits";

const LIMIT_KEYS: readonly ConfigKey[] = Object.entries(LIMITS).map(
  ([name, { default: value, min, max }]) => ({
    ...{ key: `${RECORD}.${name}`, type: "number", default: value, min, max },
    summary: SUMMARIES[name as keyof typeof LIMITS],
  }),
);

/** Every key, with a row for each limit in place of the record of them. */
export const ALL_KEYS: readonly ConfigKey[] = CONFIG_KEYS.flatMap((each) =>
  each.key === RECORD ? LIMIT_KEYS : [each],
);
