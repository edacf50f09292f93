/**
 * A transaction as the statements that are sent for it.
 *   S1  An append is one statement: the comparison of the run's owner and the new lines.
 *   S2  Entries of the feed come last. Their row lock is held from there to the end of the COMMIT, and no longer.
 */
import type { EncodedEvent } from "@millrace/contracts";
import type { Lines, Op, SqlValue } from "@millrace/store/sql";
import { type Prepared, prepared } from "./statements.ts";

export interface Step {
  readonly statement: Prepared;
  readonly rows: readonly (readonly SqlValue[])[];
  readonly need: string | undefined;
  readonly get: boolean;
  /** Places of `ops` whose results they give. */
  readonly places: readonly number[];
}

/** The text of the operation that adds to the feed, by which it is recognised. */
export const ADD_TO_FEED = "INSERT INTO feed(run, seq) VALUES(?, ?)";

/**
 * Why a sequence alone would lose entries: it gives positions in the order in which transactions ask, and they commit in another. A
 * reader that has seen position 8 would never read 7, whose transaction was slower. So the last position is a row: who wants the next
 * one waits for the COMMIT of who has the last one, and what is visible is always a beginning of the whole.
 */
const FEED = prepared(
  "WITH entry AS (SELECT * FROM unnest(?::bigint[], ?::bigint[]) WITH ORDINALITY AS e(run, seq, nth)), " +
    "head AS (UPDATE feed_head SET pos = pos + (SELECT count(*) FROM entry) RETURNING pos) " +
    "INSERT INTO feed(pos, run, seq) " +
    "SELECT head.pos - (SELECT count(*) FROM entry) + nth, run, seq FROM head, entry",
);

/** Owner, place in the log and lines at once: zero rows of `run` refuse it. */
const APPEND = prepared(
  "WITH held AS (UPDATE run SET last_seq = ? WHERE no = ? AND id = ? AND epoch = ? AND last_seq = ? RETURNING no), " +
    "stored AS (INSERT INTO journal(run, seq, kind, ts, line) " +
    "SELECT held.no, l.seq, l.kind, l.ts, substring(?::bytea FROM l.start + 1 FOR l.bytes) " +
    "FROM held, unnest(?::bigint[], ?::text[], ?::bigint[], ?::int[], ?::int[]) AS l(seq, kind, ts, start, bytes)) " +
    "SELECT need((SELECT count(*) FROM held), 'lease_lost')",
);

/** The operations as steps, in the order in which they are sent. */
export function stepsOf(ops: readonly Op[]): Step[] {
  const steps: Step[] = [];
  const entries: (readonly SqlValue[])[] = [];
  const entryPlaces: number[] = [];
  for (let at = 0; at < ops.length; at += 1) {
    const op = ops[at] as Op;
    if (op.lines !== undefined) {
      steps.push(stepOf(APPEND, valuesOf(op.lines), []));
      continue;
    }
    if (op.sql === ADD_TO_FEED) {
      entries.push(...op.rows);
      entryPlaces.push(at);
      continue;
    }
    if (op.rows.length > 0 || op.need !== undefined) {
      const { need, get = false, rows } = op;
      steps.push({ statement: prepared(op.sql), rows, need, get, places: [at] });
    }
  }
  if (entries.length > 0) {
    const column = (n: number): string => `{${entries.map((row) => row[n]).join(",")}}`;
    steps.push(stepOf(FEED, [column(0), column(1)], entryPlaces));
  }
  return steps;
}

/** A step that refuses by itself, so that nobody has to look at its result before the COMMIT. */
export function refusingOf(step: Step): Step {
  const { statement, need } = step;
  if (need === undefined || step.rows.length !== 1) return step;
  const key = `${need} ${statement.text}`;
  const refuses = made.get(key) ?? prepared(refusing(statement.text, need));
  made.set(key, refuses);
  return { ...step, statement: refuses, need: undefined };
}

/** Statements that refuse, by their need and the text that they were made of. */
const made = new Map<string, Prepared>();

/** Whether the result of the operation has to be looked at before the COMMIT. */
export function isJudged({ need, get, rows }: Step): boolean {
  return get || (need !== undefined && rows.length !== 1);
}

function refusing(text: string, need: string): string {
  return `WITH changed AS (${text} RETURNING 1) SELECT need((SELECT count(*) FROM changed), '${need}')`;
}

const stepOf = (
  statement: Prepared,
  row: readonly SqlValue[],
  places: readonly number[],
): Step => ({ statement, rows: [row], need: undefined, get: false, places });

/** Values of `APPEND`: all bytes as one value, which goes over the wire as it is, and where each line lies in it. */
function valuesOf({ run, runId, epoch, after, events }: Lines): SqlValue[] {
  const starts: number[] = [];
  let start = 0;
  for (const { line } of events) {
    starts.push(start);
    start += line.byteLength;
  }
  return [
    ...[after + events.length, run, runId, epoch, after],
    Buffer.concat(events.map(({ line }) => line)),
    arrayOf(events, ({ seq }) => seq),
    arrayOf(events, ({ kind }) => `"${kind}"`), // kinds are words with dots
    arrayOf(events, ({ event }) => event.ts),
    `{${starts.join(",")}}`,
    arrayOf(events, ({ line }) => line.byteLength),
  ];
}

function arrayOf(events: readonly EncodedEvent[], of: (event: EncodedEvent) => unknown): string {
  return `{${events.map(of).join(",")}}`;
}
