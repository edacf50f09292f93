/** Structural changes that a canvas or a form may request. */

import type { FieldValue, FlowEdge, FlowNode } from "@millrace/contracts";

/** Ids from the outermost body inwards, joined by `/`: `outer/inner`. */
type NodePath = string;

/** One change of a flow. `in`: the node whose body is changed; absent: the flow itself. */
export type FlowChange =
  | { readonly kind: "addNode"; readonly in?: NodePath; readonly node: FlowNode }
  /** Takes its edges and its entries of the layout along; what expressions read of it stays, and validation reports it. */
  | { readonly kind: "removeNode"; readonly path: NodePath }
  /** Everything that names the node names it anew. */
  | { readonly kind: "renameNode"; readonly path: NodePath; readonly to: string }
  | {
      readonly kind: "setField";
      readonly path: NodePath;
      readonly field: string;
      readonly value: FieldValue;
    }
  | { readonly kind: "removeField"; readonly path: NodePath; readonly field: string }
  /** `policy`: its name in the text, such as `on-error`; `value`: as in the graph; undefined: the policy goes. */
  | {
      readonly kind: "setPolicy";
      readonly path: NodePath;
      readonly policy: string;
      readonly value: FieldValue | undefined;
    }
  | { readonly kind: "addEdge"; readonly in?: NodePath; readonly edge: FlowEdge }
  /** `port` absent: `out`. */
  | {
      readonly kind: "removeEdge";
      readonly in?: NodePath;
      readonly from: string;
      readonly port?: string;
      readonly to: string;
    }
  | {
      readonly kind: "setLayout";
      readonly path: NodePath;
      readonly x: number;
      readonly y: number;
    }
  /** `path` absent: the whole layout. */
  | { readonly kind: "clearLayout"; readonly path?: NodePath };
