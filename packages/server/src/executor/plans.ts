/** Plans of flows that are started, or taken up, again and again: each is compiled once. */
import type { FlowGraph, RunHeader } from "@millrace/contracts";
import { type CompileOptions, compileFlow, type SubflowPort } from "@millrace/engine";

const MAX_TEXTS = 64; // flows that one server starts by turns
const MAX_UNITS = 65_536; // of a graph; larger ones are rare, and would keep their memory

type Compiled = ReturnType<typeof compileFlow>;

/**
 * Compiles with the same options; each answer is as `compileFlow` gives it. `catalog` counts for new runs alone: a run goes on
 * without the provider or the service that its flow names, and fails where it needs that.
 */
export interface Plans {
  /** The plan of a graph of a request; the caller may change the graph afterwards. A flow that calls others is compiled at every start. */
  ofStart(graph: FlowGraph): Compiled;
  /** The graph of a run as the store has it, with the flows that it called then; runs that share a graph alone share the plan. */
  ofRun(header: RunHeader): Compiled;
}

/** Compiles graphs of runs and keeps the plans of those that come again. */
export function createPlans(options: CompileOptions): Plans {
  const { catalog: _ofNewRuns, ...ofStored } = options;
  const { subflows } = options;
  const ofText = new Map<string, Compiled | "seen">();
  let newest = "";
  const ofGraph = new WeakMap<FlowGraph, Compiled>();

  /** As the newest. */
  function remember(text: string, what: Compiled | "seen"): void {
    newest = text;
    ofText.delete(text);
    const [oldest] = ofText.keys();
    if (oldest !== undefined && ofText.size >= MAX_TEXTS) ofText.delete(oldest);
    ofText.set(text, what);
  }

  /** Compiles a graph that was started before, from a copy of its own. */
  function kept(text: string, graph: FlowGraph): Compiled {
    let calls = false;
    const port: SubflowPort = {
      async get(ref) {
        calls = true;
        return (await subflows?.get(ref)) ?? null;
      },
    };
    const made = compileFlow(graph, { ...options, subflows: port });
    const forget = () => {
      if (ofText.get(text) === made) ofText.delete(text);
    };
    made.then(({ ok }) => {
      if (!ok || calls) forget();
    }, forget);
    return made;
  }

  return {
    async ofStart(graph) {
      const text = textOf(graph);
      const known = text === undefined ? undefined : ofText.get(text);
      if (text === undefined || known === undefined) {
        const made = await compileFlow(graph, options);
        if (made.ok && text !== undefined && !ofText.has(text)) remember(text, "seen");
        return made;
      }
      const made = known === "seen" ? kept(text, JSON.parse(text)) : known;
      if (known !== made || text !== newest) remember(text, made);
      return made;
    },

    ofRun({ graph, flows, flowHash }) {
      const hash = flowHash === undefined ? {} : { hash: flowHash };
      if (flows !== undefined) {
        return compileFlow(graph, { ...ofStored, ...hash, subflows: pinned(flows) });
      }
      const known = ofGraph.get(graph);
      if (known !== undefined) return known;
      const made = compileFlow(graph, { ...ofStored, ...hash });
      ofGraph.set(graph, made);
      made.catch(() => ofGraph.delete(graph)); // where flows come from was away
      return made;
    },
  };
}

/** Flows as a run was started with them, whatever has become of them. */
function pinned(flows: NonNullable<RunHeader["flows"]>): SubflowPort {
  return {
    async get({ slug, version, digest = "" }) {
      const text = version !== undefined ? `${slug}@${version}` : digest && `${slug}#${digest}`;
      const graph = flows[text || slug];
      return graph === undefined ? null : { graph, digest };
    },
  };
}

/** Undefined: there is none, or too much of it. */
function textOf(graph: FlowGraph): string | undefined {
  try {
    const text = JSON.stringify(graph);
    return text.length > MAX_UNITS ? undefined : text;
  } catch {
    return undefined; // the compiler says what is wrong with it
  }
}
