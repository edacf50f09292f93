/** One try of a transaction on one link. */
import { type OpResult, refusal, type SqlRow } from "@millrace/store/sql";
import { codeOf, faultOf, isRefusal, isTaken, nameOf, REFUSED } from "../connect/faults.ts";
import type { Answer, Link } from "../connect/link.ts";
import { composed, prepared } from "./statements.ts";
import { refusingOf, type Step } from "./steps.ts";
import type { Unit } from "./unit.ts";

const BEGIN = composed("BEGIN");
const COMMIT = composed("COMMIT");
const ROLLBACK = composed("ROLLBACK");
const NUMBER = prepared("SELECT pg_current_xact_id()::text AS number");

/** The connection was cut when the transaction may have been committed. */
export class Cut extends Error {
  /** By which PostgreSQL knows it; undefined: it has not told. */
  readonly number: string | undefined;
  /** The results, if it was committed. */
  readonly results: readonly OpResult[];

  constructor(number?: string, results: readonly OpResult[] = []) {
    super("the connection was cut");
    this.number = number;
    this.results = results;
  }
}

/** Sends all of it at once, and leaves the link to the next one as soon as it is sent. */
export async function append({ steps }: Unit, link: Link, leave: () => void): Promise<[]> {
  const isOne = steps.length === 1 && steps[0]?.rows.length === 1;
  const begun = isOne ? undefined : link.send(BEGIN);
  const sent = steps.map((step) => sentStep(refusingOf(step), link));
  const ended = isOne ? undefined : link.send(COMMIT);
  leave();
  try {
    await begun;
    for (const each of sent) await resultOf(each);
    await ended;
  } catch (error) {
    throw isCut(error) ? new Cut() : error;
  }
  return [];
}

/** Sends all but the COMMIT, looks at the results, and sends COMMIT or ROLLBACK. */
export async function transact({ ops, steps }: Unit, link: Link): Promise<readonly OpResult[]> {
  const results: OpResult[] = ops.map((op) => {
    if (op.lines !== undefined) return op.lines.events.length;
    return op.get === true ? undefined : 0;
  });
  const begun = link.send(BEGIN);
  const numbered = link.send(NUMBER);
  const sent = steps.map((step) => sentStep(step, link));
  let number: string;
  try {
    await begun;
    number = String((await numbered).rows[0]?.["number"]);
    for (const each of sent) {
      const result = await resultOf(each);
      for (const place of each.step.places) results[place] = result;
    }
  } catch (error) {
    if (link.isOpen) void link.send(ROLLBACK); // what is sent next waits behind it
    throw error;
  }
  try {
    await link.send(COMMIT);
  } catch (error) {
    throw isCut(error) ? new Cut(number, results) : error;
  }
  return results;
}

interface Sent {
  readonly step: Step;
  readonly answers: readonly Promise<Answer>[];
}

function sentStep(step: Step, link: Link): Sent {
  return { step, answers: step.rows.map((row) => link.send(step.statement, row)) };
}

/** The result of a step. Throws its refusal, which comes before any error of a later step. */
async function resultOf({ step, answers }: Sent): Promise<OpResult> {
  const { need, get } = step;
  let count = 0;
  let row: SqlRow | undefined;
  try {
    for (const answer of answers) {
      const each = await answer;
      count += each.count;
      row = each.rows[0];
    }
  } catch (error) {
    throw refusalOf(error, need) ?? error;
  }
  const isNothing = get ? row === undefined : count === 0;
  if (need !== undefined && isNothing) throw refused(need);
  return get ? row : count;
}

/** The refusal for an error of a statement; undefined for other errors. */
function refusalOf(error: unknown, need: string | undefined): Error | undefined {
  if (codeOf(error) === REFUSED) return refused((error as Error).message);
  if (isTaken(error) && need !== undefined) return refused(need); // another transaction was faster
  return faultOf(error) === "broken" ? refusal(codeOf(error), nameOf(error)) : undefined;
}

const refused = (code: string): Error => refusal(code, code);

/** Refusals have codes too, but not of a connection. */
function isCut(error: unknown): boolean {
  return !isRefusal(error) && faultOf(error) === "cut";
}
