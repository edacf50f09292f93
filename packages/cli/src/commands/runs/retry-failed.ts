/** `millrace runs retry --failed --unacknowledged`: all that failed, again. */
import { itemsOf, MAX_PAGE } from "../../api/api.ts";
import { withApi } from "../../api/command.ts";
import { printAnswer } from "../../argv/flags.ts";
import { flagText, isOn, type Run } from "../../argv/spec.ts";
import { reason, usage } from "../../errors.ts";
import { clean } from "../../output/text.ts";
import { followToEnd } from "../../run/follow-to-end.ts";

/** Repeats every failed run that was not acknowledged, the oldest first. A refused one stays in the list. */
export const retryFailed: Run = (input, io) => {
  if (!isOn(input, "unacknowledged")) {
    throw usage("runs retry takes a run, or --failed --unacknowledged");
  }
  return withApi(input, io, true, async (api) => {
    const template = flagText(input, "template");
    const filter = { unacknowledged: true, ...(template !== undefined && { template }) };
    const failed: { readonly runId: string; readonly createdAt: string }[] = [];
    const pages = itemsOf((page) => api.invoke("list_runs", { ...filter, ...page }));
    for await (const { runId, createdAt } of pages) failed.unshift({ runId, createdAt });
    const items: { readonly runId: string; readonly retryOf: string }[] = [];
    const refused: { readonly runId: string; readonly message: string }[] = [];
    const again = isOn(input, "failed-items") ? ({ failedItems: true } as const) : {};
    let code = 0;
    for (const { runId, createdAt } of failed) {
      try {
        // While those before it ran, somebody may have acknowledged it or run it again.
        const now = { ...filter, since: createdAt, until: createdAt, limit: MAX_PAGE };
        const { items: open } = await api.invoke("list_runs", now);
        if (!open.some((run) => run.runId === runId)) continue;
        const ref = await api.invoke("retry_run", { runId, ...again });
        items.push({ runId: ref.runId, retryOf: runId });
        code = Math.max(code, await followToEnd(ref, { api, io, input }, { answered: true }));
      } catch (error) {
        refused.push({ runId, message: reason(error) });
      }
    }
    await printAnswer(
      {
        value: { items, refused },
        data: items.map(({ runId, retryOf }) => `${runId} repeats ${retryOf}`),
        said: [
          ...refused.map(({ runId, message }) => `${runId} is not repeated: ${clean(message)}`),
          ...(failed.length === 0 ? ["nothing to retry"] : []),
        ],
      },
      io,
    );
    return Math.max(code, refused.length > 0 ? 1 : 0);
  });
};
