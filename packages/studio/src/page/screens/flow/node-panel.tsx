/** The inspector of one node: what it is, its fields, policies, edges and place. */
import type { CatalogEntry, FieldValue, JsonObject } from "@millrace/contracts";
import { isObject } from "@millrace/contracts/kit";
import type { FlowChange } from "@millrace/dsl/editor";
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { FlowReading, NodeReading } from "../../../worker/protocol.ts";
import { Button } from "../../parts/button.tsx";
import { Effect } from "../../parts/effect.tsx";
import { formatCount } from "../../parts/format.ts";
import { Prose } from "../../parts/prose.tsx";
import { VisibleText } from "../../parts/value-view/visible-text.tsx";
import { placeHref } from "../../router.ts";
import { findNode } from "../../state/flow-nodes.ts";
import type { FlowSession } from "../../state/flow-session.ts";
import { Edges } from "./edges.tsx";
import { cornerOf } from "./flow-view.ts";
import { Position } from "./position.tsx";
import { ValueField, type ValueFieldProps } from "./value-field.tsx";

/** Properties of the inspector of a node. */
export interface NodePanelProps {
  readonly session: FlowSession;
  readonly reading: FlowReading;
  readonly path: string;
  readonly entry: CatalogEntry | undefined;
  readonly isReadOnly: boolean;
  readonly onChange: FlowSession["change"];
  readonly onRename: () => void;
  readonly onDelete: () => void;
}

/** The inspector of the selected node. */
export function NodePanel(props: NodePanelProps): ComponentChildren {
  const { session, reading, path, entry, isReadOnly, onChange, onRename, onDelete } = props;
  const written = useNode(session, reading, path);
  const placed = findNode(reading.graph, path);
  if (placed === undefined) return <p class="muted">There is no node {path} in the text.</p>;
  const { node, around, owner } = placed;
  const corner = cornerOf(reading.picture, path, owner);
  const canChange = !isReadOnly && reading.isWhole;
  const complete: ValueFieldProps["complete"] = async (place, source, offset) =>
    (await session.ask("completionsIn", { path, ...place }, source, offset)) ?? [];
  const rows = { isReadOnly: !canChange, complete, onChange };
  return (
    <>
      <h2>
        <VisibleText text={node.id} />
      </h2>
      <p>
        <a href={placeHref(["catalog", node.type])}>
          <code>
            <VisibleText text={node.type} />
          </code>
        </a>{" "}
        {entry && <Effect effect={entry.effect} />}
      </p>
      {entry === undefined ? (
        <p class="muted">This type is not in the catalog of the server.</p>
      ) : (
        <p>
          <strong>{entry.title}.</strong> <Prose text={entry.summary} />
        </p>
      )}
      {!isReadOnly && !reading.isWhole && (
        <p class="muted">
          The text has a syntax error. Mend it in the text before you change the node here.
        </p>
      )}
      <div class="actions">
        <Button disabled={!canChange} onClick={onRename}>
          Rename node
        </Button>
        <Button class="danger" disabled={!canChange} onClick={onDelete}>
          Delete node
        </Button>
      </div>
      {written !== undefined && (
        <>
          <Fields {...rows} written={written} entry={entry} />
          <Policies {...rows} written={written} />
        </>
      )}
      <Edges
        node={node}
        around={around}
        owner={owner}
        entry={entry}
        isReadOnly={!canChange}
        onChange={onChange}
      />
      {corner !== undefined && (
        <Position
          corner={corner}
          isReadOnly={!canChange}
          onMove={(x, y) => void onChange({ kind: "setLayout", path, x, y })}
        />
      )}
    </>
  );
}

/** The text of a node; the last result stays until there is a newer one. */
function useNode(
  session: FlowSession,
  reading: FlowReading,
  path: string,
): NodeReading | undefined {
  const [node, setNode] = useState<NodeReading>();
  useEffect(() => {
    let isWanted = true;
    void session.ask("node", path).then((found) => {
      if (isWanted && found !== undefined) setNode(found);
    });
    return () => {
      isWanted = false;
    };
  }, [session, reading, path]);
  return node?.path === path ? node : undefined;
}

type Rows = {
  readonly written: NodeReading;
  readonly isReadOnly: boolean;
  readonly complete: ValueFieldProps["complete"];
  readonly onChange: FlowSession["change"];
};

function Fields({
  written: { path, fields },
  entry,
  isReadOnly,
  complete,
  onChange,
}: Rows & { readonly entry: CatalogEntry | undefined }): ComponentChildren {
  const schemas = membersOf(entry?.fields);
  const required = entry?.fields["required"];
  const isRequired = (name: string): boolean => Array.isArray(required) && required.includes(name);
  const isSet = (name: string): boolean => fields.some((each) => each.name === name);
  const names = [...new Set([...schemas.keys(), ...fields.map(({ name }) => name)])];
  const shown = names.filter((name) => isSet(name) || isRequired(name));
  const others = names.filter((name) => !shown.includes(name));
  const field = (name: string): ComponentChildren => (
    <ValueField
      key={`${path} ${name}`}
      name={name}
      written={fields.find((each) => each.name === name)}
      schema={schemas.get(name) ?? {}}
      isRequired={isRequired(name)}
      isReadOnly={isReadOnly}
      complete={complete}
      onSet={(value) => onChange(value.then((given) => fieldChange(path, name, given)))}
    />
  );
  return (
    <section aria-label="Fields">
      <h3>Fields</h3>
      {shown.length === 0 && <p class="muted">No field is set.</p>}
      {shown.map(field)}
      {others.length > 0 && (
        <details>
          <summary>{formatCount(others.length, "more field")}</summary>
          {others.map(field)}
        </details>
      )}
    </section>
  );
}

function fieldChange(path: string, field: string, value: FieldValue | undefined): FlowChange {
  return value === undefined
    ? { kind: "removeField", path, field }
    : { kind: "setField", path, field, value };
}

function policyChange(path: string, policy: string, value: FieldValue | undefined): FlowChange {
  return { kind: "setPolicy", path, policy, value };
}

function Policies({
  written: { path, policies, policyNames },
  isReadOnly,
  complete,
  onChange,
}: Rows): ComponentChildren {
  const isSet = (name: string): boolean => policies.some((each) => each.name === name);
  const field = (name: string): ComponentChildren => (
    <ValueField
      key={`${path} ${name}`}
      name={name}
      written={policies.find((each) => each.name === name)}
      schema={{}}
      isPolicy
      isReadOnly={isReadOnly}
      complete={complete}
      onSet={(value) => onChange(value.then((given) => policyChange(path, name, given)))}
    />
  );
  const others = policyNames.filter((name) => !isSet(name));
  return (
    <section aria-label="Policies">
      <h3>Policies</h3>
      {policies.map(({ name }) => field(name))}
      <details>
        <summary>{formatCount(others.length, "more policy", "more policies")}</summary>
        {others.map(field)}
      </details>
    </section>
  );
}

function membersOf(schema: JsonObject | undefined): ReadonlyMap<string, JsonObject> {
  const properties = schema?.["properties"];
  if (!isObject(properties)) return new Map();
  return new Map(
    Object.entries(properties).map(([name, value]) => [name, isObject(value) ? value : {}]),
  );
}
