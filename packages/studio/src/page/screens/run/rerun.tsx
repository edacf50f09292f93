/** The dialog that repeats a run from one of its nodes on. */
import type { CatalogEntry, FlowGraph, FlowInput, FlowNode, Json } from "@millrace/contracts";
import { canonicalJson } from "@millrace/contracts/kit";
import type { ComponentChildren } from "preact";
import { backend, invokeOnce } from "../../backend.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Problem } from "../../parts/problem.tsx";
import { RunDialog } from "../../parts/run-dialog.tsx";
import { navigate, placeHref } from "../../router.ts";
import { everyItem } from "../../state/every-item.ts";
import { useValue } from "../../state/use-value.ts";
import { useRun } from "./run-context.ts";

/** Asks for the inputs of the repetition; it begins with those of the run. `node`: a node of the flow itself. */
export function Rerun({
  node,
  graph,
  onClose,
}: {
  readonly node: string;
  readonly graph: FlowGraph;
  readonly onClose: () => void;
}): ComponentChildren {
  const { runId } = useRun().session;
  const known = useValue(`${runId} ${node}`, async () => {
    const [given, again] = await Promise.all([
      backend.invoke("get_run_inputs", { runId }),
      nodesAgain(graph, node),
    ]);
    return { ...given, again };
  });
  const title = `Rerun ${node}`;
  if (known.value === undefined) {
    return (
      <Dialog title={title} onClose={onClose}>
        <Problem error={known.error} />
        {known.error === undefined && <p class="muted">Loading…</p>}
        <div class="dialog-actions">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        </div>
      </Dialog>
    );
  }
  const { inputs, redacted, again } = known.value;
  const hidden = new Set(redacted.map((pointer) => pointer.split("/")[1] ?? ""));
  const initial = without(inputs, hidden);
  return (
    <RunDialog
      title={title}
      inputs={graph.inputs.map((input) => (hidden.has(input.name) ? secretInput(input) : input))}
      initial={initial}
      onClose={onClose}
      onStart={async (values) => {
        const typed = [...hidden].filter((name) => values[name] !== null);
        const isSame = canonicalJson(without(values, hidden)) === canonicalJson(initial);
        const keeps = isSame && typed.length === 0;
        if (!keeps && typed.length < hidden.size) {
          throw new Error("Type the secret inputs again: the others have changed");
        }
        const started = await invokeOnce("retry_run", {
          runId,
          from: [node],
          ...(!keeps && { inputs: values }),
        });
        navigate(placeHref(["runs", started.runId]));
      }}
    >
      <p>
        Runs <code>{node}</code> again, with all that follows it. Results before it are taken over
        as long as their inputs stay the same.
      </p>
      {again.length > 0 && (
        <div class="problem">
          <p>These nodes change something outside of the run, and may do so again:</p>
          <ul>
            {again.map(({ id, type, effect }) => (
              <li key={id}>
                <code>{id}</code> ({type}): {effect === "destructive" ? "destroys" : "writes"}
              </li>
            ))}
          </ul>
        </div>
      )}
      {hidden.size > 0 && (
        <p class="muted">
          Secret inputs are kept when nothing else changes; else they have to be typed again.
        </p>
      )}
    </RunDialog>
  );
}

/** The field of an input that nobody is shown; null: it stays what it was. */
function secretInput({ name, description }: FlowInput): FlowInput {
  return {
    name,
    schema: { type: ["string", "null"], format: "password" },
    default: null,
    ...(description !== undefined && { description }),
  };
}

function without(
  values: Readonly<Record<string, Json>>,
  hidden: ReadonlySet<string>,
): Record<string, Json> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => !hidden.has(name)));
}

/** A node that runs again and is more than a reader. */
interface NodeAgain {
  readonly id: string;
  readonly type: string;
  readonly effect: CatalogEntry["effect"];
}

/** The node and all that follows it, as far as they write or destroy something. */
async function nodesAgain(graph: FlowGraph, from: string): Promise<readonly NodeAgain[]> {
  const { drawFlow } = await import("../../flow-picture.ts");
  const { edges } = drawFlow(graph);
  const reached = new Set([from]);
  for (const id of reached) {
    for (const edge of edges) if (edge.from === id) reached.add(edge.to);
  }
  const nodes = graph.nodes.filter(({ id }) => reached.has(id)).flatMap(withBody);
  const entries = await everyItem((page) => backend.invoke("list_nodes", page));
  const effects = new Map(entries.map(({ type, effect }) => [type, effect]));
  return nodes.flatMap(({ id, type }) => {
    const effect = effects.get(type);
    return effect === "write" || effect === "destructive" ? [{ id, type, effect }] : [];
  });
}

function withBody(node: FlowNode): readonly FlowNode[] {
  return [node, ...(node.body?.nodes ?? []).flatMap(withBody)];
}
