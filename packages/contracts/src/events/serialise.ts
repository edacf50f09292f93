/**
 * An event as its line: the bytes of every surface.
 *   S1  serialiseEvent(e) is escapeLine(JSON.stringify(e)), for every event.
 *   S2  a line holds no character at which a line splitter breaks.
 * Kinds that come by the thousand are written by hand. An event whose own keys are not the expected ones, in the
 * expected order, goes through `JSON.stringify`, so the shortcut never changes a byte.
 * @see the events page, "Serialiser"
 */
import { hasKeys, isPlain, json, keysOf, num, str } from "./serialise-parts.ts";
import type {
  AnyEvent,
  ExecutionEvent,
  LlmDelta,
  Log,
  NodeProgress,
  NodeSkipped,
  NodeStarted,
  NodeSucceeded,
} from "./types.ts";

const STARTED = keysOf("node.started");
const SUCCEEDED = keysOf("node.succeeded");
const SKIPPED = keysOf("node.skipped");
const PROGRESS = keysOf("node.progress");
const DELTA = keysOf("llm.delta");
const LOG = keysOf("log");

/** The line of an event, without a line end. */
export function serialiseEvent(event: AnyEvent): string {
  return writeHot(event as ExecutionEvent) ?? json(event);
}

/** `undefined`: this one needs `JSON.stringify`. */
function writeHot(e: ExecutionEvent): string | undefined {
  switch (e.kind) {
    case "llm.delta":
      return hasKeys(e, DELTA) ? writeDelta(e) : undefined;
    case "node.started":
      return hasKeys(e, STARTED) ? writeStarted(e) : undefined;
    case "node.succeeded":
      return hasKeys(e, SUCCEEDED) ? writeSucceeded(e) : undefined;
    case "node.skipped":
      return hasKeys(e, SKIPPED) ? writeSkipped(e) : undefined;
    case "node.progress":
      return hasKeys(e, PROGRESS) ? writeProgress(e) : undefined;
    case "log":
      return hasKeys(e, LOG) ? writeLog(e) : undefined;
    default:
      return undefined;
  }
}

/** Anything but plain ASCII in a name is left to `JSON.stringify`, so the constants around it can hold its quotes. */
function writeDelta(e: LlmDelta): string | undefined {
  if (!isPlain(e.call) || !isPlain(e.channel)) return undefined;
  const start = head('{"v":1,"kind":"llm.delta","runId":"', e);
  return (
    start &&
    start +
      ',"call":"' +
      e.call +
      '","channel":"' +
      e.channel +
      '","offset":' +
      num(e.offset) +
      ',"text":' +
      str(e.text) +
      (e.merged === undefined ? "}" : `,"merged":${num(e.merged)}}`)
  );
}

function writeStarted(e: NodeStarted): string | undefined {
  if (!isPlain(e.type)) return undefined;
  const start = head('{"v":1,"kind":"node.started","runId":"', e);
  return (
    start &&
    `${start},"type":"${e.type}"${e.inputs === undefined ? "}" : `,"inputs":${str(e.inputs)}}`}`
  );
}

function writeSucceeded(e: NodeSucceeded): string | undefined {
  let line = head('{"v":1,"kind":"node.succeeded","runId":"', e);
  if (line === undefined) return undefined;
  if (e.ports !== undefined) line += `,"ports":${json(e.ports)}`;
  if (e.output !== undefined) line += `,"output":${json(e.output)}`;
  if (e.outputRef !== undefined) line += `,"outputRef":${json(e.outputRef)}`;
  line += `,"durationMs":${num(e.durationMs)}`;
  if (e.cached !== undefined) line += `,"cached":${json(e.cached)}`;
  if (e.truncated !== undefined) line += `,"truncated":${num(e.truncated)}`;
  return `${line}}`;
}

function writeSkipped(e: NodeSkipped): string | undefined {
  const start = head('{"v":1,"kind":"node.skipped","runId":"', e);
  return start && `${start},"why":${str(e.why)}}`;
}

function writeProgress(e: NodeProgress): string | undefined {
  let line = head('{"v":1,"kind":"node.progress","runId":"', e);
  if (line === undefined) return undefined;
  line += `,"done":${num(e.done)}`;
  if (e.total !== undefined) line += `,"total":${num(e.total)}`;
  if (e.unit !== undefined) line += `,"unit":${str(e.unit)}`;
  return `${line}}`;
}

function writeLog(e: Log): string {
  let line = `{"v":1,"kind":"log","runId":${str(e.runId)},"seq":${num(e.seq)},"ts":${num(e.ts)}`;
  if (e.node !== undefined) line += `,"node":${str(e.node)}`;
  if (e.attempt !== undefined) line += `,"attempt":${num(e.attempt)}`;
  line += `,"level":${str(e.level)},"channel":${str(e.channel)},"text":${str(e.text)}`;
  if (e.code !== undefined) line += `,"code":${str(e.code)}`;
  if (e.data !== undefined) line += `,"data":${json(e.data)}`;
  if (e.truncated !== undefined) line += `,"truncated":${num(e.truncated)}`;
  return `${line}}`;
}

/** The envelope of a node's event, after its constant beginning. */
function head(
  start: string,
  e: { runId: string; seq: number; ts: number; node: string; attempt: number },
): string | undefined {
  if (!isPlain(e.runId) || !isPlain(e.node)) return undefined;
  return (
    start +
    e.runId +
    '","seq":' +
    num(e.seq) +
    ',"ts":' +
    num(e.ts) +
    ',"node":"' +
    e.node +
    '","attempt":' +
    num(e.attempt)
  );
}

/**
 * Server-sent events. `frame`: `data: …`, for a stream that cannot be re-attached by position. `frameWithId`: the same
 * with `id: <seq>`, so `Last-Event-ID` names the place to go on from. `line` is the event's line where it is made already.
 */
export const sse: {
  frame(event: AnyEvent, line?: string): string;
  frameWithId(event: AnyEvent, line?: string): string;
} = {
  frame: (event, line = serialiseEvent(event)) => `data: ${line}\n\n`,
  frameWithId: (event, line = serialiseEvent(event)) => `data: ${line}\nid: ${event.seq}\n\n`,
};

/** One event a line, as `--json` writes them. */
export const ndjson: { line(event: AnyEvent): string } = {
  line: (event) => `${serialiseEvent(event)}\n`,
};
