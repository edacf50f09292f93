/** One thing of the server that a screen shows, such as a flow or a run. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { isUnreachable } from "../backend.ts";
import { useWhenBack } from "./use-when-back.ts";

/** A value as a screen shows it: `value` of the last read that succeeded, `error` of the last one that failed. */
export interface ValueState<T> {
  readonly value: T | undefined;
  readonly error: unknown;
  readonly reload: () => void;
}

/** Reads a value. Another `key` reads another one, and the value before it is dropped. What the server did not answer is asked again when it is back. */
export function useValue<T>(key: string, load: () => Promise<T>): ValueState<T> {
  const [state, setState] = useState<{ readonly value?: T; readonly error?: unknown }>({});
  const isLost = isUnreachable(state.error);
  const latest = useRef({ load, turn: 0 });
  latest.current.load = load;
  const reload = useCallback((): void => {
    const now = latest.current;
    now.turn += 1;
    const { turn } = now;
    now.load().then(
      (value) => turn === now.turn && setState({ value }),
      (error: unknown) => turn === now.turn && setState((before) => ({ ...before, error })),
    );
  }, []);
  useEffect(() => {
    setState({});
    reload();
  }, [key, reload]);
  useWhenBack(isLost, reload);
  return { value: state.value, error: state.error, reload };
}
