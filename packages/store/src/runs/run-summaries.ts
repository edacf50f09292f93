/** Rows of runs as lists show them; a page costs one look for all of its tags, and one for each title that is new. */
import type { RunState, RunSummary } from "@millrace/contracts";
import type { Database, Dialect, SqlReader, SqlRow, SqlValue } from "../sql/port.ts";

/** The query for rows of `run`, as `createSummaries` reads them. */
export const summaryRows = ({ lastSeq }: Dialect): string =>
  `SELECT no, id, flow_id, graph, template, template_version, status, trigger, source, options, ${lastSeq} AS last, retry_of, ` +
  "created_at, started_at, ended_at, summary FROM run";

const MAX_TITLES = 1_000; // graphs whose title is remembered: a graph may be large, and never changes

/** Answers a function that turns rows of `summaryRows` into summaries. */
export function createSummaries(db: Database): (rows: readonly SqlRow[]) => Promise<RunSummary[]> {
  const titles = new Map<SqlValue | undefined, string | null>();
  const sql = `SELECT ${db.dialect.member("json", "title")} AS title FROM graph WHERE digest = ?`;
  const learn = async (graph: SqlValue | undefined): Promise<void> => {
    const row = await db.get(sql, [graph ?? null]);
    titles.set(graph, (row?.["title"] ?? null) as string | null);
  };
  return async (rows) => {
    if (rows.length === 0) return [];
    if (titles.size >= MAX_TITLES) titles.clear();
    const unknown = new Set(rows.map(({ graph }) => graph).filter((graph) => !titles.has(graph)));
    const [tags] = await Promise.all([tagsOf(db, rows), ...[...unknown].map(learn)]);
    return rows.map((row) =>
      summaryOf(row, titles.get(row["graph"]) ?? null, tags.get(row["no"]) ?? {}),
    );
  };
}

type Tags = { [name: string]: string };

/** Numbers of runs that one statement looks for: few lengths, so that the statements stay prepared. */
const LENGTHS = [1, 10, 50, 201];

async function tagsOf(
  reader: SqlReader,
  rows: readonly SqlRow[],
): Promise<ReadonlyMap<SqlValue | undefined, Tags>> {
  const all = new Map<SqlValue | undefined, Tags>();
  const numbers = rows.map(({ no }) => no ?? null);
  const length = LENGTHS.find((each) => each >= numbers.length) ?? numbers.length;
  const found = await reader.all(
    `SELECT run, key, value FROM run_tag WHERE run IN (${Array(length).fill("?").join(", ")}) ORDER BY run, key`,
    [...numbers, ...Array(length - numbers.length).fill(null)],
  );
  for (const { run, key, value } of found) {
    const tags = all.get(run) ?? {};
    tags[String(key)] = String(value);
    all.set(run, tags);
  }
  return all;
}

function summaryOf(row: SqlRow, title: string | null, tags: Tags): RunSummary {
  const { planDigest, flowHash = planDigest } = JSON.parse(String(row["options"]));
  const { template, template_version: version } = row;
  return {
    runId: String(row["id"]),
    status: row["status"] as RunState,
    flow: { id: String(row["flow_id"]), ...(title === null ? {} : { title }), hash: flowHash },
    template:
      template === null || version === null
        ? null
        : { slug: String(template), version: Number(version) },
    trigger: row["trigger"] as RunSummary["trigger"],
    ...(row["source"] !== null && { source: JSON.parse(String(row["source"])) }),
    tags,
    createdAt: isoOf(row["created_at"]) as string,
    startedAt: isoOf(row["started_at"]),
    endedAt: isoOf(row["ended_at"]),
    lastSeq: Number(row["last"]),
    retryOf: row["retry_of"] as string | null,
    summary: row["summary"] === null ? null : JSON.parse(String(row["summary"])),
  };
}

function isoOf(ms: SqlValue | undefined): string | null {
  return ms === null || ms === undefined ? null : new Date(Number(ms)).toISOString();
}
