/** The row of a run and the rows that are written with it; enough for any process to start it. */
import {
  hideSecretInputs,
  type JsonObject,
  type ResumeState,
  type RunHeader,
  type StartRows,
} from "@millrace/contracts";
import { StoreError } from "../errors.ts";
import type { PrivateValues } from "../journal/private-values.ts";
import type { Op, SqlReader, SqlRow } from "../sql/port.ts";
import { Refusal } from "../sql/refusal.ts";
import { requestRows } from "../tables/idempotency.ts";
import { fireRows, waitingRows } from "../tables/schedules.ts";
import { signatureRows } from "../tables/webhooks.ts";
import { graphOf, graphRow } from "./graphs.ts";

const REFUSALS = {
  key_used: "the idempotency key was used",
  already_fired: "the schedule has fired this time, or is gone",
  signature_used: "the signature was used",
} as const;

/** Statements that make a run with this number and epoch. */
export function creation(
  header: RunHeader,
  given: {
    readonly no: number;
    readonly epoch: number;
    /** As of the database. */
    readonly holder: string | null;
    /** Nobody has it yet, and it is to be driven. */
    readonly isFree?: boolean;
    readonly rows: StartRows | undefined;
    readonly privates: PrivateValues;
    readonly now: number;
  },
): Op[] {
  const { no, epoch, holder, isFree = false, rows = {}, privates, now: createdAt } = given;
  const shared = isFree ? [null, createdAt] : [holder, null];
  const shown = hideSecretInputs(header.graph.inputs, header.inputs as JsonObject);
  const { runId, planDigest, graph, inputs, trigger, template = null, tags } = header;
  const { request, fire, waiting, signature } = rows;
  const { digest, op } = graphRow(graph, planDigest);
  const { flowHash, flows } = header;
  const options = { planDigest, flowHash, flows, ...header.options };
  return [
    ...(request === undefined ? [] : requestRows(request, { runId, status: "pending" }, createdAt)),
    ...(fire === undefined ? [] : fireRows(fire.scheduleId, { ...fire, runId })),
    ...(waiting === undefined ? [] : waitingRows(waiting, runId)),
    ...(signature === undefined ? [] : signatureRows(signature, createdAt)),
    op,
    {
      sql:
        "INSERT INTO run(no, id, flow_id, graph, template, template_version, status, trigger, source, inputs, options, token_id, " +
        `retry_of, epoch, created_at${holder === null ? "" : ", holder, bell_at"}) VALUES(?, ?, ?, ?, ?, ` +
        "coalesce(?, (SELECT max(version) FROM template_version WHERE slug = ? AND graph = ?)), 'pending', ?, ?, ?, ?, ?, ?, ?, ?" +
        `${holder === null ? "" : ", ?, ?"}) ON CONFLICT(id) DO NOTHING`,
      rows: [
        [
          no,
          runId,
          graph.id,
          digest,
          template,
          header.templateVersion ?? null,
          template,
          digest,
          trigger,
          header.source === undefined ? null : JSON.stringify(header.source),
          JSON.stringify(shown),
          JSON.stringify(options),
          header.tokenId ?? null,
          header.retryOf ?? null,
          epoch,
          createdAt,
          ...(holder === null ? [] : shared),
        ],
      ],
      need: "run_exists",
    },
    ...(tags === undefined ? [] : [tagRows(no, tags)]),
    // Whoever repeats a run has seen that it failed.
    ...(header.retryOf === undefined ? [] : [acknowledgement([header.retryOf])]),
    ...(shown === inputs ? [] : [privates.putInputs(runId, inputs)]),
  ];
}

function tagRows(no: number, tags: NonNullable<RunHeader["tags"]>): Op {
  const rows = Object.entries(tags).map(([name, value]) => [name, value, no]);
  return { sql: "INSERT INTO run_tag(key, value, run) VALUES(?, ?, ?)", rows };
}

/** The statement that acknowledges these failed runs. */
export function acknowledgement(runIds: readonly string[]): Op {
  return {
    sql: "UPDATE run SET unacknowledged = NULL WHERE id = ? AND unacknowledged = 1",
    rows: runIds.map((id) => [id]),
  };
}

/** Converts a refusal of `creation` to an error of the caller. */
export function refusedStart(error: unknown, runId: string): unknown {
  const code = error instanceof Refusal ? error.code : "";
  if (code === "run_exists") return new StoreError(code, `the run ${runId} exists already`);
  return isRefusal(code) ? new StoreError(code, REFUSALS[code]) : error;
}

const isRefusal = (code: string): code is keyof typeof REFUSALS => Object.hasOwn(REFUSALS, code);

/** The header as it was given to `creation`, from the row of the run. `privates` null: secret inputs read `[redacted]`. */
export async function headerOf(
  row: SqlRow,
  reader: SqlReader,
  privates: PrivateValues | null,
): Promise<Omit<ResumeState, "events" | "steps" | "privateValues">> {
  const tags = await reader.all("SELECT key, value FROM run_tag WHERE run = ?", [
    row["no"] ?? null,
  ]);
  const { planDigest, flowHash, flows, ...options } = JSON.parse(String(row["options"]));
  return {
    runId: String(row["id"]),
    planDigest,
    ...(flowHash !== undefined && { flowHash }),
    ...(flows !== undefined && { flows }),
    graph: await graphOf(reader, String(row["graph"])),
    inputs:
      (await privates?.inputs(Number(row["no"]), String(row["id"]))) ??
      JSON.parse(String(row["inputs"])),
    trigger: String(row["trigger"]),
    ...(row["template"] !== null && { template: String(row["template"]) }),
    ...(row["template_version"] !== null && { templateVersion: Number(row["template_version"]) }),
    ...(tags.length > 0 && {
      tags: Object.fromEntries(tags.map(({ key, value }) => [key, value])),
    }),
    ...(row["source"] !== null && { source: JSON.parse(String(row["source"])) }),
    ...(row["token_id"] !== null && { tokenId: String(row["token_id"]) }),
    ...(row["retry_of"] !== null && { retryOf: String(row["retry_of"]) }),
    ...(Object.keys(options).length > 0 && { options }),
  };
}
