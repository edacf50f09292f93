/** The edges that leave a node, and a way to add one. */
import type { CatalogEntry, FlowBody, FlowEdge, FlowNode } from "@millrace/contracts";
import type { FlowChange } from "@millrace/dsl/editor";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "../../parts/button.tsx";
import { ChoiceField } from "../../parts/fields.tsx";
import { VisibleText } from "../../parts/value-view/visible-text.tsx";

/** Edges of a node inside of its body. */
export function Edges({
  node,
  around,
  owner,
  entry,
  isReadOnly,
  onChange,
}: {
  readonly node: FlowNode;
  readonly around: FlowBody;
  readonly owner: string | undefined;
  readonly entry: CatalogEntry | undefined;
  readonly isReadOnly: boolean;
  readonly onChange: (change: FlowChange) => Promise<void>;
}): ComponentChildren {
  const inside = owner === undefined ? {} : { in: owner };
  const leaving = around.edges.filter(({ from }) => from === node.id);
  const arriving = around.edges.filter(({ to }) => to === node.id);
  return (
    <section aria-label="Edges">
      <h3>Edges</h3>
      {leaving.length + arriving.length === 0 && <p class="muted">No edges are written.</p>}
      <ul class="edges">
        {arriving.map(({ from, port }) => (
          <li key={`${from}.${port}`}>
            from <VisibleText text={from} />
            {port !== "out" && ` (${port})`}
          </li>
        ))}
        {leaving.map(({ port, to }) => (
          <li key={`${port} ${to}`}>
            {port === "out" ? "then" : port} → <VisibleText text={to} />{" "}
            {!isReadOnly && (
              <Button
                class="small"
                aria-label={`Remove the edge ${port} to ${to}`}
                onClick={() =>
                  void onChange({ kind: "removeEdge", ...inside, from: node.id, port, to })
                }
              >
                Remove
              </Button>
            )}
          </li>
        ))}
      </ul>
      {!isReadOnly && around.nodes.length > 1 && (
        <NewEdge
          ports={portsOf(node, entry)}
          targets={around.nodes.flatMap(({ id }) => (id === node.id ? [] : [id]))}
          onAdd={(port, to) =>
            void onChange({ kind: "addEdge", ...inside, edge: edgeOf(node.id, port, to) })
          }
        />
      )}
    </section>
  );
}

function NewEdge({
  ports,
  targets,
  onAdd,
}: {
  readonly ports: readonly string[];
  readonly targets: readonly string[];
  readonly onAdd: (port: string, to: string) => void;
}): ComponentChildren {
  const [port, setPort] = useState(ports[0] ?? "out");
  const [to, setTo] = useState("");
  return (
    <div class="new-edge">
      <ChoiceField label="Port" value={port} options={ports} onChosen={setPort} />
      <ChoiceField label="To" none="Choose a node" value={to} options={targets} onChosen={setTo} />
      <Button
        disabled={to === ""}
        onClick={() => {
          onAdd(port, to);
          setTo("");
        }}
      >
        Add edge
      </Button>
    </div>
  );
}

/** An edge as it is written: `out` goes without saying. */
function edgeOf(from: string, port: string, to: string): FlowEdge {
  return { from, to, ...(port !== "out" && { port }) } as FlowEdge;
}

/** The ports of a type, those that a field of the node yields, and `error`. */
function portsOf({ fields }: FlowNode, entry: CatalogEntry | undefined): readonly string[] {
  const fixed = entry?.ports.map(({ name }) => name) ?? ["out"];
  const yielding = entry?.portsFrom === undefined ? undefined : fields[entry.portsFrom];
  const made = Array.isArray(yielding)
    ? yielding.flatMap((each) => {
        const name: unknown = (each as { readonly name?: unknown } | null)?.name;
        return typeof name === "string" ? [name] : [];
      })
    : typeof yielding === "object" && yielding !== null
      ? Object.keys(yielding)
      : [];
  return [...new Set([...fixed, ...made, "error"])];
}
