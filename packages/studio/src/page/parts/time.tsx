/** A time: how long ago, with the exact time and its zone in the title. */
import type { ComponentChildren } from "preact";
import { formatRelative, formatTime } from "./format.ts";

/** Shows a time relative to now; null is shown as a dash. */
export function Time({ at }: { readonly at: string | number | null }): ComponentChildren {
  if (at === null) return <span class="muted">–</span>;
  return (
    <time dateTime={new Date(at).toISOString()} title={formatTime(at)}>
      {formatRelative(at)}
    </time>
  );
}
