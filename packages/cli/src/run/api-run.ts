/**
 * A run behind the API: of a server, or one of the store that the embedded API works on.
 *   A1  Nothing that was answered in the past is asked again: questions count from the last event that was known at the start.
 *   A2  A question is left open only when the API reports that it is still open.
 *   A3  A cancel that comes before the run is there is asked again once it is, and from then on no question is answered.
 */

import { ClientError } from "@millrace/client";
import type { AnyEvent, CancelReason, ExecutionEvent, Summary } from "@millrace/contracts";
import type { ConfirmHandler } from "@millrace/engine";
import type { CommandContext } from "../api/command.ts";
import { graceOf, serverFlag } from "./flags.ts";
import { type FollowOptions, followRun } from "./follow.ts";
import type { LiveRun, Question } from "./live-run.ts";

/** How long an answer may be on its way: an interrupt, which ends other calls, does not end this one. */
const ANSWER_MS = 30_000;
/** Somebody else was first, or the deadline was. */
const SETTLED: ReadonlySet<string> = new Set([
  "already_resolved",
  "confirmation_expired",
  "not_found",
]);

/** A run behind the API, and how it is shown. */
export interface ApiRunOptions
  extends Pick<FollowOptions, "graph" | "tee" | "silent" | "survives" | "known"> {
  /** Its events, from the first one. Default: its log. */
  readonly events?: (signal: AbortSignal) => AsyncGenerator<AnyEvent, void>;
  /** `seq` of the last event that lies in the past; default 0. */
  readonly past?: number;
  /** Answers given beforehand. Default: none. */
  readonly answers?: ConfirmHandler;
}

/** Follows a run behind the API to its end, and answers the summary that was shown last. */
export function followApiRun(
  runId: string,
  context: CommandContext,
  options: ApiRunOptions,
): Promise<Summary> {
  const { input, io, api } = context;
  const graceMs = graceOf(input, api.config);
  return followRun(apiRun(runId, context, options), { io, graceMs, ...options });
}

/** The run as a command drives it. */
function apiRun(
  runId: string,
  { input, io, api }: CommandContext,
  {
    events = (signal) => api.runEvents(runId, { signal }),
    past = 0,
    answers = () => undefined,
  }: ApiRunOptions,
): LiveRun {
  const where = serverFlag(input);
  const open = new Map<string, Extract<ExecutionEvent, { kind: "confirm.requested" }>>();
  const asked = new Set<string>();
  const reading = new AbortController();
  let stop: { readonly reason: CancelReason; readonly graceMs: number } | undefined;
  let park: (question: Question) => void = () => {};
  const parked = new Promise<Question>((resolve) => {
    park = resolve;
  });

  async function answer(
    id: string,
    { decision, value, comment }: Parameters<LiveRun["answer"]>[1],
  ): Promise<string | undefined> {
    try {
      const args = {
        runId,
        confirmationId: id,
        decision,
        ...(value !== undefined && { value }),
        ...(comment !== undefined && { comment }),
      };
      await api.invoke("resolve_confirmation", args, { signal: AbortSignal.timeout(ANSWER_MS) });
      return undefined;
    } catch (error) {
      if (ClientError.isInstance(error) && error.problem !== undefined) return error.code;
      throw error;
    }
  }

  /** Gives the answers that are known beforehand; parks at the first other question. */
  async function answerOpen(): Promise<void> {
    for (const [id, question] of open) {
      if (asked.has(id)) continue;
      asked.add(id);
      const { node, attempt, prompt, ts } = question;
      const given = await answers({ id, node, attempt, prompt, requestedAt: ts });
      const refused = given === undefined ? "unanswered" : await answer(id, given);
      if (refused === undefined || SETTLED.has(refused)) continue;
      if (!io.interactive && (await isOpen(id))) park({ id, node, prompt });
    }
  }

  async function isOpen(id: string): Promise<boolean> {
    const signal = AbortSignal.timeout(ANSWER_MS);
    const { items } = await api.invoke("list_confirmations", { runId }, { signal });
    return items.some((each) => each.id === id);
  }

  // When it does not arrive, the events end or stay away, and that is told.
  function cancel(): void {
    if (stop !== undefined) void api.stop(runId, stop).catch(() => {});
  }

  return {
    id: runId,
    parked,
    async *events() {
      let begun = false;
      for await (const given of events(reading.signal)) {
        const event = given as ExecutionEvent;
        if (!begun) cancel();
        begun = true;
        yield [event];
        if (event.kind === "confirm.requested") open.set(event.id, event);
        else if (event.kind === "confirm.resolved") open.delete(event.id);
        if (event.seq >= past && open.size > 0 && stop === undefined) await answerOpen();
      }
    },
    leave: () => reading.abort(),
    open: () => open.values().next().value,
    answer,
    ...(api.leave !== undefined && {
      pause: (graceMs: number) => api.leave?.(runId, graceMs) ?? Promise.resolve(),
    }),
    ...(api.watchRoom !== undefined && { watchRoom: api.watchRoom }),
    cancel(reason, graceMs) {
      stop ??= { reason, graceMs };
      cancel();
    },
    nextSteps: (node) => `millrace confirm ${runId} ${node} --approve${where} answers`,
    ...(api.where === "remote" && {
      retry: `millrace runs retry ${runId}${where}`,
    }),
    again:
      api.where === "remote" ? `millrace runs tail ${runId}${where}` : `millrace resume ${runId}`,
  };
}
