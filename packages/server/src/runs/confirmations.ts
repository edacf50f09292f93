/** Commands of confirmations: the inbox, and the answer. */
import type { CommandName } from "@millrace/contracts";
import { Answer, REPLAYED, wire } from "../commands/index.ts";
import { ProblemError } from "../errors.ts";
import type { CommandHandler } from "../ports.ts";
import { actorOf } from "./commands.ts";
import { knownSummary } from "./known-run.ts";
import { callExecutor } from "./problems.ts";

/** Handlers of the confirmation commands. */
export const confirmationHandlers: readonly (readonly [CommandName, CommandHandler])[] = [
  wire("list_confirmations", (args, { host }) => {
    if (args.runId !== undefined) knownSummary(host, args.runId);
    return host.store.confirmations.list(args);
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
        const result = await callExecutor(() =>
          call.host.executor.signal(runId, {
            kind: "confirm",
            id,
            decision,
            by: actorOf(call),
            ...(value === undefined ? {} : { value }),
            ...(comment === undefined ? {} : { comment }),
          }),
        );
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
        const answered = call.host.store.confirmations.get(runId, id);
        if (answered === null) {
          throw new ProblemError("not_found", { members: { resource: "confirmation" } });
        }
        return answered;
      },
    );
    return replayed ? new Answer(answer, { headers: REPLAYED }) : answer;
  }),
];
