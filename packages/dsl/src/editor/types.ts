/** Requests of an editor and their results. Offsets are UTF-16 units into the text; `to` and `end` are exclusive. */

import type { Diagnostic, FieldValue, FlowEdge, FlowNode } from "@millrace/contracts";
import type { FlowCatalog } from "../check/catalog.ts";
import type { ParseResult } from "../read/parse-flow.ts";
import type { Span } from "../syntax/ast.ts";

/** A connection that is set up outside of the text. */
export interface ConnectionInfo {
  readonly name: string;
  /** Slug of its service. */
  readonly service?: string;
}

/** Data from outside of the text: the catalog of node types, and the other parts of the project. */
export interface Project extends FlowCatalog {
  /** Slugs of the flows of the project. */
  flows?(): Iterable<string>;
  connections?(): Iterable<ConnectionInfo>;
  /** Names that flows read as `vars`. */
  vars?(): Iterable<string>;
  /** Address of the file of a flow, for links and definitions; absent: flows have no file. */
  flowUri?(slug: string): string | undefined;
  /** The findings of a text in JSON or YAML, as `withTranslation` of `@millrace/dsl/translate` has them; absent: as they are. */
  translate?(text: string, diagnostics: readonly Diagnostic[]): readonly Diagnostic[];
}

/** Analyses texts of one project. */
export interface Analyser {
  /** Analyses a text. `previous`: the analysis of an earlier version, of which what still holds is kept. */
  analyse(text: string, previous?: Analysis): Analysis;
  /** The project is another one than before: what was kept of its catalog is forgotten. */
  changed(): void;
}

/** The answers for one text. Immutable; each answer is computed when it is first asked for, and kept. Nothing throws. */
export interface Analysis {
  readonly text: string;
  readonly parsed: ParseResult;
  /** The findings of `checkFlow`, sorted by offset, then code. */
  diagnostics(): readonly Diagnostic[];
  /**
   * The findings of `diagnostics()`, found in steps: whoever runs the generator lets other work take its turn between two of them,
   * and may stop for good. A step reads one item of the file or checks one node, tens of microseconds each: do as many as fit into
   * some milliseconds. Any other answer that is asked for meanwhile uses what is done, and does only what it needs of the rest.
   */
  diagnosticsInSteps(): Generator<void, readonly Diagnostic[]>;
  /** Completions at the cursor, best first. */
  completions(offset: number): readonly Completion[];
  /** Hover of the symbol at an offset. */
  hover(offset: number): Hover | undefined;
  /** The function around the cursor, and which of its arguments the cursor is in. */
  signature(offset: number): Signature | undefined;
  /** Where the name at an offset is declared. */
  definition(offset: number): Target | undefined;
  /** Every place that names what is named at an offset, its declaration included, by offset. */
  references(offset: number): readonly Occurrence[];
  /** The name at an offset that `rename` takes; undefined: nothing that can be renamed stands there. */
  renamable(offset: number): { readonly span: Span; readonly name: string } | undefined;
  /** The edits that give what is named at an offset another name everywhere. */
  rename(offset: number, to: string): RenameResult;
  /** The outline: flow, sections, nodes, bodies. */
  symbols(): readonly SymbolNode[];
  /** Stretches that an editor may fold, by start. */
  folds(): readonly Fold[];
  /** The stretches around an offset that a selection grows through, the smallest first. */
  selections(offset: number): readonly Span[];
  /** Semantic tokens that overlap a stretch, four numbers each: start, length, index in `TOKEN_TYPES`, bits of `TOKEN_MODIFIERS`. */
  tokens(from?: number, to?: number): Uint32Array;
  links(): readonly Link[];
  /** The edits that bring the text into canonical form; none when it is, or when it has errors of families 0 or 1. */
  format(): readonly TextEdit[];
  /** The fixes of the diagnostics that overlap a stretch. */
  fixesAt(from: number, to: number): readonly QuickFix[];
  /** The first fix of every finding of families 1 to 3, as far as they do not overlap. */
  fixAll(): readonly TextEdit[];
  /** The types of what the flow takes and gives, in the words of the language, such as `list of string`. */
  interfaceTypes(): InterfaceTypes;
  /** Path of the innermost node at an offset, `outer/inner`. */
  nodeAt(offset: number): string | undefined;
  /** The stretch of a node by its path. */
  placeOf(path: string): Span | undefined;
}

/** Types by the names of inputs and outputs; one that is neither declared nor inferred has no entry. */
export interface InterfaceTypes {
  readonly inputs: ReadonlyMap<string, string>;
  readonly outputs: ReadonlyMap<string, string>;
}

/** A change of the text. In a list they are sorted and do not overlap; all offsets are those of the text before. */
export interface TextEdit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** Kind of a completion, for its icon. */
export type CompletionKind =
  | "keyword"
  | "type"
  | "node"
  | "local"
  | "input"
  | "property"
  | "field"
  | "policy"
  | "value"
  | "function"
  | "port"
  | "flow"
  | "connection";

/** Something that may stand at the cursor. It replaces the identifier around the cursor, and nothing else. */
export interface Completion {
  /** The plain name: `timeout`, not `@timeout`. */
  readonly label: string;
  readonly kind: CompletionKind;
  readonly from: number;
  readonly to: number;
  readonly insert: string;
  /**
   * More than `insert`, for editors that can fill in places: a snippet in the syntax of the Language Server Protocol, such as
   * `input ${1:name}: ${2:string}`. Lines after the first are indented as in a file; an editor adds the indentation of the line.
   */
  readonly snippet?: string;
  /** One line: a type or a signature. */
  readonly detail?: string;
  /** Plain text. */
  readonly documentation?: () => string;
  readonly deprecated?: boolean;
  /** Smaller is better; equal ranks are sorted by label. */
  readonly rank: number;
}

/** Description of a symbol, as Markdown in which nothing of a flow or catalog is markup. */
export interface Hover extends Span {
  readonly markdown: string;
}

/** A function with its parameters. */
export interface Signature {
  /** `substring(string, start, end?) string`. */
  readonly label: string;
  readonly documentation: string;
  /** Stretches of `label`. */
  readonly parameters: readonly (readonly [start: number, end: number])[];
  /** Index of the parameter that the cursor is in. */
  readonly active: number;
}

/** A declaration: in this text, or the file of another flow. */
export interface Target {
  /** Absent: this text. */
  readonly uri?: string;
  /** The stretch of the name; that of another file is its start. */
  readonly name: Span;
  /** The whole declaration. */
  readonly whole: Span;
}

/** A place that names something. */
export interface Occurrence extends Span {
  readonly isDeclaration: boolean;
}

/** The edits of a rename, or why there are none. */
export type RenameResult =
  | { readonly edits: readonly TextEdit[] }
  | {
      readonly refused: "taken" | "not_a_name" | "not_renamable" | "would_capture";
      readonly message: string;
    };

/** A row of the outline. */
export interface SymbolNode {
  readonly name: string;
  /** Such as the type of a node. */
  readonly detail?: string;
  readonly kind:
    | "flow"
    | "input"
    | "connection"
    | "schedule"
    | "node"
    | "body"
    | "output"
    | "layout";
  readonly whole: Span;
  readonly selection: Span;
  readonly children: readonly SymbolNode[];
}

/** A stretch that may be folded: from the end of its first line to the end of its last. */
export interface Fold extends Span {
  readonly kind: "block" | "list" | "string" | "comment";
}

/** A stretch that leads somewhere. */
export interface Link extends Span {
  readonly target: string;
}

/** A fix of a finding, as edits. */
export interface QuickFix {
  readonly title: string;
  readonly diagnostic: Diagnostic;
  readonly edits: readonly TextEdit[];
}

/** Types of semantic tokens, by index. */
export const TOKEN_TYPES = [
  "keyword",
  "type",
  "variable",
  "parameter",
  "property",
  "enumMember",
  "function",
  "decorator",
  "number",
] as const;

/** Modifiers of semantic tokens, by bit. */
export const TOKEN_MODIFIERS = ["declaration", "readonly", "deprecated"] as const;

/** Ids from the outermost body inwards, joined by `/`: `outer/inner`. */
type NodePath = string;

/** One structural change of a flow, as a canvas or a form may request it. `in`: the node whose body is changed; absent: the flow itself. */
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
