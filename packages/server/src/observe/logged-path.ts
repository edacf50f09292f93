/** The path of a request as the log may have it. */
import { parseTarget } from "../gate/target.ts";

const MAX_PATH = 256;
/** What follows in the path of a webhook is its token. */
const HOOK = /\/hooks\//i;

/** The path of a target without its query, and without the token of a webhook; null for a target that the gate refuses. */
export function loggedPath(target: string): string | null {
  const path = parseTarget(target)?.path;
  if (path === undefined) return null;
  const read = path.includes("%") ? decodeURIComponent(path) : path;
  const hook = HOOK.exec(read);
  if (hook !== null) return `${read.slice(0, hook.index)}/hooks/:token`;
  return path.length > MAX_PATH ? `${path.slice(0, MAX_PATH)}…` : path;
}
