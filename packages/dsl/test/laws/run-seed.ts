/** Checks the laws of a seed; a graph for which one does not hold is made smaller. */
import type { FlowGraph } from "@millrace/contracts";
import { printFlow } from "@millrace/dsl";
import { LAWS, type Law } from "./laws.ts";
import { Broken, Sample } from "./sample.ts";

export interface Failure {
  readonly seed: number;
  readonly law: string;
  readonly message: string;
  /** The smallest text found that shows it. */
  readonly shown: string;
}

export interface CheckOptions {
  /** Another graph than the seed's own. */
  readonly graph?: FlowGraph;
  /** Takes the milliseconds by law. */
  readonly times?: Map<string, number>;
}

/** Every law of the seed that does not hold, or the one named. */
export function checkSeed(
  seed: number,
  only?: string,
  { graph, times }: CheckOptions = {},
): Failure[] {
  const sample = new Sample(seed, graph);
  const failures: Failure[] = [];
  for (const law of LAWS) {
    if (only !== undefined && law.id !== only) continue;
    const start = performance.now();
    const broken = brokenBy(law, sample);
    times?.set(law.id, (times.get(law.id) ?? 0) + performance.now() - start);
    if (!broken) continue;
    const smallest = shrinkText(shrink(law, sample, broken));
    failures.push({ seed, law: law.id, message: smallest.message, shown: smallest.shown });
  }
  return failures;
}

function brokenBy(law: Law, sample: Sample): Broken | undefined {
  try {
    law.check(sample);
    return undefined;
  } catch (thrown) {
    if (thrown instanceof Broken) return thrown;
    return new Broken(String((thrown as Error)?.stack ?? thrown), textOf(sample.graph));
  }
}

function textOf(graph: FlowGraph): string {
  try {
    return printFlow(graph);
  } catch {
    return JSON.stringify(graph, undefined, 2);
  }
}

const MAX_TRIES = 2000;

/** Takes parts of the graph away for as long as the law is still broken. */
function shrink(law: Law, sample: Sample, found: Broken): Broken {
  let smallest = found;
  if (sample.isLarge) return smallest;
  let graph = sample.graph;
  for (let tries = 0, wasSmaller = true; wasSmaller && tries < MAX_TRIES; ) {
    wasSmaller = false;
    for (const path of partsOf(graph)) {
      tries += 1;
      if (tries > MAX_TRIES) break;
      const smaller = without(graph, path);
      if (!isGraph(smaller)) continue;
      const broken = brokenBy(law, new Sample(sample.seed, smaller));
      if (!broken || broken.shown.length >= smallest.shown.length) continue;
      [smallest, graph, wasSmaller] = [broken, smaller, true];
      break;
    }
  }
  return smallest;
}

/** Takes parts of the text away, halves first, for as long as it alone breaks the law. */
function shrinkText(found: Broken): Broken {
  let smallest = found;
  for (let size = found.shown.length >> 1; size > 0 && found.again; size >>= 1) {
    for (let at = 0; at < smallest.shown.length; ) {
      const text = smallest.shown.slice(0, at) + smallest.shown.slice(at + size);
      try {
        found.again(text);
        at += size;
      } catch (thrown) {
        if (thrown instanceof Broken && thrown.message === found.message) smallest = thrown;
        else at += size;
      }
    }
  }
  return smallest;
}

function isGraph(graph: FlowGraph): boolean {
  try {
    printFlow(graph);
    return true;
  } catch {
    return false;
  }
}

/** Paths of all members and elements, the largest parts first. */
function partsOf(graph: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof graph !== "object" || graph === null) return [];
  const own = Object.keys(graph).map((key) => [...path, key]);
  const inner = Object.entries(graph).flatMap(([key, part]) => partsOf(part, [...path, key]));
  return [...own, ...inner];
}

function without(graph: FlowGraph, path: readonly string[]): FlowGraph {
  const copy = JSON.parse(JSON.stringify(graph)) as FlowGraph;
  let holder = copy as unknown as { [key: string]: unknown };
  for (const key of path.slice(0, -1)) holder = holder[key] as { [key: string]: unknown };
  const last = path.at(-1) as string;
  if (Array.isArray(holder)) holder.splice(Number(last), 1);
  else delete holder[last];
  return copy;
}
