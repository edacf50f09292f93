/** The keys of the screen of a flow; none of them is a single letter. */
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { FlowProblem } from "../../../worker/protocol.ts";
import { isUnauthorised } from "../../backend.ts";
import { focused } from "../../parts/dialog.tsx";
import { refusal } from "../../state/meta.ts";
import { runRefusal } from "./flow-view.ts";
import type { FlowActions } from "./use-flow-actions.ts";

/** Handlers of the keys. */
export interface FlowKeys {
  readonly actions: FlowActions;
  readonly problems: readonly FlowProblem[] | undefined;
  readonly isReadOnly: boolean;
  /** Its fields apply what is typed when the focus leaves them. */
  readonly inspector: RefObject<HTMLElement | null>;
  readonly goTo: (problem: FlowProblem) => void;
  readonly undo: () => void;
  readonly redo: () => void;
}

/** Listens to keys while the screen is shown and nothing covers it. */
export function useFlowKeys(keys: FlowKeys): void {
  const latest = useRef(keys);
  latest.current = keys;
  const nextProblem = useRef(0);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      const { actions, problems = [], isReadOnly, inspector, goTo, undo, redo } = latest.current;
      const isCovered = actions.dialog !== undefined || isUnauthorised.peek();
      if (event.defaultPrevented || isCovered) return;
      const isCommand = event.ctrlKey || event.metaKey;
      const act = (allowed: boolean, work: () => unknown): void => {
        event.preventDefault();
        if (!allowed) return;
        const field = focused();
        if (inspector.current?.contains(document.activeElement) && field instanceof HTMLElement) {
          field.blur();
          field.focus();
        }
        work();
      };
      if (isCommand && event.key === "s") {
        act(!isReadOnly && refusal("admin") === undefined, actions.save);
      } else if (isCommand && event.key === "Enter") {
        act(refusal("run") === undefined && runRefusal(problems) === undefined, actions.run);
      } else if (isCommand && event.shiftKey && event.key.toLowerCase() === "f") {
        act(!isReadOnly, actions.format);
      } else if (isCommand && event.key === "/" && !event.altKey) {
        act(true, () => actions.show({ kind: "shortcuts" }));
      } else if (isCommand && !isReadOnly && !isField(event)) {
        const key = event.key.toLowerCase();
        if (key === "z") act(true, event.shiftKey ? redo : undo);
        else if (key === "y") act(true, redo);
      } else if (event.key === "F8") {
        act(problems.length > 0, () => {
          const problem = problems[nextProblem.current % problems.length];
          nextProblem.current += 1;
          if (problem !== undefined) goTo(problem);
        });
      }
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);
}

/** Whether a key is for something that has an Undo of its own. */
function isField(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.matches("input, textarea, select");
}
