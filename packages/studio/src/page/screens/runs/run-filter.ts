/**
 * What the place says of the runs that are wanted: `status`, `flow`, `unacknowledged`, and tags such as `tag.customer=acme`.
 *   A place that is written from a filter gives the same filter again.
 */
import type { RunFilter, RunState } from "@millrace/contracts";
import { RUN_MACHINE } from "@millrace/contracts";
import type { Query } from "../../router.ts";

/** States that runs can have, in the order of a life. */
export const RUN_STATES = Object.keys(RUN_MACHINE) as readonly RunState[];

const TAG = "tag.";

/** The runs that a place asks for. A state that there is not is left out. */
export function filterOf(query: URLSearchParams): RunFilter {
  const status = query.getAll("status").flatMap((each) => RUN_STATES.filter((it) => it === each));
  const flow = query.get("flow") ?? "";
  const tags = [...query].flatMap(([name, value]): [string, string][] =>
    name.startsWith(TAG) && name !== TAG ? [[name.slice(TAG.length), value]] : [],
  );
  return {
    ...(status.length > 0 && { status }),
    ...(flow !== "" && { flow }),
    ...(query.has("unacknowledged") && { unacknowledged: true }),
    ...(tags.length > 0 && { tags: Object.fromEntries(tags) }),
  };
}

/** The change of a place that adds a tag, written as `name=value`; undefined: it is not written so. */
export function tagQuery(written: string): Query | undefined {
  const [, name, value] = /^\s*([^=\s][^=]*?)\s*=\s*(.*\S)\s*$/.exec(written) ?? [];
  return name === undefined || value === undefined ? undefined : { [`${TAG}${name}`]: value };
}

/** The name that a tag has in a place. */
export function tagName(tag: string): string {
  return `${TAG}${tag}`;
}
