/** Rows of runs as lists show them; a page costs one look for all of its tags, and one for each title that is new. */
import type { RunState, RunSummary } from "@millrace/contracts";
import type { Reader } from "../sqlite/reader.ts";
import type { SqlRow, SqlValue } from "../sqlite/sqlite-port.ts";

/** What `summariesOf` needs of the rows of `run`. */
export const SUMMARY_ROWS: string =
  "SELECT no, id, flow_id, graph, template, template_version, status, trigger, source, options, last_seq, retry_of, " +
  "created_at, started_at, ended_at, summary FROM run";

const MAX_TITLES = 1_000; // graphs whose title is remembered: a graph may be large, and never changes

/** Answers a function that turns rows of `SUMMARY_ROWS` into summaries. */
export function createSummaries(reader: Reader): (rows: readonly SqlRow[]) => RunSummary[] {
  const titles = new Map<SqlValue | undefined, string | null>();
  const titleOf = ({ graph }: SqlRow): string | null => {
    const known = titles.get(graph);
    if (known !== undefined) return known;
    const row = reader.get(
      "SELECT json_extract(json, '$.title') AS title FROM graph WHERE digest = ?",
      [graph ?? null],
    );
    const title = (row?.["title"] ?? null) as string | null;
    if (titles.size >= MAX_TITLES) titles.clear();
    titles.set(graph, title);
    return title;
  };
  return (rows) => {
    const tags = tagsOf(reader, rows);
    return rows.map((row) => summaryOf(row, titleOf(row), tags.get(row["no"]) ?? {}));
  };
}

type Tags = { [name: string]: string };

function tagsOf(reader: Reader, rows: readonly SqlRow[]): ReadonlyMap<SqlValue | undefined, Tags> {
  const all = new Map<SqlValue | undefined, Tags>();
  const found = reader.all(
    "SELECT run, key, value FROM run_tag WHERE run IN (SELECT value FROM json_each(?)) ORDER BY run, key",
    [JSON.stringify(rows.map(({ no }) => no))],
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
    lastSeq: Number(row["last_seq"]),
    retryOf: row["retry_of"] as string | null,
    summary: row["summary"] === null ? null : JSON.parse(String(row["summary"])),
  };
}

function isoOf(ms: SqlValue | undefined): string | null {
  return ms === null || ms === undefined ? null : new Date(Number(ms)).toISOString();
}
