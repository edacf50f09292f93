/** Which runs a query asks for. */
import type { RunQuery, RunSummary } from "@millrace/contracts";

/** A test for the filter part of a query. */
export function runFilter(query: RunQuery): (run: RunSummary) => boolean {
  const { status, template, tags, trigger } = query;
  const since = query.since === undefined ? Number.NEGATIVE_INFINITY : Date.parse(query.since);
  const until = query.until === undefined ? Number.POSITIVE_INFINITY : Date.parse(query.until);
  return (run) => {
    const createdAt = Date.parse(run.createdAt);
    return (
      (status === undefined || status.includes(run.status)) &&
      (template === undefined || run.template?.slug === template) &&
      (trigger === undefined || run.trigger === trigger) &&
      createdAt >= since &&
      createdAt <= until &&
      Object.entries(tags ?? {}).every(
        ([name, value]) => Object.hasOwn(run.tags, name) && run.tags[name] === value,
      )
    );
  };
}
