/**
 * The open questions of all runs as a person sees them.
 *   I1  A question that somebody else answers leaves the list, unless this person is at work on it: then it stays until it is dismissed.
 *   I2  A question that this person answered leaves the list at once.
 */
import type { Confirmation } from "@millrace/contracts";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { backend } from "../../backend.ts";
import { settled } from "../../parts/answer-form.tsx";
import { type ListState, useList } from "../../state/use-list.ts";

/** The questions, and what happens to them. */
export interface Inbox {
  readonly list: ListState<Confirmation>;
  /** Says that a person began to answer. */
  readonly touch: (question: Confirmation) => void;
  /** Takes over what an answer, of this person or another, made of a question. */
  readonly settle: (answered: Confirmation, isOwn: boolean) => void;
  readonly dismiss: (question: Confirmation) => void;
}

/** The identity of a question over all runs. */
export function questionKey({ runId, id }: Confirmation): string {
  return `${runId} ${id}`;
}

/** Reads the open questions and follows them. */
export function useInbox(): Inbox {
  const list = useList<Confirmation>({
    key: "",
    load: (cursor) => backend.invoke("list_confirmations", cursor === undefined ? {} : { cursor }),
    changedBy: ({ kind }) => kind.startsWith("confirm.") || kind === "summary",
  });
  const touched = useRef(new Set<string>());
  const answered = useRef(new Set<string>());
  const [shown, setShown] = useState<readonly Confirmation[]>();

  const replace = useCallback((next: Confirmation): void => {
    const key = questionKey(next);
    setShown((before) => before?.map((each) => (questionKey(each) === key ? next : each)));
  }, []);
  const drop = useCallback((question: Confirmation): void => {
    const key = questionKey(question);
    answered.current.add(key);
    setShown((before) => before?.filter((each) => questionKey(each) !== key));
  }, []);

  const { items } = list;
  useEffect(() => {
    if (items === undefined) return;
    const open = new Set(items.map(questionKey));
    const lost = (shown ?? []).filter((each) => !open.has(questionKey(each)));
    const kept = lost.filter((each) => touched.current.has(questionKey(each)));
    const keptKeys = new Set(kept.map(questionKey));
    setShown(
      [
        // Those that stay keep their place, so that nothing moves below a person's hands.
        ...(shown ?? []).flatMap((each) =>
          keptKeys.has(questionKey(each))
            ? [each]
            : items.filter((item) => questionKey(item) === questionKey(each)),
        ),
        ...items.filter((item) => !shown?.some((each) => questionKey(each) === questionKey(item))),
      ].filter((each) => !answered.current.has(questionKey(each))),
    );
    for (const each of kept) {
      if (each.status !== "requested") continue;
      settled(each).then(replace, () => {
        // It stays as it is; answering it tells what the server says.
      });
    }
  }, [items]);

  return {
    list: { ...list, items: shown },
    touch: useCallback((question) => void touched.current.add(questionKey(question)), []),
    settle: useCallback((next, isOwn) => (isOwn ? drop(next) : replace(next)), [drop, replace]),
    dismiss: drop,
  };
}
