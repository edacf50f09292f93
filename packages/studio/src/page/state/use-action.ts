/** Something a person does that the server answers: busy while it lasts, and its error beside it. */
import { useCallback, useRef, useState } from "preact/hooks";

/** An action of a screen. */
export interface Action<Args extends readonly unknown[]> {
  /** Does it; a second call while one runs is ignored. Resolves to whether it succeeded. */
  readonly run: (...args: Args) => Promise<boolean>;
  readonly isBusy: boolean;
  /** Why the last call failed; undefined: it did not. */
  readonly error: unknown;
  readonly clear: () => void;
}

/** Wraps what a control does. */
export function useAction<Args extends readonly unknown[]>(
  work: (...args: Args) => Promise<unknown>,
): Action<Args> {
  const [state, setState] = useState<{ readonly isBusy: boolean; readonly error: unknown }>(IDLE);
  const latest = useRef(work);
  latest.current = work;
  const isRunning = useRef(false);
  const run = useCallback(async (...args: Args): Promise<boolean> => {
    if (isRunning.current) return false;
    isRunning.current = true;
    setState({ isBusy: true, error: undefined });
    try {
      await latest.current(...args);
      setState(IDLE);
      return true;
    } catch (error) {
      setState({ isBusy: false, error });
      return false;
    } finally {
      isRunning.current = false;
    }
  }, []);
  return { ...state, run, clear: useCallback(() => setState(IDLE), []) };
}

const IDLE = { isBusy: false, error: undefined };
