/** Calls that come in quick succession, spaced out: the first at once, then the newest after a pause. */
import { useCallback, useEffect, useRef } from "preact/hooks";

/** Pause between two calls, in milliseconds: a browser refuses more than 200 changes of the address in 10 s. */
const PAUSE_MS = 150;

/** A function that calls the newest `work` with the newest value; nothing is called once the component is gone. */
export function useSpaced<T>(work: (value: T) => void): (value: T) => void {
  const latest = useRef(work);
  latest.current = work;
  const pending = useRef<{ readonly value: T } | undefined>(undefined);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  return useCallback((value: T): void => {
    const pause = (): void => {
      timer.current = setTimeout(() => {
        timer.current = undefined;
        const next = pending.current;
        pending.current = undefined;
        if (next === undefined) return;
        pause();
        latest.current(next.value);
      }, PAUSE_MS);
    };
    if (timer.current !== undefined) {
      pending.current = { value };
      return;
    }
    pause();
    latest.current(value);
  }, []);
}
