/**
 * Two runs side by side, node by node.
 *   C1  A run compared with itself is the same everywhere.
 *   C2  Changing the sides changes "only in A" to "only in B" and nothing else.
 */
import type { NodeFacts, RunFacts } from "./run-facts.ts";

/** Difference of a node between the two runs. */
export type Difference = "same" | "changed" | "only in A" | "only in B";

/** One node of both runs, or of one. */
export interface ComparisonRow {
  /** Path without attempts. */
  readonly path: string;
  readonly a?: NodeFacts | undefined;
  readonly b?: NodeFacts | undefined;
  readonly difference: Difference;
}

/** A row for each node, in the order of A; what B alone has stands where B has it. */
export function compareRuns(a: RunFacts, b: RunFacts): readonly ComparisonRow[] {
  return mergedKeys([...a.keys()], [...b.keys()]).map((path) => {
    const [inA, inB] = [a.get(path), b.get(path)];
    return { path, a: inA, b: inB, difference: differenceOf(inA, inB) };
  });
}

function differenceOf(a: NodeFacts | undefined, b: NodeFacts | undefined): Difference {
  const [ranA, ranB] = [hasRun(a), hasRun(b)];
  if (ranA !== ranB) return ranA ? "only in A" : "only in B";
  if (!ranA) return "same";
  return a?.state === b?.state && a?.output === b?.output ? "same" : "changed";
}

/** A node that was left out is in the flow, not in the run. */
function hasRun(node: NodeFacts | undefined): boolean {
  return node !== undefined && node.state !== "skipped" && node.state !== "pending";
}

/** The keys of both: those of B alone follow the key that B has before them. */
function mergedKeys(a: readonly string[], b: readonly string[]): readonly string[] {
  const known = new Set(a);
  const following = new Map<string | undefined, string[]>();
  let anchor: string | undefined;
  for (const key of b) {
    if (known.has(key)) {
      anchor = key;
      continue;
    }
    const list = following.get(anchor) ?? [];
    list.push(key);
    following.set(anchor, list);
  }
  return [
    ...(following.get(undefined) ?? []),
    ...a.flatMap((key) => [key, ...(following.get(key) ?? [])]),
  ];
}
