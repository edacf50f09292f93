/** When a crashed model may be loaded again without being asked for by name. */

const FIRST_MS = 1_000;
const MAX_MS = 60_000;
const WINDOW_MS = 600_000;
const MOST = 5; // in the window; a model that has crashed so often does so again

/** Milliseconds until the next load is allowed, of a model that crashed at these times, oldest first; null: only by name. */
export function backOffMs(crashes: readonly number[], now: number): number | null {
  const recent = crashes.filter((at) => at > now - WINDOW_MS);
  const last = recent.at(-1);
  if (last === undefined) return 0;
  if (recent.length >= MOST) return null;
  const delay = Math.min(MAX_MS, FIRST_MS * 2 ** (recent.length - 1));
  return Math.max(0, last + delay - now);
}
