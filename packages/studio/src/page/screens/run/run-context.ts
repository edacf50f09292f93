/** State that the parts of the screen of a run share. */
import { createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import type { RunSession } from "../../state/run-session.ts";
import type { Moment } from "./moment.ts";

/** The run, the moment that is looked at, and the chosen node. */
export interface RunScreenContext {
  readonly session: RunSession;
  readonly moment: Moment;
  /** Path of the chosen node. */
  readonly node: string | undefined;
  /** The chosen attempt; undefined: the last one. */
  readonly attempt: number | undefined;
  select(node: string | undefined, attempt?: number): void;
}

const Context = createContext<RunScreenContext | undefined>(undefined);

/** Hands the context to what is below. */
export const RunProvider: (typeof Context)["Provider"] = Context.Provider;

/** The context of the screen. */
export function useRun(): RunScreenContext {
  const context = useContext(Context);
  if (context === undefined) throw new Error("not below the screen of a run");
  return context;
}

/** The latest value, at most once in so many milliseconds: for what is costly to draw or tiring to hear. */
export function useCalm<T>(value: T, ms: number): T {
  const [shown, setShown] = useState(value);
  const [state] = useState(() => ({ value, at: 0, timer: undefined as number | undefined }));
  state.value = value;
  useEffect(() => {
    if (Object.is(value, shown) || state.timer !== undefined) return;
    const wait = Math.max(0, state.at + ms - Date.now());
    state.timer = window.setTimeout(() => {
      state.timer = undefined;
      state.at = Date.now();
      setShown(state.value);
    }, wait);
  }, [value, shown]);
  useEffect(() => () => clearTimeout(state.timer), []);
  return shown;
}
