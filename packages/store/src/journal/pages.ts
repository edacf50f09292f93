/**
 * The stored events of a run, a page at a time. The database joins the lines of a page to one value: to hand out a value for each event
 * takes a driver several times as long as to read it.
 */
import { setImmediate } from "node:timers/promises";
import {
  createView,
  type ExecutionEvent,
  foldEvents,
  parseEvent,
  type RunView,
  type StoredEvent,
} from "@millrace/contracts";
import { StoreError } from "../errors.ts";
import type { Database, Dialect } from "../sql/port.ts";

/** Limits of a page, whichever is reached first. It has one event at least. */
interface Limits {
  readonly count: number;
  /** Of the lines. */
  readonly bytes: number;
}

/** As many events as a reader of a live run gets at once, and as many bytes as such a run keeps in memory. */
const LIMITS: Limits = { count: 512, bytes: 4_194_304 };

/** What pages are read from. */
export type LogReader = Pick<Database, "get" | "dialect">;

/** The events of a run after the position `after`, up to `end`. */
export interface LogPart {
  /** Number of the run. */
  readonly run: number;
  readonly after: number;
  readonly end: number;
}

/** The first events of a part, in order. `isLast`: the part has no more. */
export interface LogPage {
  readonly events: readonly StoredEvent[];
  readonly isLast: boolean;
}

const FIRST = "FROM journal WHERE run = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?";

/** `heads`: what is known of each event besides its line, one a line of text. `lines`: NULL where they are too large together. */
const pageSql = ({ joined }: Dialect): string =>
  "SELECT (SELECT string_agg(head, '\n') FROM " +
  `(SELECT seq || ' ' || length(line) || ' ' || kind AS head ${FIRST}) AS h) AS heads, ` +
  `CASE WHEN (SELECT sum(bytes) FROM (SELECT length(line) AS bytes ${FIRST}) AS b) <= ? ` +
  `THEN (SELECT ${joined("line")} FROM (SELECT line ${FIRST}) AS l) END AS lines`;

/** Reads the first page of a part; it is empty where the part is. Throws `StoreError` `store_corrupt`. */
export async function readPage(
  reader: LogReader,
  part: LogPart,
  { count, bytes }: Limits = LIMITS,
): Promise<LogPage> {
  const { run, after, end } = part;
  const first = [run, after, end, count];
  const row = await reader.get(pageSql(reader.dialect), [...first, ...first, bytes, ...first]);
  const { heads, lines } = row ?? {};
  if (typeof heads !== "string") return { events: [], isLast: true };
  const known = heads.split("\n").map(headOf);
  if (!(lines instanceof Uint8Array)) return readPage(reader, part, fitting(known));
  let from = 0;
  const events = known.map(({ seq, size, kind }) => {
    const start = from;
    from += size;
    return { seq, kind, line: new Uint8Array(lines.buffer, lines.byteOffset + start, size) };
  });
  if (from !== lines.byteLength)
    throw new StoreError(
      "store_corrupt",
      `the log of run number ${run} cannot be told apart: its lines are ${lines.byteLength} bytes and not ${from}`,
    );
  return { events, isLast: events.length < count };
}

interface Head {
  readonly seq: number;
  /** Bytes of the line. */
  readonly size: number;
  readonly kind: string;
}

function headOf(text: string): Head {
  const first = text.indexOf(" ");
  const second = text.indexOf(" ", first + 1);
  return {
    seq: Number(text.slice(0, first)),
    size: Number(text.slice(first + 1, second)),
    kind: text.slice(second + 1),
  };
}

/** Limits that take in as many of these events as `LIMITS` allow, or the first one alone. */
function fitting(known: readonly Head[]): Limits {
  let bytes = known[0]?.size ?? 0;
  let count = 1;
  for (const { size } of known.slice(1)) {
    if (bytes + size > LIMITS.bytes) break;
    bytes += size;
    count += 1;
  }
  return { count, bytes: Math.max(bytes, LIMITS.bytes) };
}

/**
 * The pages of a part, in order, with turns of the event loop in between: a long log is no reason for others to wait. Where retention has
 * taken the beginning of the log, what follows are its last two events, a snapshot and the summary: a reader never sees a hole in between.
 */
export async function* pagesOf(
  reader: LogReader,
  { run, after, end }: LogPart,
): AsyncGenerator<readonly StoredEvent[], void> {
  for (let at = after; at < end; ) {
    let { events } = await readPage(reader, { run, after: at, end });
    if (events[0]?.seq !== at + 1) {
      ({ events } = await readPage(reader, { run, after: Math.max(at, end - 2), end }));
    }
    const last = events.at(-1);
    if (last === undefined) return; // a run that was deleted in between
    at = last.seq;
    yield events;
    if (at < end) await setImmediate();
  }
}

/** The view of a run after its first `end` events. */
export async function foldedLog(
  reader: LogReader,
  { run, runId, end }: { readonly run: number; readonly runId: string; readonly end: number },
): Promise<RunView> {
  const view = createView(runId);
  for await (const page of pagesOf(reader, { run, after: 0, end })) {
    for (const { line } of page) foldEvents(view, eventOf(line));
  }
  return view;
}

const decoder = new TextDecoder();

/** The event of a line as it is stored. Throws `EventParseError` for anything else. */
export function eventOf(line: unknown): ExecutionEvent {
  return parseEvent(decoder.decode(line as Uint8Array)) as ExecutionEvent;
}
