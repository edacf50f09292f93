/** The time of now for what a screen shows in relation to it. */
import { useEffect, useState } from "preact/hooks";
import { isActive } from "./visibility.ts";

/** The time, renewed every `everyMs`; undefined: it stands still. A hidden page does not renew it. */
export function useNow(everyMs: number | undefined): number {
  const [now, setNow] = useState(() => Date.now());
  const isShown = isActive.value;
  useEffect(() => {
    if (everyMs === undefined || !isShown) return undefined;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs, isShown]);
  return now;
}
