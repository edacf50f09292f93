/** While the server cannot be reached: as of when the screen is shown. */
import type { ComponentChildren } from "preact";
import { staleSince } from "../backend.ts";
import { useNow } from "../state/use-now.ts";
import { formatRelative, formatTime } from "./format.ts";
import "./age.css";

/** How often the age is renewed, in milliseconds. */
const RENEW_MS = 1_000;

/** Says how old what is shown is; nothing while the server answers. */
export function Age(): ComponentChildren {
  const since = staleSince.value;
  useNow(since === undefined ? undefined : RENEW_MS);
  if (since === undefined) return null;
  return (
    <p class="age">
      Shown as of <time title={formatTime(since)}>{formatRelative(since)}</time>: the server does
      not answer.
    </p>
  );
}
