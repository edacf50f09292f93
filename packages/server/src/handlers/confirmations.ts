/** Commands of confirmations: the inbox, and the answer. */
import type { CommandName, Confirmation, Run } from "@millrace/contracts";
import { Answer, type CommandHandler, REPLAYED, wire } from "../commands/index.ts";
import { ProblemError } from "../errors.ts";
import type { ServerHost } from "../host.ts";
import { knownRun } from "../runs/index.ts";
import { actorOf } from "./runs.ts";

/** States in which a confirmation can be open. */
const OPEN_STATES = ["running", "paused"] as const;
/** Runs looked at in one step. */
const SCAN_PAGE = 200;

/** Confirmations of all runs, of the newest run first; within a run in the order of request. */
async function* confirmationsOf(
  host: ServerHost,
  filter: { readonly status: string; readonly runId?: string },
): AsyncGenerator<Confirmation, void> {
  const runs =
    filter.runId === undefined ? allRuns(host, filter.status) : oneRun(host, filter.runId);
  for await (const run of runs) {
    for (const confirmation of run.confirmations) {
      if (confirmation.status === filter.status) yield confirmation;
    }
  }
}

async function* oneRun(host: ServerHost, runId: string): AsyncGenerator<Run, void> {
  yield await knownRun(host, runId);
}

async function* allRuns(host: ServerHost, status: string): AsyncGenerator<Run, void> {
  let cursor: string | undefined;
  do {
    const page = await host.executor.list({
      limit: SCAN_PAGE,
      ...(status === "requested" ? { status: OPEN_STATES } : {}),
      ...(cursor === undefined ? {} : { cursor }),
    });
    for (const { runId } of page.items) {
      const run = await host.executor.get(runId);
      if (run !== null) yield run;
    }
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
}

/** Handlers of the confirmation commands. */
export const confirmationHandlers: readonly (readonly [CommandName, CommandHandler])[] = [
  wire("list_confirmations", async ({ status, runId, limit, cursor }, { app, host }) => {
    const filter = { list: "confirmations", status, ...(runId === undefined ? {} : { runId }) };
    const after = cursor === undefined ? null : String(app.cursors.decode(cursor, filter));
    const items: Confirmation[] = [];
    let passed = after === null;
    for await (const confirmation of confirmationsOf(host, filter)) {
      const position = `${confirmation.runId}/${confirmation.id}`;
      if (passed && items.length === limit) {
        const last = items.at(-1);
        const key = `${last?.runId}/${last?.id}`;
        return { items, nextCursor: app.cursors.encode(key, filter) };
      }
      if (passed) items.push(confirmation);
      else passed = position === after;
    }
    return { items, nextCursor: null };
  }),
  wire("resolve_confirmation", async (args, call) => {
    const { runId, confirmationId: id, decision, value, comment } = args;
    const { value: answer, replayed } = await call.app.keys.run(
      {
        tokenId: call.caller.tokenId,
        command: "resolve_confirmation",
        key: call.key,
        args,
        joins: false,
      },
      async () => {
        const result = await call.host.executor.signal(runId, {
          kind: "confirm",
          id,
          decision,
          by: actorOf(call),
          ...(value === undefined ? {} : { value }),
          ...(comment === undefined ? {} : { comment }),
        });
        if (!result.ok) {
          const { code, outcome, problems } = result;
          throw new ProblemError(code, {
            ...(problems === undefined ? {} : { errors: problems }),
            members: {
              ...(outcome === undefined ? {} : { outcome }),
              ...(code === "not_found" ? { resource: "confirmation" } : {}),
            },
          });
        }
        const run = await knownRun(call.host, runId);
        return run.confirmations.find((confirmation) => confirmation.id === id);
      },
    );
    if (answer === undefined) {
      throw new ProblemError("not_found", { members: { resource: "confirmation" } });
    }
    return replayed ? new Answer(answer, { headers: REPLAYED }) : answer;
  }),
];
