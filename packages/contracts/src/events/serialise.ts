/**
 * An event as its line: the bytes of every surface.
 *   S1  serialiseEvent(e) is escapeLine(JSON.stringify(e)), for every event.
 *   S2  a line holds no character at which a line splitter breaks.
 * Kinds that come by the thousand are written by hand. An event whose own keys are not the expected ones, in the
 * expected order, goes through `JSON.stringify`, so the shortcut never changes a byte.
 * @see the events page, "Serialiser"
 */
import { escapeLine, hasKeys, type KeyList, keyList, num, str } from "./serialise-parts.ts";
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

const ENVELOPE = ["v", "kind", "runId", "seq", "ts"];
const NODE_ENVELOPE = [...ENVELOPE, "node", "attempt"];
const STARTED: KeyList = keyList(NODE_ENVELOPE, "type", "inputs?");
const SUCCEEDED: KeyList = keyList(
  NODE_ENVELOPE,
  "ports?",
  "output?",
  "outputRef?",
  "durationMs",
  "cached?",
  "truncated?",
);
const SKIPPED: KeyList = keyList(NODE_ENVELOPE, "why");
const PROGRESS: KeyList = keyList(NODE_ENVELOPE, "done", "total?", "unit?");
const DELTA: KeyList = keyList(NODE_ENVELOPE, "call", "channel", "offset", "text", "merged?");
const LOG: KeyList = keyList(
  ENVELOPE,
  "node?",
  "attempt?",
  "level",
  "channel",
  "text",
  "code?",
  "data?",
  "truncated?",
);

/** The line of an event, without a line end. */
export function serialiseEvent(event: AnyEvent): string {
  const e = event as ExecutionEvent;
  switch (e.kind) {
    case "llm.delta":
      if (hasKeys(e, DELTA)) return writeDelta(e);
      break;
    case "node.started":
      if (hasKeys(e, STARTED)) return writeStarted(e);
      break;
    case "node.succeeded":
      if (hasKeys(e, SUCCEEDED)) return writeSucceeded(e);
      break;
    case "node.skipped":
      if (hasKeys(e, SKIPPED)) return writeSkipped(e);
      break;
    case "node.progress":
      if (hasKeys(e, PROGRESS)) return writeProgress(e);
      break;
    case "log":
      if (hasKeys(e, LOG)) return writeLog(e);
      break;
    default:
  }
  return escapeLine(JSON.stringify(event));
}

function writeDelta(e: LlmDelta): string {
  const merged = e.merged === undefined ? "}" : `,"merged":${num(e.merged)}}`;
  return (
    head('{"v":1,"kind":"llm.delta","runId":', e) +
    ',"call":' +
    str(e.call) +
    ',"channel":' +
    str(e.channel) +
    ',"offset":' +
    num(e.offset) +
    ',"text":' +
    str(e.text) +
    merged
  );
}

function writeStarted(e: NodeStarted): string {
  const inputs = e.inputs === undefined ? "}" : `,"inputs":${str(e.inputs)}}`;
  return `${head('{"v":1,"kind":"node.started","runId":', e)},"type":${str(e.type)}${inputs}`;
}

function writeSucceeded(e: NodeSucceeded): string {
  let line = head('{"v":1,"kind":"node.succeeded","runId":', e);
  if (e.ports !== undefined) line += `,"ports":${json(e.ports)}`;
  if (e.output !== undefined) line += `,"output":${json(e.output)}`;
  if (e.outputRef !== undefined) line += `,"outputRef":${json(e.outputRef)}`;
  line += `,"durationMs":${num(e.durationMs)}`;
  if (e.cached !== undefined) line += `,"cached":${json(e.cached)}`;
  if (e.truncated !== undefined) line += `,"truncated":${num(e.truncated)}`;
  return `${line}}`;
}

function writeSkipped(e: NodeSkipped): string {
  return `${head('{"v":1,"kind":"node.skipped","runId":', e)},"why":${str(e.why)}}`;
}

function writeProgress(e: NodeProgress): string {
  let line = `${head('{"v":1,"kind":"node.progress","runId":', e)},"done":${num(e.done)}`;
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

/** The envelope of a node's event after its constant beginning. */
function head(
  start: string,
  e: { runId: string; seq: number; ts: number; node: string; attempt: number },
): string {
  return (
    start +
    str(e.runId) +
    ',"seq":' +
    num(e.seq) +
    ',"ts":' +
    num(e.ts) +
    ',"node":' +
    str(e.node) +
    ',"attempt":' +
    num(e.attempt)
  );
}

function json(value: unknown): string {
  return escapeLine(JSON.stringify(value));
}
