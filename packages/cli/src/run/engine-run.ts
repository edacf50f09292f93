/** A run of an engine in this process. */

import type { Journal } from "@millrace/contracts";
import type { ConfirmHandler, Engine, OpenConfirmation, Run } from "@millrace/engine";
import type { Traces } from "@millrace/server/traces";
import { clean } from "../output/text.ts";
import type { LiveRun, Question } from "./live-run.ts";

/** Answers given beforehand, and the question that none of them is for, once it was shown. */
export interface PresetAnswers {
  readonly confirm: ConfirmHandler;
  readonly parked: Promise<Question>;
  /** The question was shown: a log that is kept is shown later than it is made. */
  shown(id: string): void;
}

/** `waits`: whether a person is there to answer later. */
export function presetAnswers(answers: ConfirmHandler, waits: boolean): PresetAnswers {
  const unanswered = new Map<string, OpenConfirmation>();
  const shown = new Set<string>();
  let park: (question: OpenConfirmation) => void = () => {};
  const parked = new Promise<Question>((resolve) => {
    park = resolve;
  });
  const look = (id: string): void => {
    const question = unanswered.get(id);
    if (question !== undefined && shown.has(id)) park(question);
  };
  return {
    async confirm(question) {
      const answer = await answers(question);
      if (answer === undefined && !waits) {
        unanswered.set(question.id, question);
        look(question.id);
      }
      return answer;
    },
    parked,
    shown(id) {
      shown.add(id);
      look(id);
    },
  };
}

/**
 * The run as a command drives it. `saved`: it stays in the store when the command leaves it; `traces`: what makes spans of its events,
 * where no journal does.
 */
export function engineRun(
  run: Run,
  asked: PresetAnswers,
  {
    saved,
    traces,
  }: {
    readonly saved?: { readonly engine: Engine; readonly journal: Journal };
    readonly traces?: Pick<Traces, "took"> | undefined;
  },
): LiveRun {
  const cursor = run.batches({ holds: true });
  return {
    id: run.id,
    parked: asked.parked,
    async *events() {
      try {
        for await (const page of cursor) {
          traces?.took(run.id, page);
          yield page;
          for (const event of page) if (event.kind === "confirm.requested") asked.shown(event.id);
        }
      } catch (error) {
        if (run.state !== "left") throw error; // paused by this command, which says so itself
      }
    },
    leave: () => cursor.close(),
    open: () => run.confirmations()[0],
    async answer(id, answer) {
      const reply = await run.confirm(id, answer);
      if (reply.ok) return undefined;
      const problems = "problems" in reply ? (reply.problems ?? []) : [];
      return `${reply.code}${problems.map((each) => `; ${clean(`${each.pointer} ${each.message}`).trim()}`).join("")}`;
    },
    ...(saved && {
      async pause(graceMs: number) {
        run.pause();
        await saved.engine.close({ leave: true, graceMs });
      },
      watchRoom: (told: (isFull: boolean) => void) => saved.journal.watchRoom?.(told) ?? (() => {}),
    }),
    cancel: (reason, graceMs) => void run.cancel({ reason, graceMs }),
    nextSteps: (node) =>
      saved !== undefined
        ? `millrace confirm ${run.id} ${node} --approve answers`
        : `give --confirm ${node}=approve or --yes, or keep the run with --save`,
  };
}
