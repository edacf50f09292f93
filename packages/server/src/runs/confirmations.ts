/** Commands of confirmations: the inbox, and the answer. */
import type { SignalResult } from "@millrace/contracts";
import { keyed, wire } from "../commands/index.ts";
import { notFound, ProblemError } from "../errors.ts";
import type { HandlerList } from "../ports.ts";
import { actorOf } from "./commands.ts";
import { knownSummary } from "./known-run.ts";
import { callExecutor } from "./problems.ts";

/** Handlers of the confirmation commands. */
export const confirmationHandlers: HandlerList = [
  wire("list_confirmations", (args, { host }) => {
    if (args.runId !== undefined) knownSummary(host, args.runId);
    return host.store.confirmations.list(args);
  }),
  wire("resolve_confirmation", (args, call) =>
    keyed(call, "resolve_confirmation", args, async () => {
      const { runId, confirmationId: id, ...answer } = args;
      const { executor, store } = call.host;
      const result = await callExecutor(() =>
        executor.signal(runId, { ...answer, kind: "confirm", id, by: actorOf(call) }),
      );
      if (!result.ok) throw refusalOf(result);
      const answered = store.confirmations.get(runId, id);
      if (answered === null) throw notFound("confirmation");
      return answered;
    }),
  ),
];

function refusalOf({ code, outcome, problems }: Extract<SignalResult, { ok: false }>) {
  const resource = code === "not_found" ? "confirmation" : undefined;
  return new ProblemError(code, {
    errors: problems,
    members: { ...(outcome && { outcome }), ...(resource && { resource }) },
  });
}
