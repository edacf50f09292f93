/**
 * What the page and its worker tell each other. A text is posted once; what is asked is about a text that was posted, by its number.
 *   A1  Answers come for the newest text only: what was asked about an earlier one is refused as stale.
 */
import type { CatalogEntry, Diagnostic, FieldValue, FlowGraph } from "@millrace/contracts";
import type {
  Completion,
  ConnectionInfo,
  FlowChange,
  Hover,
  InterfaceTypes,
  QuickFix,
  RenameResult,
  Signature,
  Target,
  TextEdit,
} from "@millrace/dsl/editor";
import type { Picture } from "@millrace/graph";

/** Data of the page from outside of a text. */
export interface ProjectData {
  readonly entries: readonly CatalogEntry[];
  readonly connections: readonly ConnectionInfo[];
  /** Slugs of stored flows. */
  readonly flows: readonly string[];
  /** Slugs of services; absent: they could not be read, and are not checked. */
  readonly services?: readonly string[];
  /** Names that flows read as `vars`. */
  readonly vars?: readonly string[];
  /** Names of providers of models; absent: they could not be read, and are not checked. */
  readonly providers?: readonly string[];
}

/** A text as it was read, also where parts of it could not be. */
export interface FlowReading {
  readonly graph: FlowGraph;
  readonly picture: Picture;
  /** False: the text has errors of syntax, so that it cannot be changed but by typing. */
  readonly isWhole: boolean;
  /** The types of inputs and outputs, as far as they are known. */
  readonly types: InterfaceTypes;
}

/** A finding, and the node that it is in. */
export interface FlowProblem extends Diagnostic {
  readonly node?: string;
}

/** A field or policy as it is written. */
export interface WrittenValue {
  readonly name: string;
  /** Its text: an expression. */
  readonly source: string;
  readonly value: FieldValue;
}

/** A node as it is written. */
export interface NodeReading {
  readonly path: string;
  readonly id: string;
  readonly type: string;
  readonly fields: readonly WrittenValue[];
  readonly policies: readonly WrittenValue[];
  /** Names of all policies. */
  readonly policyNames: readonly string[];
  /** The lines of the node. */
  readonly from: number;
  readonly to: number;
}

/** A value that somebody typed, or what is wrong with it. */
export type ReadValue = { readonly value: FieldValue } | { readonly problem: string };

/** Where a value stands: a field or policy of a node. */
export interface ValuePlace {
  readonly path: string;
  readonly name: string;
  readonly isPolicy: boolean;
}

/** A node that a person adds. */
export interface NewNode {
  readonly id: string;
  readonly type: string;
  readonly fields: readonly NewField[];
  /** The node holds a body. */
  readonly hasBody: boolean;
}

/** A field of a new node: as an example has it where that fits the flow, else with a placeholder. */
export interface NewField {
  readonly name: string;
  readonly example?: FieldValue;
  /** Absent: the field can be left out. */
  readonly placeholder?: FieldValue;
}

/** A completion as it is sent: functions cannot be. */
export interface SentCompletion extends Omit<Completion, "documentation"> {
  readonly documentation?: string;
}

/** Questions about a text. */
export interface TextQuestions {
  completions(offset: number): readonly SentCompletion[];
  definition(offset: number): Target | undefined;
  diagnostics(): readonly Diagnostic[];
  fixesAt(from: number, to: number): readonly QuickFix[];
  format(): readonly TextEdit[];
  hover(offset: number): Hover | undefined;
  renamable(
    offset: number,
  ):
    | { readonly span: { readonly start: number; readonly end: number }; readonly name: string }
    | undefined;
  rename(offset: number, to: string): RenameResult;
  signature(offset: number): Signature | undefined;
  read(): FlowReading;
  problems(): readonly FlowProblem[];
  /** The edits of a change; refused with a message where it does not fit the flow. */
  edit(change: FlowChange): readonly TextEdit[];
  /** The edits that add a node; refused with a message where it does not fit the flow. */
  addNode(node: NewNode): readonly TextEdit[];
  node(path: string): NodeReading | undefined;
  nodeAt(offset: number): string | undefined;
  placeOf(path: string): { readonly start: number; readonly end: number } | undefined;
  /** Completions at an offset of a value that is being typed in place of the written one. */
  completionsIn(place: ValuePlace, source: string, offset: number): readonly SentCompletion[];
}

/** Questions without a text. */
export interface FreeQuestions {
  /** The value that an expression means in a field, or in a policy of that name. */
  readValue(source: string, policy?: string): ReadValue;
  /** The picture of a flow. */
  picture(graph: FlowGraph): Picture;
}

/** A message to the worker. */
export type ToWorker =
  | { readonly kind: "project"; readonly project: ProjectData }
  | { readonly kind: "text"; readonly textId: number; readonly text: string }
  | {
      readonly kind: "ask";
      readonly id: number;
      /** Absent: the question is about no text. */
      readonly textId?: number;
      readonly name: string;
      readonly args: readonly unknown[];
    };

/** A message of the worker: the answer to a question. */
export type FromWorker =
  | { readonly id: number; readonly answer: unknown }
  | { readonly id: number; readonly refused: string; readonly isStale?: true };
