/**
 * A transaction as the statements that are sent for it.
 *   S1  An append, which is the comparison of the run's owner and its new lines, is one statement.
 *   S2  Entries of the feed come last. Their row lock is held from there to the end of the COMMIT, and no longer.
 */
import type { EncodedEvent } from "@millrace/contracts";
import type { Lines, Op, SqlValue, Statement } from "@millrace/store/sql";
import { type Prepared, prepared } from "./statements.ts";

/** Statements of one operation. */
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

const LINES =
  "SELECT %.no, l.seq, l.kind, l.ts, substring(?::bytea FROM l.start + 1 FOR l.bytes) " +
  "FROM %, unnest(?::bigint[], ?::text[], ?::bigint[], ?::int[], ?::int[]) AS l(seq, kind, ts, start, bytes)";
const INTO = "INSERT INTO journal(run, seq, kind, ts, line)";
const STORE = prepared(
  `WITH given AS (SELECT ?::bigint AS no) ${INTO} ${LINES.replaceAll("%", "given")}`,
);

/** The operations as steps, in the order in which they are sent. */
export function stepsOf(ops: readonly Op[]): Step[] {
  const steps: Step[] = [];
  const entries: (readonly SqlValue[])[] = [];
  const entryPlaces: number[] = [];
  for (let at = 0; at < ops.length; at += 1) {
    const op = ops[at] as Op;
    if (op.lines !== undefined) {
      steps.push(stepOf(STORE, [op.lines.run, ...columnsOf(op.lines)], []));
      continue;
    }
    if (op.sql === ADD_TO_FEED) {
      entries.push(...op.rows);
      entryPlaces.push(at);
      continue;
    }
    const next = ops[at + 1];
    if (next?.lines !== undefined && isOwnerCheck(op)) {
      steps.push(appendOf(op, next.lines, at));
      at += 1;
    } else if (op.rows.length > 0 || op.need !== undefined) {
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
  const refuses = madeOnce(statement.text, need, () => refusing(statement.text, need));
  return { ...step, statement: refuses, need: undefined };
}

/** A text that was made of another one and a need is looked up by them. */
const made = new Map<string, Prepared>();

function madeOnce(sql: string, need: string, make: () => string): Prepared {
  const key = `${need} ${sql}`;
  const known = made.get(key) ?? prepared(make());
  made.set(key, known);
  return known;
}

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

const isOwnerCheck = ({ sql, rows, need, get }: Statement): boolean =>
  need !== undefined && get !== true && rows.length === 1 && /^UPDATE run SET last_seq\b/.test(sql);

/** Owner, place in the log and lines at once: zero rows of `run` refuse it. */
function appendOf({ sql, rows, need = "" }: Statement, lines: Lines, place: number): Step {
  const statement = madeOnce(
    sql,
    need,
    () =>
      `WITH held AS (${sql} RETURNING no), stored AS (${INTO} ${LINES.replaceAll("%", "held")}) ` +
      `SELECT need((SELECT count(*) FROM held), '${need}')`,
  );
  const row = [...(rows[0] ?? []), ...columnsOf(lines)];
  return stepOf(statement, row, [place]);
}

/** Values of `LINES`: all bytes as one value, which goes over the wire as it is, and where each line lies in it. */
function columnsOf({ events }: Lines): SqlValue[] {
  const starts: number[] = [];
  let start = 0;
  for (const { line } of events) {
    starts.push(start);
    start += line.byteLength;
  }
  return [
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
