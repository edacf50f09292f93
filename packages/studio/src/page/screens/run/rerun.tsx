/** The dialog that repeats a run: from one of its nodes on, or from its beginning. */
import type { CatalogEntry, FlowGraph, FlowInput, Json } from "@millrace/contracts";
import { canonicalJson } from "@millrace/contracts/kit";
import type { ComponentChildren } from "preact";
import { backend, invokeOnce } from "../../backend.ts";
import { pictureOf } from "../../editor/picture.ts";
import { Dialog, DialogActions } from "../../parts/dialog.tsx";
import { Problem } from "../../parts/problem.tsx";
import { RunDialog } from "../../parts/run-dialog.tsx";
import { navigate, placeHref } from "../../router.ts";
import { everyItem } from "../../state/every-item.ts";
import { everyNode } from "../../state/flow-nodes.ts";
import { hiddenInputs } from "../../state/hidden-inputs.ts";
import { useValue } from "../../state/use-value.ts";
import { useRun } from "./run-context.ts";

/**
 * Asks for the inputs of the repetition; it begins with those of the run. `node`: a node of the flow itself; undefined: every node runs
 * again.
 */
export function Rerun({
  node,
  graph,
  onClose,
}: {
  readonly node?: string | undefined;
  readonly graph: FlowGraph;
  readonly onClose: () => void;
}): ComponentChildren {
  const { runId } = useRun().session;
  const from = node === undefined ? graph.nodes.map(({ id }) => id) : [node];
  const known = useValue(`${runId} ${node}`, async () => {
    const [given, again] = await Promise.all([
      backend.invoke("get_run_inputs", { runId }),
      nodesAgain(graph, from),
    ]);
    return { ...given, again };
  });
  const title = node === undefined ? "Run again" : `Rerun ${node}`;
  if (known.value === undefined) {
    return (
      <Dialog title={title} onClose={onClose}>
        <Problem error={known.error} />
        {known.error === undefined && <p class="muted">Loading…</p>}
        <DialogActions onClose={onClose} />
      </Dialog>
    );
  }
  const { inputs, again } = known.value;
  const hidden = hiddenInputs(known.value);
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
          from,
          ...(!keeps && { inputs: values }),
        });
        navigate(placeHref(["runs", started.runId]));
      }}
    >
      {node === undefined ? (
        <p>Runs the same version of the flow again, from its beginning.</p>
      ) : (
        <p>
          Runs <code>{node}</code> again, with all that follows it. Results before it are taken over
          as long as their inputs stay the same.
        </p>
      )}
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

/** Nodes and all that follows them, as far as they write or destroy something. */
async function nodesAgain(
  graph: FlowGraph,
  from: readonly string[],
): Promise<readonly NodeAgain[]> {
  const { lines } = await pictureOf(graph);
  const reached = new Set(from);
  for (const id of reached) {
    for (const { edge } of lines) if (edge.from === id) reached.add(edge.to);
  }
  const entries = await everyItem((page) => backend.invoke("list_nodes", page));
  const effects = new Map(entries.map(({ type, effect }) => [type, effect]));
  const again = everyNode({ nodes: graph.nodes.filter(({ id }) => reached.has(id)) });
  return [...again].flatMap(({ node: { id, type } }) => {
    const effect = effects.get(type);
    return effect === "write" || effect === "destructive" ? [{ id, type, effect }] : [];
  });
}
