/** Meaning of the states of runs. */
const ENDED: ReadonlySet<string> = new Set(["succeeded", "failed", "cancelled"]);

/** Whether nothing follows this state. */
export function isEnded(state: string): boolean {
  return ENDED.has(state);
}
