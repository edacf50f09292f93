/** Data of one run for a comparison: its nodes with state, time, tokens, cost and output, from the folds of its log. */
import {
  createTrace,
  createView,
  type ExecutionEvent,
  foldEvents,
  foldTrace,
  formatPath,
  type Json,
  type NodeState,
  parsePath,
  type RunView,
  type Trace,
} from "@millrace/contracts";
import { canonicalJson, sha256Hex } from "@millrace/contracts/kit";

/** A node of a run. */
export interface NodeFacts {
  /** Its path in that run, with attempts. */
  readonly path: string;
  readonly state: NodeState;
  readonly durationMs?: number | undefined;
  readonly tokens?: number | undefined;
  /** Null: a price is unknown. Undefined: it called no model. */
  readonly costUsd?: number | null | undefined;
  /** Equal outputs have equal texts; undefined: it has none. */
  readonly output?: string | undefined;
}

/** The nodes of a run by path without attempts, in the order in which they appeared. */
export type RunFacts = ReadonlyMap<string, NodeFacts>;

/** A longer text of an output is kept as its digest. */
const MAX_TEXT = 1_024;

/** Folds a log, event by event. */
export interface FactsReader {
  readonly add: (event: ExecutionEvent) => void;
  readonly facts: () => RunFacts;
}

/** Makes a reader of one log. */
export function createFactsReader(): FactsReader {
  const view = createView();
  const trace = createTrace();
  const outputs = new Map<string, string | undefined>();
  return {
    add(event) {
      foldEvents(view, event);
      foldTrace(trace, event);
      if (event.kind === "node.succeeded" || event.kind === "node.failed") {
        outputs.set(event.node, outputText(event));
      }
    },
    facts: () => factsOf(view, trace, outputs),
  };
}

/** A path without attempts: an item is the same in two runs, however often the node around it was tried. */
export function pathKey(path: string): string {
  if (!path.includes("~")) return path;
  return formatPath(
    parsePath(path).map(({ id, index }) => (index === undefined ? { id } : { id, index })),
  );
}

type NodeEnd = Extract<ExecutionEvent, { readonly kind: "node.succeeded" | "node.failed" }>;

/** The outcome of a node: its output, or its error. */
export function outcomeValue(event: NodeEnd): Json | undefined {
  if (event.kind === "node.succeeded") return event.output;
  const { code, message } = event.error;
  return { error: { code, message }, ...(event.output !== undefined && { output: event.output }) };
}

function outputText(event: NodeEnd): string | undefined {
  const value = outcomeValue(event);
  const parts = [
    ...(event.outputRef === undefined ? [] : [event.outputRef.ref]),
    ...(value === undefined ? [] : [canonicalJson(value)]),
  ];
  if (parts.length === 0) return undefined;
  const text = parts.join(" ");
  return text.length > MAX_TEXT ? sha256Hex(new TextEncoder().encode(text)) : text;
}

function factsOf(
  view: RunView,
  trace: Trace,
  outputs: ReadonlyMap<string, string | undefined>,
): RunFacts {
  const facts = new Map<string, NodeFacts>();
  const add = (path: string, more: Omit<NodeFacts, "path" | "output">): void => {
    const key = pathKey(path);
    const before = facts.get(key);
    facts.set(key, { ...before, ...more, path, output: outputs.get(path) });
  };
  // A view forgets body nodes earlier than a trace does, and a trace has no node that never began.
  for (const { node, kind, state, startedAt, endedAt, usage, costUsd } of trace.spans.values()) {
    if (kind !== "node") continue;
    const before = facts.get(pathKey(node));
    add(node, {
      state,
      durationMs: endedAt === undefined ? undefined : endedAt - startedAt,
      tokens: usage
        ? (before?.tokens ?? 0) + usage.inputTokens + usage.outputTokens
        : before?.tokens,
      costUsd: costUsd === undefined ? before?.costUsd : sumOf(before?.costUsd, costUsd),
    });
  }
  for (const { node, state, durationMs } of view.nodes.values()) {
    const before = facts.get(pathKey(node));
    add(node, { state, durationMs: durationMs ?? before?.durationMs });
  }
  return facts;
}

function sumOf(before: number | null | undefined, more: number | null): number | null {
  return before === null || more === null ? null : (before ?? 0) + more;
}
